"""Documents of any kind as text."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from kgcore.filters.access import DEFAULT_ACCESS_FIELDS
from kgcore.ingest.readers.docx import read_docx
from kgcore.ingest.readers.found import MOST_BYTES, Found, check_length, cleaned, decoded, refused
from kgcore.ingest.readers.html import read_html
from kgcore.ingest.readers.pdf import read_pdf
from kgcore.ingest.readers.rows import read_jsonl, read_table
from kgcore.ingest.source import Notes
from kgcore.types import PropertyValue

MOST_FILES = 10_000
"""In a folder."""
MOST_TEXTS = 100_000
"""In a file or a folder: rows count too."""
_KINDS = {
    "text": (".txt", ".text"),
    "markdown": (".md", ".markdown"),
    "html": (".html", ".htm", ".xhtml"),
    "pdf": (".pdf",),
    "docx": (".docx",),
    "table": (".csv", ".tsv"),
    "jsonl": (".jsonl", ".ndjson"),
}
SUFFIXES = tuple(suffix for suffixes in _KINDS.values() for suffix in suffixes)
"""The ends of the names that a folder's documents have."""
_KIND_OF = {suffix: kind for kind, suffixes in _KINDS.items() for suffix in suffixes}
_HEADING = re.compile(r"^#[ \t]+(.+)$", re.MULTILINE)
_UNNAMED = re.compile(r"[\x00-\x1f\x7f-\x9f\\\ud800-\udfff]|^[A-Za-z]:")
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)[\s>]", re.IGNORECASE)
_LONGEST = 1_000
_MOST_TITLE = 300
_MOST_METADATA = 20_000
_OLD_WORD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_Reader = Callable[[str, bytes, Notes], Iterable[Found]]


@dataclass(frozen=True, kw_only=True)
class Text:
    """A document before it is cut into chunks. `id` is its file, a row's `file#row`, or what the file calls it."""

    id: str
    title: str
    text: str
    metadata: Mapping[str, PropertyValue] = field(default_factory=dict)


def read_texts(
    name: str, data: bytes, notes: Notes, *, access_fields: Collection[str] = DEFAULT_ACCESS_FIELDS
) -> Iterator[Text]:
    """The texts of one file: one, or one a row of a table or of JSONL, in its order.

    `name` may have folders, parted by /; it is an id and tells the kind, and no file is opened by it. What a row says
    of `access_fields` is its metadata, never its text. Raises IngestError that names the file and the line.
    """
    _check_name(name)
    if len(data) > MOST_BYTES:
        raise refused(name, f"more than {MOST_BYTES // 2**20} MB", "Split it into several files")
    if not data.strip():
        raise refused(name, "empty", "Give a file that holds text")
    kind = _kind(name, data)
    length, seen = 0, set[str]()
    for found in _reader(kind, access_fields)(name, data, notes):
        text = _text(name, found, notes)
        length += len(text.text)
        check_length(name, length)
        if not text.text.strip():
            notes.add("texts left out that are empty")
            continue
        _check_new(seen, text.id)
        yield text
    if not seen:
        raise refused(name, "no text in it", "Give a file that holds text")


def texts_of(
    path: Path, notes: Notes, *, access_fields: Collection[str] = DEFAULT_ACCESS_FIELDS
) -> Iterator[Text]:  # fmt: skip
    """The texts of a file, or of a folder's files by their paths, as `read_texts` gives them; the path is the name.

    Links and hidden files are left out. Raises IngestError, and for a link that leads out of the folder.
    """
    files = [(path.name, path)] if os.path.isfile(path) else _files(path, notes)
    seen: set[str] = set()
    for name, file in files:
        for text in read_texts(name, _bytes(name, file), notes, access_fields=access_fields):
            _check_new(seen, text.id)
            yield text


def _text(name: str, found: Found, notes: Notes) -> Text:
    id_ = found.id or name
    if len(id_) > _LONGEST:
        raise refused(name, f"an id of more than {_LONGEST:,} characters", "Give a shorter one")
    if len(repr(found.metadata)) > _MOST_METADATA:
        raise refused(id_, f"more than {_MOST_METADATA:,} characters of metadata", "Make long ones part of the text")
    title = " ".join(cleaned(found.title, notes).split())[:_MOST_TITLE]
    return Text(
        id=id_,
        title=title or ("" if found.id else PurePosixPath(name).stem),
        text=cleaned(found.text, notes),
        metadata=found.metadata,
    )


