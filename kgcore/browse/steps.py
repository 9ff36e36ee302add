"""Steps: what a person did to the picture, in order. They are all that a link needs to draw it again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import quote

from kgcore.names import is_unicode

Kind = Literal["open", "grow", "hide", "show", "collapse", "pin", "unpin", "path", "tidy"]
KINDS: tuple[Kind, ...] = get_args(Kind)
OF_ALL: tuple[Kind, ...] = ("show", "tidy")
"""What is done to the whole picture."""

MAX_STEPS = 60
LONGEST = 32_000
"""Characters of steps as a link writes them: servers refuse links that are about twice as long."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing done to one entity, or to the whole picture.

    `open` draws it; `grow` adds some of its facts, of `relation` alone if that is given; `collapse` takes away what its
    growing brought and nothing else leads to; `hide` takes it out of sight until `show`, which is of all that is
    hidden; a `pin` keeps it whatever is collapsed, until `unpin`; `path` draws the shortest paths to `other_id`; `tidy`
    lays the whole out anew.
    """

    kind: Kind
    entity_id: str = ""
    relation: str = ""
    other_id: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The entities that it names."""
        if self.kind in OF_ALL:
            return ()
        return (self.entity_id, self.other_id) if self.kind == "path" else (self.entity_id,)


def steps_text(steps: Sequence[Step]) -> str:
    """Steps as compact JSON, "" for none: `[["open","a"],["grow","a","USES"],["tidy"]]`."""
    listed = []
    for step in steps:
        more = step.relation or step.other_id
        listed.append([step.kind] if step.kind in OF_ALL else [step.kind, step.entity_id, *([more] if more else [])])
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":")) if listed else ""


def is_too_long(steps: Sequence[Step]) -> bool:
    """Whether a link cannot hold them."""
    return len(quote(steps_text(steps), safe="", errors="replace")) > LONGEST


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
        case [*parts] if not all(isinstance(part, str) and is_unicode(part) for part in parts):
            return None
        case ["path", str(one), str(other)]:
            return Step(kind="path", entity_id=one, other_id=other)
        case ["grow", str(one), str(relation)]:
            return Step(kind="grow", entity_id=one, relation=relation)
        case [kind] if kind in OF_ALL:
            return Step(kind=kind)
        case [kind, str(one)] if kind in KINDS and kind not in (*OF_ALL, "path"):
            return Step(kind=kind, entity_id=one)
        case _:
            return None
