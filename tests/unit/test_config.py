"""Settings from the environment and the secrets file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgcore.config import Config, cache_dir, load_config
from kgcore.errors import ConfigError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder, and no setting in the environment."""
    for name in list(os.environ):
        if name.startswith("HOPSCOPE_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    cache_dir.cache_clear()
    yield tmp_path
    cache_dir.cache_clear()


def secrets(folder: Path, text: str) -> None:
    (folder / ".streamlit").mkdir(exist_ok=True)
    (folder / ".streamlit" / "secrets.toml").write_text(text, "utf-8")


def test_everything_has_a_default() -> None:
    config = load_config()
    assert (config.store, config.chat_url, config.chat_model) == ("", "", "")
    assert config.access_fields == frozenset({"allowed_principals"})
    assert config.cache_dir.name == "hopscope" and config.chat_timeout > 0
    assert config.chat_key.get_secret_value() == ""


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPSCOPE_STORE", "duckdb:///x.duckdb")
    monkeypatch.setenv("HOPSCOPE_CHAT_TIMEOUT", "2.5")
    monkeypatch.setenv("HOPSCOPE_NONSENSE", "1")
    monkeypatch.setenv("STORE", "not ours")
    assert (load_config().store, load_config().chat_timeout) == ("duckdb:///x.duckdb", 2.5)


def test_the_secrets_file_is_read_and_the_environment_wins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets(folder, '[hopscope]\nstore = "duckdb:///a"\nchat_model = "m"\nother = 1\n[auth]\nstore = "z"\n')
    assert (load_config().store, load_config().chat_model) == ("duckdb:///a", "m")
    monkeypatch.setenv("HOPSCOPE_STORE", "duckdb:///b")
    assert (load_config().store, load_config().chat_model) == ("duckdb:///b", "m")


@pytest.mark.parametrize("text", ["", "[other]\nstore = 1\n", 'hopscope = "not a table"\n', "[hopscope]\n"])
def test_a_secrets_file_without_our_table_is_no_trouble(folder: Path, text: str) -> None:
    secrets(folder, text)
    assert load_config() == Config.model_construct(**load_config().model_dump())
    assert load_config().store == ""


def test_a_secrets_file_that_is_not_toml_is_named(folder: Path) -> None:
    secrets(folder, 'chat_key = "sk-secret')
    with pytest.raises(ConfigError) as raised:
        load_config()
    assert "secrets.toml" in str(raised.value) and raised.value.remedy
    assert "sk-secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ("acl", {"acl"}),
        ("acl, groups,", {"acl", "groups"}),
        ("", set()),
        (" , ", set()),
    ],
)
def test_access_fields_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch, given: str, fields: set[str]) -> None:
    monkeypatch.setenv("HOPSCOPE_ACCESS_FIELDS", given)
    assert load_config().access_fields == frozenset(fields)


def test_access_fields_may_be_a_list_in_the_file(folder: Path) -> None:
    secrets(folder, '[hopscope]\naccess_fields = ["acl", "groups"]\n')
    assert load_config().access_fields == frozenset({"acl", "groups"})


@pytest.mark.parametrize(
    ("name", "value"), [("CHAT_TIMEOUT", "forever-sk"), ("CHAT_TIMEOUT", "0"), ("CHAT_TIMEOUT", "-1")]
)
def test_a_value_that_cannot_be_used_is_named_but_not_shown(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"HOPSCOPE_{name}", value)
    with pytest.raises(ConfigError) as raised:
        load_config()
    assert f"HOPSCOPE_{name}" in str(raised.value) and f"HOPSCOPE_{name}" in raised.value.remedy
    assert "forever-sk" not in str(raised.value)


def test_the_key_is_never_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPSCOPE_CHAT_KEY", "sk-secret")
    config = load_config()
    assert "sk-secret" not in repr(config) + str(config) + str(config.model_dump())
    assert config.chat_key.get_secret_value() == "sk-secret"


def test_the_cache_folder_is_found_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPSCOPE_CACHE_DIR", str(folder / "cache"))
    assert cache_dir() == folder / "cache"
    monkeypatch.setenv("HOPSCOPE_CACHE_DIR", str(folder / "other"))
    assert cache_dir() == folder / "cache"


LOCK = '{"field": "acl", "operator": "contains_any", "value": ["all", {"claim": "groups", "prefix": "group:"}]}'


def test_the_locked_filter_is_json_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_config().locked_filter is None
    monkeypatch.setenv("HOPSCOPE_LOCKED_FILTER", LOCK)
    template = load_config().locked_filter
    assert template is not None and template.claims == {"groups"}


@pytest.mark.parametrize(
    "spelled",
    [
        f"locked_filter = '{LOCK}'",
        """
        [hopscope.locked_filter]
        field = "acl"
        operator = "contains_any"
        value = ["all", { claim = "groups", prefix = "group:" }]
        """,
    ],
)
def test_the_locked_filter_is_json_or_a_table_in_the_file(folder: Path, spelled: str) -> None:
    secrets(folder, f"[hopscope]\n{spelled}\n")
    template = load_config().locked_filter
    assert template is not None
    assert template.fill({"groups": ["a"]}) == {"field": "acl", "operator": "contains_any", "value": ["all", "group:a"]}


@pytest.mark.parametrize("given", ["", " ", "null", "{}", "group:board", '{"field": "acl", "operator": "board"}'])
def test_a_locked_filter_that_cannot_be_kept_stops_everything(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    """An empty one too: a variable that was meant to be set must not open the graph."""
    monkeypatch.setenv("HOPSCOPE_LOCKED_FILTER", given)
    with pytest.raises(ConfigError, match="HOPSCOPE_LOCKED_FILTER") as raised:
        load_config()
    assert "board" not in f"{raised.value} {raised.value.remedy}"


def test_the_locked_filters_fields_hold_access_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPSCOPE_LOCKED_FILTER", LOCK)
    assert load_config().access_fields == {"allowed_principals", "acl"}
    monkeypatch.setenv("HOPSCOPE_ACCESS_FIELDS", "owner")
    assert load_config().access_fields == {"owner", "acl"}


@pytest.mark.parametrize(
    ("given", "claim"),
    [
        ("roles=hopscope-admin", ("roles", "hopscope-admin")),
        (" https://example.com/roles = a=b ", ("https://example.com/roles", "a=b")),
    ],
)
def test_the_administrators_claim_is_a_name_and_a_value(
    monkeypatch: pytest.MonkeyPatch, given: str, claim: tuple[str, str]
) -> None:
    assert load_config().admin_claim is None
    monkeypatch.setenv("HOPSCOPE_ADMIN_CLAIM", given)
    assert load_config().admin_claim == claim


@pytest.mark.parametrize("given", ["", "roles", "roles=", "=admin", " = "])
def test_half_a_claim_names_no_administrator(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("HOPSCOPE_ADMIN_CLAIM", given)
    with pytest.raises(ConfigError, match="HOPSCOPE_ADMIN_CLAIM"):
        load_config()


def test_an_administrators_claim_that_is_no_text_is_refused(folder: Path) -> None:
    secrets(folder, "[hopscope]\nadmin_claim = 1\n")
    with pytest.raises(ConfigError, match="HOPSCOPE_ADMIN_CLAIM"):
        load_config()


def test_who_may_see_what_is_never_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPSCOPE_LOCKED_FILTER", LOCK)
    monkeypatch.setenv("HOPSCOPE_ADMIN_CLAIM", "roles=the-admin")
    config = load_config()
    printed = repr(config) + str(config) + str(config.model_dump())
    assert "group:" not in printed and "the-admin" not in printed
