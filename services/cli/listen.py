"""`studioctl webhooks listen`: prints a studio's events live and forwards them to a local server.

Nothing has to be reachable from outside: the events are read from the event log and posted from here, signed
as the dispatcher signs them. The secret is printed first and kept in the home, so that a receiver under
development needs it once.
"""

import base64
import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from services.cli.command import Call, CommandFailed
from services.cli.operator_client import OperatorClient
from services.cli.requests import chosen_studio
from services.cli.secrets import write_private
from services.webhooks.rules.signing import PREFIX, new_secret, signature, signing_key
from shared.events.kinds import KINDS

SECRET_FILE = "listen_secret"
POLL_SECONDS = 0.5
TIMEOUT = 15.0


def listen(
    call: Call,
    *,
    forward_to: str | None,
    studio: str | None,
    events: str | None,
    secret: str | None,
    count: int | None,
) -> None:
    """Runs until Ctrl-C, or until `count` events have arrived."""
    wanted = _event_kinds(events)
    secret = _checked_secret(secret) if secret is not None else _kept_secret(call.settings.home)
    chosen = chosen_studio(call.operators, studio)
    path = f"/studios/{chosen['id']}/events"
    after = int(call.operators.get(f"{path}/position")["last_sequence"])
    if call.as_json:
        print(json.dumps({"listening": chosen["id"], "secret": secret}), flush=True)
    else:
        print(f"Listening to {chosen['name']} ({chosen['slug']}).", file=sys.stderr)
        print(f"Verify with the secret {secret}", file=sys.stderr, flush=True)
    for number, event in enumerate(_follow(call.operators, path, after, wanted), start=1):
        outcome = _forward(forward_to, secret, event, number) if forward_to else None
        _print_event(event, outcome, as_json=not call.on_terminal)
        if count is not None and number >= count:
            return


def _event_kinds(text: str | None) -> set[str]:
    wanted = set(filter(None, (part.strip() for part in (text or "").split(","))))
    if unknown := sorted(wanted - set(KINDS)):
        raise CommandFailed(f"Unknown event kind: {', '.join(unknown)}.", exit_code=2)
    return wanted


def _checked_secret(secret: str) -> str:
    """`whsec_` and base64, of a length that Standard Webhooks allows."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except ValueError:
        key = b""
    if not secret.startswith(PREFIX) or not 24 <= len(key) <= 64:
        raise CommandFailed("A secret is whsec_ and 24 to 64 bytes in base64.", exit_code=2)
    return secret


def _kept_secret(home: Path) -> str:
    """The secret of the last run with this home, or a new one."""
    path = home / SECRET_FILE
    if path.exists():
        return _checked_secret(path.read_text().strip())
    secret = new_secret()
    write_private(path, secret + "\n")
    return secret


def _follow(operators: OperatorClient, path: str, after: int, wanted: set[str]) -> Iterator[dict[str, Any]]:
    """Events after `after`, in order, each once."""
    while True:
        page = operators.get(path, after_sequence=str(after), limit="200")
        for event in page["data"]:
            after = event["sequence"]
            if not wanted or event["type"] in wanted:
                yield event
        if not page["has_more"]:
            time.sleep(POLL_SECONDS)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Like the dispatcher, do not follow redirects."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _forward(url: str, secret: str, event: dict[str, Any], number: int) -> str:
    body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
    at = int(time.time())
    headers = {
        "Content-Type": "application/json",
        "webhook-id": event["id"],
        "webhook-timestamp": str(at),
        "webhook-signature": signature([signing_key(secret)], event["id"], at, body),
        "webhook-sequence": str(number),
    }
    request = urllib.request.Request(url, body, headers, method="POST")
    try:
        with _opener.open(request, timeout=TIMEOUT) as response:
            return str(response.status)
    except urllib.error.HTTPError as refusal:
        return str(refusal.code)
    except (OSError, ValueError) as problem:
        return f"failed: {getattr(problem, 'reason', problem)}"


def _print_event(event: dict[str, Any], outcome: str | None, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"event": event, "forwarded": outcome}, ensure_ascii=False), flush=True)
        return
    arrow = f"  → {outcome}" if outcome else ""
    resource = event["resource"]
    print(
        f"{event['created_at']}  {event['type']:<18} {resource['object']} {resource['id']}{arrow}", flush=True
    )
