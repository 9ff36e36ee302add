"""Text that Streamlit would read as Markdown, as text."""

from __future__ import annotations

import re

from kgcore.viz import plain

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_JOINER = "\u2060"
_LINKS_AND_EMOJI = re.compile(r"(?<=[:@])(?=\S)|(?<=\bwww)(?=\.)", re.IGNORECASE)


def escaped(text: str, limit: int = 300) -> str:
    """A text from a graph, a person or an error, for a Streamlit label or message.

    Punctuation is escaped. Addresses and `:emoji:` are found in text after escapes are resolved, so those
    are broken with a word joiner, which takes no room.
    """
    return _PUNCTUATION.sub(r"\\\1", _LINKS_AND_EMOJI.sub(_JOINER, plain(text, limit)))
