"""Ask's "Why not?": what is missing, the step that left it out, and the button that brings it in."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.app.conftest import Open
from tests.app.test_ask import QUESTION, drawn


def asked(opened: Open, **link: Any) -> AppTest:
    at = opened(q=QUESTION, **link)
    at.session_state["why_popover"] = True
    return at.run()


def facts(at: AppTest) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = drawn(at, "evidence")["evidence"]["facts"]
    return found


def said(at: AppTest) -> str:
    return "\n".join(text.value for text in at.markdown)


def missed(at: AppTest) -> dict[str, Any]:
    """The best fact of the last hop that the beam cut."""
    cut = drawn(at, "evidence")["evidence"]["near"]
    return max(cut, key=lambda fact: (fact["hop"], -fact["beam"]))


def pick(at: AppTest, name: str) -> AppTest:
    at.text_input(key="why_search").set_value(name)
    at = at.run()
    at.button(key="why_0").click()
    return at.run()


def test_what_the_beam_cut_enters_at_the_width_that_is_offered(opened: Open) -> None:
    at = asked(opened, hops="2", beam="1", auto="false")
    near = missed(at)
    known = {name for fact in facts(at) for name in (fact["source"], fact["target"])}
    name = near["target"] if near["target"] not in known else near["source"]
    assert name not in known
    at = pick(at, name)
    assert not at.exception and "The smallest beam that keeps it is" in said(at)
    width = int(at.button(key="why_beam").label.split()[-1])
    assert f"Cut at hop {near['hop']}" in said(at) and width > 1
    assert at.query_params["why"]
    at.button(key="why_beam").click()
    at = at.run()
    assert at.number_input(key="beam").value == width
    assert name in {name for fact in facts(at) for name in (fact["source"], fact["target"])}
    assert "It is in the result" in said(at)


def test_what_is_hidden_reads_as_what_does_not_exist(opened: Open) -> None:
    told = []
    for entity in ("no-such-entity", "__nobody__"):
        at = asked(opened, why=entity)
        told.append((said(at), [button.key for button in at.button]))
    assert told[0] == told[1] and r"not in the graph as you see it" in told[0][0]


def test_an_own_filter_is_named_and_can_be_cleared(opened: Open) -> None:
    whole = asked(opened, hops="1")
    name = facts(whole)[0]["target"]
    at = asked(opened, hops="1", filter='{"field": "year", "operator": "==", "value": 1900}')
    at = pick(at, name)
    assert r"Your own filter drops it\: year \=\= 1900" in said(at)
    at.button(key="why_filter").click()
    assert facts(at.run())


def test_no_path_says_how_far_it_is(opened: Open) -> None:
    far = asked(opened, hops="3", k="60")
    near = asked(opened, hops="1", k="60")
    known = {name for fact in facts(near) for name in (fact["source"], fact["target"])}
    ends = [
        (fact["hop"], name) for fact in facts(far) for name in (fact["source"], fact["target"]) if name not in known
    ]
    at = pick(asked(opened, hops="1", k="60"), next(name for hop, name in ends if hop == 2))
    assert "No path of up to 1 hop leads to it" in said(at) and "The shortest has 2" in said(at)
    at.button(key="why_hops").click()
    assert at.run().segmented_control(key="hops").value == 2
