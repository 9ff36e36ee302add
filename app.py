"""Starts the app: the page's frame and the list of pages."""

from pathlib import Path

import streamlit as st

from kgcore import KgError
from kgcore.config import load_config
from ui import identity
from ui.errors import show_error
from ui.identity import Asker


def asker() -> Asker | None:
    if not identity.may_run():
        return None
    try:
        return identity.gate(load_config())
    except KgError as error:
        show_error(error)
        return None


st.set_page_config(page_title="Hopscope", page_icon="🔭", layout="wide")
st.html(Path(__file__).parent / "static" / "page.css")
who = asker()
ask = st.Page("pages/ask.py", title="Ask", url_path="ask", default=True)
tune = st.Page("pages/tune.py", title="Tune", url_path="tune")
settings = st.Page(
    "pages/settings.py",
    title="Settings",
    url_path="settings",
    visibility="visible" if who and who.administrator else "hidden",
)
# Always called: without it Streamlit makes pages of the folder by itself.
page = st.navigation([ask, tune, settings], position="top" if who else "hidden")
if who:
    page.run()
