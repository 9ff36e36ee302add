"""Settings, from the environment and `.streamlit/secrets.toml`. The environment wins."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from platformdirs import user_cache_dir, user_config_dir
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from kgcore.errors import ConfigError
from kgcore.filters import Template

SECRETS = Path(".streamlit/secrets.toml")


class Config(BaseSettings):
    """Every setting, each named HOPSCOPE_ and its name in capitals."""

    model_config = SettingsConfigDict(env_prefix="HOPSCOPE_", extra="ignore")

    store: str = ""
    """The address of the graph that the app opens; empty for the demo."""
    store_user: str = ""
    """Who logs in to a Neo4j server of that address; `neo4j` when empty."""
    store_password: SecretStr = SecretStr("")
    """The password, so that it need not stand in the address. It is used for HOPSCOPE_STORE alone."""
    mappings: Path = Path(user_config_dir("hopscope")) / "mappings"
    """Where the mappings of graphs that others built are saved, a file each."""
    cache_dir: Path = Path(user_cache_dir("hopscope"))
    """Where the demo's file and the embedder's table are kept."""
    access_fields: Annotated[frozenset[str], NoDecode] = frozenset({"allowed_principals"})
    """Properties that hold access metadata, separated by commas: never shown. The locked filter's are among them."""
    locked_filter: Annotated[Template | None, NoDecode] = Field(default=None, repr=False, exclude=True)
    """What everybody's reading is locked to, as JSON with places for claims; None for nothing."""
    admin_claim: Annotated[tuple[str, str] | None, NoDecode] = Field(default=None, repr=False, exclude=True)
    """A claim and the value that it is or holds for an administrator, as `roles=hopscope-admin`; None for nobody."""
    chat_url: str = ""
    """The base URL of an OpenAI-compatible chat server, such as http://localhost:11434/v1; empty for none."""
    chat_model: str = ""
    """The chat model's name on that server."""
    chat_key: SecretStr = SecretStr("")
    """Its key; empty where the server wants none."""
    chat_timeout: float = Field(default=60.0, gt=0)
    """Seconds that one answer may take."""
    chat_prices: Annotated[tuple[float, float], NoDecode] = (0.0, 0.0)
    """What a million tokens cost, asked and answered, separated by a comma: an extraction then tells its cost."""

    @property
    def has_chat(self) -> bool:
        """Whether a chat model is set."""
        return bool(self.chat_url.strip() and self.chat_model.strip())

    @field_validator("access_fields", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return frozenset(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("chat_prices", mode="before")
    @classmethod
    def _prices(cls, value: Any) -> Any:
        return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value

    @field_validator("locked_filter", mode="before")
    @classmethod
    def _parse(cls, value: Any) -> Template | None:
        return None if value is None else Template.parse(value)

    @field_validator("admin_claim", mode="before")
    @classmethod
    def _claim(cls, value: Any) -> tuple[str, str] | None:
        if value is None:
            return None
        claim, _, held = value.partition("=") if isinstance(value, str) else ("", "", "")
        if not claim.strip() or not held.strip():
            raise ConfigError(
                "HOPSCOPE_ADMIN_CLAIM names no claim and value.",
                remedy="Write it as roles=hopscope-admin, or leave it out.",
            )
        return claim.strip(), held.strip()

    @model_validator(mode="after")
    def _hide(self) -> Config:
        if self.locked_filter:
            self.access_fields |= self.locked_filter.fields
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, _Secrets(settings_cls)


def load_config() -> Config:
    """The settings now in force. Raises ConfigError that names the setting, never its value."""
    try:
        return Config()
    except ValidationError as error:
        first = error.errors()[0]
        name = "HOPSCOPE_" + "_".join(str(part) for part in first["loc"]).upper()
        raise ConfigError(f"The setting {name} cannot be used: {first['msg']}.", remedy=f"Correct {name}.") from error


@lru_cache(maxsize=1)
def cache_dir() -> Path:
    """The folder of what can be made again."""
    return load_config().cache_dir


def store_options(config: Config, url: str) -> dict[str, Any]:
    """What `open_store` takes beside an address: the login that belongs to it, and where its mapping is saved."""
    options: dict[str, Any] = {"access_fields": config.access_fields, "mapping_file": mapping_file(config, url)}
    if url == config.store:
        options |= {"user": config.store_user, "password": config.store_password.get_secret_value()}
    return options


def mapping_file(config: Config, url: str) -> Path:
    """The file with the mapping of an address, whoever logs in to it."""
    scheme, _, rest = url.partition("://")
    place = rest.rpartition("@")[2].rstrip("/")
    return config.mappings / f"{hashlib.sha256(f'{scheme}://{place}'.encode()).hexdigest()[:16]}.json"


class _Secrets(TomlConfigSettingsSource):
    """The `[hopscope]` table of Streamlit's secrets file."""

    def __init__(self, settings_cls: type[BaseSettings]) -> None:
        super().__init__(settings_cls, SECRETS)

    def _read_file(self, file_path: Any) -> dict[str, Any]:
        try:
            table = super()._read_file(file_path).get("hopscope", {})
        except ValueError as error:
            raise ConfigError(f"{SECRETS} is not valid TOML.", remedy="Correct it, or remove it.") from error
        return table if isinstance(table, dict) else {}
