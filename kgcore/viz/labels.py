"""Names as short, harmless, one-line text. What is text here stays text in the browser."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

LABEL_WIDTH = 18
TYPED_LABEL_WIDTHS = (12, 10)
LONGEST_NAME = 300
UNNAMED = "(unnamed)"

_UNSEEN = {
    code: None
    for first, last in (
        (0x00AD, 0x00AD),
        (0x061C, 0x061C),
        (0x200B, 0x200B),
        (0x200E, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x206F),
        (0xFEFF, 0xFEFF),
        (0xE0000, 0xE007F),
    )
    for code in range(first, last + 1)
}


def plain(text: str, limit: int = LONGEST_NAME) -> str:
    """One line of what can be seen: no control, direction or zero-width characters, no lone surrogates."""
    visible = text[: 8 * limit]
    if not (visible.isascii() and visible.isprintable()):
        visible = "".join(_visible(character) for character in visible.translate(_UNSEEN))
    return cut(" ".join(visible.split()), limit)


def cut(text: str, width: int = LABEL_WIDTH) -> str:
    """At most `width` columns, an ellipsis for what is left out; a wide character takes two."""
    if text.isascii():
        return text if len(text) <= width else text[: width - 1].rstrip() + "…"
    used = 0
    for index, character in enumerate(text):
        used += _columns(character)
        if used > width or index >= 4 * width:
            return _without_columns_over(text[:index], width - 1).rstrip() + "…"
    return text


def node_labels(names: Mapping[str, str], types: Mapping[str, str]) -> dict[str, str]:
    """A label an entity: its name, its type where another has the same name, its id where that is the same too."""
    spoken = {entity_id: plain(name) or UNNAMED for entity_id, name in names.items()}
    kinds = {entity_id: plain(types.get(entity_id, "")) for entity_id in names}
    same_name = Counter(name.casefold() for name in spoken.values())
    same_kind = Counter((name.casefold(), kinds[entity_id]) for entity_id, name in spoken.items())
    name_width, aside_width = TYPED_LABEL_WIDTHS
    labels = {}
    for entity_id, name in spoken.items():
        kind = kinds[entity_id]
        if same_kind[name.casefold(), kind] > 1:
            labels[entity_id] = f"{cut(name, name_width)} · {_end(plain(entity_id), aside_width)}"
        elif same_name[name.casefold()] > 1 and kind:
            labels[entity_id] = f"{cut(name, name_width)} · {cut(kind, aside_width)}"
        else:
            labels[entity_id] = cut(name)
    return labels


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 edge`, `2,140 edges`; `plural` where it is not the noun with an s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or noun + 's'}"


def listed(words: Iterable[str]) -> str:
    """Words as a person lists them, each once."""
    return ", ".join(dict.fromkeys(plain(word) for word in words))


def utf16_length(text: str) -> int:
    """How long JavaScript takes a text to be: offsets for the browser are counted in these."""
    return len(text.encode("utf-16-le", "replace")) // 2


def _end(text: str, width: int) -> str:
    """Of ids that differ, more often the ends do."""
    return cut(text[::-1], width)[::-1]


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs":
        return "\ufffd"
    return " " if category in ("Cc", "Zl", "Zp") else character


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _without_columns_over(text: str, width: int) -> str:
    used, end = sum(map(_columns, text)), len(text)
    while end and used > width:
        end -= 1
        used -= _columns(text[end])
    return text[:end]
