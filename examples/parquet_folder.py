"""Learn from a folder of Parquet files of any size, and decide for all of its rows, in chunks.

    python examples/parquet_folder.py [--rows N] [--columns N] [--files N] [--folder FOLDER]

The folder is made first, in a temporary place unless one is named; a folder that is there is used as it is. Memory is
bounded by a chunk of rows, and the second call of `predict_parquet` finds what the first has written.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import seqclass
from seqclass.large import predict_parquet, read_parquet

#: Columns that tell something of the class, the first one most.
TELLING = 6
#: Rows that are made at a time.
BLOCK = 100_000


def make(folder: Path, n_rows: int, n_columns: int, n_files: int) -> None:
    """Write rows of two classes: noise, but for some columns whose means differ."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    shift = np.zeros(n_columns)
    shift[:TELLING] = np.linspace(1.5, 0.5, TELLING)[:n_columns]
    for number, rows in enumerate(np.array_split(np.arange(n_rows), n_files)):
        rng, writer = np.random.default_rng(number), None
        for start in range(0, len(rows), BLOCK):
            ill = rng.random(len(rows[start : start + BLOCK])) < 0.3
            values = rng.normal(size=(len(ill), n_columns)) + ill[:, None] * shift
            frame = pd.DataFrame(values, columns=[f"sensor_{j}" for j in range(n_columns)])
            table = pa.Table.from_pandas(frame.assign(state=np.where(ill, "faulty", "sound")), preserve_index=False)
            writer = writer or pq.ParquetWriter(folder / f"part-{number:04d}.parquet", table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()


def peak() -> str:
    """Peak of resident memory of this process so far, where the system tells."""
    try:
        import resource
    except ImportError:
        return ""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return f", peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6:,.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit and decide in chunks.")
    parser.add_argument("--rows", type=int, default=8_000)
    parser.add_argument("--columns", type=int, default=12)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary, "rows")
        if not folder.exists():
            make(folder, given.rows, given.columns, given.files)
        size = sum(file.stat().st_size for file in folder.glob("*.parquet"))

        started = time.perf_counter()
        chunks = read_parquet(folder, target="state")
        clf = seqclass.etana(feature_costs=0.01).fit_chunks(chunks, held_out=5)
        seconds = time.perf_counter() - started
        print(f"Learnt from {chunks.n_rows():,} rows ({size / 1e9:.2f} GB) in {seconds:.1f} s{peak()}.")
        print("Asked for, first one first:", *(clf.feature_name(j) for j in clf.order_[:TELLING].tolist()))
        print(f"Cost of a case: expected {clf.expected_cost_:.4f}, held out {clf.held_out_.cost:.4f}.")

        started = time.perf_counter()
        done = predict_parquet(clf, folder, folder.parent / "decided")
        seconds = time.perf_counter() - started
        shares = ", ".join(f"{label} {n:,}" for label, n in done.decisions.items())
        print(f"Decided {done.n_rows:,} rows in {seconds:.1f} s{peak()}: {done.n_features:.2f} features; {shares}.")

        (folder.parent / "decided" / "part-0000.parquet").unlink()
        again = predict_parquet(clf, folder, folder.parent / "decided")
        print(
            f"One part was lost: {again.n_parts - again.n_skipped} decided again, {again.n_skipped} left as they were."
        )


if __name__ == "__main__":
    main()
