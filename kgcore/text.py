"""Text that every file, store and page can hold."""

from __future__ import annotations


def whole_characters(text: str) -> str:
    """The text with a question mark for each half of a character, which JSON can write and nothing can store."""
    return text.encode("utf-8", "replace").decode()
