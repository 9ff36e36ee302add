"""An ontology as two tables to edit: the entity types, and the relations with the types that they join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pandas as pd
import streamlit as st

from kgcore.types import EntityType, Ontology, RelationType
from ui.resources import digest

HEIGHT = 212
"""Pixels of an ontology's editor, in either shape."""
_HELD = "ontology_tables"


def edited(ontology: Ontology) -> Ontology:
    """The ontology as its tables are edited to; allowed triples stay as they are.

    The tables keep what they began with while they are edited: given anew after each cell, they would lose their place.
    """
    first, last = st.session_state.get(_HELD, (ontology, ontology))
    if ontology != last:
        first = last = ontology
    left, right = st.columns([2, 3], gap="small")
    with left:
        types = _types(first.entity_types)
    names = [kind.name for kind in types]
    if names != [kind.name for kind in last.entity_types]:  # another choice of types is another table
        first = replace(first, relation_types=last.relation_types)
    with right:
        relations = _relations(first.relation_types, names)
    now = Ontology(entity_types=types, relation_types=relations, triples=ontology.triples)
    st.session_state[_HELD] = first, now
    return now


def _types(kinds: Sequence[EntityType]) -> tuple[EntityType, ...]:
    rows = _rows(
        {"Entity type": [kind.name for kind in kinds], "Description": [kind.description for kind in kinds]},
        f"ontology_types_{_digest(kinds)}",
    )
    return tuple(EntityType(name=_text(row["Entity type"]), description=_text(row["Description"])) for row in rows)


def _relations(kinds: Sequence[RelationType], types: list[str]) -> tuple[RelationType, ...]:
    ends = {end: st.column_config.MultiselectColumn(options=types, help="None: any.") for end in ("From", "To")}
    rows = _rows(
        {
            "Relation": [kind.name for kind in kinds],
            "From": [list(kind.source) for kind in kinds],
            "To": [list(kind.target) for kind in kinds],
            "Description": [kind.description for kind in kinds],
        },
        f"ontology_relations_{_digest(kinds)}_{digest(types)}",
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
        frame, num_rows="dynamic", hide_index=True, height=HEIGHT, key=key, column_config=config, width="stretch"
    )
    first = next(iter(columns))
    return [row for row in found.to_dict("records") if _text(row[first])]


def _digest(kinds: Sequence[EntityType | RelationType]) -> str:
    return digest([asdict(kind) for kind in kinds])


def _text(cell: Any) -> str:
    return cell.strip() if isinstance(cell, str) else ""


def _listed(cell: Any) -> tuple[str, ...]:
    """An empty cell is nothing, which pandas may write as a number."""
    return tuple(map(str, cell)) if pd.api.types.is_list_like(cell) else ()
