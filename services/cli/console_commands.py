"""`studioctl console`, `studioctl audit list` and `studioctl usage`."""

import argparse
import webbrowser
from datetime import timedelta

from services.cli.operator_client import client_for
from services.cli.output import as_table, show
from shared.settings import Settings
from shared.wire import now


def console(settings: Settings, given: argparse.Namespace) -> None:
    client = client_for(settings)
    if given.client is None:
        answer = {"object": "console", "url": f"{client.url}/console"}
    else:
        body = {"expires_in": given.expires_in} if given.expires_in is not None else None
        answer = client.post(f"/clients/{given.client}/console-sessions", body)
    if given.open:
        webbrowser.open(answer["url"])
    if as_table(given.json):
        # On a line of its own, so that a terminal recognises the link.
        print(answer["url"])
    else:
        show(answer, as_json=given.json)


def list_audit(settings: Settings, given: argparse.Namespace) -> None:
    since = (now() - timedelta(seconds=given.since)).isoformat()
    answer = client_for(settings).get("/audit", since=since, limit=str(min(given.limit, 200)))
    show(answer, as_json=given.json, columns=("at", "actor", "action", "target", "request_id"))


def usage(settings: Settings, given: argparse.Namespace) -> None:
    since = (now() - timedelta(seconds=given.since)).isoformat()
    limit = str(min(given.limit, 200))
    answer = client_for(settings).get("/usage", studio=given.studio, since=since, limit=limit)
    columns = ("client_name", "name", "prefix", "requests", "errors", "last_used_at")
    show(answer, as_json=given.json, columns=columns)
