"""The nodes and edges of a GraphML or GEXF file, in its order, each with its attributes, as any tool writes them.

It is read as a stream that knows its lines. Networkx takes no graph that is directed in part, no list of numbers and
no value of a time, leaves out nodes inside nodes, and orders edges by their ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast
from xml.parsers import expat

from kgcore.errors import IngestError
from kgcore.ingest.importers.json_file import check_size
from kgcore.ingest.source import Notes
from kgcore.types import Scalar

Direction = Literal["directed", "undirected", "mutual"]
NESTED = "nodes inside another node, kept beside it"
_READ = 2**16
_MOST_TAG = 2**20
_WHOLE = frozenset("int integer long short byte biginteger".split())
_REAL = frozenset("float double bigdecimal".split())
_TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_LABELS = frozenset({"NodeLabel", "EdgeLabel", "Label.Text"})
_REMEDY = "Write it again with the tool that made it."


@dataclass(kw_only=True, slots=True)
class Item:
    """A node with its id, an edge with the ids at its ends, or, with no id, what is said of the whole graph."""

    ids: tuple[str, ...] = ()
    data: dict[str, object] = field(default_factory=dict)
    direction: Direction = "directed"


def markup_items(path: Path, notes: Notes) -> Iterator[Item]:
    """What the file holds. Raises IngestError that names the file and the line; a DTD is refused."""
    check_size(path)
    reader = _Reader(path.name, notes)
    try:
        with path.open("rb") as file:
            while block := file.read(_READ):
                reader.parser.Parse(block, False)
                reader.check_tag(file.tell())
                yield from reader.taken()
            reader.parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise IngestError(f"{path.name}, line {error.lineno}: not XML ({reason}).", remedy=_REMEDY) from error
    except (OSError, ValueError, LookupError) as error:
        raise IngestError(f"{path.name} cannot be read as XML ({error}).", remedy="Save it as UTF-8.") from error
    yield from reader.taken()
    yield Item(data=reader.graph)


@dataclass(kw_only=True)
class _Key:
    """An attribute that the file declares: of what, called how, of which type."""

    of: str
    name: str
    type: str = ""
    is_list: bool = False
    is_drawing: bool = False
    default: object = None


class _Reader:
    """Both languages at once: what they call alike means the same, and the rest is the one's or the other's."""

    def __init__(self, name: str, notes: Notes) -> None:
        self.name = name
        self.notes = notes
        self.root = ""
        self.keys: dict[str, _Key] = {}
        self.key: _Key | None = None
        self.of = ""
        self.default: list[str] = []
        self.graph: dict[str, object] = {}
        self.open: list[Item] = []
        self.texts: list[list[str]] = []
        self.ready: list[Item] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def taken(self) -> list[Item]:
        taken, self.ready = self.ready, []
        return taken

    def check_tag(self, read: int) -> None:
        """A tag that does not end would be begun again with each block."""
        if read - max(self.parser.CurrentByteIndex, 0) > _MOST_TAG:
            raise self._error("a tag of more than 1 MB", _REMEDY)

    def _doctype(self, *_: object) -> None:
        raise self._error("a document type (DTD) is not allowed", "Remove the DOCTYPE and what it declares.")

    def _start(self, tag: str, given: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        self.texts.append([])
        if not self.root:
            self.root = tag
            if tag not in ("graphml", "gexf"):
                raise self._error(f"<{tag}> is no graph", "Name a GraphML or GEXF file.")
        start = _STARTS.get(tag)
        if start is not None:
            start(self, tag, given)

    def _characters(self, text: str) -> None:
        self.texts[-1].append(text)

    def _end(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        text = "".join(self.texts.pop())
        if tag in ("node", "edge", "hyperedge", "port") and self.open:
            self._close(tag)
        elif tag == "graph" and self.default:
            self.default.pop()
        elif tag in ("data", "attvalue"):
            self._data(text)
        elif tag in ("key", "attribute"):
            self.key = None
        elif tag == "default" and self.key is not None and text.strip():
            self.key.default = self._value(self.key, text)
        elif tag in _LABELS and self.key is not None and self.key.is_drawing and self.open:
            self._label(" ".join(text.split()))
        elif tag in ("desc", "description", "keywords") and self.key is None and text.strip():
            self._data_of("description" if tag == "desc" else tag, text)

    def _declare(self, tag: str, given: dict[str, str]) -> None:
        if tag == "attributes":
            self.of = given.get("class", "")
            return
        id_ = given.get("id", "")
        type_ = (given.get("attr.list") or given.get("attr.type") or given.get("type", "")).lower()
        self.key = _Key(
            of=self.of if tag == "attribute" else given.get("for", "all"),
            name=(given.get("attr.name") or given.get("title") or "").strip() or id_,
            type=type_.removeprefix("list"),
            is_list=type_.startswith("list") or "attr.list" in given,
            is_drawing=given.get("yfiles.type", "").endswith("graphics"),
        )
        self.keys[f"{self.of}:{id_}" if tag == "attribute" else id_] = self.key

    def _begin_graph(self, tag: str, given: dict[str, str]) -> None:
        self.default.append(given.get("edgedefault") or given.get("defaultedgetype") or "undirected")

    def _begin_node(self, tag: str, given: dict[str, str]) -> None:
        item = Item(ids=(self._needed(given, tag, "id"),))
        if any(len(outer.ids) == 1 for outer in self.open) or "pid" in given:
            self.notes.add(NESTED)
        self._keep(item, given, ("label", "labels", "start", "end"))

    def _begin_edge(self, tag: str, given: dict[str, str]) -> None:
        directed = given.get("directed", "").strip().lower()
        direction = given.get("type") or (self.default[-1] if self.default else "directed")
        if directed in _TRUTH:
            direction = "directed" if _TRUTH[directed] else "undirected"
        if direction not in ("directed", "undirected", "mutual"):
            direction = "directed"
        ends = (self._needed(given, tag, "source"), self._needed(given, tag, "target"))
        item = Item(ids=ends, direction=cast("Direction", direction))
        if given.get("id"):
            item.data["id"] = given["id"]
        self._keep(item, given, ("label", "kind", "start", "end"))
        if given.get("weight"):
            item.data["weight"] = self._value(_Key(of="edge", name="weight", type="double"), given["weight"])

    def _keep(self, item: Item, given: dict[str, str], names: tuple[str, ...]) -> None:
        item.data.update((name, given[name]) for name in names if given.get(name, "").strip())
        self.open.append(item)

    def _begin_other(self, tag: str, given: dict[str, str]) -> None:
        """Its data are not its node's."""
        if tag == "hyperedge":
            self.notes.add("edges of more than two ends left out")
        self.open.append(Item())

    def _begin_data(self, tag: str, given: dict[str, str]) -> None:
        id_ = given.get("key", "")
        self.key = self.keys.get(id_) or _Key(of="all", name=id_)

    def _begin_value(self, tag: str, given: dict[str, str]) -> None:
        id_ = given.get("for") or given.get("id", "")
        of = "edge" if self.open and len(self.open[-1].ids) == 2 else "node"
        self.key = self.keys.get(f"{of}:{id_}") or _Key(of=of, name=id_)
        self.texts[-1].append(given.get("value", ""))
        if not given.keys().isdisjoint(("start", "end", "timestamp")):
            self.notes.add("values of a time, kept without it")

    def _begin_parent(self, tag: str, given: dict[str, str]) -> None:
        self.notes.add(NESTED)

    def _begin_spell(self, tag: str, given: dict[str, str]) -> None:
        self.notes.add("spans of time of nodes and edges left out")

    def _data(self, text: str) -> None:
        key, self.key = self.key, None
        if key is not None and not key.is_drawing and key.name and text.strip():
            self._data_of(key.name, self._value(key, text))

    def _data_of(self, name: str, value: object) -> None:
        """A value of the node or edge at hand, else of the graph; further ones of the name make a list."""
        data = self.open[-1].data if self.open else self.graph
        held = data.get(name)
        if held is None or held == value:
            data[name] = value
        else:
            values = held if isinstance(held, list) else [held]
            data[name] = values if value in values else [*values, value]

    def _label(self, text: str) -> None:
        data = self.open[-1].data
        if text and "label" in data:
            self.notes.add("further labels of a node or edge left out")
        elif text:
            data["label"] = text

    def _close(self, tag: str) -> None:
        item = self.open.pop()
        if not item.ids:
            return
        for key in self.keys.values():
            if key.default is not None and key.of in (tag, "all"):
                item.data.setdefault(key.name, key.default)
        self.ready.append(item)

    def _value(self, key: _Key, text: str) -> object:
        try:
            return [_typed(item, key.type) for item in _items(text)] if key.is_list else _typed(text, key.type)
        except ValueError:
            kind = "true or false" if key.type == "boolean" else "a number"
            remedy = "Correct the value, or declare its attribute a string."
            raise self._error(f"{key.name!r} is not {kind}", remedy) from None

    def _needed(self, given: dict[str, str], tag: str, name: str) -> str:
        found = given.get(name, "").strip()
        if not found:
            raise self._error(f"{'an' if tag == 'edge' else 'a'} {tag} has no {name}", f"Give each {tag} its {name}.")
        return found

    def _error(self, reason: str, remedy: str) -> IngestError:
        return IngestError(f"{self.name}, line {self.parser.CurrentLineNumber}: {reason}.", remedy=remedy)


