"""Documents of any kind as text, and what a bad file is answered with."""

from __future__ import annotations

import codecs
import io
import json
import os
import time
import zipfile
import zlib
from pathlib import Path

import pytest

from kgcore.errors import IngestError
from kgcore.ingest import texts
from kgcore.ingest.readers import found, pdf
from kgcore.ingest.source import Notes
from kgcore.ingest.texts import Text, read_texts, texts_of

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def read(name: str, data: str | bytes, **options: object) -> tuple[list[Text], dict[str, int]]:
    notes = Notes()
    data = data.encode() if isinstance(data, str) else data
    return list(read_texts(name, data, notes, **options)), notes.counts  # type: ignore[arg-type]


def one(name: str, data: str | bytes) -> Text:
    (text,), _ = read(name, data)
    return text


def refusal(name: str, data: str | bytes) -> str:
    with pytest.raises(IngestError) as caught:
        read(name, data)
    assert caught.value.remedy.endswith(".")
    return str(caught.value)


class TestPlain:
    def test_is_text_as_written(self) -> None:
        text = one("notes/a.txt", "Acme  uses\n Helios.\n")
        assert text == Text(id="notes/a.txt", title="a", text="Acme  uses\n Helios.\n")

    def test_markdown_is_too_and_its_first_heading_is_the_title(self) -> None:
        text = one("a.md", "Intro\n\n## Two\n\n# The *One* #\n\n- item")
        assert (text.title, text.text) == ("The *One*", "Intro\n\n## Two\n\n# The *One* #\n\n- item")

    @pytest.mark.parametrize(
        "data",
        [
            "Zoë 東京".encode(),
            codecs.BOM_UTF8 + "Zoë 東京".encode(),
            "Zoë 東京".encode("utf-16"),
            codecs.BOM_UTF16_BE + "Zoë 東京".encode("utf-16-be"),
            "Zoë 東京".encode("utf-32"),
        ],
    )
    def test_is_read_in_every_unicode_encoding(self, data: bytes) -> None:
        assert one("a.txt", data).text == "Zoë 東京"

    def test_line_ends_are_one_and_control_characters_left_out(self) -> None:
        (text,), notes = read("a.txt", "a\r\nb\rc\x1b[0m\x0cd\x85e")
        assert text.text == "a\nb\nc[0m\n\nd\ne"
        assert notes == {"control characters left out": 1}

    def test_a_file_of_unknown_kind_is_text_or_a_page(self) -> None:
        assert one("a.log", "<x> 1").text == "<x> 1"
        assert one("page", "<!DOCTYPE html><p>Hi").text == "Hi"

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"", "a.txt: empty."),
            (b" \n\t", "a.txt: empty."),
            (b"\x01\x02\x03", "a.txt: no text in it."),
            (b"a\nb\n\x89PNG\0", "a.txt, line 3, byte 9: binary, or UTF-16 without its byte order mark."),
            ("Acme".encode("utf-16-le"), "a.txt, line 1, byte 2: binary, or UTF-16 without its byte order mark."),
            (b"good\nna\xefve\n", "a.txt, line 2, byte 8: not UTF-8 text."),
            (codecs.BOM_UTF16_LE + b"a\0b", "a.txt, byte 5: not UTF-16 text."),
            (codecs.BOM_UTF16_LE + b"\0\xd8a\0", "a.txt, byte 3: not UTF-16 text."),
        ],
    )
    def test_bad_bytes_are_refused(self, data: bytes, reason: str) -> None:
        assert refusal("a.txt", data) == reason

    def test_a_large_file_is_refused(self) -> None:
        assert refusal("a.txt", b"x" * (found.MOST_BYTES + 1)) == "a.txt: more than 50 MB."

    def test_much_text_is_refused(self) -> None:
        assert refusal("a.txt", b"x" * (found.MOST_TEXT + 1)) == "a.txt: more than 10,000,000 characters of text."

    def test_many_hashes_take_no_time(self) -> None:
        began = time.monotonic()
        read("a.md", "# " + " #" * 500_000 + "x")
        assert time.monotonic() - began < 5


