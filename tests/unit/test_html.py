"""A run as one HTML file: it holds the run and its picture, asks for nothing, and no name in it is more than text."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from base64 import b64encode
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from kgcore import IngestError, Retrieval, answered, read_run, run_json
from kgcore.retrieve.export import MAX_PAGE
from kgcore.types import Chunk
from kgcore.viz import evidence_payload, graph_payload, html_of
from kgcore.viz.bundle import STATIC, bundle
from tests.contract.graphs import edge, only
from tests.data.build import JANE, ROOT, graph, offline, retriever

READER = "group:7f3e"
OPEN = {"allowed_principals": (READER,)}
HOSTILE = (
    "</script><script>window.ran=1</script>",
    "<!-- <script> -->",
    "]]>",
    "<img src=x onerror=window.ran=1>",
    "line\u2028and\u2029paragraph",
    "\u202egnirts\u202c\u0000\ufeff",
    "{policy} {0} %s \\u003c \\",
    "'\"`&lt;/script&gt;&amp;",
    '<script type="application/json" id="hopscope-run" data-sha256="' + "0" * 64 + '">{}</script>',
)


class Page(HTMLParser):
    """The elements of a page, in order, each with its attributes and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], str]] = []
        self.odd: list[str] = []
        self.inside = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), ""))
        self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            tag, attributes, text = self.elements[-1]
            self.elements[-1] = tag, attributes, text + data

    def handle_comment(self, data: str) -> None:
        self.odd.append(data)

    def unknown_decl(self, data: str) -> None:
        self.odd.append(data)

    def texts(self, tag: str, **attributes: str) -> list[str]:
        return [text for one, has, text in self.elements if one == tag and attributes.items() <= has.items()]

    @property
    def policy(self) -> dict[str, str]:
        content = next(a["content"] for tag, a, _ in self.elements if tag == "meta" and "http-equiv" in a) or ""
        return dict(part.strip().partition(" ")[::2] for part in content.split(";"))

    def held(self, id: str) -> Any:
        [text] = self.texts("script", id=id, type="application/json")
        return json.loads(text)


