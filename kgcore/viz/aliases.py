"""Aliases as a picture shows them: a "may be" between a reached entity and one that a hop went on from."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from kgcore.types import Alias, Candidate
from kgcore.viz.labels import UNNAMED, plain


@dataclass(frozen=True, kw_only=True)
class Link:
    """An alias from which facts of a picture start, and the `hop` that found them.

    `near` if only near misses start there, `left` if only facts of the run before do.
    """

    alias: Alias
    hop: int
    near: bool
    left: bool

    @property
    def id(self) -> str:
        """Its own among those of facts, which have no space."""
        return f"may be {self.alias.entity_id}"


def links_of(
    candidates: Iterable[Candidate], aliases: Mapping[str, Alias], drawn: Container[str], *, left: bool
) -> dict[str, Link]:
    """A link for each alias from which one of these starts, by its entity id, if the entity that it may be is drawn.

    Near misses come last.
    """
    links: dict[str, Link] = {}
    for candidate in candidates:
        alias = aliases.get(candidate.parent_id)
        if alias is not None and alias.of_id in drawn:
            near = candidate.fate == "beam_cut"
            links.setdefault(alias.entity_id, Link(alias=alias, hop=candidate.hop, near=near, left=left))
    return links


def link_lines(link: Link) -> Iterator[str]:
    """Its tooltip."""
    yield f"{plain(link.alias.of_name) or UNNAMED} ≈ {plain(link.alias.name) or UNNAMED}"
    yield may_be(link.alias)
    yield "left the result" if link.left else f"hop {link.hop} went on from it too"


def may_be(alias: Alias) -> str:
    """Why the walk went on from an alias."""
    return f"may be {plain(alias.of_name) or UNNAMED}: its name is part of that name"
