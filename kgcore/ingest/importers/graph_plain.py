"""The nodes and edges of a GML file, or of a JSON file of nodes and links, in its order, as any tool writes them.

GML   graph [ directed 1 node [ id 1 label "A" ] edge [ source 1 target 2 label "knows" ] ]
JSON  {"directed"?, "nodes": [{"id", ...}], "links" or "edges": [{"source", "target", ...}]}
      by networkx and d3; `from` and `to` by vis.js; a node's and edge's values may stand in "data" (Cytoscape, where
      both lists stand in "elements"), "attributes" (Graphology), "metadata" (JSON Graph Format, where all stands in
      "graph" and nodes may be an object by id) or "properties".
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kgcore.errors import IngestError
from kgcore.ingest.importers.cells import text_of
from kgcore.ingest.importers.graph_markup import NESTED, Item
from kgcore.ingest.importers.json_file import check_size, read_json
from kgcore.ingest.source import Notes
from kgcore.text import whole_characters

_TOKEN = re.compile(r'"([^"]*)"|(\[)|(\])|(#[^\r\n]*)|([^\s\[\]"]+)|(")')
_WHOLE = re.compile(r"[+-]?\d{1,4000}")
_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NOT_FINITE = frozenset({"nan", "inf", "infinity"})
_LIST_MARK = "_networkx_list_start"
_LISTS = (("links", "edges", "relationships"), ("source", "from"), ("target", "to"))
_INNER = ("data", "attributes", "metadata", "properties")


def gml_items(path: Path, notes: Notes) -> Iterator[Item]:
    """What a GML file holds. Raises IngestError that names the file and the line."""
    for graph in _Gml(path.name, _text(path)).graphs():
        direction = graph.get("directed") == 1
        for kind in ("node", "edge"):
            for number, values in enumerate(_listed(graph.get(kind)), 1):
                where = f"{path.name}, {kind} {number}"
                if not isinstance(values, dict):
                    raise _fault(where, "it is no list of values", f"Write {kind} [ ... ].")
                values = {name: _unlisted(value) for name, value in values.items()}
                drawn = values.pop("LabelGraphics", None)
                if isinstance(drawn, dict) and "label" not in values:
                    values["label"] = drawn.get("text")
                values.pop("graphics", None)
                if kind == "node" and "gid" in values:
                    notes.add(NESTED)
                    values.pop("gid")
                item = _item(values, where, (("id",),) if kind == "node" else (("source",), ("target",)))
                item.direction = "directed" if direction else "undirected"
                yield item
        own = ("node", "edge", "directed", "multigraph", "hierarchic")
        yield Item(data={name: _unlisted(value) for name, value in graph.items() if name not in own})


def json_items(path: Path, notes: Notes) -> Iterator[Item]:
    """What a JSON file holds. Raises IngestError that names the file, and the line, the node or the edge."""
    found = read_json(path)
    graphs = found.get("graphs") if isinstance(found, dict) else None
    several = graphs if isinstance(graphs, list) else [found]
    for graph in several:
        yield from _json_graph(path.name, graph)


class _Gml:
    """A file as nested lists of values by key; a key that comes more than once has a list of them."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.spanning = -1

    def graphs(self) -> list[dict[str, Any]]:
        top: dict[str, Any] = {}
        stack: list[tuple[dict[str, Any], int]] = [(top, 0)]
        key: str | None = None
        for token in _TOKEN.finditer(self.text):
            string, opened, closed, comment, word, quote = token.groups()
            at = token.start()
            if string is not None and "\n" in string:
                self.spanning = at
            if comment is not None:
                continue
            if quote is not None:
                raise self._error(at, "a quotation mark that does not close")
            if key is None:
                if word is not None:
                    key = word
                elif closed is not None and len(stack) > 1:
                    stack.pop()
                else:
                    raise self._error(at, f"a name is expected, not {_shown(token.group())}")
                continue
            if closed is not None:
                raise self._error(at, f"{_shown(key)} has no value")
            values: dict[str, Any] = {}
            value = html.unescape(string) if string is not None else _number(word)
            _add(stack[-1][0], key, values if opened else value)
            if opened:
                stack.append((values, at))
            key = None
        if len(stack) > 1:
            raise self._error(stack[-1][1], "a [ that does not close")
        if key is not None:
            raise self._error(len(self.text), f"{_shown(key)} has no value")
        found = [graph for graph in _listed(top.get("graph")) if isinstance(graph, dict)]
        if not found:
            raise IngestError(f"{self.name} has no graph [ ... ].", remedy="Name a GML file.")
        return found

    def _error(self, at: int, reason: str) -> IngestError:
        if self.spanning >= 0:
            reason += f"; or a quotation mark of line {self._line(self.spanning)} does not close"
        return IngestError(
            f"{self.name}, line {self._line(at)}: {reason}.", remedy="Write it again with the tool that made it."
        )

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1


def _add(values: dict[str, Any], key: str, value: Any) -> None:
    """No value of GML is a list, so that one tells a key that came before."""
    held = values.get(key)
    if isinstance(held, list):
        held.append(value)
    else:
        values[key] = value if held is None else [held, value]


def _number(word: str | None) -> object:
    if word is None:
        return None
    if _WHOLE.fullmatch(word):
        return int(word)
    if _REAL.fullmatch(word) or word.lstrip("+-").lower() in _NOT_FINITE:
        return float(word)
    return word


def _unlisted(value: Any) -> Any:
    """Networkx writes an empty list as a text, and marks that of one item."""
    if isinstance(value, list):
        return [item for item in value if item != _LIST_MARK]
    return None if value in ("[]", "()") else value


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _shown(text: str) -> str:
    return repr(text if len(text) < 40 else f"{text[:39]}…")