def made(names: tuple[str, ...], question: str = JANE, **options: Any) -> Retrieval:
    store = graph(
        edge("e1", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme", properties={**OPEN, "title": names[0]}),
        *(
            edge(f"n{at}", "acme", f"USES {name}", f"n{at}", src="Acme", dst=name, description=name, properties=OPEN)
            for at, name in enumerate(names)
        ),
        edge("h", "acme", "USES", "spy", src="Acme", dst="Spyglass", properties={"allowed_principals": ("board",)}),
        chunks=[
            Chunk(
                id="d1", document_id="d", content=f"Acme uses {'; '.join(names)}.", metadata={**OPEN, "note": names[0]}
            )
        ],
        embedder=offline(),
    )
    locked = only("allowed_principals", "contains_any", [READER])
    search = retriever(store, filters=locked, document_retriever=store.chunks)
    run = search.retrieve(question, max_hops=2, **options)
    store.close()
    assert run.timings
    return run


@pytest.fixture(scope="module")
def plain() -> Retrieval:
    return made(tuple(f"System {at}" for at in range(len(HOSTILE))))


@pytest.fixture(scope="module")
def hostile() -> Retrieval:
    run = made(HOSTILE, question=f"What does Jane Doe use? {HOSTILE[0]} {HOSTILE[1]}", relations=None)
    return answered(run, f"**Helios** {HOSTILE[0]}\n{HOSTILE[8]}")


class TestRun:
    def test_comes_back_byte_for_byte(self, plain: Retrieval, hostile: Retrieval) -> None:
        empty = made(("Helios",), filters=only("title", "==", "none"))
        assert hostile.facts and not empty.facts
        for run in (plain, hostile, empty):
            page = html_of(run)
            assert run_json(read_run(page)) == run_json(run)
            assert html_of(read_run(page)) == page

    @pytest.mark.parametrize(
        "sent",
        [
            lambda page: page.encode(),
            lambda page: page.encode("utf-8-sig"),
            lambda page: page.replace("\n", "\r\n").encode(),
            lambda page: page.replace("<!doctype html>\n", "<!DOCTYPE html>\n<!-- saved from a browser -->\n"),
        ],
    )
    def test_comes_back_however_the_file_was_sent(self, hostile: Retrieval, sent: Callable[[str], str | bytes]) -> None:
        assert read_run(sent(html_of(hostile))) == hostile

    def test_stands_in_it_as_it_is_saved(self, hostile: Retrieval) -> None:
        assert Page(html_of(hostile)).held("hopscope-run") == json.loads(run_json(hostile))

    def test_holds_no_more_than_is_saved(self, plain: Retrieval) -> None:
        page = html_of(plain)
        assert "System 1" in page
        assert READER not in page and "Spyglass" not in page and "allowed_principals" not in page
        assert Page(page).held("hopscope-picture")["evidence"]["trace"]["timings"] == []


class TestPicture:
    @pytest.mark.parametrize("layout", ["columns", "force"])
    def test_is_that_of_the_run_opened_from_its_file(self, hostile: Retrieval, layout: Any) -> None:
        held = Page(html_of(hostile, layout=layout)).held("hopscope-picture")
        opened = read_run(run_json(hostile))
        assert held["graph"] == json.loads(json.dumps(graph_payload(opened, layout=layout)[0]))
        assert held["evidence"] == json.loads(json.dumps(evidence_payload(opened)))
        assert held["run"]["live"] is False

    def test_is_the_same_in_another_process(self, hostile: Retrieval) -> None:
        script = (
            "import sys; from kgcore import read_run; from kgcore.viz import html_of;"
            "sys.stdout.buffer.write(html_of(read_run(sys.stdin.buffer.read())).encode())"
        )
        done = subprocess.run(
            [sys.executable, "-c", script],
            input=run_json(hostile).encode(),
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": "4242"},
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert done.stdout.decode() == html_of(hostile), done.stderr.decode()


class TestText:
    def test_of_a_run_makes_no_element(self, plain: Retrieval, hostile: Retrieval) -> None:
        expected = Page(html_of(answered(plain, "It is Helios.")))
        page = Page(html_of(hostile))
        assert [tag for tag, *_ in page.elements] == [tag for tag, *_ in expected.elements]
        assert [*map(set, (a for _, a, _ in page.elements))] == [*map(set, (a for _, a, _ in expected.elements))]
        assert page.odd == []

    def test_is_all_there(self, hostile: Retrieval) -> None:
        page = Page(html_of(hostile))
        facts = {fact["target"]: fact for fact in page.held("hopscope-picture")["evidence"]["facts"]}
        assert {HOSTILE[0], HOSTILE[3], HOSTILE[7]} <= facts.keys()
        assert HOSTILE[0] in page.texts("title")[0]
        [answer] = page.texts("p", **{"class": "answer"})
        assert answer == hostile.content

    def test_of_data_holds_nothing_that_a_page_reads(self, hostile: Retrieval) -> None:
        page = Page(html_of(hostile))
        for id_ in ("hopscope-run", "hopscope-picture"):
            [text] = page.texts("script", id=id_)
            assert not set(text) & set("<>&\u2028\u2029\u0000")

    def test_with_half_a_character_is_written(self, plain: Retrieval) -> None:
        html_of(answered(plain, "Half \ud800 and \udfff.")).encode()

    def test_says_how_the_run_was_made(self, plain: Retrieval) -> None:
        run = made(("<b>&",), filters=only("title", "==", "<b>&"), relations=["WORKS_AT", "<i>"])
        assert Page(html_of(plain)).texts("bdi")[0].startswith("Max hops 2 · beam auto ")
        shown = Page(html_of(run)).texts("bdi")[0]
        assert "only WORKS_AT, <i>" in shown and '"<b>&"' in shown


class TestPolicy:
    def test_allows_two_hashes_and_nothing_else(self, hostile: Retrieval) -> None:
        page = Page(html_of(hostile))
        [script], [style] = page.texts("script", type="module"), page.texts("style")
        assert page.policy == {
            "default-src": "'none'",
            "script-src": f"'sha256-{_digest(script)}'",
            "style-src": f"'sha256-{_digest(style)}'",
            "base-uri": "'none'",
            "form-action": "'none'",
            "require-trusted-types-for": "'script'",
            "trusted-types": "'none'",
        }

    def test_stands_before_all_that_it_rules(self, plain: Retrieval) -> None:
        tags = [tag for tag, *_ in Page(html_of(plain)).elements]
        assert tags[:4] == ["html", "head", "meta", "meta"]
        assert html_of(plain).encode().find(b"charset") < 100

    def test_rules_what_needs_no_load(self, hostile: Retrieval) -> None:
        page = Page(html_of(hostile))
        for tag, attributes, _ in page.elements:
            assert not {"src", "href", "action", "srcset", "data", "style", "onload"} & attributes.keys(), tag
        [script], [style] = page.texts("script", type="module"), page.texts("style")
        assert not re.search(r"url\(|@import|@font-face", style)
        assert not re.search(
            r"sourceMappingURL|\bimport\s*[({\"']|\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon", script
        )
        assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", script)

    def test_hashes_what_a_browser_reads(self) -> None:
        """It makes one end of line of two, and another character of a null, before it hashes."""
        for text in (bundle("html.js"), *((STATIC / name).read_text() for name in ("component.css", "html.css"))):
            assert not set(text) & set("\r\0") and "</s" not in text and "<!--" not in text and "<script" not in text


class TestBundle:
    def test_holds_the_scripts_that_the_components_are(self) -> None:
        made = bundle("html.js")
        assert not re.search(r"^\s*(?:import|export)\b", made, re.MULTILINE)
        assert not re.search(r"(?<=;)export\b", made)
        for name in ("graph", "evidence", "network", "view", "facts", "trace", "sources"):
            longest = max((STATIC / f"{name}.js").read_text().splitlines(), key=len)
            assert longest in made, name

    def test_puts_a_script_after_what_it_imports(self) -> None:
        made = bundle("graph.js")
        held = [int(at) for at in re.findall(r"^const \$module(\d+) = \(", made, re.MULTILINE)]
        assert held == [*range(len(held))]
        inside = 0
        for holder, taken in re.findall(
            r"^const \$module(\d+) = \(|^const \{.*\} = \$module(\d+);$", made, re.MULTILINE
        ):
            inside = int(holder) if holder else inside
            assert not taken or int(taken) < inside

    def test_leaves_out_styles_for_a_page(self) -> None:
        assert "div.vis-tooltip{" in (STATIC / "vis-network" / "vis-network.min.mjs").read_text()
        assert "div.vis-tooltip{" not in bundle("html.js") and "data:image" not in bundle("html.js")

    def test_keeps_the_licence(self) -> None:
        assert "@license" in bundle("html.js") and "MIT License" in bundle("html.js")

    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_has_the_colours_of_the_app(self, theme: str) -> None:
        css = (STATIC / "html.css").read_text()
        light, dark = css.split("@media (prefers-color-scheme: dark)")
        colours = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"][theme]
        for name, value in colours.items():
            variable = re.sub(r"(?=[A-Z])", "-", name).lower()
            assert f"--st-{variable}: {value}" in {"light": light, "dark": dark}[theme]


class TestRefused:
    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (lambda page: page.replace("System 1", "System 9"), "changed since it was saved"),
            (lambda page: page.replace('"score": 0.', '"score": 1.', 1), "changed since it was saved"),
            (lambda page: page[: page.find("hopscope-run") + 500], "ends before its run"),
            (lambda page: page[:2_000], "holds none"),
            (lambda page: "<!doctype html><title>Mine</title><p>Hello", "holds none"),
            (lambda page: "  \n<html></html>", "holds none"),
            (lambda page: page + page, "more than one"),
            (lambda page: page.replace('id="hopscope-run"', 'id="run"'), "holds none"),
            (lambda page: _with_run(page, "{}"), "content: Field required"),
            (lambda page: _with_run(page, "<b>"), "JSON"),
            (lambda page: "<" + " " * MAX_PAGE, "larger"),
        ],
    )
    def test_with_a_reason_and_a_remedy(self, plain: Retrieval, change: Callable[[str], str], reason: str) -> None:
        text = change(html_of(plain))
        for content in (text, text.encode()):
            with pytest.raises(IngestError, match=reason) as raised:
                read_run(content)
            assert raised.value.remedy and len(str(raised.value)) < 300

    def test_by_the_same_rules_as_json(self, plain: Retrieval) -> None:
        """A run that somebody has changed and hashed again."""
        changed = run_json(plain).replace('"kept"', '"hub"', 1)
        with pytest.raises(IngestError) as alone:
            read_run(changed)
        with pytest.raises(IngestError) as in_page:
            read_run(_with_run(html_of(plain), changed))
        assert str(in_page.value) == str(alone.value)

    @pytest.mark.parametrize("bad", [b"<\xff\xfe\x00", "<\ud800"])
    def test_that_is_no_text(self, bad: Any) -> None:
        with pytest.raises(IngestError):
            read_run(bad)


def _with_run(page: str, text: str) -> str:
    """The page with another run in it, rightly hashed."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    before, rest = page.split('<script type="application/json" id="hopscope-run"')
    after = rest.partition("</script>")[2]
    return f'{before}<script type="application/json" id="hopscope-run" data-sha256="{digest}">{text}</script>{after}'


def _digest(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
