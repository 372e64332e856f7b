"""Changes of TOML settings: keys, values, types, tables and nesting."""

from __future__ import annotations

from tests.fuzz.mutators.plain import LONGEST, mutate_bytes

VALUES = (
    *("0", "-1", "1", "3", "0.5", "1e308", "1e400", "-1e400", "nan", "inf", "-0.0", "5e-324"),
    *("9" * 30, "9" * 5000, "0x7fffffffffffffff", "0o7", "0b1", "1_000", "true", "false"),
    *('""', '"x"', '"auto"', '"hop"', '"gaussian"', '"adaptive"', '"8GB"', '"1TB"', '"0"', "[]"),
    *('["a"]', "[1]", "[[]]", "{}", '{path = "x.csv"}', "{a = {b = {c = 1}}}", "1979-05-27"),
    *("1979-05-27T07:32:00Z", "07:32:00", '"\\u0000"', '"\\ud800"', '"\\U0010FFFF"', '"../../x"'),
    *('"a\\nb"', '"""multi\nline"""', "'literal'", "[" * 50 + "]" * 50, "[" * 3000 + "]" * 3000),
    *("{a=" * 500 + "1" + "}" * 500, '"' + "x" * 100_000 + '"', '"tab"', '"utf-16"', '"rot13"'),
    *('"local"', '"max-min"', '"joint"', '"cosine"', '"cluster"', '"fit"', '"a::b"', '"tüv"'),
)
KEYS = (
    *("kernel", "bandwidth", "factor", "neighbors", "metric", "standardize", "alpha", "search"),
    *("command", "out", "format", "report", "id", "label", "keep", "drop", "decimal", "delimiter"),
    *("encoding", "fusion", "within_view_weight", "joint_view", "components", "accuracy", "steps"),
    *("output", "clusters", "max_clusters", "normalize", "solver", "tol", "memory", "jobs", "seed"),
    *("views", "path", "weight", "viewhop", "missing", "connect", "id_strip", "x", '""', '"a=b"'),
    *("views.rna", "views.rna.path", "a.b.c.d", "ß", '"\\u0000"', "views.x.kernel", "__class__"),
)


def mutate_settings(rng, data, others):
    """TOML with other keys, values or tables."""
    if rng.random() < 0.2 or not data:
        return mutate_bytes(rng, data, others)
    lines = data.decode("utf-8", "replace").split("\n")
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        rng.choice(CHANGES)(rng, lines)
    return "\n".join(lines).encode("utf-8", "surrogatepass")[:LONGEST]


def set_value(rng, lines):
    places = [k for k, line in enumerate(lines) if "=" in line]
    if places:
        place = rng.choice(places)
        key = lines[place].partition("=")[0]
        lines[place] = f"{key}= {rng.choice(VALUES)}"


def set_key(rng, lines):
    places = [k for k, line in enumerate(lines) if "=" in line]
    if places:
        place = rng.choice(places)
        lines[place] = f"{rng.choice(KEYS)} ={lines[place].partition('=')[2]}"


def add_line(rng, lines):
    lines.insert(rng.randrange(len(lines) + 1), f"{rng.choice(KEYS)} = {rng.choice(VALUES)}")


def add_table(rng, lines):
    mark = rng.choice(("[{}]", "[{}]", "[[{}]]", "[views.{}]", "[views.{}", "[{0}.{0}]"))
    lines.insert(rng.randrange(len(lines) + 1), mark.format(rng.choice(KEYS)))


def deepen(rng, lines):
    lines.append(f"[{'.'.join('a' * rng.choice((10, 1000, 5000)))}]")


def drop_line(rng, lines):
    if len(lines) > 1:
        del lines[rng.randrange(len(lines))]


def repeat_line(rng, lines):
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))


def cut_line(rng, lines):
    place = rng.randrange(len(lines))
    lines[place] = lines[place][: rng.randrange(len(lines[place]) + 1)]


CHANGES = (
    *(set_value, set_value, set_value, set_key, add_line, add_line, add_table),
    *(deepen, drop_line, repeat_line, cut_line),
)