def _kind(name: str, data: bytes) -> str:
    """By what the file holds where that is beyond doubt, else by its name."""
    suffix = PurePosixPath(name).suffix.lower()
    kind = _KIND_OF.get(suffix)
    if data.startswith(b"%PDF-") or (kind == "pdf" and b"%PDF-" in data[:1024]):
        return "pdf"
    if data.startswith((b"PK\3\4", b"PK\5\6")):
        return "docx"
    if data.startswith(_OLD_WORD):
        raise refused(name, "an old Office file, or one with a password", "Save it as .docx without a password")
    if kind in ("pdf", "docx"):
        raise refused(
            name, f"not {'a PDF' if kind == 'pdf' else 'a Word document'} inside", "Save it anew, or rename it"
        )
    return kind or ("html" if _PAGE.match(data) else "text")


def _reader(kind: str, access_fields: Collection[str]) -> _Reader:
    if kind in ("table", "jsonl"):
        return partial(read_table if kind == "table" else read_jsonl, access_fields=access_fields)
    return {"html": read_html, "pdf": read_pdf, "docx": read_docx, "markdown": _markdown}.get(kind, _plain)


def _plain(name: str, data: bytes, notes: Notes) -> Iterator[Found]:
    yield Found(text=decoded(name, data))


def _markdown(name: str, data: bytes, notes: Notes) -> Iterator[Found]:
    text = decoded(name, data)
    heading = _HEADING.search(text)
    yield Found(title=heading[1].strip(" \t#") if heading else "", text=text)


def _check_name(name: str) -> None:
    """Raises IngestError for a name that could lead out of a folder."""
    parts = name.split("/")
    if {"", ".", ".."} & {*parts} or _UNNAMED.search(name) or len(name) > _LONGEST:
        raise refused(
            f"{name[:100]!a}",
            "not a name of a file in a folder",
            f"Name it in at most {_LONGEST:,} characters, without .., \\ and a leading /",
        )


def _check_new(seen: set[str], id_: str) -> None:
    if id_ in seen:
        raise refused(id_, "two documents have this id", "Give each its own")
    seen.add(id_)
    if len(seen) > MOST_TEXTS:
        raise refused(id_, f"more than {MOST_TEXTS:,} documents", "Read them in several goes")


def _bytes(name: str, path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise refused(name, f"cannot be read ({error.strerror})", "Name a file that can be read") from error


def _files(root: Path, notes: Notes) -> list[tuple[str, Path]]:
    """The documents in a folder, each with its path from there, in the order of these."""
    found: list[tuple[str, Path]] = []
    folders = [root]
    try:
        while folders:
            for entry in _entries(folders.pop()):
                if entry.is_symlink():
                    _check_link(root, Path(entry.path))
                    notes.add("links left out")
                elif entry.name.startswith("."):
                    notes.add("hidden files and folders left out")
                elif entry.is_dir():
                    folders.append(Path(entry.path))
                elif entry.is_file() and entry.name.lower().endswith(SUFFIXES):
                    found.append((Path(entry.path).relative_to(root).as_posix(), Path(entry.path)))
                else:
                    notes.add("files of other kinds left out")
                if len(found) + len(folders) > MOST_FILES:
                    raise refused(str(root), f"more than {MOST_FILES:,} files and folders", "Name a smaller folder")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise refused(str(root)[:500], f"cannot be read ({why})", "Name a file or a folder that is there") from error
    if not found:
        raise refused(str(root), "no documents in it", f"Name a folder with files that end in {', '.join(SUFFIXES)}")
    return sorted(found)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        found = list(islice(entries, MOST_FILES + 1))
    if len(found) > MOST_FILES:
        raise refused(folder.name, f"more than {MOST_FILES:,} files and folders", "Name a smaller folder")
    return found


def _check_link(root: Path, link: Path) -> None:
    try:
        inside = link.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # a link to itself
        inside = True
    if not inside:
        where = link.relative_to(root).as_posix()
        raise refused(where, "a link that leads out of the folder", "Remove it, or copy the file to its place")
