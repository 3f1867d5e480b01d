"""Settings from the environment: one frozen struct, read once per process and passed down."""

import re
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

SERVICES = ("gateway", "catalog", "bookings", "forms", "webhooks")
ServiceName = Literal["gateway", "catalog", "bookings", "forms", "webhooks"]
PORTS: dict[str, int] = {"gateway": 8080, "catalog": 8082, "bookings": 8083, "forms": 8084, "webhooks": 8085}

# Which secrets a service cannot work without, by setting name.
SECRETS: dict[str, str] = {
    "key_peppers": "STUDIO_KEY_PEPPER",
    "caller_keys": "STUDIO_CALLER_KEY",
    "webhook_keys": "STUDIO_WEBHOOK_KEY",
    "operator_tokens": "STUDIO_OPERATOR_TOKEN",
}
NEEDED_SECRETS: dict[str, tuple[str, ...]] = {
    "gateway": ("key_peppers", "caller_keys", "operator_tokens"),
    "catalog": ("caller_keys",),
    "bookings": ("caller_keys",),
    "forms": ("caller_keys",),
    "webhooks": ("caller_keys", "webhook_keys"),
}
_PLACEHOLDER = re.compile(r"change[-_]?me", re.IGNORECASE)
DEFAULT_RETRY_SCHEDULE = (5.0, 300.0, 1800.0, 7200.0, 18000.0, 36000.0, 50400.0, 72000.0, 86400.0)


class SettingsProblem(Exception):
    """A setting is missing or not usable. The message is one sentence for the operator."""


class Settings(Struct, frozen=True, kw_only=True):
    """All settings. Secrets are tuples: the first value is used, all of them are accepted."""

    home: Path = Path(".studio")
    database_url: str | None = None
    # The server itself, if `database_url` points at a pooler: for LISTEN, advisory locks and migrations.
    database_direct_url: str | None = None
    amqp_url: str | None = None
    # Valkey or Redis, for rate limits that all gateways share.
    valkey_url: str | None = None
    host: str = "127.0.0.1"
    port: int | None = None
    operator_host: str = "127.0.0.1"
    operator_port: int = 8081
    operator_url: str | None = None
    # Where browsers reach the partner port, for links into the console.
    public_url: str | None = None
    key_peppers: tuple[str, ...] = ()
    caller_keys: tuple[str, ...] = ()
    # The gateway's: the key of each service, so that no service can sign for another one.
    service_caller_keys: dict[str, tuple[str, ...]] = {}
    webhook_keys: tuple[str, ...] = ()
    operator_tokens: tuple[str, ...] = ()
    service_urls: dict[str, str] = {}
    pool_size: int = 10
    webhooks_only: Literal["log", "dispatch"] | None = None
    answer_timeout: float = 10.0
    log_level: str = "info"
    log_format: Literal["auto", "json", "text"] = "auto"
    webhook_allow_http: bool | None = None
    webhook_allow_hosts: frozenset[str] = frozenset()
    # Set by `studioctl up`, never from the environment.
    webhook_loopback_http: bool = False
    webhook_retry_schedule: tuple[float, ...] = DEFAULT_RETRY_SCHEDULE
    otlp_endpoint: str | None = None
    trace_ratio: float = 1.0
    drain_seconds: float = 5.0
    # Of the partner port. An address is an IPv4 address or an IPv6 network of 64 bits.
    max_connections: int = 2048
    max_connections_per_address: int = 512
    # Networks of proxies in front of the gateway, and the header in which they name the client.
    trusted_proxies: tuple[str, ...] = ()
    forwarded_header: Literal["x-forwarded-for", "forwarded"] = "x-forwarded-for"
    http2: bool = False

    def port_of(self, service: str) -> int:
        return self.port if self.port is not None else PORTS[service]

    def public_origin(self) -> str | None:
        return self.public_url.rstrip("/") if self.public_url else None

    def url_of(self, service: str) -> str:
        return self.service_urls.get(service, f"http://127.0.0.1:{PORTS[service]}")

    def caller_keys_of(self, service: str) -> tuple[str, ...]:
        """The keys that sign and verify the caller header of requests to `service`."""
        return self.service_caller_keys.get(service) or self.caller_keys

    def missing_secrets(self, service: str) -> list[str]:
        missing = [name for name in NEEDED_SECRETS[service] if not getattr(self, name)]
        served = [name for name in SERVICES if name != "gateway"] if service == "gateway" else [service]
        if all(self.caller_keys_of(name) for name in served):
            missing = [name for name in missing if name != "caller_keys"]
        return [SECRETS[name] for name in missing]


