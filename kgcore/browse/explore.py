"""What steps lead to: the entities and facts of a picture. The same steps lead to the same picture."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from kgcore.browse.near import facts_at, far_end
from kgcore.browse.path import chain, paths_between
from kgcore.browse.steps import LONGEST, MAX_STEPS, Step, is_too_long
from kgcore.errors import ConfigError
from kgcore.filters import AccessFilter
from kgcore.store.protocol import GraphStore
from kgcore.types import HAS_ATTRIBUTE, End, Fact, Vector

MAX_NODES = 400
_PATH = ""
"""What leads to the facts of a path, beside the ids of entities whose growing brought them."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """An entity of the picture, brought by step `since` from `parent_id`.

    `left` counts those of its `end.degree` visible edges that growing would bring: they are not in the picture, in
    sight or not. A `root` was opened, or is on a path.
    """

    end: End
    since: int
    parent_id: str | None = None
    root: bool = False
    grown: bool = False
    pinned: bool = False
    hidden: bool = False
    left: int = 0


@dataclass(frozen=True, kw_only=True)
class Line:
    """A fact of the picture, brought by step `since`, and what it is there by: entities that were grown, or a path."""

    fact: Fact
    since: int
    by: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Explored:
    """A picture. `nodes` are in the order they came in, hidden ones among them, `lines` too.

    `missing` are ids that steps name and that are not visible, whether they exist or not.
    """

    steps: tuple[Step, ...] = ()
    nodes: tuple[Node, ...] = ()
    lines: tuple[Line, ...] = ()
    missing: frozenset[str] = frozenset()

    @property
    def drawn(self) -> dict[str, Node]:
        """The entities that are in sight, by id."""
        return {node.end.id: node for node in self.nodes if not node.hidden}

    @property
    def hidden(self) -> tuple[Node, ...]:
        """Those that were hidden."""
        return tuple(node for node in self.nodes if node.hidden)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts between entities that are in sight; an attribute is there once for each node of its value."""
        drawn = self.drawn
        return tuple(one.fact for one in self.lines if one.fact.source_id in drawn and one.fact.target_id in drawn)

    def without(self, types: Collection[str], relations: Collection[str]) -> Explored:
        """The picture without entities of these types and facts of these relations."""
        return replace(
            self,
            nodes=tuple(node for node in self.nodes if node.end.type not in types),
            lines=tuple(line for line in self.lines if not is_of(line.fact, relations)),
        )


def is_of(fact: Fact, relations: Collection[str]) -> bool:
    """Whether a fact has one of these relations: an attribute has its key and that of all attributes."""
    return fact.relation in relations or (fact.attribute and HAS_ATTRIBUTE in relations)


def edges_at(facts: Iterable[Fact], end: End) -> int:
    """How many visible edges of an entity these facts stand for."""
    here = (fact for fact in facts if end.id in (fact.source_id, fact.target_id))
    return min(end.degree, len({edge_id for fact in here for edge_id in fact.edge_ids}))


def explore(
    store: GraphStore,
    filter: AccessFilter,
    steps: Sequence[Step],
    *,
    vector: Vector | None = None,
    before: Explored | None = None,
) -> Explored:
    """The picture after these steps, going on from `before` where that stands at their beginning.

    `vector` ranks what growing brings, else how connected it is does. A step at what is not there does nothing.
    Raises ConfigError for more steps than `MAX_STEPS` or than a link holds and for more entities than `MAX_NODES`,
    StoreError.
    """
    if len(steps) > MAX_STEPS:
        raise ConfigError(
            f"A picture is made in at most {MAX_STEPS} steps.", remedy="Undo some, or clear it and begin anew."
        )
    if is_too_long(steps):
        raise ConfigError(
            f"The steps of a picture are kept in its link, which holds at most {LONGEST:,} characters of them.",
            remedy="Undo some, or clear it and begin anew.",
        )
    if before is None or before.steps != tuple(steps[: len(before.steps)]):
        before = Explored()
    world = _World(store, filter, vector, before)
    for step in steps[len(before.steps) :]:
        world.take(step)
    return world.explored


