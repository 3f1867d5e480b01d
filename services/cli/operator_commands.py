"""The commands that call the operators' API: each sends one request and prints the answer."""

import argparse
import sys

from services.cli.confirm import confirm
from services.cli.errors import CommandFailed
from services.cli.import_file import import_path
from services.cli.operator_client import client_for
from services.cli.output import as_table, show
from services.cli.status_screen import queue_lines, status_lines
from shared.settings import Settings


def _listed(text: str, option: str) -> list[str]:
    """An empty option, as from an unset shell variable, must not mean "everything"."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise CommandFailed(f"{option} is empty; omit it or give a value.", exit_code=2)
    return parts


def create_studio(settings: Settings, given: argparse.Namespace) -> None:
    body = {
        "name": given.name,
        "slug": given.slug,
        "timezone": given.timezone,
        "id": given.id,
        "test": given.test,
    }
    show(client_for(settings).post("/studios", body), as_json=given.json)


def list_studios(settings: Settings, given: argparse.Namespace) -> None:
    show(client_for(settings).get("/studios"), as_json=given.json, columns=("id", "slug", "name", "timezone"))


def create_key(settings: Settings, given: argparse.Namespace) -> None:
    body = {
        "studio": given.studio,
        "name": given.name,
        "scopes": _listed(given.scopes, "--scopes"),
        "location_ids": _listed(given.locations, "--locations") if given.locations is not None else None,
        "client": given.client,
        "expires_in": given.expires_in,
    }
    show(client_for(settings).post("/keys", body), as_json=given.json)


def list_keys(settings: Settings, given: argparse.Namespace) -> None:
    # The columns that fit into 100 characters with id and prefix; `keys show` has the rest.
    columns = ("id", "name", "prefix", "expires_at", "revoked_at")
    show(client_for(settings).get("/keys", studio=given.studio), as_json=given.json, columns=columns)


def show_key(settings: Settings, given: argparse.Namespace) -> None:
    show(client_for(settings).get(f"/keys/{given.id}"), as_json=given.json)


def rotate_key(settings: Settings, given: argparse.Namespace) -> None:
    answer = client_for(settings).post(f"/keys/{given.id}/rotate", {"overlap": given.overlap})
    show(answer, as_json=given.json)


def revoke_key(settings: Settings, given: argparse.Namespace) -> None:
    what = "The key will be revoked for good; every gateway refuses it within two seconds."
    confirm(what, yes=given.yes, scripts_need_yes=False)
    body = {"with_endpoints": True} if given.with_endpoints else None
    show(client_for(settings).post(f"/keys/{given.id}/revoke", body), as_json=given.json)


def list_clients(settings: Settings, given: argparse.Namespace) -> None:
    answer = client_for(settings).get("/clients", studio=given.studio)
    show(answer, as_json=given.json, columns=("id", "name", "studio_id", "rate", "burst"))


def set_client(settings: Settings, given: argparse.Namespace) -> None:
    body = {name: value for name in ("rate", "burst") if (value := getattr(given, name)) is not None}
    if not body:
        raise CommandFailed("Give --rate, --burst or both.", exit_code=2)
    show(client_for(settings).patch(f"/clients/{given.client}", body), as_json=given.json)


def import_file(settings: Settings, given: argparse.Namespace) -> int:
    report = import_path(
        client_for(settings),
        given.file,
        given.studio,
        dry_run=given.dry_run,
        send_events=not given.no_events,
    )
    # The bad lines have already been printed to stderr.
    shown = {**report, "rejected": None} if as_table(given.json) else report
    show({name: value for name, value in shown.items() if value is not None}, as_json=given.json)
    return 1 if report["rejected_count"] else 0


def export(settings: Settings, given: argparse.Namespace) -> None:
    client_for(settings).copy("/export", sys.stdout.buffer, studio=given.studio)


def erase(settings: Settings, given: argparse.Namespace) -> None:
    what = f"The {given.noun.removesuffix('s')} {given.id} will be anonymous everywhere, for good."
    confirm(what, yes=given.yes, scripts_need_yes=False)
    answer = client_for(settings).post(f"/{given.noun}/{given.id}/erase", studio=given.studio)
    show(answer, as_json=given.json)


def advance_sequences(settings: Settings, given: argparse.Namespace) -> None:
    confirm(f"Every studio's sequences will skip {given.by:,} numbers, for good.", yes=given.yes)
    if given.offline:
        from services.cli.offline_sequences import advance_offline

        answer = advance_offline(settings, given.by)
    else:
        answer = client_for(settings).post("/sequences/advance", {"by": given.by})
    show(answer, as_json=given.json)


def list_queues(settings: Settings, given: argparse.Namespace) -> None:
    answer = client_for(settings).get("/queues")
    if as_table(given.json):
        print("\n".join(queue_lines(answer["data"])))
    else:
        show(answer, as_json=given.json)


def show_parked(settings: Settings, given: argparse.Namespace) -> None:
    answer = client_for(settings).get(f"/queues/{given.queue}/parked")
    show(answer, as_json=given.json, columns=("id", "topic", "reason"))


def requeue(settings: Settings, given: argparse.Namespace) -> None:
    body = {"ids": given.ids or None}
    show(client_for(settings).post(f"/queues/{given.queue}/parked/requeue", body), as_json=given.json)


def demo(settings: Settings, given: argparse.Namespace) -> None:
    from services.cli.load_demo import load_demo

    show(load_demo(client_for(settings)), as_json=given.json)


def status(settings: Settings, given: argparse.Namespace) -> int:
    answer = client_for(settings).get("/status")
    if as_table(given.json):
        print("\n".join(status_lines(answer["services"])))
    else:
        show(answer, as_json=given.json)
    ready = all(service["status"] == "ready" for service in answer["services"].values())
    if not ready:
        print("studioctl: not every service is ready", file=sys.stderr)
    return 0 if ready else 1
