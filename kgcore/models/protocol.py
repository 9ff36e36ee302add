"""What a model can do. Implementations raise ModelError."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt


class Embedder(Protocol):
    """Texts to unit vectors. Two embedders with one name give the same vectors."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Shape (len(texts), dimension), float32, unit length; `_` counts as a space."""
        ...


class Reranker(Protocol):
    """Texts in the order of their relevance to a question."""

    @property
    def name(self) -> str: ...

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score a text, higher is better."""
        ...


class ChatModel(Protocol):
    """A chat model that answers one prompt."""

    @property
    def name(self) -> str: ...

    def complete(self, system: str, user: str) -> str:
        """The answer's text, without any reasoning the model wrote before it."""
        ...

    def complete_json(self, system: str, user: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """An answer that holds to a JSON schema of type object."""
        ...

    def stream(self, system: str, user: str) -> Iterator[str]:
        """The answer's text in pieces, as the model writes it; a generator, and closing it ends the writing.

        Raises ModelError while iterating, after pieces too. `kgcore.models.thoughts.drop_thoughts` of all the pieces is
        what `complete` would give.
        """
        ...