class TestHtml:
    def test_is_what_a_reader_sees(self) -> None:
        text = one(
            "a.html",
            """<!doctype html><html><head><title>A &amp;
            b</title><style>p {}</style><meta charset="latin1"></head><body><script>if (a<b) '</p>'</script>
            <h1>Head</h1><p>Zoë <b>is</b>n't
            here&hellip;<br>x<p hidden>secret<p>z<div style="display: NONE">no<p>no</div><!-- no -->
            <svg><title>no</title><text>no</text></svg><noscript>no</noscript><template>no</template></body>""",
        )
        assert (text.title, text.text) == ("A & b", "Head\n\nZoë isn't here…\nx\n\nz")

    def test_a_table_has_a_line_a_row(self) -> None:
        page = "<table> <tr> <th>a</th> <td>b</td> </tr> <tr><td></td><td><p>d</p><p>e</p></td></tr></table>end"
        assert one("a.htm", page).text == "a | b\n| d\n\ne\n\nend"

    def test_a_list_has_a_line_an_item(self) -> None:
        assert one("a.html", "<p>x<ul><li>one<li>two</ul>y").text == "x\n\none\ntwo\n\ny"

    def test_written_text_keeps_its_lines(self) -> None:
        assert one("a.html", "<pre>a\nb</pre><p>c\nd").text == "a\nb\n\nc d"

    def test_without_a_title_it_is_the_files(self) -> None:
        assert one("dir/a.html", "<p>x").title == "a"

    def test_a_page_without_text_is_refused(self) -> None:
        assert refusal("a.html", "<script>x</script>") == "a.html: no text in it."

    def test_entities_are_not_expanded(self) -> None:
        page = '<!DOCTYPE html [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
        text = one("a.html", page + "<p>&b;&f;x").text
        assert text.endswith("&b;&f;x") and "root" not in text

    @pytest.mark.parametrize("unit", ["<div>", "<b>", "<!--", "<a b='", "</a", "&#x", "<script>", "<td>", "<p hidden>"])
    def test_deep_and_broken_tags_take_no_time(self, unit: str) -> None:
        began = time.monotonic()
        one("a.html", "<p>x</p>" + unit * 200_000)
        assert time.monotonic() - began < 9

    def test_formatting_that_a_tree_would_multiply_takes_no_time(self) -> None:
        page = "".join(f"<b id={n}>" for n in range(20_000)) + "<p>x" * 20_000
        assert one("a.html", page).text.count("x") == 20_000

    def test_a_page_that_takes_too_long_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(found, "SECONDS", 0)
        assert "a.html: not read within" in refusal("a.html", "<p>x")


class TestTable:
    def test_a_row_is_a_text(self) -> None:
        (a, b), notes = read("d/films.csv", 'name,year,about\n"Kill, Bill",2003,"a\nb"\n\nUp,,x\n')
        assert a == Text(id="d/films.csv#1", title="", text="name: Kill, Bill\nyear: 2003\nabout: a\nb")
        assert (b.id, b.text, notes) == ("d/films.csv#2", "name: Up\nabout: x", {})

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_the_delimiter_is_found(self, delimiter: str) -> None:
        (text,), _ = read(
            "a.tsv", f"id{delimiter}title\n7{delimiter}A, b c\n".replace(", ", " " if delimiter == "," else ", ")
        )
        assert (text.id, text.title[:1], text.text[:14]) == ("a.tsv#7", "A", "id: 7\ntitle: A")

    def test_a_column_of_texts_is_a_table(self) -> None:
        (a, b), _ = read("a.csv", "text\nOne here\nTwo here\n")
        assert (a.text, b.text) == ("text: One here", "text: Two here")

    def test_who_may_see_a_row_is_metadata_and_no_text(self) -> None:
        rows = 'a,allowed_principals\n1,group:x; group:y\n2,"[""p"", ""q,r""]"\n3,\n'
        (a, b, c), _ = read("a.csv", rows)
        assert (a.text, a.metadata) == ("a: 1", {"allowed_principals": ("group:x", "group:y")})
        assert (b.metadata, c.metadata) == ({"allowed_principals": ("p", "q,r")}, {})

    def test_the_deployments_own_fields_too(self) -> None:
        (a,), _ = read("a.csv", "a,team,allowed_principals\n1,x,y\n", access_fields={"team"})
        assert (a.text, a.metadata) == ("a: 1\nallowed_principals: y", {"team": ("x",)})

    def test_a_short_row_is_noted(self) -> None:
        (a,), notes = read("a.csv", "a,b,c\n1,2\n")
        assert (a.text, notes) == ("a: 1\nb: 2", {"rows with fewer cells than columns": 1})

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            ("a,b\n1,2\n1,2,3\n", "a.csv, line 3: 3 cells under 2 columns."),
            ("a,b\n1;2\n", "a.csv, line 2: 1 cell under 2 columns."),
            ("just words\nand words\n", "a.csv, line 1: no columns are to be seen."),
            ('a,b\n1,2\n3,"x\ny\nz\n', "a.csv, line 3: unexpected end of data."),
            ('a,b\n1,2\n"x" y,2\n', "a.csv, line 3: ',' expected after '\"'."),
            ("a,b\n", "a.csv: no text in it."),
            ("id,b\n1,x\n1,y\n", "a.csv#1: two documents have this id."),
            (b"a,b\n1,\xff\n", "a.csv, line 2, byte 7: not UTF-8 text."),
        ],
    )
    def test_a_bad_one_is_refused(self, data: str | bytes, reason: str) -> None:
        assert refusal("a.csv", data) == reason

    def test_many_rows_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(texts, "MOST_TEXTS", 2)
        assert "more than 2 documents" in refusal("a.csv", "a,b\n1,1\n2,2\n3,3\n")