_STARTS = {
    "key": _Reader._declare,
    "attributes": _Reader._declare,
    "attribute": _Reader._declare,
    "graph": _Reader._begin_graph,
    "node": _Reader._begin_node,
    "edge": _Reader._begin_edge,
    "hyperedge": _Reader._begin_other,
    "port": _Reader._begin_other,
    "data": _Reader._begin_data,
    "attvalue": _Reader._begin_value,
    "parent": _Reader._begin_parent,
    "spell": _Reader._begin_spell,
}


def _typed(text: str, type_: str) -> Scalar:
    if "_" in text and type_ in _WHOLE | _REAL:
        raise ValueError  # Python reads 1_0 as 10
    if type_ in _WHOLE:
        try:
            return int(text)
        except ValueError:
            return float(text)
    if type_ in _REAL:
        return float(text)
    if type_ == "boolean":
        if text.strip().lower() not in _TRUTH:
            raise ValueError
        return _TRUTH[text.strip().lower()]
    return text


def _items(text: str) -> list[str]:
    """The items of a list: JSON, or parted by |, commas or semicolons, in brackets or not."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = re.split(r"[|,;]", text.strip().strip("[]()"))
    items = found if isinstance(found, list) else [found]
    return [str(item).strip() for item in items if str(item).strip()]
