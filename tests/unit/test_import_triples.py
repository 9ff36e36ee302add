"""Files of triples as a graph: how their columns are told, and what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kgcore import IngestError, open_store
from kgcore.ingest import plan_source, write_source
from kgcore.ingest.importers.metaqa import read_metaqa
from kgcore.ingest.importers.properties import property_names
from kgcore.ingest.importers.tables import MAX_COLUMNS, number_of
from kgcore.ingest.importers.triples import open_triples, recognises
from kgcore.ingest.source import PART, Notes
from kgcore.ingest.text_lines import MAX_LINE
from kgcore.names import edge_id, entity_id
from kgcore.types import HAS_ATTRIBUTE
from tests.data.build import MUSIQUE
from tests.unit.reading import edges, reader

METAQA = MUSIQUE.parent / "metaqa" / "kb.txt"
ROWS = [("Ann", "leads", "Acme"), ("Бо", "knows", "Ann"), ("Acme, Inc.", "is a", "firm")]
HEADER = ("head", "relation", "tail")


def file(folder: Path, content: str | bytes, name: str = "facts.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def delimited(rows: Sequence[tuple[str, ...]], sign: str) -> str:
    return "".join(sign.join(f'"{cell}"' if sign in cell else cell for cell in row) + "\n" for row in rows)


def objects(*values: Any) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


read = reader(open_triples)


def mapped(path: Path, mapping: Mapping[str, str]) -> list[tuple[str, str, str]]:
    return told(reader(lambda given: open_triples(given, mapping))(path)[0])


def told(parts: Any) -> list[tuple[str, str, str]]:
    return [(edge.src_name, edge.relation, edge.dst_name) for edge in edges(parts)]


def roles(path: Path) -> dict[str, str]:
    options = ("names", "header", "delimiter")
    return {role: column for role, column in open_triples(path).mapping.items() if role not in options}


class TestGraph:
    def test_a_row_is_an_edge_of_the_file(self, tmp_path: Path) -> None:
        [part], notes = read(file(tmp_path, delimited([HEADER, *ROWS], ",")))
        assert part.whole and part.chunks == () and notes == {}
        ann, acme = entity_id("Entity", "Ann"), entity_id("Entity", "Acme")
        first = part.edges[0]
        assert (first.source_id, first.target_id, first.source_doc_id) == (ann, acme, "facts.csv")
        assert first.id == edge_id(ann, "leads", None, acme, "facts.csv") and first.properties == {}
        assert [(e.id, e.type, e.name) for e in part.entities][:2] == [(ann, "Entity", "Ann"), (acme, "Entity", "Acme")]
        assert told([part]) == ROWS

    def test_every_role(self, tmp_path: Path) -> None:
        row = {
            "subject": "Ann", "subject_type": "Person", "subject_id": "Q1", "predicate": "leads", "object": "Acme",
            "object type": "Firm", "object_id": "Q2", "description": "Ann leads it.", "doc_id": "d1", "edge_id": "e1",
            "weight": 0.5, "seen on": "2024",
        }  # fmt: skip
        [part], notes = read(file(tmp_path, objects(row), "facts.jsonl"))
        [edge] = part.edges
        assert (edge.id, edge.source_id, edge.target_id, edge.source_doc_id) == ("e1", "Q1", "Q2", "d1")
        assert edge.description == "Ann leads it." and edge.properties == {"weight": 0.5, "seen_on": "2024"}
        assert [(e.id, e.type, e.name) for e in part.entities] == [("Q1", "Person", "Ann"), ("Q2", "Firm", "Acme")]
        assert notes == {"columns kept under a name of letters, digits and _": 1}

    def test_an_attribute_has_its_own_value(self, tmp_path: Path) -> None:
        text = f"head,relation,tail,key,doc\nAnn,{HAS_ATTRIBUTE},1990,born,d1\nBo,{HAS_ATTRIBUTE},x,,d1\n"
        [part], notes = read(file(tmp_path, text))
        [edge] = part.edges
        ann = entity_id("Entity", "Ann")
        assert (edge.key, edge.dst_name) == ("born", "1990")
        assert edge.target_id == entity_id("AttributeValue", "1990", f"{ann}:born:d1")
        assert part.entities[1].type == "AttributeValue"
        assert notes == {"rows of HAS_ATTRIBUTE without a key left out": 1}

    def test_names_fold_unless_they_are_exact(self, tmp_path: Path) -> None:
        path = file(tmp_path, "a|has_genre|Drama\na|has_tags|drama\n", "films.txt")
        assert open_triples(path, {"names": "folded"}).mapping["names"] == "folded"
        [part], _ = reader(lambda given: open_triples(given, {"names": "folded"}))(path)
        assert len(part.entities) == 2
        [part], _ = reader(lambda given: open_triples(given, {"names": "exact"}))(path)
        assert [entity.id for entity in part.entities] == ["a", "Drama", "drama"]

    def test_ids_alone_are_names_too(self, tmp_path: Path) -> None:
        path = file(tmp_path, ":START_ID,:END_ID,:TYPE\nn1,n2,LEADS\n")
        assert roles(path) == {"source_id": ":START_ID", "target_id": ":END_ID", "relation": ":TYPE"}
        [part], _ = read(path)
        assert told([part]) == [("n1", "LEADS", "n2")] and [e.id for e in part.entities] == ["n1", "n2"]

    def test_a_row_without_a_relation_or_an_end(self, tmp_path: Path) -> None:
        parts, notes = read(file(tmp_path, "head,relation,tail\nAnn,,Bo\n,knows,Bo\nAnn,knows, \nAnn\n,,\n"))
        assert told(parts) == [("Ann", "RELATED", "Bo")]
        assert notes == {
            "rows without a relation, called RELATED": 1, "rows without a source or a target left out": 3,
        }  # fmt: skip

    def test_what_is_said_twice_is_there_once(self, tmp_path: Path) -> None:
        text = "head,relation,tail,edge_id,n\nA,r,B,,1\nA,r,B,,1\nA,r,B,,2\nA,r,B,,2\nA,r,C,e,1\nA,r,D,e,1\n"
        given = {"source": "head", "relation": "relation", "target": "tail", "id": "edge_id"}
        parts, notes = reader(lambda path: open_triples(path, given))(file(tmp_path, text))
        assert [edge.properties["n"] for edge in edges(parts)] == [1, 2, 1, 1]
        assert len({edge.id for edge in edges(parts)}) == 4 and edges(parts)[2].id == "e"
        assert notes == {
            "rows that say the same as one before left out": 2,
            "rows whose id is another row's, given one of their own": 1,
        }  # fmt: skip

    def test_an_id_has_the_type_that_it_had_first(self, tmp_path: Path) -> None:
        text = "head,relation,tail,head_id,head_type\nAnn,knows,Bo,1,Person\nAnne,likes,Bo,1,Human\n"
        [part], notes = read(file(tmp_path, text))
        assert (part.entities[0].id, part.entities[0].type) == ("1", "Person")
        assert notes == {"names or types of an entity whose id has another type before, which is kept": 1}

    def test_parts_are_bounded_and_the_last_ends_the_file(self, tmp_path: Path) -> None:
        path = file(tmp_path, "".join(f"n{i}\tknows\tn{i + 1}\n" for i in range(2 * PART + 1)), "facts.tsv")
        parts, _ = read(path)
        assert [(len(part.edges), part.whole) for part in parts] == [(PART, False), (PART, False), (1, True)]
        for part in parts:
            assert {end for e in part.edges for end in (e.source_id, e.target_id)} == {e.id for e in part.entities}

    def test_is_the_same_each_time(self, tmp_path: Path) -> None:
        source = open_triples(file(tmp_path, delimited(ROWS, "|"), "facts.txt"))
        assert list(source.parts(Notes())) == list(source.parts(Notes()))

    def test_a_store_takes_it_once_and_what_a_row_less_takes_away(self, tmp_path: Path) -> None:
        path = file(tmp_path, delimited([HEADER, *ROWS], "\t"), "facts.tsv")
        with closing(open_store(f"duckdb:///{tmp_path / 'g.duckdb'}", create=True, access_fields=())) as store:
            assert write_source(store, open_triples(path).parts(Notes())).edges.new == 3
            assert plan_source(store, open_triples(path).parts(Notes())).is_nothing
            file(tmp_path, delimited([HEADER, *ROWS[1:]], "\t"), "facts.tsv")
            assert plan_source(store, open_triples(path).parts(Notes())).edges.gone == 1


class TestLayouts:
    @pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
    @pytest.mark.parametrize("header", [(), (HEADER,)])
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
    def test_delimiters_headers_and_encodings(
        self, tmp_path: Path, sign: str, header: tuple[tuple[str, ...]], encoding: str
    ) -> None:
        text = delimited([*header, *ROWS], sign).replace("\n", "\r\n")
        path = file(tmp_path, text, "facts.txt", encoding)
        assert recognises(path)
        parts, notes = read(path)
        assert told(parts) == ROWS and notes == {}
        assert open_triples(path).columns == (HEADER if header else ("1", "2", "3"))

    def test_lists_and_objects(self, tmp_path: Path) -> None:
        path = file(tmp_path, "\n" + objects(*ROWS) + objects("stray", {"head": "x"}), "facts.jsonl")
        parts, notes = read(path)
        assert told(parts) == ROWS and notes == {"lines that are no JSON list left out": 2}
        path = file(tmp_path, objects(*(dict(zip(HEADER, row, strict=True)) for row in ROWS), [1, 2, 3]), "facts.txt")
        assert recognises(path)
        parts, notes = read(path)
        assert told(parts) == ROWS and notes == {"lines that are no JSON object left out": 1}

    def test_values_of_objects(self, tmp_path: Path) -> None:
        first = {"head": 1, "relation": True, "tail": 1.5, "tags": ["x"], "none": None, "vector": [0.1, 0.2]}
        rows = (first, {"head": {"id": 1}, "tail": "x"}, {"head": "\ud800", "tail": "b", "ключ": 2})
        path = file(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "facts.jsonl")
        parts, notes = read(path)
        assert told(parts) == [("1", "true", "1.5"), ("?", "RELATED", "b")]
        assert [edge.properties for edge in edges(parts)] == [{"tags": ("x",)}, {"column_4": 2}]
        assert notes == {
            "values left out that are nested or vectors": 1, "values of head that are nested, taken as empty": 1,
            "rows without a source or a target left out": 1, "columns kept under a name of letters, digits and _": 1,
            "rows without a relation, called RELATED": 1,
        }  # fmt: skip

    def test_half_a_character_in_a_name(self, tmp_path: Path) -> None:
        path = file(tmp_path, '{"head": "a", "tail": "b", "\\ud800": 1}\n', "facts.jsonl")
        assert open_triples(path).columns == ("head", "tail")
        assert edges(read(path)[0])[0].properties == {"column_1": 1}

    def test_quotes(self, tmp_path: Path) -> None:
        path = file(tmp_path, 'head,relation,tail\n"Ann ""A"" Bo",says,"a, b\nc"\n')
        assert told(read(path)[0]) == [('Ann "A" Bo', "says", "a, b\nc")]
        path = file(tmp_path, '"Weird Al" Yankovic|born in|Downey\n5" nail|is|long\n', "facts.txt")
        assert told(read(path)[0]) == [('"Weird Al" Yankovic', "born in", "Downey"), ('5" nail', "is", "long")]
        path = file(tmp_path, '"Ann"\t"knows"\t"B ""o"""\n', "facts.tsv")
        assert told(read(path)[0]) == [("Ann", "knows", 'B "o"')]

    def test_a_stray_column(self, tmp_path: Path) -> None:
        path = file(tmp_path, "head,relation,tail\nAnn,knows,Bo,stray\nAnn,leads,Acme,\nBo,is,old\nBo,is,ill\n")
        parts, notes = read(path)
        assert told(parts) == [("Ann", "leads", "Acme"), ("Bo", "is", "old"), ("Bo", "is", "ill")]
        assert notes == {"rows with more than 3 columns left out": 1}

    @pytest.mark.parametrize("header", [",head,relation,tail", "head,relation,tail"])
    def test_a_column_that_counts_the_rows(self, tmp_path: Path, header: str) -> None:
        path = file(tmp_path, f"{header}\n1,Ann,knows,Bo\n2,Bo,knows,Ann\n3,Bo,is,old\n")
        parts, notes = read(path)
        assert told(parts)[0] == ("Ann", "knows", "Bo") and edges(parts)[0].properties == {}
        assert notes == {"columns without a name that count the rows left out": 1}
        path = file(tmp_path, ",film,tie,person\n0,Heat,by,Mann\n1,Ali,by,Mann\n", "other.csv")
        parts = reader(lambda given: open_triples(given, {"header": "yes"}))(path)[0]
        assert told(parts)[0] == ("Heat", "by", "Mann")

    def test_lines_before_the_table(self, tmp_path: Path) -> None:
        path = file(tmp_path, "# written 2024, by hand\nFacts\n\n,,\nhead,relation,tail\nAnn,knows,Bo\n")
        parts, notes = read(path)
        assert told(parts) == [("Ann", "knows", "Bo")] and notes == {"lines before the table left out": 2}

    def test_numbers_of_a_column(self, tmp_path: Path) -> None:
        rows = "".join(f"a{i},r,b,{i},{i}.5,0{i},{i}\n" for i in range(300))
        parts, notes = read(file(tmp_path, f"head,relation,tail,n,x,zip,sometimes\n{rows}c,r,d,,1e999,1,many\n"))
        assert edges(parts)[7].properties == {"n": 7, "x": 7.5, "zip": "07", "sometimes": 7}
        assert edges(parts)[-1].properties == {"x": "1e999", "zip": "1", "sometimes": "many"}
        assert notes == {
            "cells of x that are no number, kept as text": 1, "cells of sometimes that are no number, kept as text": 1,
        }  # fmt: skip
        assert [number_of(text) for text in ("-2", "1e3", "٣", "9" * 19, "9" * 40, "")] == [-2, 1000.0] + [None] * 4


