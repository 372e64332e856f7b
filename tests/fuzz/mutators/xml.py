"""Changes of QuakeML: elements, entities, nesting and encodings."""

from __future__ import annotations

import re

from tests.fuzz.mutators.plain import LONGEST, mutate_bytes

_TAG = re.compile(r"<[^>]*>")
_ELEMENT = re.compile(r"<([A-Za-z:]+)[^>]*>[^<]*</\1>")
_TEXT = re.compile(r">([^<]+)<")
TEXTS = (
    *("", "nan", "inf", "1e400", "-1", "0", "9" * 400, "x" * 50_000, "&lt;", "&amp;amp;", "&#0;"),
    *("&#x110000;", "&lol9;", "&xxe;", "]]>", "<![CDATA[<x>]]>", "<!-- -- -->", "true", "P", "S"),
    *("2010-05-27T16:24:33.21Z", "0001-01-01T00:00:00", "9999-12-31T23:59:59", "2010-13-45", "now"),
    *("2262-04-11T23:47:16.854775808Z", "1677-01-01T00:00:00Z", "2010-05-27T24:00:00", "-2010"),
    *("not existing", "not reported", "earthquake", "rejected", "smi:local/1", "smi:", "\u2028"),
)
BOMB = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10 if k else "lol"}">' for k in range(10))
HEADS = (
    f"<!DOCTYPE q [{BOMB}]>",
    '<!DOCTYPE q [<!ENTITY xxe SYSTEM "file:///etc/hostname">]>',
    '<!DOCTYPE q SYSTEM "http://127.0.0.1:9/x.dtd">',
    "<!doctype q>",
    "<!ENTITY a 'b'>",
    '<?xml-stylesheet href="http://127.0.0.1:9/x"?>',
    "<?xml version='1.0'?>",
    "<!-- c -->",
)
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "latin-1", "cp037", "utf-8-sig")


def mutate_xml(rng, data, others):
    """QuakeML with other elements, texts, entities or another encoding."""
    if rng.random() < 0.25 or not data:
        return mutate_bytes(rng, data, others)
    text = data.decode("utf-8", "replace")
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        text = rng.choice(CHANGES)(rng, text)
    if rng.random() < 0.1:
        encoding = rng.choice(ENCODINGS)
        if rng.random() < 0.6:
            text = re.sub(r"encoding=[\"'][^\"']*[\"']", f'encoding="{encoding}"', text)
        return text.encode(encoding, "replace")[:LONGEST]
    return text.encode("utf-8", "replace")[:LONGEST]


def _span(rng, pattern, text, group=0):
    spans = [match.span(group) for match in pattern.finditer(text)]
    return rng.choice(spans) if spans else (len(text), len(text))


def set_text(rng, text):
    begin, end = _span(rng, _TEXT, text, 1)
    return text[:begin] + rng.choice(TEXTS) + text[end:]


def drop_element(rng, text):
    begin, end = _span(rng, _ELEMENT, text)
    return text[:begin] + text[end:]


def repeat_element(rng, text):
    begin, end = _span(rng, _ELEMENT, text)
    return text[:begin] + text[begin:end] * rng.choice((2, 3, 50)) + text[end:]


def drop_tag(rng, text):
    begin, end = _span(rng, _TAG, text)
    return text[:begin] + text[end:]


def swap_tags(rng, text):
    one, two = sorted((_span(rng, _TAG, text), _span(rng, _TAG, text)))
    if one[1] > two[0]:
        return text
    return "".join(
        (
            text[: one[0]],
            text[slice(*two)],
            text[one[1] : two[0]],
            text[slice(*one)],
            text[two[1] :],
        )
    )


def nest(rng, text):
    depth = rng.choice((10, 300, 5000, 20_000))
    begin, _ = _span(rng, _TAG, text)
    close = "</a>" * depth if rng.random() < 0.8 else ""
    return text[:begin] + "<a>" * depth + close + text[begin:]


def add_head(rng, text):
    place = text.find("?>") + 2 if "?>" in text and rng.random() < 0.8 else 0
    return text[:place] + rng.choice(HEADS) + text[place:]


def set_attribute(rng, text):
    begin, end = _span(rng, re.compile(r"=\"[^\"]*\""), text)
    value = rng.choice((*TEXTS[:10], "http://quakeml.org/xmlns/bed/1.2", "smi:local/event/2"))
    return text[:begin] + f'="{value}"' + text[end:]


def add_attributes(rng, text):
    _, end = _span(rng, re.compile(r"<[A-Za-z:]+"), text)
    extra = "".join(f' a{k}="x"' for k in range(rng.choice((1, 1000))))
    return text[:end] + extra + text[end:]


CHANGES = (
    *(set_text, set_text, set_text, drop_element, repeat_element, drop_tag, swap_tags),
    *(nest, add_head, set_attribute, add_attributes),
)
