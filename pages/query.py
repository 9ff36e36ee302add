"""Query: read-only Cypher over what the asker may see."""

import streamlit as st

from kgcore import KgError
from ui import frame, query
from ui.errors import show_error, try_again
from ui.query_panes import editor, show_answer, show_schema, tools_row
from ui.visit import visit


def ask() -> None:
    here = visit()
    if here is None:
        return
    caller = tools_row(here)
    left, right = st.columns([64, 36], gap="medium")
    with left:
        editor()
        query.answer(here)
        show_answer(here)
    with right:
        schema = query.schema(here, caller)
        if schema is not None:
            show_schema(schema, query.examples(here, caller))


frame.need()
try:
    ask()
except KgError as error:
    show_error(error)
    try_again()
