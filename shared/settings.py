"""Settings from the environment: one frozen struct, read once per process and passed down.

The struct is the only list of them: its names and types say how they are read, and the table in
docs/operating/install.md is made from its descriptions (`python -m services.cli.settings_table --write`).
"""

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import msgspec
from msgspec import Struct

SERVICES = ("gateway", "catalog", "bookings", "forms", "webhooks")
PORTS: dict[str, int] = {"gateway": 8080, "catalog": 8082, "bookings": 8083, "forms": 8084, "webhooks": 8085}

# The variables of secrets, in which the first value is used and all of them are accepted.
SECRETS: dict[str, str] = {
    "key_peppers": "STUDIO_KEY_PEPPER",
    "caller_keys": "STUDIO_CALLER_KEY",
    "webhook_keys": "STUDIO_WEBHOOK_KEY",
    "operator_tokens": "STUDIO_OPERATOR_TOKEN",
}
# Which of them a service cannot work without.
NEEDED_SECRETS: dict[str, tuple[str, ...]] = {
    "gateway": ("key_peppers", "caller_keys", "operator_tokens"),
    "catalog": ("caller_keys",),
    "bookings": ("caller_keys",),
    "forms": ("caller_keys",),
    "webhooks": ("caller_keys", "webhook_keys"),
}
# A setting of each service has a variable for each.
SERVICE: Final = "<SERVICE>"
_OF_EACH_SERVICE: dict[str, str] = {
    "service_caller_keys": f"STUDIO_CALLER_KEY_{SERVICE}",
    "service_urls": f"STUDIO_{SERVICE}_URL",
    "db_passwords": f"STUDIO_{SERVICE}_DB_PASSWORD",
}
# Set by commands, never from the environment.
_NOT_READ: Final = frozenset({"webhooks_only", "webhook_loopback_http"})
_PLACEHOLDER = re.compile(r"change[-_]?me", re.IGNORECASE)
DEFAULT_RETRY_SCHEDULE = (5.0, 300.0, 1800.0, 7200.0, 18000.0, 36000.0, 50400.0, 72000.0, 86400.0)


class SettingsProblem(Exception):
    """A setting is missing or not usable. The message is one sentence for the operator."""


class Settings(Struct, frozen=True, kw_only=True):
    """All settings. Their descriptions are Markdown."""

    home: Annotated[Path, "where `studioctl up` keeps its database, secrets and logs"] = Path(".studio")
    database_url: Annotated[str | None, "in production with the service's own role, `studio_<service>`"] = (
        None
    )
    database_direct_url: Annotated[
        str | None,
        "the server itself, if `STUDIO_DATABASE_URL` points at a pooler: for LISTEN, advisory "
        "locks, `studioctl migrate`",
    ] = None
    db_passwords: Annotated[
        dict[str, str],
        "the password that `studioctl migrate` gives to a service's role; without it one is "
        "derived from the password of `STUDIO_DATABASE_URL`",
    ] = {}
    pool_size: Annotated[int, "database connections per replica; a dispatcher uses twice as many"] = 10
    amqp_url: Annotated[str | None, "RabbitMQ: catalog, bookings, forms, webhooks"] = None
    valkey_url: Annotated[
        str | None,
        "a Valkey or Redis in which gateways share rate limits; without it, or while it is "
        "unavailable, each gateway counts for itself",
    ] = None
    host: Annotated[str, "the address that a service listens on"] = "127.0.0.1"
    port: Annotated[
        int | None,
        "its port; without it gateway 8080, catalog 8082, bookings 8083, forms 8084, webhooks 8085",
    ] = None
    operator_host: Annotated[str, "the same for the operators' port"] = "127.0.0.1"
    operator_port: Annotated[int, "and its port"] = 8081
    operator_url: Annotated[
        str | None,
        "where `studioctl` reaches the operators' port; without it on this machine",
    ] = None
    public_url: Annotated[
        str | None,
        "where browsers reach the partner port, such as `https://api.example.com`, for links "
        "into the console: **set it behind a proxy**",
    ] = None
    service_urls: Annotated[
        dict[str, str], "where the gateway reaches a service; without it on this machine"
    ] = {}
    key_peppers: Annotated[
        tuple[str, ...],
        "hashes keys and tokens (gateway). Of this and the next secrets there may be several, "
        "separated by commas: the first one is used, all of them are accepted",
    ] = ()
    operator_tokens: Annotated[tuple[str, ...], "of the operators' API: gateway and `studioctl`"] = ()
    caller_keys: Annotated[tuple[str, ...], "signs what the gateway tells services about the caller"] = ()
    service_caller_keys: Annotated[
        dict[str, tuple[str, ...]],
        "the gateway's: the key of each service, so that no service can sign for another",
    ] = {}
    webhook_keys: Annotated[tuple[str, ...], "encrypts the secrets of webhook endpoints (webhooks)"] = ()
    answer_timeout: Annotated[float, "how many seconds the gateway waits for a service"] = 10.0
    drain_seconds: Annotated[
        float,
        "how long a stopping service keeps answering; must exceed the gateway's idle limit of 4 s",
    ] = 5.0
    max_connections: Annotated[
        int,
        "connections open at once on a gateway's partner port; at the limit the addresses "
        "with most connections lose some, except those that have authenticated",
    ] = 8192
    max_connections_per_address: Annotated[
        int,
        "of them from one IPv4 address or IPv6 /64 network; trusted proxies are exempt",
    ] = 512
    trusted_proxies: Annotated[
        tuple[str, ...],
        "networks of the proxies in front of the gateway, separated by commas: **set it "
        "behind an ingress**, or all partners share one address",
    ] = ()
    forwarded_header: Annotated[
        Literal["x-forwarded-for", "forwarded"],
        "the header in which they name the client, or `forwarded`; a proxy must set it itself "
        "and never pass on a client's",
    ] = "x-forwarded-for"
    webhook_allow_http: Annotated[
        bool | None,
        "`true`: webhook endpoints may have plain `http` URLs; `studioctl up` lets loopback have them",
    ] = None
    webhook_allow_hosts: Annotated[
        frozenset[str],
        "hosts of endpoints that may be at private addresses, separated by commas",
    ] = frozenset()
    webhook_retry_schedule: Annotated[
        tuple[float, ...], "seconds between the attempts of a delivery, separated by commas"
    ] = DEFAULT_RETRY_SCHEDULE
    otlp_endpoint: Annotated[
        str | None, "where to send traces (OTLP over HTTP); without it tracing is off"
    ] = None
    trace_ratio: Annotated[
        float, "share of traces to keep; decided by trace id, so that all services agree"
    ] = 1.0
    log_level: Annotated[str, "`debug`, `info`, `warning` or `error`"] = "info"
    log_format: Annotated[
        Literal["auto", "json", "text"],
        "`json` or `text`; `auto` is text on a terminal",
    ] = "auto"
    webhooks_only: Literal["log", "dispatch"] | None = None
    webhook_loopback_http: bool = False

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


