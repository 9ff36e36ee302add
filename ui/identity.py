"""Who is asking, and so which filter is locked. It is never in the link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

DEMO_GROUPS = ("finance", "public")
_KEY = "view_as"


def locked_filter(*, demo: bool) -> dict[str, Any] | None:
    """What this person may see: on the demo what the chosen group may, elsewhere everything."""
    if not demo:
        return None
    group = st.session_state.get(_KEY, DEMO_GROUPS[0])
    return {"field": "allowed_principals", "operator": "contains_any", "value": [f"group:{group}"]}


def view_as(on_change: Callable[[], None]) -> None:
    """The demo's choice of a group to look through the eyes of."""
    st.selectbox(
        "View as",
        DEMO_GROUPS,
        format_func=lambda group: f"View as: {group}",
        key=_KEY,
        on_change=on_change,
        persist_state="session",
        label_visibility="collapsed",
        width=170,
    )
