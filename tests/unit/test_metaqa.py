"""MetaQA's kb.txt as a graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgcore import IngestError
from kgcore.ingest.importers.metaqa import read_metaqa
from kgcore.names import edge_id

KB = "Kismet|directed_by|William Dieterle\nKismet|has_genre|Drama\nKismet|has_tags|drama\nKismet|has_genre|Drama\n"


def kb(folder: Path, content: str | bytes) -> Path:
    path = folder / "kb.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_name_is_an_entity_and_its_id(tmp_path: Path) -> None:
    found = read_metaqa(kb(tmp_path, KB))
    assert [(e.id, e.name, e.type) for e in found.entities] == [
        (name, name, "Entity") for name in ("Kismet", "William Dieterle", "Drama", "drama")
    ]
    assert [(e.source_id, e.relation, e.target_id, e.src_name, e.dst_name) for e in found.edges] == [
        ("Kismet", "directed_by", "William Dieterle", "Kismet", "William Dieterle"),
        ("Kismet", "has_genre", "Drama", "Kismet", "Drama"),
        ("Kismet", "has_tags", "drama", "Kismet", "drama"),
    ]
    assert found.edges[0].id == edge_id("Kismet", "directed_by", None, "William Dieterle", None)
    assert {e.source_doc_id for e in found.edges} == {None} and found.chunks == ()


def test_blank_lines_a_byte_order_mark_and_other_line_ends_are_no_trouble(tmp_path: Path) -> None:
    found = read_metaqa(kb(tmp_path, b"\xef\xbb\xbf$|written_by|Ann\r\n\r\n'71|written_by|Bo\r\n"))
    assert [e.id for e in found.entities] == ["$", "Ann", "'71", "Bo"]


@pytest.mark.parametrize("line", ["a|b", "a|b|", "|b|c", "a|b|c|d", '{"a": 1}'])
def test_a_line_that_is_no_triple_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(IngestError, match=r"^kb\.txt, line 3: not a triple") as raised:
        read_metaqa(kb(tmp_path, f"a|b|c\n\n{line}\n"))
    assert raised.value.remedy == "Give each line as head|relation|tail."


def test_a_file_without_triples_in_another_encoding_or_not_there(tmp_path: Path) -> None:
    for content, fault in (("\n", "no triple"), (b"a|b|\xe9", "not UTF-8")):
        with pytest.raises(IngestError, match=rf"^kb\.txt .*{fault}"):
            read_metaqa(kb(tmp_path, content))
    for path in (tmp_path, tmp_path / "gone.txt"):
        with pytest.raises(IngestError, match="cannot be read") as raised:
            read_metaqa(path)
        assert raised.value.remedy
