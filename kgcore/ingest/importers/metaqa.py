"""MetaQA's kb.txt: a film graph, a triple a line, `head|relation|tail`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kgcore.errors import IngestError
from kgcore.ingest.source import DEFAULT_TYPE, GraphParts
from kgcore.names import edge_id
from kgcore.types import Edge, Entity


def read_metaqa(kb: str | Path) -> GraphParts:
    """The graph of a kb.txt: one entity a name, which is its id too; no passages.

    A name is taken as it is written: the genre Drama and the tag drama stay two. Raises IngestError that names the
    line at fault.
    """
    entities: dict[str, Entity] = {}
    edges: dict[str, Edge] = {}
    for source, relation, target in _triples(Path(kb)):
        for name in (source, target):
            if name not in entities:
                entities[name] = Entity(id=name, type=DEFAULT_TYPE, name=name)
        id_ = edge_id(source, relation, None, target, None)
        edges[id_] = Edge(
            id=id_, source_id=source, target_id=target, relation=relation, src_name=source, dst_name=target
        )
    if not edges:
        raise IngestError(f"{Path(kb).name} holds no triple.", remedy="Name MetaQA's kb.txt.")
    return GraphParts(entities=tuple(entities.values()), edges=tuple(edges.values()), chunks=())


def _triples(path: Path) -> Iterator[tuple[str, str, str]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                parts = [part.strip() for part in line.split("|")]
                if len(parts) == 3 and all(parts):
                    yield parts[0], parts[1], parts[2]
                elif line.strip():
                    raise IngestError(
                        f"{path.name}, line {number}: not a triple.", remedy="Give each line as head|relation|tail."
                    )
    except UnicodeDecodeError as error:
        raise IngestError(f"{path.name} is not UTF-8 text.", remedy="Save it as UTF-8.") from error
    except OSError as error:
        raise IngestError(f"{path} cannot be read.", remedy="Name MetaQA's kb.txt.") from error
