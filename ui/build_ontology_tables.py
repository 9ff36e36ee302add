"""An ontology as two tables to edit: the entity types, and the relations with the types that they join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from kgcore.ingest.ontology import write_ontology
from kgcore.types import EntityType, Ontology, RelationType
from ui.resources import digest

_HELD = "ontology_tables"
_HEIGHT = 212


def edited(ontology: Ontology) -> Ontology:
    """The ontology as its tables are edited to; allowed triples stay as they are.

    The tables keep what they began with while they are edited: given anew after each cell, they would lose their place.
    """
    text = write_ontology(ontology)
    first, last = st.session_state.get(_HELD, (ontology, ""))
    if text != last:
        first = ontology
    name = digest(write_ontology(first))
    left, right = st.columns([2, 3], gap="small")
    with left:
        types = _types(first.entity_types, name)
    with right:
        relations = _relations(first.relation_types, [kind.name for kind in types], name)
    now = Ontology(entity_types=types, relation_types=relations, triples=ontology.triples)
    st.session_state[_HELD] = first, write_ontology(now)
    return now


def _types(kinds: Sequence[EntityType], name: str) -> tuple[EntityType, ...]:
    rows = _rows(
        {"Entity type": [kind.name for kind in kinds], "Description": [kind.description for kind in kinds]},
        f"ontology_types_{name}",
    )
    return tuple(EntityType(name=_text(row["Entity type"]), description=_text(row["Description"])) for row in rows)


def _relations(kinds: Sequence[RelationType], types: list[str], name: str) -> tuple[RelationType, ...]:
    ends = {end: st.column_config.MultiselectColumn(options=types, help="None: any.") for end in ("From", "To")}
    rows = _rows(
        {
            "Relation": [kind.name for kind in kinds],
            "From": [list(kind.source) for kind in kinds],
            "To": [list(kind.target) for kind in kinds],
            "Description": [kind.description for kind in kinds],
        },
        f"ontology_relations_{name}",
        ends,
    )
    return tuple(
        RelationType(
            name=_text(row["Relation"]),
            description=_text(row["Description"]),
            source=_listed(row["From"]),
            target=_listed(row["To"]),
        )
        for row in rows
    )


def _rows(columns: dict[str, list[Any]], key: str, config: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Those that have a name, which is in the first column."""
    frame = pd.DataFrame(columns, dtype=object)
    found = st.data_editor(
        frame, num_rows="dynamic", hide_index=True, height=_HEIGHT, key=key, column_config=config, width="stretch"
    )
    first = next(iter(columns))
    return [row for row in found.to_dict("records") if _text(row[first])]


def _text(cell: Any) -> str:
    return cell.strip() if isinstance(cell, str) else ""


def _listed(cell: Any) -> tuple[str, ...]:
    """An empty cell is nothing, which pandas may write as a number."""
    return tuple(str(name) for name in cell) if isinstance(cell, (list, tuple)) or hasattr(cell, "tolist") else ()
