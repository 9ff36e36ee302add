"""Access: one question as two principals, and how much of the graph each principal sees. For administrators."""

import streamlit as st

from kgcore import KgError, audit
from kgcore.config import load_config
from ui import access, access_row, frame, identity, resources
from ui.access_row import SIDES
from ui.errors import show_error, try_again
from ui.runs import runs
from ui.visit import visit


def compare() -> None:
    asker = identity.gate(load_config())
    if asker is None:
        return
    if not asker.administrator:
        access.not_found()
        return
    here = visit()
    if here is None:
        return
    template = here.config.locked_filter or audit.open_template(here.graph.store)
    if not template.claims:
        access.one_filter(here)
        return
    known = audit.principals(here.graph.store, template)
    examples = resources.examples() if here.graph.demo else []
    shown = runs().shown
    request = access_row.asked(here, shown.request if shown else None, examples)
    question = access_row.question_row(here, request, examples)
    *sides, place = access_row.sides_row(here, template, known)
    access_row.put_in_link(request)
    a, b = (access.retriever_of(here, template, claims) for claims in sides)
    denied = [side for side, who in zip(SIDES, (a, b), strict=True) if who is None]
    access.remarks(here, place, request, denied=denied)
    if question:
        with st.container(key="access_found", gap="small"):
            try:
                found = access.compared(request, a, b)
                if found:
                    access.show(*found, denied=denied)
            except KgError as error:
                show_error(error)
                try_again()
    access.audit(here, template, known)


frame.need()
try:
    compare()
except KgError as error:
    show_error(error)
    try_again()
