"""The entities of a picture: how each was first met, and what a person is told about it."""

from __future__ import annotations

from dataclasses import dataclass

from kgcore.types import Alias, Candidate, Seed
from kgcore.viz.aliases import Link, may_be
from kgcore.viz.diff import Diff
from kgcore.viz.frontier import frontier
from kgcore.viz.labels import count, plain
from kgcore.viz.layout import Place
from kgcore.viz.limits import Drawn


@dataclass(frozen=True, kw_only=True)
class Node:
    """An entity as the walk first met it, `reached` in words. `degree` is 0 where it is not known.

    `near` is one that only near misses reach, `left` one that only facts of the run before do. With `alias` it was not
    reached but may be an entity that was, in whose column it stands.
    """

    entity_id: str
    name: str
    type: str
    degree: int
    hop: int
    near: bool
    left: bool
    reached: str
    parent_id: str | None
    alias: Alias | None = None

    @property
    def place(self) -> Place:
        """What it asks of a layout."""
        return Place(entity_id=self.entity_id, column=self.hop, parent_id=self.parent_id)


def nodes_of(shown: Drawn) -> list[Node]:
    """Seeds, then what each hop reached, then what only near misses reach, then what is no longer reached."""
    nodes: dict[str, Node] = {}
    for seed in shown.seeds:
        nodes.setdefault(seed.entity_id, _seed(seed))
    for group in (shown.kept, shown.near, shown.left):
        left = group is shown.left
        for candidate in group:
            for entity_id in _ends(candidate):
                link = shown.links.get(entity_id)
                if entity_id in nodes:
                    continue
                if link is not None and link.left == left:
                    nodes[entity_id] = _alias(link, near=candidate.fate == "beam_cut")
                else:
                    nodes[entity_id] = _met(candidate, entity_id, left=left)
    return list(nodes.values())


def entered_nodes(shown: Drawn, diff: Diff) -> set[str]:
    """Ids of the entities that facts new in the result name, and that the walk before had not reached."""
    before = {seed.entity_id for seed in diff.before.seeds}
    before.update(end for candidate in frontier(diff.before).kept for end in _ends(candidate))
    new = {end for candidate in shown.kept if candidate.fact.id in diff.entered for end in _ends(candidate)}
    return new - before


def node_title(node: Node, diff: Diff | None = None, *, hub: bool, entered: bool) -> str:
    """A tooltip: name, type and degree, how it was reached, what is special."""
    about = [plain(node.type)] if node.type else []
    if node.degree:
        about.append(count(node.degree, "edge"))
    lines = [plain(node.name), " · ".join(about), node.reached]
    if hub:
        lines.append("a hub: it has too many edges to be walked through")
    if entered and diff:
        lines.append(diff.told_entered)
    if node.left and diff:
        lines.append(diff.told_left if diff.sides else "no longer in the result")
    return "\n".join(line for line in lines if line)


def _seed(seed: Seed) -> Node:
    return Node(
        entity_id=seed.entity_id,
        name=seed.name,
        type=seed.type,
        degree=seed.degree,
        hop=0,
        near=False,
        left=False,
        reached=f"seed, found by {seed.found_by} ({seed.score:.2f})",
        parent_id=None,
    )


def _alias(link: Link, *, near: bool) -> Node:
    alias = link.alias
    return Node(
        entity_id=alias.entity_id,
        name=alias.name,
        type=alias.type,
        degree=alias.degree,
        hop=link.hop - 1,
        near=near,
        left=link.left,
        reached=may_be(alias),
        parent_id=alias.of_id,
        alias=alias,
    )


def _met(candidate: Candidate, entity_id: str, *, left: bool) -> Node:
    fact = candidate.fact
    far = entity_id == candidate.entity_id
    return Node(
        entity_id=entity_id,
        name=candidate.entity_name if far else candidate.parent_name,
        type=fact.source_type if entity_id == fact.source_id else fact.target_type,
        degree=candidate.degree if far else 0,
        hop=candidate.hop if far else candidate.hop - 1,
        near=candidate.fate == "beam_cut",
        left=left,
        reached=f"hop {candidate.hop} from {plain(candidate.parent_name)}",
        parent_id=candidate.parent_id if far else None,
    )


def _ends(candidate: Candidate) -> tuple[str, str]:
    return candidate.parent_id, candidate.entity_id
