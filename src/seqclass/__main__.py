"""``python -m seqclass``: the command line."""

from __future__ import annotations

from seqclass.cli import main

if __name__ == "__main__":
    main(prog_name="python -m seqclass")
