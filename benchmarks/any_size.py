"""Fitting from Parquet and deciding for it, chunk by chunk, beside the same in memory: seconds and peak memory.

    python benchmarks/any_size.py [--json FILE] [--quick] [--rows N ...] [--columns N ...] [--folder DIR]

Naive Bayes and its policy on two classes of numbers, in files of a million rows. Each call runs once, in a child
process whose peak memory is told; that of the peer stands with its name. The peer reads the whole folder, at most a
million rows unless --in-memory allows more. The folder is made first and removed afterwards: 10^7 rows of 100 columns
are 8 GB, and --rows 100000000 is for machines with room for ten times that.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _common import Row, left_out, needed, parser, peak_mb, report

import seqclass
from seqclass.large import predict_parquet, read_parquet

#: Rows of a file, and those that are made at a time.
FILE, BLOCK = 1_000_000, 100_000


def make(folder: Path, n_rows: int, n_columns: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    shift = np.zeros(n_columns)
    shift[:6] = np.linspace(1.5, 0.5, 6)
    for start in range(0, n_rows, FILE):
        rng, path = np.random.default_rng([n_rows, n_columns, start]), folder / f"{start // FILE:05d}.parquet"
        writer = None
        for block in range(start, min(n_rows, start + FILE), BLOCK):
            y = rng.random(min(BLOCK, n_rows - block)) < 0.3
            X = rng.normal(size=(len(y), n_columns)) + y[:, None] * shift
            columns = {f"x{j}": column for j, column in enumerate(X.T)} | {"y": y.astype(np.int8)}
            table = pa.table(columns)
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()


def in_child(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds and peak memory of a call in a child process."""
    started = time.perf_counter()
    peak = peak_mb(call)
    return time.perf_counter() - started, peak


def line(name: str, ours: Callable[[], Any], peer: Callable[[], Any] | None) -> Row:
    seconds, peak = in_child(ours)
    if peer is None:
        return Row(name, seconds, None, None, None, peak)
    peer_seconds, peer_peak = in_child(peer)
    return Row(name, seconds, f"in memory, {peer_peak:,.0f} MB", peer_seconds, peer_seconds / seconds, peak)


def rows_of(n_rows: int, n_columns: int, most: int, where: Path | None) -> list[Row]:
    import pandas as pd

    with tempfile.TemporaryDirectory(dir=where) as temporary:
        folder, model = Path(temporary, "rows"), Path(temporary, "model.seq")
        make(folder, n_rows, n_columns)

        def in_memory() -> None:
            frame = pd.read_parquet(folder)
            seqclass.etana(feature_costs=0.01).fit(frame, frame.pop("y"))

        def decide_in_memory() -> None:
            frame = pd.read_parquet(folder).drop(columns="y")
            seqclass.load(model).acquire(frame).to_frame().to_parquet(Path(temporary, "decided.parquet"))

        def from_chunks() -> None:
            seqclass.etana(feature_costs=0.01).fit_chunks(read_parquet(folder, "y")).save(model)

        def decide() -> None:
            predict_parquet(seqclass.load(model), folder, Path(temporary, "decided"))

        allowed = n_rows <= most
        size = f"{n_rows:,} x {n_columns}"
        return [
            line(f"fit {size}", from_chunks, in_memory if allowed else None),
            line(f"predict {size}", decide, decide_in_memory if allowed else None),
        ]


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--rows", type=int, nargs="+", default=[10**6, 10**7])
    made.add_argument("--columns", type=int, nargs="+", default=[20, 100])
    made.add_argument("--in-memory", type=int, default=10**6, help="most rows of the peer (default 10^6)")
    made.add_argument("--folder", type=Path, help="where to make the files (default: the system's temporary place)")
    given = made.parse_args()
    needed("pyarrow")
    sizes = [(20_000, 20)] if given.quick else [(n, m) for n in given.rows for m in given.columns]
    rows: list[Row] = []
    for n_rows, n_columns in sizes:
        if n_rows > given.in_memory:
            left_out(f"the peer of {n_rows:,} x {n_columns}", f"it is allowed {given.in_memory:,} rows")
        rows += rows_of(n_rows, n_columns, given.in_memory, given.folder)
    report(rows, given.json)


if __name__ == "__main__":
    main()
