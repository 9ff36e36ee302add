"""A scripted OpenID Connect provider: a test queues who signs in next, or how that fails; no password is asked for.

    with Provider() as provider:
        provider.sign_in(sub="ann", groups=["finance"])
        ...  # the browser is sent to it, and comes back as ann

Leaving the block fails if a queued sign-in was not used, or one came that was not queued.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

Fault = Literal["", "refused", "token", "signature", "nonce", "audience", "expired"]
"""How a sign-in fails: at the provider, at its token endpoint, or by an id_token that must not be believed."""

CLIENT_ID, CLIENT_SECRET = "hopscope", "the-secret-of-the-client"
LIFETIME = 3600


@dataclass(frozen=True, kw_only=True)
class Person:
    """Who signs in next: the claims of the id_token beside those that every token has."""

    claims: Mapping[str, Any]
    fault: Fault = ""


@dataclass(frozen=True, kw_only=True)
class Code:
    """An authorization code's person, and what the token request must match."""

    person: Person
    nonce: str
    challenge: str
    redirect_uri: str


class Provider:
    """Listens on a free port of 127.0.0.1 while its block runs. `ended` has the query of each sign-out."""

    def __init__(self) -> None:
        self.ended: list[dict[str, str]] = []
        self._queue: deque[Person] = deque()
        self._codes: dict[str, Code] = {}
        self._unexpected: list[str] = []
        self._key, self._other_key = (RSAKey.generate_key(2048, {"kid": "1", "use": "sig"}) for _ in range(2))
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def issuer(self) -> str:
        """Its address, which is its name in tokens."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def settings(self) -> dict[str, str]:
        """What a client needs to be told."""
        return {
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "server_metadata_url": f"{self.issuer}/.well-known/openid-configuration",
        }

    def sign_in(self, fault: Fault = "", **claims: Any) -> None:
        """Queues who signs in next."""
        self._queue.append(Person(claims=claims, fault=fault))

    def __enter__(self) -> Provider:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        if error is None:
            assert not self._queue, f"{len(self._queue)} sign-ins were not used"
            assert not self._unexpected, self._unexpected

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "end_session_endpoint": f"{self.issuer}/end_session",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def _authorize(self, query: Mapping[str, str]) -> str:
        """Where the browser is sent back to: at once, with a code for the person who is next."""
        assert query["client_id"] == CLIENT_ID and query["code_challenge_method"] == "S256"
        person = self._queue.popleft()
        if person.fault == "refused":
            answer = {"error": "access_denied", "error_description": "The person said no.", "state": query["state"]}
        else:
            code = secrets.token_urlsafe()
            self._codes[code] = Code(
                person=person,
                nonce=query["nonce"],
                challenge=query["code_challenge"],
                redirect_uri=query["redirect_uri"],
            )
            answer = {"code": code, "state": query["state"]}
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    def _token(self, form: Mapping[str, str], authorization: str) -> dict[str, Any] | None:
        """The tokens for a code, once; None to fail."""
        code = self._codes.pop(form["code"])
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        assert authorization == "Basic " + base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        assert (code.challenge, code.redirect_uri) == (challenge.decode(), form["redirect_uri"])
        if code.person.fault == "token":
            return None
        return {
            "access_token": secrets.token_urlsafe(),
            "token_type": "Bearer",
            "expires_in": LIFETIME,
            "id_token": self._id_token(code),
        }

    def _id_token(self, code: Code) -> str:
        fault, now = code.person.fault, int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": "another client" if fault == "audience" else CLIENT_ID,
            "iat": now,
            "exp": now - LIFETIME if fault == "expired" else now + LIFETIME,
            "nonce": "another" if fault == "nonce" else code.nonce,
            **code.person.claims,
        }
        key = self._other_key if fault == "signature" else self._key
        return jwt.encode({"alg": "RS256", "kid": "1"}, claims, key)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer("")

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

            def _answer(self, form: str) -> None:
                address = urlsplit(self.path)
                try:
                    self._route(address.path, _first(address.query), _first(form))
                except (AssertionError, LookupError) as error:
                    outer._unexpected.append(f"{address.path}: {error!r}")
                    self._json({"error": "invalid_request"}, 400)

            def _route(self, path: str, query: dict[str, str], form: dict[str, str]) -> None:
                match path:
                    case "/.well-known/openid-configuration":
                        self._json(outer._metadata())
                    case "/jwks":
                        self._json({"keys": [outer._key.as_dict(private=False)]})
                    case "/authorize":
                        self._redirect(outer._authorize(query))
                    case "/token":
                        tokens = outer._token(form, self.headers["Authorization"])
                        self._json(tokens or {"error": "server_error"}, 200 if tokens else 500)
                    case "/end_session":
                        outer.ended.append(query)
                        self._redirect(query["post_logout_redirect_uri"])
                    case _:
                        raise LookupError("there is no such page")

            def _json(self, body: Any, status: int = 200) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def _redirect(self, url: str) -> None:
                self.send_response(302)
                self.send_header("Location", url)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


def _first(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query).items()}
