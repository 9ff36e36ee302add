"""The Ask page on another store than the demo, and on none that can be opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.conftest import Open
from tests.app.test_ask import facts


@pytest.mark.parametrize(
    "address", ["duckdb:///{folder}/missing.duckdb", "duckdb:///{folder}/text.duckdb", "mysql://x"]
)
def test_a_store_that_cannot_be_opened_is_told(
    opened: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str
) -> None:
    (tmp_path / "text.duckdb").write_text("not a database")
    monkeypatch.setenv("HOPSCOPE_STORE", address.format(folder=tmp_path))
    at = opened()
    assert not at.exception
    assert len(at.error) == 1
    assert not at.get("bidi_component")


def test_another_store_has_no_demo_controls(opened: Open, monkeypatch: pytest.MonkeyPatch, own_graph: str) -> None:
    monkeypatch.setenv("HOPSCOPE_STORE", own_graph)
    at = opened()
    assert at.subheader[0].value == "Ask a question or add a seed"
    assert not at.get("menu_button")
    assert "view_as" not in [select.key for select in at.selectbox]
    at.text_input(key="q").set_value("Whom does Adelaide know?")
    assert facts(at.run()) == [("Adelaide", "KNOWS", "Bob")]


def test_a_question_without_a_seed_names_the_nearest(
    opened: Open, monkeypatch: pytest.MonkeyPatch, own_graph: str
) -> None:
    """Without vectors nothing is near by meaning: what begins alike is offered, and one press asks about it."""
    monkeypatch.setenv("HOPSCOPE_STORE", own_graph)
    at = opened(q="Who is Adel?")
    assert not at.exception
    assert r"No entity matches **Who is Adel\?**." in [text.value for text in at.markdown]
    pills = [button for button in at.button if (button.key or "").startswith("about_")]
    assert [pill.label for pill in pills] == ["Adelaide · T · 1 edge"]
    pills[0].click()
    assert facts(at.run()) == [("Adelaide", "KNOWS", "Bob")]