class TestJsonl:
    def test_an_object_is_a_text_with_metadata(self) -> None:
        lines = [
            {"id": "d", "title": "T", "text": "Hi.", "year": 2024, "tags": ["a"], "allowed_principals": ["g"]},
            {"text": "Ho.", "allowed_principals": []},
        ]
        (a, b), notes = read("a.jsonl", "\n\n".join(map(json.dumps, lines)))
        metadata = {"year": 2024, "tags": ("a",), "allowed_principals": ("g",)}
        assert a == Text(id="d", title="T", text="Hi.", metadata=metadata)
        assert b == Text(id="a.jsonl#3", title="", text="Ho.", metadata={"allowed_principals": ()})
        assert notes == {}

    def test_what_metadata_cannot_hold_is_noted(self) -> None:
        (a,), notes = read("a.jsonl", '{"text": "x\\u0000\\ud800", "v": [0.1], "n": {"a": 1}, "my year": 1}')
        assert (a.text, a.metadata) == ("x?", {"my_year": 1})
        assert notes == {
            "values left out that are nested or vectors": 2,
            "values kept under a name of letters, digits and _": 1,
            "control characters left out": 1,
        }

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            ('{"text": "x"}\n{"text": ', "a.jsonl, line 2: not JSON (Expecting value)."),
            ("[1]", "a.jsonl, line 1: not a JSON object."),
            ("[" * 200_000, "a.jsonl, line 1: not JSON (nested too deep, or a number too long)."),
            ('{"text": "x", "n": ' + "9" * 5_000 + "}", "a.jsonl, line 1: not JSON (nested too deep, or a number"),
            ('{"id": "a"}', "a.jsonl, line 1: 'text' is missing."),
            (
                '{"text": "x", "allowed_principals": "g"}',
                "a.jsonl, line 1: 'allowed_principals' is not a list of texts.",
            ),
            ('{"text": "x", "allowed_principals": ["g", 1]}', "a.jsonl, line 1: 'allowed_principals' is not a list"),
            ('{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}', "a: two documents have this id."),
            (json.dumps({"id": "a" * 1_001, "text": "x"}), "a.jsonl: an id of more than 1,000 characters."),
            (json.dumps({"id": "a", "text": "x", "m": "y" * 30_000}), "a: more than 20,000 characters of metadata."),
            (
                json.dumps({"text": "x"} | {f"{n} é": n for n in range(1_001)}),
                "a.jsonl, line 1: more than 1,000 fields.",
            ),
        ],
    )
    def test_a_bad_one_is_refused(self, data: str, reason: str) -> None:
        assert refusal("a.jsonl", data).startswith(reason)


