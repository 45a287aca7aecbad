"""Files that other POMDP solvers read and write: problems out, policies back in."""

from __future__ import annotations

from seqclass.pomdp.files.cassandra import write_pomdp
from seqclass.pomdp.files.policies import read_policy

__all__ = ["read_policy", "write_pomdp"]