class TestMapping:
    @pytest.mark.parametrize(
        ("header", "found"),
        [
            ("Source,Target,Type,Id,Label,Weight", {"source": "Source", "relation": "Label", "target": "Target"}),
            ("source,subject,predicate,object", {"source": "subject", "relation": "predicate", "target": "object"}),
            ("source,target", {"source": "source", "target": "target"}),
            ("head,edge,object", {"source": "head", "relation": "edge", "target": "object"}),
            (
                "from,from_name,to,to_name,rel",
                {"source": "from_name", "source_id": "from", "target": "to_name", "target_id": "to", "relation": "rel"},
            ),
            (
                "rank,source,relation,target,description,documents,source_id,target_id",
                {"source": "source", "relation": "relation", "target": "target"}
                | {"source_id": "source_id", "target_id": "target_id", "description": "description"},
            ),
        ],
    )
    def test_is_proposed_by_names(self, tmp_path: Path, header: str, found: dict[str, str]) -> None:
        cells = {"Type": "Undirected", "Id": "0"}
        row = ",".join(cells.get(column, f"{column} x") for column in header.split(","))
        assert roles(file(tmp_path, f"{header}\n{row}\n")) == found

    def test_an_id_that_repeats_is_no_id_of_edges(self, tmp_path: Path) -> None:
        text = "head,relation,tail,triple_id\nA,r,B,P1\nB,r,C,P1\n"
        assert "id" not in roles(file(tmp_path, text)) and "id" in roles(file(tmp_path, text.replace("C,P1", "C,P2")))

    def test_is_proposed_by_place(self, tmp_path: Path) -> None:
        path = file(tmp_path, "".join(f"film {i},made by,Bo,{1990 + i}\n" for i in range(20)))
        assert roles(path) == {"source": "1", "relation": "2", "target": "3"}
        assert edges(read(path)[0])[3].properties == {"column_4": 1993}
        path = file(tmp_path, "film,tie,person,year\n" + "".join(f"f{i},by,Bo,{1990 + i}\n" for i in range(20)))
        assert roles(path) == {"source": "film", "relation": "tie", "target": "person"}

    def test_given_roles_replace_the_proposed(self, tmp_path: Path) -> None:
        path = file(tmp_path, "head,relation,tail,extra\nAnn,knows,Bo,Cy\n")
        assert mapped(path, {"source": "tail", "target": "extra", "relation": ""}) == [("Bo", "RELATED", "Cy")]
        [edge] = edges(list(open_triples(path, {"source": "tail", "target": "extra"}).parts(Notes())))
        assert edge.properties == {"head": "Ann", "relation": "knows"}
        again = open_triples(path, open_triples(path).mapping)
        assert again.mapping == open_triples(path).mapping

    def test_options_say_how_the_file_is_read(self, tmp_path: Path) -> None:
        path = file(tmp_path, "head,relation,tail\nA;1,r|2,B\n")
        assert mapped(path, {"header": "no"})[0] == ("head", "relation", "tail")
        assert mapped(file(tmp_path, "x|a,y|b\n"), {"delimiter": "comma"}) == [("x|a", "RELATED", "y|b")]

    @pytest.mark.parametrize(
        ("mapping", "fault"),
        [
            ({"names": "loose"}, "'names' is 'loose'"),
            ({"origin": "head"}, "no role 'origin'"),
            ({"source": "heads", "target": "tail"}, "no column 'heads'"),
            ({"source": "head"}, "no column is the target"),
            ({"delimiter": "semicolon"}, "no columns"),
        ],
    )
    def test_that_does_not_fit(self, tmp_path: Path, mapping: dict[str, str], fault: str) -> None:
        path = file(tmp_path, "head,relation,tail\nAnn,knows,Bo\n")
        with pytest.raises(IngestError, match=rf"^facts\.csv.*{fault}") as raised:
            open_triples(path, mapping)
        assert raised.value.remedy

    def test_property_names(self) -> None:
        found = property_names(["a b", "a_b", "2nd", "имя", "a-b", "4", "column_4"])
        assert found == {
            "a b": "a_b_", "a_b": "a_b", "2nd": "_2nd", "имя": "column_4_", "a-b": "a_b__", "4": "column_4__",
            "column_4": "column_4",
        }  # fmt: skip
        assert property_names(["a.b", "a b"], found) == {**found, "a.b": "a_b___"}


