"""Bad files on their whole way: named with line, reason and remedy, and a store that stays as it was.

What each family says of its own faults is in `test_import_*.py` and `test_texts.py`; here stands what all share.
"""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kgcore import IngestError, open_store
from kgcore.__main__ import app
from kgcore.filters import WHOLE
from kgcore.ingest.importers import open_source
from kgcore.ingest.reading import read_path
from kgcore.ingest.source import Notes
from kgcore.ingest.texts import texts_of
from kgcore.store import GraphStore
from tests.contract.graphs import OPEN, everything, write_world

LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>\n'
CYCLE = '<!DOCTYPE x [<!ENTITY a "&b;"><!ENTITY b "&a;">]>\n'
OUTSIDE = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/hostname">]>\n'
GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph><node id="{}"/></graph></graphml>'
ROWS = "".join(f"Ann {n},knows,Bo {n}\n" for n in range(45_000))

BAD: dict[str, tuple[str | bytes, str]] = {
    "binary.csv": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not text"),
    "binary.dat": (bytes(range(256)) * 40, "no graph that can be imported"),
    "binary.graphml": (b"\x1f\x8b\x08\0" * 99, "no graph that can be imported"),
    "binary.parquet": (b"PAR1" + b"\0" * 99 + b"PAR1", "no graph that can be imported"),
    "nothing.csv": (b"", "empty"),
    "nothing.jsonl": (b"", "empty"),
    "nothing.graphml": (b"", "no graph that can be imported"),
    "nothing": (b"", "no graph that can be imported"),
    "blank.tsv": ("\ufeff\n \r\n", "empty"),
    "wide.csv": ("a,knows,b\n".encode("utf-16-le"), "UTF-16 without its byte order mark"),
    "cut.csv": ("a,knows,b\n".encode("utf-16")[:-1], "line 1: not UTF-16"),
    "latin.csv": (b"Ann,knows,Bo\nZo\xeb,knows,Bo\n", "line 2: not UTF-8"),
    "words.csv": ("Ann knows Bo\n" * 9, "line 1: no columns"),
    "colons.csv": ("Ann:knows:Bo\n" * 9, "line 1: no columns"),
    "quotes.csv": ("source,relation,target\n" + ROWS + 'Ann,knows,"Bo\n' + ROWS[:900], "line 45002: "),
    "late.csv": ("source,relation,target\n" + ROWS + "x" * 1_100_000, "line 45002: longer than 1,000,000"),
    "late.jsonl": ('{"source": "a", "relation": "r", "target": "b"}\n' * 300 + '{"source": ', "line 301: not JSON"),
    "deep.jsonl": ('{"source": "a", "relation": "r", "target": ' + "[" * 200_000, "line 1: not JSON"),
    "deep.json": ('{"nodes": [' + '{"a": ' * 200_000, "deep.json"),
    "deep.gml": ("graph [ node [ id 1 " + "a [ " * 200_000, "deep.gml"),
    "cut.json": ('{"nodes": [{"id": 1}], "links": [{"source": 1,', "cut.json, line 1"),
    "cut.graphml": (GRAPHML.format("a")[:-20], "cut.graphml, line 1"),
    "laughs.graphml": (LAUGHS + GRAPHML.format("&b;"), "laughs.graphml, line 1"),
    "cycle.graphml": (CYCLE + GRAPHML.format("&a;"), "cycle.graphml, line 1"),
    "outside.graphml": (OUTSIDE + GRAPHML.format("&f;"), "outside.graphml, line 1"),
    "bare.graphml": ("<!DOCTYPE graphml>\n" + GRAPHML.format("a"), "bare.graphml, line 1"),
    "laughs.gexf": (LAUGHS + "<gexf><graph><nodes><node id='&b;'/></nodes></graph></gexf>", "laughs.gexf, line 1"),
}  # fmt: skip


@pytest.fixture(scope="module")
def store() -> Iterator[GraphStore]:
    """A graph that no bad file may change."""
    opened = open_store("duckdb:///:memory:", create=True, access_fields=())
    write_world(opened)
    yield opened
    opened.close()


def refused(path: Path, attempt: Callable[[], object]) -> str:
    """What is said of a bad file: it names the file, and has a remedy."""
    with pytest.raises(IngestError) as caught:
        attempt()
    said = str(caught.value)
    assert path.name in said and said.endswith(".") and caught.value.remedy.endswith(".")
    assert len(said) < 500 and "Traceback" not in said
    return said


def made(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("doing", ["plan", "write"])
def test_a_store_stays_as_it_was(store: GraphStore, tmp_path: Path, name: str, doing: str) -> None:
    content, fault = BAD[name]
    path = made(tmp_path, name, content)
    before = everything(store, OPEN), store.describe(WHOLE)

    def attempt() -> None:
        reading = read_path(path, ("allowed_principals",))
        getattr(reading, doing)(store)

    assert fault in refused(path, attempt)
    assert (everything(store, OPEN), store.describe(WHOLE)) == before
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["nothing.csv", "wide.csv", "quotes.csv", "late.csv", "laughs.graphml", "binary.dat"])
def test_the_command_makes_no_file(tmp_path: Path, name: str) -> None:
    content, fault = BAD[name]
    path, file = made(tmp_path, name, content), tmp_path / "new.duckdb"
    command = ["import", str(path), "--store", f"duckdb:///{file}", "--no-vectors"]
    done = CliRunner().invoke(app, command)
    assert isinstance(done.exception, IngestError) and fault in str(done.exception)
    assert [each.name for each in tmp_path.iterdir()] == [name]
    open_store(f"duckdb:///{file}", create=True).close()
    assert CliRunner().invoke(app, command).exit_code == 1
    assert file.exists()  # it was there before
    with_graph = open_store(f"duckdb:///{file}")
    assert with_graph.describe(WHOLE).edges == 0
    with_graph.close()


