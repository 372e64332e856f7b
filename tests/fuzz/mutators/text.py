"""Changes of delimited text: cells, quotes, rows, line ends and encodings."""

from __future__ import annotations

from tests.fuzz.mutators.plain import LONGEST, TEXTS, mutate_bytes

CELLS = (
    *TEXTS,
    *(b'"', b'""', b'"open', b'a"b', b'"a"b', b'"two\nlines"', b'"a,b"', b"'", b"'=1", b"=1+1"),
    *(b"@x", b"\t", b" ", b"  7 ", b"\0", b"\r", b"\x1a", b"\x85", b"\xe2\x80\xa8", b"\xff\xfe"),
    *(b"\xed\xa0\x80", b"\xef\xbb\xbf", b"a" * 200_000, b"N/A", b"#N/A", b"-", b"- 1", b"1 000"),
    *("٣".encode(), "½".encode(), "−1".encode(), b"2010-05-27T16:24:33Z", b"9999-12-31T23:59:60"),
    *(b"0001-01-01", b"2262-04-12", b"2010-02-30", b"2010-05-27T16:24:33+99:99", b"now", b"NaT"),
    *(b"id", b"time", b"a", b"pick IS.A", b"pick", b"pick .", b"channel IS.A", b"sample"),
)
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "latin-1", "utf-7", "cp037")
DELIMITERS = (b",", b";", b"\t", b"|", b" ", b":")


def mutate_text(rng, data, others):
    """Delimited text with other cells, rows, delimiters or another encoding."""
    if rng.random() < 0.3 or not data:
        return mutate_bytes(rng, data, others)
    head = data.split(b"\n", 1)[0]
    delimiter = max(DELIMITERS[:4], key=head.count)
    rows = [line.split(delimiter) for line in data.split(b"\n")]
    for _ in range(rng.choice((1, 1, 2, 4))):
        rng.choice(CHANGES)(rng, rows)
    if rng.random() < 0.1:
        delimiter = rng.choice(DELIMITERS)
    end = rng.choice((b"\n",) * 8 + (b"\r\n", b"\r", b"\n\n", b"\n\r"))
    changed = end.join(delimiter.join(row) for row in rows)
    if rng.random() < 0.1:
        text = changed.decode("utf-8", "replace")
        changed = text.encode(rng.choice(ENCODINGS), "replace")
    return changed[:LONGEST]


def set_cell(rng, rows):
    row = rng.choice(rows)
    row[rng.randrange(len(row))] = rng.choice(CELLS)


def set_column(rng, rows):
    """One cell in every row but the first."""
    column, cell = rng.randrange(len(rows[0])), rng.choice(CELLS[: len(CELLS) // 2])
    for row in rows[1:]:
        if column < len(row):
            row[column] = cell


def drop_cell(rng, rows):
    row = rng.choice(rows)
    if len(row) > 1:
        del row[rng.randrange(len(row))]


def add_cell(rng, rows):
    rng.choice(rows).append(rng.choice(CELLS))


def add_column(rng, rows):
    name = rng.choice((*rows[0], *CELLS))
    cells = (name, *(rng.choice(CELLS[:30]) for _ in rows[1:]))
    for row, cell in zip(rows, cells, strict=True):
        row.append(cell)


def drop_column(rng, rows):
    column = rng.randrange(len(rows[0]))
    for row in rows:
        if column < len(row) and len(row) > 1:
            del row[column]


def drop_row(rng, rows):
    if len(rows) > 1:
        del rows[rng.randrange(len(rows))]


def repeat_row(rng, rows):
    rows[rng.randrange(len(rows)) : 0] = [[*rng.choice(rows)]] * rng.choice((1, 2, 200))


def swap_rows(rng, rows):
    one, two = rng.randrange(len(rows)), rng.randrange(len(rows))
    rows[one], rows[two] = rows[two], rows[one]


def blank_row(rng, rows):
    rows.insert(rng.randrange(len(rows) + 1), [rng.choice((b"", b" ", b"\t", b'""'))])


def rename_column(rng, rows):
    rows[0][rng.randrange(len(rows[0]))] = rng.choice((*rows[0], *CELLS))


def many_columns(rng, rows):
    count = rng.choice((100, 2000))
    for row in rows[:3]:
        row.extend([b"1"] * count)


CHANGES = (
    *(set_cell, set_cell, set_cell, set_column, drop_cell, add_cell, add_column, drop_column),
    *(drop_row, repeat_row, swap_rows, blank_row, rename_column, many_columns),
)
