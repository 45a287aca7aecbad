"""Files that other POMDP solvers read and write: problems out, policies back in."""

from __future__ import annotations

from seqclass.pomdp.files._cassandra import write_pomdp
from seqclass.pomdp.files._policies import read_policy
from seqclass.pomdp.files._pomdpx import write_pomdpx

__all__ = ["read_policy", "write_pomdp", "write_pomdpx"]
