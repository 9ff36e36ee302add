"""The visible text of an HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from io import BytesIO

from lxml import etree

from kgcore.ingest.readers.found import MOST_BYTES, Found, check_length, decoded, feed, laid_out, refused
from kgcore.ingest.source import Notes

_UNSEEN = frozenset("script style template noscript svg iframe object canvas audio video datalist".split())
_PARAGRAPHS = frozenset(
    """
    address article aside blockquote body caption dialog div dl fieldset figcaption figure footer form h1 h2 h3 h4
    h5 h6 header hr legend main nav ol p pre section summary table ul
    """.split()
)
_LINES = frozenset("br dd dt li option tr".split())
_CELL, _PARAGRAPH = " | ", "\n\n"
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def read_html(name: str, data: bytes, notes: Notes) -> Iterator[Found]:
    """One text: blocks are parted by blank lines, rows and items by line ends, cells by |."""
    page = _Page(name)
    # A stream of tags: a page as a tree may need hundreds of times its size.
    parser = etree.HTMLParser(target=page, encoding="utf-8", no_network=True)
    try:
        feed(name, BytesIO(decoded(name, data, most=MOST_BYTES).encode()).read, parser.feed)
        parser.close()
    except etree.LxmlError as error:
        raise refused(name, "not HTML", "Save it again from a browser") from error
    yield Found(title=" ".join("".join(page.title).split()), text=laid_out(page.text))


class _Page:
    """Takes tags and text as the parser meets them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.title: list[str] = []
        self.text: list[str] = []
        self.length = 0
        self.unseen = 0  # how deep in something that is not shown
        self.written = 0  # how deep in text whose line ends count
        self.is_titling = self.is_titled = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self.unseen or tag in _UNSEEN or "hidden" in attributes or _HIDDEN.search(attributes.get("style", "")):
            self.unseen += 1
        elif tag == "title":
            self.is_titling = not self.is_titled
            self.unseen += 1
        else:
            self.written += tag == "pre"
            if tag in _LINES:
                self.text.append("\n")
            elif tag in _PARAGRAPHS and self.text[-1:] != [_CELL]:
                self.text.append(_PARAGRAPH)

    def end(self, tag: str) -> None:
        if self.unseen:
            self.unseen -= 1
            if self.is_titling:
                self.is_titling, self.is_titled = False, True
            return
        self.written -= tag == "pre"
        if tag in ("td", "th"):
            while self.text[-1:] == [_PARAGRAPH]:
                self.text.pop()
            self.text.append(_CELL)
        elif tag == "tr" and self.text[-1:] == [_CELL]:
            self.text.pop()
        elif tag in _PARAGRAPHS:
            self.text.append(_PARAGRAPH)

    def data(self, text: str) -> None:
        if self.is_titling:
            self.title.append(text)
        elif not self.unseen:
            self.length += len(text)
            check_length(self.name, self.length)
            text = text if self.written else re.sub(r"\s+", " ", text)
            if text != " " or not self.text or not self.text[-1][-1:].isspace():
                self.text.append(text)

    def close(self) -> None:
        """What lxml asks of a target."""
