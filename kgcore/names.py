"""Names and ids: how text is folded and split, and the ids that are derived from it."""

from __future__ import annotations

import unicodedata
from hashlib import sha1
from json.encoder import encode_basestring_ascii
from uuid import UUID

import regex

from kgcore.types import HAS_ATTRIBUTE

NAMESPACE = UUID("5b0c2d6e-8f0a-5d5c-9a51-6f0f3c1f5e77")
_NAMESPACE = NAMESPACE.bytes

FUNCTION_WORDS = frozenset(
    """
    a an and are as at be been by can could did do does for from had has have he her hers him his how i if in
    into is it its me my of on or our out s shall she should than that the their them then there these they
    this those to under up upon us was we were what when where which while who whom whose why will with would
    you your
    """.split()
)
"""English words that name nothing: no mention by themselves, and nothing that a fact must explain."""

# Scripts written without spaces give one token a character, so that a name is found inside a sentence.
_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_TOKEN = regex.compile(
    rf"[{_SPACELESS}][\p{{M}}\p{{Cf}}]*"
    rf"|[[\p{{L}}\p{{M}}\p{{N}}]--[{_SPACELESS}]][[\p{{L}}\p{{M}}\p{{N}}\p{{Cf}}]--[{_SPACELESS}]]*",
    flags=regex.V1,
)
_INVISIBLE = regex.compile(r"[\p{Cf}\p{Cc}\p{Cs}--\s]+", flags=regex.V1)
_HALF = regex.compile(r"\p{Cs}")


def fold(text: str) -> str:
    """Text for comparing: NFKC, case-folded, `_` and runs of white space as one space, invisible marks dropped."""
    if text.isascii() and text.isprintable():  # nothing to normalize: most names, and much faster
        return " ".join(text.casefold().replace("_", " ").split())
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold().replace("_", " ")
    return " ".join(unicodedata.normalize("NFKC", plain).split())


def is_unicode(text: str) -> bool:
    """False for half a character, which no store or file can hold."""
    return text.isascii() or not _HALF.search(text)


def tokens(text: str) -> list[str]:
    """The folded words of a text, in order; query syntax, quotes and other signs are no words."""
    return list(_TOKEN.findall(fold(text)))


def words_of(text: str) -> str:
    """The folded words joined by spaces; a text of signs alone is its folded self."""
    return " ".join(tokens(text)) or fold(text)


def token_spans(text: str) -> list[tuple[str, int, int]]:
    """Folded words with their offsets in the text as given."""
    return [(fold(m.group()), m.start(), m.end()) for m in _TOKEN.finditer(text) if fold(m.group())]


def spelling_distance(token: str) -> int:
    """How many letters of a token may differ: 0 up to 3 letters, 1 up to 7, then 2 (Lucene's AUTO, stricter)."""
    return 0 if len(token) <= 3 else 1 if len(token) <= 7 else 2


def entity_id(type_: str, name: str, qualifier: str = "") -> str:
    """The id of an entity that its source gives none."""
    parts = [type_, fold(name)] + ([qualifier] if qualifier else [])
    return _uuid5(":".join(parts))


def edge_id(source: str, relation: str, key: str | None, target: str, document: str | None) -> str:
    """The id of an edge that its source gives none: one per document that asserts it."""
    return _derived("edge", source, relation, key or "", target, document or "")


def fact_id(source: str, relation: str, key: str | None, target: str, target_name: str) -> str:
    """The id of the fact that an edge asserts: its ends and relation; an attribute's by key and folded value."""
    if relation == HAS_ATTRIBUTE:
        return _derived("attribute", source, key or "", fold(target_name))
    return _derived("fact", source, relation, target)


def _derived(*parts: str) -> str:
    return _uuid5(f"[{', '.join(map(encode_basestring_ascii, parts))}]")  # as JSON


def _uuid5(name: str) -> str:
    """The text of uuid5 in NAMESPACE, without the object that takes most of its time."""
    digest = sha1(_NAMESPACE + name.encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"