class _World:
    """The picture while steps are taken."""

    def __init__(self, store: GraphStore, filter: AccessFilter, vector: Vector | None, before: Explored) -> None:
        self._store = store
        self._filter = filter
        self._vector = vector
        self._steps = list(before.steps)
        self._nodes = {node.end.id: node for node in before.nodes}
        self._lines = {_key(line.fact): line for line in before.lines}
        self._missing = set(before.missing)

    def take(self, step: Step) -> None:
        """One step more."""
        ends = {end.id: end for end in self._store.entities(step.ids, self._filter)}
        self._missing.update(id_ for id_ in step.ids if id_ not in ends)
        if len(ends) == len(set(step.ids)):
            match step.kind:
                case "open":
                    self._add(ends[step.entity_id], root=True)
                case "path":
                    self._draw_path(step.entity_id, step.other_id)
                case "show":
                    self._nodes = {id_: replace(node, hidden=False) for id_, node in self._nodes.items()}
                case _ if step.entity_id in self._nodes:
                    self._change(step)
        self._steps.append(step)
        if len(self._nodes) > MAX_NODES:
            raise ConfigError(
                f"A picture holds at most {MAX_NODES} entities.", remedy="Collapse some, or clear it and begin anew."
            )

    @property
    def explored(self) -> Explored:
        """What stands now."""
        here: dict[str, list[Fact]] = {}
        for line in self._lines.values():
            for end in {line.fact.source_id, line.fact.target_id}:
                here.setdefault(end, []).append(line.fact)
        return Explored(
            steps=tuple(self._steps),
            nodes=tuple(
                replace(node, left=node.end.degree - edges_at(here.get(id_, ()), node.end))
                for id_, node in self._nodes.items()
            ),
            lines=tuple(self._lines.values()),
            missing=frozenset(self._missing),
        )

    def _change(self, step: Step) -> None:
        match step.kind:
            case "grow":
                self._grow(step.entity_id, step.relation)
            case "collapse":
                self._collapse(step.entity_id)
            case "hide":
                self._mark(step.entity_id, hidden=True)
            case "pin" | "unpin":
                self._mark(step.entity_id, pinned=step.kind == "pin")

    def _add(self, end: End, *, root: bool = False, parent_id: str | None = None) -> None:
        """An entity; one that is there already stays, and is seen again if it is opened."""
        if end.id not in self._nodes:
            self._nodes[end.id] = Node(end=end, since=len(self._steps), parent_id=parent_id, root=root)
        elif root:
            self._mark(end.id, root=True, hidden=False)

    def _mark(self, entity_id: str, **marks: bool) -> None:
        self._nodes[entity_id] = replace(self._nodes[entity_id], **marks)  # type: ignore[arg-type]

    def _grow(self, entity_id: str, relation: str) -> None:
        at = [key for key, line in self._lines.items() if entity_id in (line.fact.source_id, line.fact.target_id)]
        for key in at:
            if relation in ("", self._lines[key].fact.relation):
                self._put(self._lines[key].fact, by=entity_id)
        near = facts_at(
            self._store,
            entity_id,
            self._filter,
            exclude=[fact_id for fact_id, _ in at],
            vector=self._vector,
            relations=[relation] if relation else [],
        )
        for fact in near.facts:
            for end in (fact.source_id, fact.target_id):
                self._add(near.ends[end], parent_id=entity_id)
            self._put(fact, by=entity_id)
        self._mark(entity_id, grown=True)

    def _draw_path(self, one: str, other: str) -> None:
        ways = paths_between(self._store, one, other, self._filter)
        chains = [chain(way, one) for way in ways]
        ids = dict.fromkeys(id_ for ids in chains for id_ in ids)
        ends = {end.id: end for end in self._store.entities(list(ids), self._filter)}
        for way, ids_on_it in zip(ways, chains, strict=True):
            for parent_id, id_ in zip((None, *ids_on_it), ids_on_it, strict=False):
                self._add(ends[id_], root=True, parent_id=parent_id)
            for fact in way:
                self._put(fact, by=_PATH)

    def _put(self, fact: Fact, *, by: str) -> None:
        known = self._lines.get(_key(fact), Line(fact=fact, since=len(self._steps), by=frozenset()))
        self._lines[_key(fact)] = replace(known, by=known.by | {by})

    def _collapse(self, entity_id: str) -> None:
        self._mark(entity_id, grown=False)
        lines = {key: replace(line, by=line.by - {entity_id}) for key, line in self._lines.items()}
        stay = {id_ for id_, node in self._nodes.items() if node.root or node.pinned or id_ == entity_id}
        kept = _led_to(stay, lines.values())
        self._nodes = {id_: node for id_, node in self._nodes.items() if id_ in kept}
        lines = {key: replace(line, by=line.by & {_PATH, *kept}) for key, line in lines.items()}
        self._lines = {key: line for key, line in lines.items() if line.by}


def _key(fact: Fact) -> tuple[str, str]:
    """What tells lines apart: an attribute's value has a node a document."""
    return fact.id, fact.target_id


def _led_to(start: set[str], lines: Iterable[Line]) -> set[str]:
    """These entities, and those that growing leads to from them."""
    brought: dict[str, set[str]] = {}
    for line in lines:
        for entity_id in line.by - {_PATH}:
            brought.setdefault(entity_id, set()).add(far_end(line.fact, entity_id))
    reached, front = set(start), list(start)
    while front:
        more = brought.get(front.pop(), set()) - reached
        reached |= more
        front += more
    return reached
