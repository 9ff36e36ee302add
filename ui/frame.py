"""The frame that a page stands in: which pages there are. `app.py` puts it up."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from ui import identity

_up = False


def put_up(*, signed_in: bool, administrator: bool) -> StreamlitPage:
    """The page that is asked for, under the list of those that its asker may see."""
    global _up
    _up = True
    pages = [
        st.Page("pages/ask.py", title="Ask", url_path="ask", default=True),
        st.Page("pages/tune.py", title="Tune", url_path="tune"),
        st.Page("pages/browse.py", title="Browse", url_path="browse"),
        st.Page("pages/build.py", title="Build", url_path="build"),
        st.Page("pages/query.py", title="Query", url_path="query"),
        # For others there is no such page: not even its address is known.
        *[st.Page("pages/access.py", title="Access", url_path="access")] * administrator,
        st.Page(
            "pages/settings.py",
            title="Settings",
            url_path="settings",
            visibility="visible" if administrator else "hidden",
        ),
    ]
    # Always called: without it Streamlit makes pages of the folder by itself.
    return st.navigation(pages, position="top" if signed_in else "hidden")


def need() -> None:
    """Runs the page again within its frame if it has none.

    Of a server on which nobody has opened `app.py` yet, Streamlit runs the page that is asked for first by itself.
    It must know for that moment what `app.py`, which comes next, will: a page that is not there then is not found.
    """
    if not _up:
        put_up(signed_in=False, administrator=identity.administrates())
        st.rerun()
