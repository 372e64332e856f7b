"""The footer of Parquet files, against what pyarrow says of it."""

from __future__ import annotations

import io

import numpy as np
import pytest

from viewhop.tables._parquet_footer import read_chunks

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def written(table, **how):
    out = io.BytesIO()
    pq.write_table(table, out, **how)
    return out.getvalue()


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
@pytest.mark.parametrize("delta", [False, True])
def test_sizes_and_encodings_are_those_of_pyarrow(codec, delta):
    n = 1000
    columns = {
        "number": np.arange(n) / 7,
        "flag": np.arange(n) % 2 == 0,
        "text": [f"sample {k}" for k in range(n)],
        "list": [[1.0, 2.0]] * n,
        "pair": [{"a": k, "b": "x"} for k in range(n)],
        "gaps": pa.array(range(n), mask=np.arange(n) % 3 == 0),
    } | {f"more{k}": np.zeros(n) for k in range(30)}
    how = (
        {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}} if delta else {}
    )
    data = written(pa.table(columns), compression=codec, row_group_size=300, **how)
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    assert [
        [(chunk.unpacked, chunk.is_delta) for chunk in group] for group in read_chunks(data)
    ] == [
        [
            (column.total_uncompressed_size, "DELTA_BYTE_ARRAY" in column.encodings)
            for column in (group.column(k) for k in range(group.num_columns))
        ]
        for group in groups
    ]
    assert any(chunk.is_delta for chunk in read_chunks(data)[0]) == delta


def test_a_footer_that_ends_early_is_refused():
    data = written(pa.table({"a": [1.0, 2.0]}))
    size = int.from_bytes(data[-8:-4], "little")
    for kept in range(size):
        footer = data[-8 - size : -8][:kept]
        damaged = b"PAR1" + footer + kept.to_bytes(4, "little") + b"PAR1"
        with pytest.raises(ValueError, match="footer is damaged"):
            read_chunks(damaged)
