"""An error as a person meets it: what is wrong, and what to do next."""

from __future__ import annotations

import streamlit as st

from kgcore import KgError
from ui.text import escaped

LONGEST_MESSAGE = 600


def show_error(error: KgError) -> None:
    """One box with the message and its remedy."""
    st.error(f"{escaped(str(error), LONGEST_MESSAGE)} {escaped(error.remedy, LONGEST_MESSAGE)}")


def try_again() -> None:
    """A button that runs the page once more, for what another time may succeed at."""
    st.button("Try again", key="try_again")