class TestFaults:
    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            (b"", "is empty"),
            (b"\xef\xbb\xbf \r\n\n", "is empty"),
            (b"\x89PNG\r\n\x1a\n\0\0", "not text"),
            ("a,b,c\n".encode("utf-16-le"), "not text"),
            (b"a,b,c\nd,e,f\nd,\xe9,f\n", "line 3: not UTF-8"),
            (b"\xff\xfea\0,\0b\0\n\0\0\xd8\n\0", "line 2: not UTF-16"),
            (b"\xfe\xff\0a\0,\0b\0\n" * 40_000 + b"\xd8\0\0\n", "line 40001: not UTF-16"),
            (b"Ann knows Bo\n", "line 1: no columns"),
            (b'head,relation,tail\na,r,b\n"Weird Al" Y,r,b\n', "line 3: .*expected after"),
            (b'head,relation,tail\na,r,b\nc,r,"b\n' + b"d,r,e\n" * 9, "line 3: unexpected end"),
            (b'head,relation,tail\na,r,b\nc,r,"b\n' + b"d,r,e\n" * 200_000, "line 3: (field larger|unexpected end)"),
            (b"head,relation,tail\n", "holds no triple"),
            (b"head,relation,tail\n,,\n,r,\n", "holds no triple"),
            (b'{"head": "a", "tail": "b"}\n{"head": \n', "line 2: not JSON"),
            (b'{"head": "a", "tail": "b"}\n' + b"[" * 100_000 + b"\n", "line 2: not JSON"),
            (b'{"head": "a", "tail": "b", "n": ' + b"9" * 5_000 + b"}\n", "line 1: not JSON"),
            (b'{"name": "a", "text": "b"}\n', "no column is the source"),
            (b"head,relation,tail\n" + b"x" * (MAX_LINE + 1), "line 2: longer than 1,000,000"),
            (b",".join(b"c%d" % n for n in range(MAX_COLUMNS + 1)), "has 1,001 columns"),
        ],
    )  # fmt: skip
    def test_is_named_with_its_line(self, tmp_path: Path, content: bytes, fault: str) -> None:
        path = file(tmp_path, content)
        recognises(path)
        with pytest.raises(IngestError, match=rf"^facts\.csv.*{fault}") as raised:
            read(path)
        assert raised.value.remedy

    def test_that_is_no_file(self, tmp_path: Path) -> None:
        for path in (tmp_path, tmp_path / "gone.csv"):
            assert not recognises(path)
            with pytest.raises(IngestError, match="is not a file"):
                open_triples(path)

    def test_a_line_of_200_mb_is_not_read(self, tmp_path: Path) -> None:
        path = tmp_path / "long.txt"
        with path.open("wb") as out:
            out.truncate(200 * 2**20)
            out.seek(0)
            out.write(b"x" * 10_000)
        assert not recognises(path)
        with path.open("r+b") as out:
            for _ in range(3):
                out.write(b"x" * 1_000_000)
        with pytest.raises(IngestError, match="line 1: longer"):
            open_triples(path)

    @pytest.mark.parametrize(
        "content",
        [
            "Ann leads Acme.\nShe is old.\n", "So, yes, no.\nNo.\nNo, no, yes.\n",
            '{"nodes": [], "links": []}', "<graphml>\n", "graph [\n node [\n",
            '{"source": "x", "text": "y"}\n', "[\n 1\n]", "name,age\nAnn,3\n", "",
        ],
    )  # fmt: skip
    def test_other_files_are_not_recognised(self, tmp_path: Path, content: str) -> None:
        assert not recognises(file(tmp_path, content, "other.txt"))

    def test_control_characters_stay(self, tmp_path: Path) -> None:
        assert told(read(file(tmp_path, "head,relation,tail\nA\x07,r,B\u2028C\n"))[0]) == [("A\x07", "r", "B\u2028C")]

    def test_new_columns_without_end(self, tmp_path: Path) -> None:
        rows = [{"head": "a", "tail": "b", f"p {n}": n} for n in range(MAX_COLUMNS + 300)]
        _, notes = read(file(tmp_path, objects(*rows), "facts.jsonl"))
        assert notes["values left out of more than 1,000 columns"] == 300


@pytest.mark.skipif(not METAQA.is_file(), reason="no MetaQA here")
class TestMetaQa:
    def test_is_the_graph_that_its_questions_are_asked_of(self) -> None:
        assert recognises(METAQA) and open_triples(METAQA).mapping["names"] == "exact"
        parts, notes = read(METAQA)
        whole = read_metaqa(METAQA)
        assert notes == {} and {e.id: e for part in parts for e in part.entities} == {e.id: e for e in whole.entities}
        ends = [(e.source_id, e.relation, e.target_id, e.src_name, e.dst_name) for e in edges(parts)]
        assert len(set(ends)) == len(ends)
        assert ends == [(e.source_id, e.relation, e.target_id, e.src_name, e.dst_name) for e in whole.edges]
