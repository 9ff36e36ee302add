"""Starts the app: the page's frame and the list of pages."""

from pathlib import Path

import streamlit as st

from ui import identity

st.set_page_config(page_title="Hopscope", page_icon="🔭", layout="wide")
st.html(Path(__file__).parent / "static" / "page.css")
pages = [st.Page("pages/ask.py", title="Ask", url_path="ask", default=True)]
allowed = identity.may_run()
# Always called: without it Streamlit makes pages of the folder by itself.
page = st.navigation(pages, position="top" if allowed else "hidden")
if allowed:
    page.run()
