"""Starts the app: the page's frame and the list of pages."""

from pathlib import Path

import streamlit as st

from kgcore import KgError
from kgcore.config import load_config
from ui import frame, identity
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
page = frame.put_up(signed_in=who is not None, administrator=who is not None and who.administrator)
if who:
    page.run()
