"""What a reasoning model writes before its answer, from `<think>` to `</think>`, left out of it."""

from __future__ import annotations

import re

OPEN, CLOSE = "<think>", "</think>"
_TAG = re.compile(f"({OPEN}|{CLOSE})")
_BLOCK = re.compile(f"{OPEN}.*?{CLOSE}", re.DOTALL)


def drop_thoughts(text: str) -> str:
    """An answer without its thoughts; it begins with `<think>` still if it ends within one."""
    # Only to the last end: from there on no block is closed, and looking for its end would be quadratic.
    last = text.rfind(CLOSE)
    end = last + len(CLOSE) if last >= 0 else 0
    # Some prompts open the block themselves, so that the answer holds only its end.
    return (_BLOCK.sub("", text[:end]).rpartition(CLOSE)[2] + text[end:]).strip()


class ThoughtFilter:
    """Drops the thoughts of an answer that comes in pieces.

    A thought that nothing opened is known as one only by its end, when it may have been shown already. With `unopened`
    one is expected, and nothing is shown before its end. Without, its `</think>` is shown too if a piece of it was:
    `drop_thoughts` of all that was shown is always the answer. Then `unopened` says whether there was one.
    """

    def __init__(self, *, unopened: bool) -> None:
        self.unopened = False
        self.shown = False
        self._held: list[str] | None = [] if unopened else None
        self._begun = ""
        self._space = ""
        self._given = False

    def feed(self, piece: str) -> str:
        """What can be shown after the next piece."""
        *parts, last = _TAG.split(self._begun + piece)
        certain = len(last) - _begun_tag(last)
        self._begun = last[certain:]
        text = "".join(map(self._take, [*parts, last[:certain]]))
        text = text if self._given else text.rpartition(CLOSE)[2]
        self._given = self._given or bool(text)
        return text

    def rest(self) -> str | None:
        """What is left to show at the end; None if the text ends within the thought that it began with."""
        text, self._begun = self._take(self._begun), ""
        if self._held is None:
            return text
        if self._is_opened and not self.shown:
            return None
        held, self._held = "".join(self._held), None
        return text + self._show(held)

    @property
    def _is_opened(self) -> bool:
        return self._held is not None and self._held[:1] == [OPEN]

    def _take(self, part: str) -> str:
        if part == CLOSE:
            return self._close()
        if part == OPEN and not self._is_opened:
            before, self._held = "".join(self._held or ()), [OPEN]
            return self._show(before)
        if self._held is None:
            return self._show(part)
        self._held.append(part)
        return ""

    def _close(self) -> str:
        was_thinking, opened = self._held is not None, self._is_opened
        self._held = None
        self.unopened = self.unopened or not opened
        if was_thinking or not self.shown:
            return ""
        self.shown, self._space = False, ""
        return CLOSE

    def _show(self, text: str) -> str:
        """The text without the white space around the whole: what follows decides whether its end is shown."""
        text = self._space + text
        text = text if self.shown else text.lstrip()
        shown = text.rstrip()
        self._space = text[len(shown) :]
        self.shown = self.shown or bool(shown)
        return shown


def _begun_tag(text: str) -> int:
    """How many of the last characters may be the beginning of a tag."""
    sizes = range(min(len(text), len(CLOSE) - 1), 0, -1)
    return next((size for size in sizes if any(tag.startswith(text[-size:]) for tag in (OPEN, CLOSE))), 0)
