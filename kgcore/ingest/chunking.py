"""A document's text in chunks that end where sentences do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import regex
from sentencex import segment

from kgcore.errors import ConfigError
from kgcore.ingest.texts import Text
from kgcore.types import Chunk

SIZE = 1_200
OVERLAP = 150
_BLANK_LINE = re.compile(r"\n\s*\n")
_INSIDE = regex.compile(r"[\p{M}\p{Cf}\p{Emoji_Modifier}]")  # never begins a letter
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, or with `whole` false a piece of one that is too long: text[start:end]."""

    start: int
    end: int
    paragraph: int
    whole: bool


def chunks_of(text: Text, *, size: int = SIZE, overlap: int = OVERLAP) -> tuple[Chunk, ...]:
    """The chunks of a text, each a piece of it as it stands, of at most `size` characters; together all of it.

    A chunk ends with a paragraph where one ends in its second half, else with a sentence; a longer sentence is cut
    between lines or words. It begins with the last whole sentences of the chunk before, at most `overlap` characters.
    The same text gives the same chunks. Raises ConfigError.
    """
    if not 0 <= overlap < size:
        raise ConfigError(
            f"An overlap of {overlap} does not fit chunks of {size} characters.",
            remedy="Give a size above 0, and a smaller overlap.",
            field="overlap",
        )
    spans = list(_spans(text.text, size, overlap))
    title = {"title": text.title} if text.title else {}
    return tuple(
        Chunk(
            id=f"{text.id}#{number}",
            document_id=text.id,
            content=text.text[start:end],
            metadata={**text.metadata, **title, "chunk": number, "chunks": len(spans)},
        )
        for number, (start, end) in enumerate(spans, 1)
    )


def _spans(text: str, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    held: list[_Unit] = []
    new = 0  # the first that no chunk has yet
    for unit in _units(text, size):
        while held and unit.end - held[0].start > size:
            if new == len(held):
                del held[0]  # less overlap, so that the next sentence fits
                new -= 1
                continue
            cut = _cut([*held, unit], new, size)
            yield held[0].start, held[cut - 1].end
            again = _again(held[:cut], overlap)
            held, new = held[cut - again :], again
        held.append(unit)
    if new < len(held):
        yield held[0].start, held[-1].end


def _cut(units: list[_Unit], new: int, size: int) -> int:
    """How many units make the chunk, the last being the first that does not fit."""
    for cut in range(len(units) - 1, new, -1):
        if units[cut - 1].end - units[0].start < size / 2:
            break
        if units[cut].paragraph != units[cut - 1].paragraph:
            return cut
    return len(units) - 1


def _again(chunk: list[_Unit], overlap: int) -> int:
    """How many of a chunk's last sentences the next begins with."""
    count = 0
    while count < len(chunk) - 1 and chunk[-count - 1].whole and chunk[-1].end - chunk[-count - 1].start <= overlap:
        count += 1
    return count


def _units(text: str, size: int) -> Iterator[_Unit]:
    """The sentences in their order, without the white space around them."""
    blanks = [blank.span() for blank in _BLANK_LINE.finditer(text)]
    for paragraph, ((_, start), (end, _)) in enumerate(pairwise([(0, 0), *blanks, (len(text), 0)])):
        for sentence in _sentences(text, start, end):
            pieces = list(_pieces(text, *sentence, size))
            for piece in pieces:
                yield _Unit(*piece, paragraph, len(pieces) == 1)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The library leaves out some white space: its sentences tell where to cut, and nothing is lost."""
    at = start
    for sentence in segment("en", text[start:end]):  # the language tells abbreviations; it ends those of any script
        found = text.find(sentence, at, end)
        if found >= 0:
            yield at, found + len(sentence)
            at = found + len(sentence)
    yield at, end


def _pieces(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """What is not white space of text[start:end], in one piece or, where it is too long, several."""
    while True:
        while start < end and text[start].isspace():
            start += 1
        while start < end and text[end - 1].isspace():
            end -= 1
        if end - start <= size:
            if start < end:
                yield start, end
            return
        cut = _break(text, start, start + size)
        yield from _pieces(text, start, cut, size)
        start = cut


def _break(text: str, start: int, end: int) -> int:
    """Where to cut a sentence before `end`: after its last line in the second half, else a word, else a letter."""
    middle = start + (end - start) // 2
    line = text.rfind("\n", middle, end + 1)
    if line > start:
        return line
    word = next((at for at in range(end, start, -1) if text[at].isspace()), 0)
    if word:
        return word
    letter = next((at for at in range(end, start, -1) if not _INSIDE.match(text[at]) and text[at - 1] != _JOINER), 0)
    return letter or end