class Setting(Struct, frozen=True):
    """A setting as it is read. In the variable of a setting of each service, `SERVICE` stands for one."""

    name: str
    variable: str
    kind: Any
    description: str
    default: Any


def settings_read() -> Iterator[Setting]:
    """Those that the environment may have, in the struct's order."""
    for field in msgspec.structs.fields(Settings):
        if field.name in _NOT_READ:
            continue
        kind, description = get_args(field.type)
        variable = SECRETS.get(field.name) or _OF_EACH_SERVICE.get(field.name)
        yield Setting(
            field.name,
            variable or f"STUDIO_{field.name.upper()}",
            kind,
            description,
            getattr(Settings(), field.name),
        )


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Reads `STUDIO_*`. Unknown names are ignored; a value that is not usable is reported by name."""
    environ = with_files(environ)
    _refuse_placeholders(environ)
    values: dict[str, Any] = {}
    for one in settings_read():
        if one.name in _OF_EACH_SERVICE:
            kind = get_args(one.kind)[1]
            read = {
                name: _read(environ, one.variable.replace(SERVICE, name.upper()), kind) for name in SERVICES
            }
            values[one.name] = {name: value for name, value in read.items() if value is not None}
        elif (value := _read(environ, one.variable, one.kind)) is not None:
            values[one.name] = value
    values["home"] = values.get("home", Settings().home).absolute()
    return Settings(**values)


def _read(environ: Mapping[str, str], variable: str, kind: Any) -> Any:
    """None if the variable is not set. Several values are separated by commas."""
    text = environ.get(variable, "").strip()
    if not text:
        return None
    given: Any = _parts(text) if get_origin(kind) in (tuple, frozenset) else text
    try:
        value = msgspec.convert(given, kind, strict=False, dec_hook=lambda kind, text: kind(text))
        if variable == "STUDIO_TRUSTED_PROXIES":
            for network in value:
                ip_network(network, strict=False)
    except (msgspec.ValidationError, ValueError) as problem:
        raise SettingsProblem(f"{variable} is set to {text!r}, which is not usable: {problem}") from None
    return value


def _refuse_placeholders(environ: Mapping[str, str]) -> None:
    """If the example file were applied unchanged, every installation would have the same, known secret."""
    for variable, value in environ.items():
        if variable.startswith("STUDIO_") and _PLACEHOLDER.search(value):
            raise SettingsProblem(
                f"{variable} still holds a placeholder (CHANGE-ME): set a value of your own."
            )


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
