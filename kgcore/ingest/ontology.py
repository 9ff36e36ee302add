"""Ontologies from files."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from kgcore.errors import IngestError
from kgcore.types import Ontology

_ADAPTER = TypeAdapter(Ontology)


def read_ontology(path: str | Path) -> Ontology:
    """An ontology from JSON: `entity_types`, `relation_types`, each with name, description. Raises IngestError."""
    try:
        return _ADAPTER.validate_json(Path(path).read_bytes())
    except OSError as error:
        raise IngestError(f"{path} cannot be read.", remedy="Check the path.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise IngestError(f"{Path(path).name}: {where}: {first['msg']}.", remedy="Correct the ontology.") from error
