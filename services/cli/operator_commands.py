"""The commands that call the operators' API: each sends one request and prints the answer."""

import argparse
import re
import sys

from services.cli.confirm import confirm
from services.cli.errors import CommandFailed
from services.cli.import_file import import_path
from services.cli.operator_client import OperatorClient
from services.cli.output import show
from services.cli.secrets import with_secrets
from shared.settings import Settings

_DURATION = re.compile(r"(\d+)([smhdw]?)\Z")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def seconds(text: str) -> int:
    found = _DURATION.match(text)
    if found is None:
        raise CommandFailed(f"{text!r} is no duration; write 90d, 24h, 30m or seconds.", exit_code=2)
    return int(found[1]) * _UNITS[found[2]]


def _listed(text: str, option: str) -> list[str]:
    """An empty option, as from an unset shell variable, must not mean "everything"."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise CommandFailed(f"{option} is empty; omit it or give a value.", exit_code=2)
    return parts


def client(settings: Settings) -> OperatorClient:
    return OperatorClient.for_settings(with_secrets(settings, make=False))


def create_studio(settings: Settings, given: argparse.Namespace) -> None:
    body = {
        "name": given.name,
        "slug": given.slug,
        "timezone": given.timezone,
        "id": given.id,
        "test": given.test,
    }
    show(client(settings).post("/studios", body), as_json=given.json)


def list_studios(settings: Settings, given: argparse.Namespace) -> None:
    show(client(settings).get("/studios"), as_json=given.json, columns=("id", "slug", "name", "timezone"))


def create_key(settings: Settings, given: argparse.Namespace) -> None:
    body = {
        "studio": given.studio,
        "name": given.name,
        "scopes": _listed(given.scopes, "--scopes"),
        "location_ids": _listed(given.locations, "--locations") if given.locations is not None else None,
        "client": given.client,
        "expires_in": seconds(given.expires_in) if given.expires_in is not None else None,
    }
    show(client(settings).post("/keys", body), as_json=given.json)


def list_keys(settings: Settings, given: argparse.Namespace) -> None:
    columns = ("id", "name", "client_name", "prefix", "scopes", "expires_at", "last_used_at", "revoked_at")
    show(client(settings).get("/keys", studio=given.studio), as_json=given.json, columns=columns)


def show_key(settings: Settings, given: argparse.Namespace) -> None:
    show(client(settings).get(f"/keys/{given.id}"), as_json=given.json)


def rotate_key(settings: Settings, given: argparse.Namespace) -> None:
    answer = client(settings).post(f"/keys/{given.id}/rotate", {"overlap": seconds(given.overlap)})
    show(answer, as_json=given.json)


def revoke_key(settings: Settings, given: argparse.Namespace) -> None:
    body = {"with_endpoints": True} if given.with_endpoints else None
    show(client(settings).post(f"/keys/{given.id}/revoke", body), as_json=given.json)


def list_clients(settings: Settings, given: argparse.Namespace) -> None:
    answer = client(settings).get("/clients", studio=given.studio)
    show(answer, as_json=given.json, columns=("id", "name", "studio_id", "rate", "burst"))


def set_client(settings: Settings, given: argparse.Namespace) -> None:
    body = {name: value for name in ("rate", "burst") if (value := getattr(given, name)) is not None}
    if not body:
        raise CommandFailed("Give --rate, --burst or both.", exit_code=2)
    show(client(settings).patch(f"/clients/{given.client}", body), as_json=given.json)


def import_file(settings: Settings, given: argparse.Namespace) -> int:
    report = import_path(client(settings), given.file, given.studio)
    show(report, as_json=given.json)
    return 1 if report["rejected_count"] else 0


def erase(settings: Settings, given: argparse.Namespace) -> None:
    answer = client(settings).post(f"/{given.noun}/{given.id}/erase", studio=given.studio)
    show(answer, as_json=given.json)


def advance_sequences(settings: Settings, given: argparse.Namespace) -> None:
    confirm(f"Every studio's sequences will skip {given.by:,} numbers, for good.", yes=given.yes)
    show(client(settings).post("/sequences/advance", {"by": given.by}), as_json=given.json)


def list_queues(settings: Settings, given: argparse.Namespace) -> None:
    show(client(settings).get("/queues"), as_json=given.json)


def show_parked(settings: Settings, given: argparse.Namespace) -> None:
    show(client(settings).get(f"/queues/{given.queue}/parked"), as_json=given.json)


def requeue(settings: Settings, given: argparse.Namespace) -> None:
    body = {"ids": given.ids or None}
    show(client(settings).post(f"/queues/{given.queue}/parked/requeue", body), as_json=given.json)


def demo(settings: Settings, given: argparse.Namespace) -> None:
    from services.cli.load_demo import load_demo

    show(load_demo(client(settings)), as_json=given.json)


def status(settings: Settings, given: argparse.Namespace) -> int:
    answer = client(settings).get("/status")
    show(answer, as_json=given.json)
    ready = all(service["status"] == "ready" for service in answer["services"].values())
    if not ready:
        print("studioctl: not every service is ready", file=sys.stderr)
    return 0 if ready else 1