def _text(path: Path) -> str:
    check_size(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise IngestError(f"{path.name} cannot be read ({error.strerror}).", remedy="Name a readable file.") from error
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].decode(encoding, "ignore").count("\n") + 1
        kind = encoding.removesuffix("-sig").upper()
        raise _fault(f"{path.name}, line {line}", f"not {kind} text", "Save the file as UTF-8.") from error


def _json_graph(name: str, found: Any) -> Iterator[Item]:
    graph = found
    for outer in ("graph", "elements"):
        inner = graph.get(outer) if isinstance(graph, dict) and "nodes" not in graph else None
        if outer == "elements" and isinstance(inner, list):
            inner = _elements(inner)
        graph = inner if isinstance(inner, dict) else graph
    nodes = _given(graph, ("nodes",))
    edges = _given(graph, _LISTS[0])
    if nodes is None and edges is None:
        raise IngestError(
            f'{name} has no lists of "nodes" and "links" or "edges".',
            remedy='Write {"nodes": [{"id": ...}], "links": [{"source": ..., "target": ...}]}.',
        )
    if isinstance(nodes, dict):
        nodes = [{"id": id_, **(node if isinstance(node, dict) else {})} for id_, node in nodes.items()]
    nodes, edges = _listed(nodes), _listed(edges)
    ids = []
    for number, node in enumerate(nodes):
        item = _node(name, number, node)
        ids.append(item.ids[0])
        yield item
    links = [_item(_flat(edge), f"{name}, edge {number}", _LISTS[1:]) for number, edge in enumerate(edges, 1)]
    if _by_place(ids, links):
        for link in links:
            link.ids = tuple(ids[int(end)] for end in link.ids)
    whole = _direction(found, _direction(graph, True))
    for link in links:
        key = link.data.get("key")
        if isinstance(key, int):
            del link.data["key"]  # networkx numbers parallel edges
        link.direction = "directed" if _direction(link.data, whole) else "undirected"
        for said in ("directed", "undirected"):
            if isinstance(link.data.get(said), bool):
                del link.data[said]
        yield link
    yield Item(data=_about(found))


def _given(graph: Any, names: Sequence[str]) -> Any:
    for name in names:
        if isinstance(graph, dict) and isinstance(graph.get(name), list | dict):
            return graph[name]
    return None


def _elements(elements: list[Any]) -> dict[str, Any]:
    """Cytoscape's one list of both: what has a source is an edge."""
    both: dict[str, Any] = {"nodes": [], "edges": []}
    for element in elements:
        values = element.get("data") if isinstance(element, dict) else None
        both["edges" if isinstance(values, dict) and "source" in values else "nodes"].append(element)
    return both


def _node(name: str, number: int, node: Any) -> Item:
    """A node may be its id alone, and without an id it is its place in the list."""
    if not isinstance(node, dict | str | int | float):
        raise _fault(f"{name}, node {number + 1}", "it is no object", 'Write each node as {"id": ...}.')
    values = _flat(node) if isinstance(node, dict) else {"id": node}
    if all(text_of(values.get(key)) is None for key in ("id", "key")):
        values["id"] = number
    return _item(values, f"{name}, node {number + 1}", (("id", "key"),))


def _flat(values: Any) -> dict[str, Any]:
    """A node or edge with what stands in an object inside it; its own values win."""
    if not isinstance(values, dict):
        return {}
    inner = {name: values[name] for name in _INNER if isinstance(values.get(name), dict)}
    flat = {key: value for name in inner for key, value in inner[name].items()}
    flat |= {key: value for key, value in values.items() if key not in inner and key != "position"}
    return {whole_characters(key): value for key, value in flat.items()}


def _item(values: dict[str, Any], where: str, roles: Sequence[Sequence[str]]) -> Item:
    ids = []
    for names in roles:
        name = next((name for name in names if text_of(_reference(values.get(name))) is not None), None)
        if name is None:
            what = names[0]
            raise _fault(where, f"it has no {what}", f"Give each {'node' if what == 'id' else 'edge'} its {what}.")
        ids.append(str(text_of(_reference(values.pop(name)))))
    return Item(ids=tuple(ids), data=values)


def _reference(value: Any) -> Any:
    """Libraries that draw a graph put a node itself where its id was."""
    return value.get("id") if isinstance(value, dict) else value


def _by_place(ids: Sequence[str], links: Sequence[Item]) -> bool:
    """Whether links name nodes by their place in the list, as old files of networkx and d3 do."""
    ends = {end for link in links for end in link.ids}
    known = set(ids)
    return not ends <= known and all(end.isascii() and end.isdigit() and int(end[:12]) < len(ids) for end in ends)


def _direction(values: Any, otherwise: bool) -> bool:
    if not isinstance(values, dict):
        return otherwise
    given = values.get("directed")
    if isinstance(given, bool):
        return given
    return not values["undirected"] if isinstance(values.get("undirected"), bool) else otherwise


def _about(found: Any) -> dict[str, object]:
    """What a file says of the whole graph."""
    about: dict[str, object] = {}
    for values in (found, found.get("graph")) if isinstance(found, dict) else ():
        if isinstance(values, dict):
            for name in ("data", "attributes", "metadata"):
                about |= values[name] if isinstance(values.get(name), dict) else {}
            about |= {name: values[name] for name in ("name", "label", "title", "description") if name in values}
    graph = found.get("graph") if isinstance(found, dict) else None
    if isinstance(graph, dict) and "nodes" not in graph:
        about |= {name: value for name, value in graph.items() if not isinstance(value, dict | list)}
    return about


def _fault(where: str, reason: str, remedy: str) -> IngestError:
    return IngestError(f"{where}: {reason}.", remedy=remedy)