def package(body: str, *, xml: str | None = None, **parts: str | bytes) -> bytes:
    """A Word document with this body; parts are named with __ for /."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("[Content_Types].xml", "<Types/>")
        zipped.writestr("word/document.xml", xml or f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>')
        for name, data in parts.items():
            zipped.writestr(name.replace("__", "/") + ".xml", data)
    return file.getvalue()


def p(*texts: str) -> str:
    return f"<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr>{''.join(f'<w:r><w:t>{t}</w:t></w:r>' for t in texts)}</w:p>"


WIDE = " ".join(f"attribute{n}='{n}'" for n in range(90_000))


def table(*rows: tuple[str, ...]) -> str:
    cells = ("".join(f"<w:tc>{cell}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


class TestDocx:
    def test_is_paragraphs_and_tables_in_order(self) -> None:
        inner = table((p("in"), p("ner")))
        body = p("Acme ", "Capital") + table((p("a"), p("b1") + p("b2")), (p(), p("d") + inner)) + p("End.")
        assert one("d/a.docx", package(body)) == Text(
            id="d/a.docx", title="a", text="Acme Capital\n\na | b1 b2\n| d in | ner\n\nEnd."
        )

    def test_breaks_and_tabs_are_white_space(self) -> None:
        run = "<w:p><w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t></w:r></w:p>"
        assert one("a.docx", package(run)).text == "a\nb c-d"

    def test_what_stands_in_controls_links_and_insertions_is_kept_and_what_is_deleted_is_not(self) -> None:
        run = "<w:r><w:t>{}</w:t></w:r>"
        body = (
            f"<w:sdt><w:sdtContent><w:p><w:ins>{run.format('kept ')}</w:ins><w:hyperlink>{run.format('link')}"
            f"</w:hyperlink><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom>{run.format('moved')}"
            "</w:moveFrom><w:r><w:instrText>PAGE</w:instrText></w:r></w:p></w:sdtContent></w:sdt>"
        )
        assert one("a.docx", package(body)).text == "kept link"

    def test_notes_follow_and_the_title_is_its_own(self) -> None:
        core = '<c xmlns:dc="d"><dc:creator>me</dc:creator><dc:title>The\ntitle</dc:title></c>'
        notes = f'<w:footnotes xmlns:w="{W}"><w:footnote>{p("A note.")}</w:footnote></w:footnotes>'
        text = one("a.docx", package(p("x"), docProps__core=core, word__footnotes=notes))
        assert (text.title, text.text) == ("The title", "x\n\nA note.")

    def test_the_package_says_where_its_text_is(self) -> None:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as zipped:
            zipped.writestr("_rels/.rels", '<r><x Type="http://a/officeDocument" Target="/word/document2.xml"/></r>')
            zipped.writestr("word/document2.xml", f'<w:document xmlns:w="{W}">{p("Hi.")}</w:document>')
        assert one("a.docx", file.getvalue()).text == "Hi."

    def test_entities_are_refused(self) -> None:
        bomb = '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]>\n<w:t>&b;</w:t>'
        assert refusal("a.docx", package("", xml=bomb)) == (
            "a.docx, word/document.xml, line 1: a document type (DTD) is not allowed."
        )

    def test_a_zip_bomb_is_refused_unread(self) -> None:
        data = package("", xml="<w:t>" + " " * 60_000_000)
        assert refusal("a.docx", data) == "a.docx: word/document.xml unpacks to far more than a document is."
        nested = package(p("x"), word__embeddings__a=package("", xml=" " * 60_000_000))
        assert one("a.docx", nested).text == "x"

    def test_a_bomb_in_a_part_that_is_not_read_is_refused_too(self) -> None:
        data = package(p("x"), word__media__a=b"\0" * 60_000_000)
        assert "word/media/a.xml unpacks" in refusal("a.docx", data)

    def test_a_size_that_lies_unpacks_no_further(self) -> None:
        size = 60_000_000
        data = package("", xml="<w:t>" + " " * size)
        lied = data.replace((size + 5).to_bytes(4, "little"), (1_000).to_bytes(4, "little"))
        assert lied != data
        assert "cannot be unpacked" in refusal("a.docx", lied)

    def test_a_large_part_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("kgcore.ingest.readers.docx.MOST_BYTES", 100)
        assert refusal("a.docx", package(p("x" * 100))).startswith("a.docx, word/document.xml: more than")

    def test_deep_nesting_takes_no_time(self) -> None:
        noise = "".join(f"<a{n % 7}>" for n in range(100_000))
        assert "not XML" in refusal("a.docx", package(noise))

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (
                package(p("x") + f"<w:p {WIDE}/>"),
                "a.docx, word/document.xml, line 1: a tag of more than 1 MB.",
            ),
            (package("<w:p>"), "a.docx, word/document.xml, line 1: not XML (mismatched tag)."),
            (package(p("x"))[:200], "a.docx: its parts cannot be unpacked (File is not a zip file)."),
            (b"just text", "a.docx: not a Word document inside."),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old", "a.docx: an old Office file, or one with a password."),
            (package(p("")), "a.docx: no text in it."),
            (b"PK\x03\x04" + b"PK\x01\x02" * 10_001, "a.docx: a package of more than 10,000 parts."),
        ],
    )
    def test_a_bad_one_is_refused(self, data: bytes, reason: str) -> None:
        assert refusal("a.docx", data) == reason

    def test_another_package_is_refused(self) -> None:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as zipped:
            zipped.writestr("../../x.txt", "out")
        assert refusal("a.zip", file.getvalue()) == "a.zip: a package without a Word document."


def paper(*contents: bytes, trailer: bytes = b"", kids: bytes | None = None) -> bytes:
    """A PDF with a page for each content."""
    refs = kids or b" ".join(b"%d 0 R" % (4 + 2 * n) for n in range(len(contents)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(contents), refs),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, content in enumerate(contents):
        packed = zlib.compress(content)
        form = b"/XObject<</X %d 0 R>>" % (4 + 2 * len(contents))
        objects += [
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>%s>>/Contents %d 0 R>>"
            % (form, 5 + 2 * number),
            b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
        ]
    own = b"%d 0 R" % (len(objects) + 1)
    objects.append(
        b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %s>>>>/Length 11>>stream\n"
        b"/X Do /X Do\nendstream" % own
    )
    objects.append(b"<</Title(Big book)>>")
    data, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects)
    data += b"xref\n0 %d\n0000000000 65535 f \n%s" % (count + 1, table) + b"trailer\n"
    start = data.rindex(b"xref")
    return data + b"<</Size %d/Root 1 0 R/Info %d 0 R%s>>\nstartxref\n%d\n%%%%EOF" % (count + 1, count, trailer, start)


def said(*lines: str) -> bytes:
    shown = " 0 -20 Td ".join(f"({line}) Tj" for line in lines)
    return f"BT /F 12 Tf 10 700 Td {shown} ET".encode()


class TestPdf:
    def test_is_the_text_of_its_pages(self) -> None:
        (text,), notes = read("a.pdf", paper(said("Acme uses", "Helios."), b"", said("Page two.")))
        assert text == Text(id="a.pdf", title="Big book", text="Acme uses\nHelios.\n\nPage two.")
        assert notes == {"pages without text": 1}

    def test_a_word_that_goes_on_in_the_next_line_is_whole(self) -> None:
        (text,), notes = read("a.pdf", paper(said("Acme repre-", "sents the Q-", "Helios.")))
        assert (text.text, notes) == ("Acme represents the Q-Helios.", {})

    def test_is_known_by_what_it_holds(self) -> None:
        assert one("a.bin", paper(said("Hi."))).text == "Hi."
        assert one("a.pdf", b"\n\n" + paper(said("Hi."))).text == "Hi."

    def test_a_page_that_cannot_be_read_is_noted(self) -> None:
        (text,), notes = read("a.pdf", paper(said("Hi."), said("Ho."), kids=b"4 0 R 2 0 R"))
        assert (text.text, notes) == ("Hi.", {"pages left out that cannot be read": 1})

    def test_an_encrypted_one_is_refused(self) -> None:
        trailer = b"/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -1/O<%s>/U<%s>>>" % (b"00" * 32, b"00" * 32)
        assert refusal("a.pdf", paper(said("Hi."), trailer=trailer)) == "a.pdf: encrypted."

    def test_one_of_images_is_refused(self) -> None:
        assert refusal("a.pdf", paper(b"", b"")) == "a.pdf: no text: its pages are images, or empty."

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"%PDF-1.7 and no more", "a.pdf: not a PDF, or broken."),
            (b"words", "a.pdf: not a PDF inside."),
            (paper(said("Hi."), kids=b"2 0 R"), "a.pdf: its pages cannot be read."),
        ],
    )
    def test_a_broken_one_is_refused(self, data: bytes, reason: str) -> None:
        assert refusal("a.pdf", data) == reason

    def test_one_that_draws_itself_is_refused(self) -> None:
        assert "a.pdf: " in refusal("a.pdf", paper(b"/X Do"))

    def test_one_that_swells_is_refused(self) -> None:
        assert "more memory" in refusal("a.pdf", paper(b"q " * 50_000_000))

    def test_one_that_takes_too_long_is_ended(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pdf, "_WAIT", 0.01)  # its process takes longer than this to begin
        assert refusal("a.pdf", paper(said("Hi."))) == "a.pdf: not read within 0.01 seconds."


class TestNames:
    @pytest.mark.parametrize(
        "name",
        ["", "../x.txt", "a/../../x.txt", "/etc/passwd", "a//b.txt", "./a.txt", "..\\x.txt", "a\\b.txt", "C:/x.txt",
         "a\0.txt", "a\n.txt", "a\udcff.txt", "a" * 1_001],
    )  # fmt: skip
    def test_one_that_climbs_is_refused(self, name: str) -> None:
        assert "not a name of a file in a folder" in refusal(name, "x")

    @pytest.mark.parametrize("name", ["a b.txt", "2024: plan.txt", "é/東京\u202f.txt", "...txt", "..a/b.txt"])
    def test_others_are_taken(self, name: str) -> None:
        assert one(name, "x").id == name


class TestFolder:
    def texts(self, path: Path) -> tuple[list[str], dict[str, int]]:
        notes = Notes()
        return [text.id for text in texts_of(path, notes)], notes.counts

    def test_its_files_come_by_their_paths(self, tmp_path: Path) -> None:
        for name in ("b.txt", "a/z.md", "a/b/c.HTML", "a.csv", "x.png", "Makefile", ".git/x.txt", "a/.hidden.txt"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("a,b\n1,2\n3,4\n")
        assert self.texts(tmp_path) == (
            ["a.csv#1", "a.csv#2", "a/b/c.HTML", "a/z.md", "b.txt"],
            {"files of other kinds left out": 2, "hidden files and folders left out": 2},
        )

    def test_a_file_is_named_by_its_own_name(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("x")
        assert self.texts(tmp_path / "a.txt") == (["a.txt"], {})

    def test_the_file_at_fault_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "b.txt").write_bytes(b"a\n\xff")
        with pytest.raises(IngestError, match=r"^d/b\.txt, line 2, byte 3: not UTF-8 text\.$"):
            self.texts(tmp_path)

    def test_a_link_that_leads_out_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "secret.txt").write_text("x")
        folder = tmp_path / "docs"
        folder.mkdir()
        for target in (tmp_path / "secret.txt", Path("../secret.txt"), tmp_path):
            link = folder / "link.txt"
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            with pytest.raises(IngestError, match=r"link\.txt: a link that leads out of the folder"):
                self.texts(folder)

    def test_one_that_stays_inside_or_leads_nowhere_is_left_out(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("x")
        for link, target in (("b.txt", "a.txt"), ("loop", "loop"), ("round", "."), ("none.txt", "missing.txt")):
            (tmp_path / link).symlink_to(target)
        assert self.texts(tmp_path) == (["a.txt"], {"links left out": 4})

    def test_what_is_no_file_is_left_out(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.txt")
        (tmp_path / "a.txt").write_text("x")
        assert self.texts(tmp_path) == (["a.txt"], {"files of other kinds left out": 1})

    def test_two_of_one_id_are_refused(self, tmp_path: Path) -> None:
        for name in ("a.jsonl", "b.jsonl"):
            (tmp_path / name).write_text('{"id": "1", "text": "x"}')
        with pytest.raises(IngestError, match=r"^1: two documents have this id\.$"):
            self.texts(tmp_path)

    def test_an_empty_a_missing_and_a_large_one_are_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(IngestError, match="no documents in it"):
            self.texts(tmp_path)
        with pytest.raises(IngestError, match="No such file"):
            self.texts(tmp_path / "none")
        for number in range(4):
            (tmp_path / f"{number}.txt").write_text("x")
        monkeypatch.setattr(texts, "MOST_FILES", 3)
        with pytest.raises(IngestError, match="more than 3 files"):
            self.texts(tmp_path)
