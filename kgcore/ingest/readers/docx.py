"""The text of a Word document: paragraphs, tables, notes; deleted passages are left out, inserted ones kept."""

from __future__ import annotations

import posixpath
import zlib
from collections.abc import Iterator
from io import BytesIO
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile, ZipInfo

from kgcore.errors import IngestError
from kgcore.ingest.readers.found import MOST_BYTES, Found, check_length, feed, laid_out, refused
from kgcore.ingest.source import Notes

_MOST_PARTS = 10_000
_MOST_PACKED = 10 * MOST_BYTES
_MOST_RATIO = 200
_SMALL = _MOST_TAG = 2**20
_ENTRY = b"PK\x01\x02"
_SAVE = "Save it again with Word or LibreOffice"
_UNREAD = frozenset("pPr rPr tblPr trPr tcPr sectPr Fallback del moveFrom".split())
_BREAKS = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def read_docx(name: str, data: bytes, notes: Notes) -> Iterator[Found]:
    """One text: a paragraph a paragraph, a table's row a line with | between cells; then foot- and endnotes."""
    try:
        package = _opened(name, data)
        main = _main(name, package)
        body = _Body(name)
        for part in (main, *(posixpath.join(posixpath.dirname(main), f"{n}.xml") for n in ("footnotes", "endnotes"))):
            if part == main or part in package.namelist():
                _parse(name, package, part, body)
        title = _Title(name)
        if "docProps/core.xml" in package.namelist():
            _parse(name, package, "docProps/core.xml", title)
    except (BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise refused(name, f"its parts cannot be unpacked ({error})", _SAVE) from error
    yield Found(title=" ".join("".join(title.text).split()), text=laid_out(body.text))


def _opened(name: str, data: bytes) -> ZipFile:
    """The package, once its declared sizes are seen to be sane; zipfile unpacks no more than what is declared."""
    if data.count(_ENTRY) > _MOST_PARTS:
        raise refused(name, f"a package of more than {_MOST_PARTS:,} parts", _SAVE)
    package = ZipFile(BytesIO(data))
    parts = package.infolist()
    bomb = next((part for part in parts if _is_bomb(part)), None)
    if bomb is not None or sum(part.file_size for part in parts) > _MOST_PACKED:
        what = f"{bomb.filename} unpacks" if bomb else "its parts unpack"
        raise refused(name, f"{what} to far more than a document is", _SAVE)
    return package


def _is_bomb(part: ZipInfo) -> bool:
    return part.file_size > _SMALL and part.file_size > _MOST_RATIO * max(part.compress_size, 1)


def _main(name: str, package: ZipFile) -> str:
    """The part that holds the text, by the package's own list, or where it usually is."""
    relations = _Relations(name)
    if "_rels/.rels" in package.namelist():
        _parse(name, package, "_rels/.rels", relations)
    main = relations.main or "word/document.xml"
    if main not in package.namelist():
        raise refused(name, "a package without a Word document", "Name a .docx file; of others save one as .docx")
    return main


def _parse(name: str, package: ZipFile, part: str, handler: _Handler) -> None:
    """Streams a part through a handler. Raises IngestError that names the part and the line."""
    if package.getinfo(part).file_size > MOST_BYTES:
        raise refused(f"{name}, {part}", f"more than {MOST_BYTES // 2**20} MB", "Split the document")
    handler.part = part
    try:
        with package.open(part) as file:
            feed(name, file.read, handler.take)
        handler.parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise refused(f"{name}, {part}, line {error.lineno}", f"not XML ({reason})", _SAVE) from error
    handler.renew()


class _Handler:
    """Takes elements by their local names; a DTD, and with it every entity, is refused."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.part = ""
        self.renew()

    def take(self, block: bytes) -> None:
        """Raises IngestError for a tag that does not end: it would be begun again with each block."""
        self.taken += len(block)
        self.parser.Parse(block, False)
        if self.taken - max(self.parser.CurrentByteIndex, 0) > _MOST_TAG:
            raise self.refused("a tag of more than 1 MB")

    def refused(self, reason: str) -> IngestError:
        return refused(f"{self.name}, {self.part}, line {self.parser.CurrentLineNumber}", reason, _SAVE)

    def renew(self) -> None:
        """A parser reads one part."""
        self.taken = 0
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = lambda tag, given: self.start(tag.rpartition(" ")[2], given)
        self.parser.EndElementHandler = lambda tag: self.end(tag.rpartition(" ")[2])
        self.parser.CharacterDataHandler = self.data

    def start(self, tag: str, given: dict[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def data(self, text: str) -> None: ...

    def _doctype(self, *_: object) -> None:
        raise self.refused("a document type (DTD) is not allowed")


class _Relations(_Handler):
    main = ""

    def start(self, tag: str, given: dict[str, str]) -> None:
        if given.get("Type", "").endswith("/officeDocument"):
            self.main = given.get("Target", "").lstrip("/")


class _Title(_Handler):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.text: list[str] = []
        self.inside = False

    def start(self, tag: str, given: dict[str, str]) -> None:
        self.inside = tag == "title"

    def end(self, tag: str) -> None:
        self.inside = False

    def data(self, text: str) -> None:
        if self.inside:
            self.text.append(text)


class _Body(_Handler):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.text: list[str] = []
        self.length = 0
        self.unread = 0  # how deep in something that is no text
        self.tables = 0
        self.inside = False  # a <w:t>

    def start(self, tag: str, given: dict[str, str]) -> None:
        if self.unread or tag in _UNREAD:
            self.unread += 1
        elif tag in _BREAKS:
            self.text.append(_BREAKS[tag])
        elif tag == "tbl":
            self.tables += 1
        self.inside = tag == "t" and not self.unread

    def end(self, tag: str) -> None:
        self.inside = False
        if self.unread:
            self.unread -= 1
        elif tag == "p":
            self.text.append(" " if self.tables else "\n\n")
        elif tag == "tc":
            self.text.append(" | ")
        elif tag == "tr":
            if self.text and self.text[-1] == " | ":
                self.text.pop()
            self.text.append("\n" if self.tables == 1 else " ")
        elif tag == "tbl":
            self.tables -= 1
            self.text.append(" " if self.tables else "\n")

    def data(self, text: str) -> None:
        if self.inside:
            self.length += len(text)
            check_length(self.name, self.length)
            self.text.append(text)
