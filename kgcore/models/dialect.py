"""What a chat server accepts. Servers differ: an option that one rejects is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import openai

# How a server names what it rejects. Servers that count the answer's tokens against the model's context
# complain about the sum, "(300 in the messages, 4096 in the completion)", and do answer without a limit.
_REJECTED = {
    "response_format": re.compile(r"response.?format|json.?schema|json.?object|grammar", re.IGNORECASE),
    "temperature": re.compile(r"temperature", re.IGNORECASE),
    "max_tokens": re.compile(r"max_(completion_)?tokens|in the completion", re.IGNORECASE),
    "stream": re.compile(r"\bstream(ing)?\b", re.IGNORECASE),
}


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The option's name for the limit, and the format that is asked for; empty for none."""

    temperature: bool = True
    limit: str = "max_tokens"
    format: str = "json_schema"
    stream: bool = True

    def options(
        self, *, temperature: float, max_tokens: int, schema: Mapping[str, Any] | None = None, stream: bool = False
    ) -> dict[str, Any]:
        """The options of a request, as far as this server takes them."""
        options: dict[str, Any] = {}
        if self.temperature:
            options["temperature"] = temperature
        if self.limit:
            options[self.limit] = max_tokens
        if stream and self.stream:
            options["stream"] = True
        if schema is not None and self.format:
            options["response_format"] = {"type": self.format}
            if self.format == "json_schema":
                options["response_format"]["json_schema"] = {"name": "answer", "schema": dict(schema)}
        return options

    def without_rejected(self, options: Mapping[str, Any], error: openai.APIStatusError) -> Dialect | None:
        """The dialect without the option that the server rejects; None if it rejects none of those sent."""
        body = str(error.body)
        for text in (error.param or "", body):
            if "response_format" in options and _REJECTED["response_format"].search(text):
                return replace(self, format="json_object" if self.format == "json_schema" else "")
            if self.temperature and _REJECTED["temperature"].search(text):
                return replace(self, temperature=False)
            if self.limit and _REJECTED["max_tokens"].search(text):
                renamed = self.limit == "max_tokens" and "max_completion_tokens" in body
                return replace(self, limit="max_completion_tokens" if renamed else "")
            if "stream" in options and _REJECTED["stream"].search(text):
                return replace(self, stream=False)
        return None
