"""Steps: what a person did to the picture, in order. They are all that a link needs to draw it again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["open", "grow", "hide", "collapse", "pin", "path"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MAX_STEPS = 60
LONGEST = 20_000
"""Characters of a link's steps that are read."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing done to one entity.

    `open` draws it; `grow` adds some of its facts, of `relation` alone if that is given; `collapse` takes away what its
    growing brought and nothing else leads to; `hide` takes it out of sight; a `pin` keeps it whatever is collapsed;
    `path` draws the shortest paths to `other_id`.
    """

    kind: Kind
    entity_id: str
    relation: str = ""
    other_id: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The entities that it names."""
        return (self.entity_id, self.other_id) if self.kind == "path" else (self.entity_id,)


def steps_text(steps: Sequence[Step]) -> str:
    """Steps as compact JSON, "" for none: `[["open","a"],["grow","a","USES"]]`."""
    listed = []
    for step in steps:
        more = step.relation or step.other_id
        listed.append([step.kind, step.entity_id, *([more] if more else [])])
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":")) if listed else ""


def read_steps(text: str) -> tuple[Step, ...]:
    """The steps that a link holds; what is none is left out."""
    try:
        listed = json.loads(text) if len(text) <= LONGEST else []
    except (ValueError, RecursionError):
        return ()
    steps = (_step(item) for item in listed) if isinstance(listed, list) else ()
    return tuple(step for step in steps if step is not None)


def _step(item: object) -> Step | None:
    match item:
        case ["path", str(one), str(other)]:
            return Step(kind="path", entity_id=one, other_id=other)
        case ["grow", str(one), str(relation)]:
            return Step(kind="grow", entity_id=one, relation=relation)
        case [kind, str(one)] if kind in KINDS and kind != "path":
            return Step(kind=kind, entity_id=one)
        case _:
            return None
