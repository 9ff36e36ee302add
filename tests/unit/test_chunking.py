"""Chunks end where sentences do, hold all of a text, and are never too long."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kgcore.errors import ConfigError
from kgcore.ingest.chunking import chunks_of
from kgcore.ingest.texts import Text


def cut(text: str, size: int, overlap: int = 0) -> list[str]:
    return [chunk.content for chunk in chunks_of(Text(id="a", title="", text=text), size=size, overlap=overlap)]


class TestSentences:
    @pytest.mark.parametrize(
        ("text", "sentences"),
        [
            ("Acme uses Helios. Kestrel does not!", ["Acme uses Helios.", "Kestrel does not!"]),
            ("Dr. Smith met Acme Inc. in Oslo. He left.", ["Dr. Smith met Acme Inc. in Oslo.", "He left."]),
            ("東京は大きい。大阪も好き！本当なの？", ["東京は大きい。", "大阪も好き！", "本当なの？"]),
            ("他说：“你好。”然后走了。", ["他说：“你好。”", "然后走了。"]),
            ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
            ("यह वाक्य है। दूसरा वाक्य।", ["यह वाक्य है।", "दूसरा वाक्य।"]),
            ("ይህ ነው። ሌላ።", ["ይህ ነው።", "ሌላ።"]),
            ("Ես եկա։ Նա գնաց։", ["Ես եկա։", "Նա գնաց։"]),
        ],
    )
    def test_a_chunk_ends_with_one_in_any_script(self, text: str, sentences: list[str]) -> None:
        assert cut(text, max(map(len, sentences))) == sentences

    def test_as_many_as_fit_are_together(self) -> None:
        assert cut("One is. Two is. Three is.", 16) == ["One is. Two is.", "Three is."]

    def test_a_line_end_inside_one_is_no_border(self) -> None:
        assert cut("Acme uses\nHelios. Kestrel does not.", 20) == ["Acme uses\nHelios.", "Kestrel does not."]


class TestParagraphs:
    def test_a_chunk_ends_with_one_rather_than_within_the_next(self) -> None:
        text = "First is here. It goes on.\n\nSecond begins. And ends."
        assert cut(text, 45) == ["First is here. It goes on.", "Second begins. And ends."]

    def test_a_short_one_does_not_end_a_chunk(self) -> None:
        text = "Head.\n\nThe first sentence. The second sentence. The third."
        assert cut(text, 48) == ["Head.\n\nThe first sentence. The second sentence.", "The third."]

    def test_a_line_of_spaces_parts_them(self) -> None:
        assert cut("One two three\n \t\nfour five six", 15) == ["One two three", "four five six"]


class TestOverlap:
    def test_a_chunk_begins_with_the_last_sentences_of_the_one_before(self) -> None:
        assert cut("One is. Two is. Three is. Four is.", 17, 8) == ["One is. Two is.", "Two is. Three is.", "Four is."]

    def test_it_is_of_whole_sentences(self) -> None:
        assert cut("The first sentence. The second sentence.", 30, 10) == [
            "The first sentence.",
            "The second sentence.",
        ]

    def test_it_gives_way_to_the_next_sentence(self) -> None:
        assert cut("One. Two is. Three is a longer one.", 26, 10) == ["One. Two is.", "Three is a longer one."]

    def test_a_piece_of_a_long_sentence_is_not_repeated(self) -> None:
        assert cut("aaaa bbbb cccc dddd eeee", 10, 6) == ["aaaa bbbb", "cccc dddd", "eeee"]


class TestLongSentences:
    def test_is_cut_between_words(self) -> None:
        assert cut("alpha beta gamma delta", 12) == ["alpha beta", "gamma delta"]

    def test_is_cut_between_lines_where_there_are_some(self) -> None:
        assert cut("name: Acme\nkind: a bank\nseat: Oslo", 30) == ["name: Acme\nkind: a bank", "seat: Oslo"]

    def test_a_word_is_cut_between_letters(self) -> None:
        assert cut("e\u0301e\u0301e\u0301e\u0301", 3) == ["e\u0301"] * 4

    def test_one_without_spaces_is_cut(self) -> None:
        assert cut("東京大阪京都", 4) == ["東京大阪", "京都"]


class TestChunk:
    def test_says_where_it_stands(self) -> None:
        text = Text(id="a.txt", title="A", text="One is. Two is.", metadata={"year": 2024, "chunk": 9})
        one, two = chunks_of(text, size=8, overlap=0)
        assert (one.id, one.document_id, one.content) == ("a.txt#1", "a.txt", "One is.")
        assert one.metadata == {"year": 2024, "title": "A", "chunk": 1, "chunks": 2}
        assert (two.id, two.metadata["chunk"]) == ("a.txt#2", 2)

    def test_has_no_title_where_the_text_has_none(self) -> None:
        assert chunks_of(Text(id="a", title="", text="One."))[0].metadata == {"chunk": 1, "chunks": 1}

    def test_a_blank_text_has_none(self) -> None:
        assert chunks_of(Text(id="a", title="", text=" \n\n ")) == ()

    @pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1)])
    def test_bounds_that_do_not_fit_are_refused(self, size: int, overlap: int) -> None:
        with pytest.raises(ConfigError, match="does not fit"):
            chunks_of(Text(id="a", title="", text="x"), size=size, overlap=overlap)


PIECES = st.sampled_from(
    [
        *"ab 1\n\t.!?:;'\"()-。！？।؟東é\u0301\u200d👩🏽\u3000\xa0\u2028",
        "\n\n",
        "Dr. ",
        "e.g. ",
        "word ",
        "...",
        "Two is. ",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=120).map("".join), st.integers(1, 60), st.integers(0, 59))
@example("a. \n\n", 1, 0)
def test_the_chunks_are_the_text_in_order(text: str, size: int, overlap: int) -> None:
    chunks = cut(text, size, min(overlap, size - 1))
    end = start = -1
    for chunk in chunks:
        assert 0 < len(chunk) <= size and chunk == chunk.strip()
        # Of several places the first after the last chunk's start that leaves nothing but white space between.
        start = next(
            at
            for at in range(start + 1, len(text))
            if text.startswith(chunk, at) and at + len(chunk) > end and not text[max(end, 0) : at].strip()
        )
        assert end - start <= min(overlap, size - 1)
        end = start + len(chunk)
    assert not text[max(end, 0) :].strip()
    assert chunks == cut(text, size, min(overlap, size - 1))


@pytest.mark.parametrize("unit", ["a", ".", "\n", " ", "Ab. ", "Ab.\n\n", '"', "("])
def test_a_million_characters_take_seconds(unit: str) -> None:
    began = time.monotonic()
    chunks_of(Text(id="a", title="", text="x" + unit * (1_000_000 // len(unit))))
    assert time.monotonic() - began < 10  # one on a machine that does nothing else