def with_files(environ: Mapping[str, str]) -> dict[str, str]:
    """`STUDIO_X_FILE` names a file that holds `STUDIO_X`: secrets of containers come as files."""
    values = dict(environ)
    for variable, path in environ.items():
        name = variable.removesuffix("_FILE")
        if variable.startswith("STUDIO_") and name != variable and path and name not in environ:
            try:
                values[name] = Path(path).read_text().strip()
            except OSError as problem:
                raise SettingsProblem(f"{variable} names {path}, which cannot be read: {problem}") from None
    return values


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Reads `STUDIO_*`. Unknown names are ignored; a value that is not usable is reported by name."""
    environ = with_files(environ)
    _refuse_placeholders(environ)
    values: dict[str, object] = {}

    def take(name: str, variable: str, kind: object) -> None:
        text = environ.get(variable, "").strip()
        if not text:
            return
        try:
            values[name] = msgspec.convert(text, kind, strict=False)
        except msgspec.ValidationError as problem:
            raise SettingsProblem(f"{variable} is set to {text!r}, which is not usable: {problem}") from None

    for name in (
        "database_url",
        "database_direct_url",
        "amqp_url",
        "valkey_url",
        "host",
        "operator_host",
        "operator_url",
        "public_url",
        "log_level",
        "otlp_endpoint",
    ):
        take(name, f"STUDIO_{name.upper()}", str)
    for name in ("port", "operator_port", "pool_size", "max_connections", "max_connections_per_address"):
        take(name, f"STUDIO_{name.upper()}", int)
    for name in ("answer_timeout", "trace_ratio", "drain_seconds"):
        take(name, f"STUDIO_{name.upper()}", float)
    for name in ("webhook_allow_http", "http2"):
        take(name, f"STUDIO_{name.upper()}", bool)
    take("forwarded_header", "STUDIO_FORWARDED_HEADER", Literal["x-forwarded-for", "forwarded"])
    values["trusted_proxies"] = _networks(_parts(environ.get("STUDIO_TRUSTED_PROXIES", "")))
    take("log_format", "STUDIO_LOG_FORMAT", Literal["auto", "json", "text"])
    values["home"] = Path(environ.get("STUDIO_HOME") or ".studio").absolute()
    for name, variable in SECRETS.items():
        values[name] = _parts(environ.get(variable, ""))
    values["webhook_allow_hosts"] = frozenset(_parts(environ.get("STUDIO_WEBHOOK_ALLOW_HOSTS", "")))
    values["service_caller_keys"] = {
        service: keys
        for service in SERVICES
        if (keys := _parts(environ.get(f"STUDIO_CALLER_KEY_{service.upper()}", "")))
    }
    values["service_urls"] = {
        service: url
        for service in SERVICES
        if (url := environ.get(f"STUDIO_{service.upper()}_URL", "").strip())
    }
    if schedule := _parts(environ.get("STUDIO_WEBHOOK_RETRY_SCHEDULE", "")):
        values["webhook_retry_schedule"] = _seconds(schedule)
    return msgspec.convert(values, Settings)


def _refuse_placeholders(environ: Mapping[str, str]) -> None:
    """If the example file were applied unchanged, every installation would have the same, known secret."""
    for variable, value in environ.items():
        if variable.startswith("STUDIO_") and _PLACEHOLDER.search(value):
            raise SettingsProblem(
                f"{variable} still holds a placeholder (CHANGE-ME): set a value of your own."
            )


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _networks(parts: tuple[str, ...]) -> tuple[str, ...]:
    for part in parts:
        try:
            ip_network(part, strict=False)
        except ValueError:
            raise SettingsProblem(f"STUDIO_TRUSTED_PROXIES holds {part!r}, which is not a network.") from None
    return parts


def _seconds(parts: tuple[str, ...]) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in parts)
    except ValueError:
        raise SettingsProblem("STUDIO_WEBHOOK_RETRY_SCHEDULE must be seconds separated by commas.") from None