def folder_of(folder: Path, **files: str | bytes) -> Path:
    given: dict[str, str | bytes] = {
        "passages": '{"id": "p1", "text": "Ann knows Bo."}\n',
        "triples": '{"passage": "p1", "triple": ["Ann", "knows", "Bo"]}\n',
        **files,
    }
    folder.mkdir()
    for name, content in given.items():
        made(folder, f"{name}.jsonl", content)
    return folder


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b'{"id": "p1", "text": "Ann"}\n{"id": "p2", "text": "\xe9"}\n', "passages.jsonl, line 2: not UTF-8 text"),
        (b"\x89PNG\0\0", "passages.jsonl is not text"),
        ('{"id": "p1", "text": "Ann"}\n'.encode("utf-16-be"), "UTF-16 without its byte order mark"),
        ('{"id": "p1", "text": "Ann"}\n["p2"]', "passages.jsonl, line 2: not a JSON object"),
    ],
)  # fmt: skip
def test_a_folder_with_a_bad_file(store: GraphStore, tmp_path: Path, content: str | bytes, fault: str) -> None:
    folder = folder_of(tmp_path / "graph", passages=content)
    before = store.describe(WHOLE)
    said = refused(Path("passages.jsonl"), lambda: read_path(folder, ()).write(store))
    assert fault in said and store.describe(WHOLE) == before


def test_a_folder_in_utf16_is_read(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "graph", passages='{"id": "p1", "text": "Zoë"}\n'.encode("utf-16"))
    [part] = open_source(folder).parts(Notes())
    assert part.chunks[0].content == "Zoë"


@pytest.mark.parametrize("name", ["triples", "passages"])
def test_a_line_of_200_mb_in_a_folder_is_not_read(tmp_path: Path, name: str) -> None:
    """Nor held in memory: its first ten million characters are enough to refuse it."""
    folder = folder_of(tmp_path / "graph")
    path = folder / f"{name}.jsonl"
    with path.open("ab") as out:
        out.write(b'{"text": "')
        for _ in range(200):
            out.write(b"x" * 2**20)
    tracemalloc.start()
    try:
        said = refused(path, lambda: [*open_source(folder).parts(Notes())])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert f"{name}.jsonl, line 2: longer than 10,000,000 characters" in said and peak < 100 * 2**20


def test_ids_that_climb_are_only_names(store: GraphStore, tmp_path: Path) -> None:
    climbing = "../../../etc/cron.d/x"
    folder = folder_of(
        tmp_path / "graph",
        passages=json.dumps({"id": climbing, "document": "/etc/passwd", "text": "Ann knows Bo."}),
        triples=json.dumps({"passage": climbing, "triple": ["../Ann", "knows", "C:\\Bo"]}),
    )
    file = tmp_path / "new.duckdb"
    done = CliRunner().invoke(app, ["import", str(folder), "--store", f"duckdb:///{file}", "--no-vectors"])
    assert done.exit_code == 0
    assert {each.name for each in tmp_path.iterdir()} == {"graph", "new.duckdb"}
    with_graph = open_store(f"duckdb:///{file}")
    assert [document.id for document in with_graph.documents(WHOLE)] == ["/etc/passwd"]
    assert [edge.source_doc_id for edge in with_graph.scan(WHOLE, None).edges] == [climbing]
    with_graph.close()


def bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("word/document.xml", b" " * 60_000_000)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("bomb.docx", bomb(), "unpacks to far more"),
        ("in/bomb.docx", bomb(), "unpacks to far more"),
        ("in/empty.txt", b"", "empty"),
        ("in/wide.md", "Ann".encode("utf-16-le"), "line 1, byte 2: binary, or UTF-16 without"),
        ("in/rows.csv", b'a,b\n1,2\n3,"4\n', "line 3: "),
        ("in/deep.jsonl", b'{"text": ' + b"[" * 200_000, "line 1: not JSON"),
    ],
)  # fmt: skip
def test_a_folder_of_documents_names_the_one_at_fault(tmp_path: Path, name: str, content: bytes, fault: str) -> None:
    folder = tmp_path / "texts"
    (folder / "in").mkdir(parents=True)
    (folder / "good.txt").write_text("Ann knows Bo.")
    path = made(folder, name, content)
    said = refused(path, lambda: [*texts_of(folder, Notes())])
    assert said.startswith(name) and fault in said
    assert path.read_bytes() == content


@pytest.mark.parametrize("name", ["laughs.docx", "cycle.docx"])
def test_entities_in_a_word_document_are_refused(tmp_path: Path, name: str) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        opening, entity = (LAUGHS, "&b;") if name == "laughs.docx" else (CYCLE, "&a;")
        zipped.writestr("word/document.xml", f"{opening}<w><t>{entity}</t></w>")
    path = made(tmp_path, name, file.getvalue())
    assert "word/document.xml, line 1: a document type (DTD)" in refused(path, lambda: [*texts_of(path, Notes())])
