"""Data of any size: Parquet files and collections of dask in chunks of rows, to fit classifiers to and to decide for.

`SequentialClassifier.fit_chunks` takes what `read_parquet` and `from_dask` give.
"""

from __future__ import annotations

from seqclass._chunks.dasked import from_dask
from seqclass._chunks.parquet import read_parquet
from seqclass._chunks.source import Chunks

__all__ = ["Chunks", "from_dask", "read_parquet"]
