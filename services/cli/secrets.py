"""Secrets of `studioctl up`: generated on the first start, stored in its home, readable only by the owner."""

import json
import os
import secrets
from pathlib import Path

import msgspec

from services.cli.command import CommandFailed
from shared.settings import SECRETS, Settings

FILE = "secrets.json"


def with_secrets(settings: Settings, *, make: bool) -> Settings:
    """Fills unset secrets from the home. With `make`, missing ones are generated."""
    path = settings.home / FILE
    kept = _read(path)
    if make and (missing := [name for name in SECRETS if name not in kept]):
        kept |= {name: [_new(name)] for name in missing}
        write_private(path, json.dumps(kept, indent=2) + "\n")
    found = {name: tuple(kept[name]) for name in SECRETS if name in kept and not getattr(settings, name)}
    return msgspec.structs.replace(settings, **found)


def _read(path: Path) -> dict[str, list[str]]:
    try:
        found: dict[str, list[str]] = json.loads(path.read_text())
        return found
    except FileNotFoundError:
        return {}
    except PermissionError:
        raise CommandFailed(
            f"{path} belongs to another user; run this as its owner or set STUDIO_OPERATOR_TOKEN."
        ) from None


def _new(name: str) -> str:
    return ("opt_" if name == "operator_tokens" else "") + secrets.token_hex(32)


def write_private(path: Path, text: str) -> None:
    """Written to a new file and renamed: a crash leaves the old file or the new one, never half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".new")
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    unfinished.replace(path)
