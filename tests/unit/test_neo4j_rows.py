"""Rows of what another deletes while it is read."""

from __future__ import annotations

import pytest

from kgcore.store.neo4j_rows import standing

WHOLE = ["a", "b", "R", "A", "B", {"id": "e1"}, None]


@pytest.mark.parametrize(
    ("edge", "stands"),
    [
        (WHOLE, True),
        ([*WHOLE[:2], None, *WHOLE[3:]], False),
        ([*WHOLE[:5], {}, None], False),
        ([*WHOLE[:5], {}, None, "element"], True),
        ([*WHOLE[:3], None, "B", {}, None, "element"], False),
    ],
    ids=["own", "without its relation", "without its properties", "foreign", "foreign without a name"],
)
def test_an_edge_that_is_no_longer_whole_is_left_out(edge: list[object], stands: bool) -> None:
    assert len(standing([[edge]], 0)) == stands
