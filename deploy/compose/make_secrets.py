"""First start of compose: creates the missing secrets, each readable by its own service only, and the
broker's users.

Every service runs as its own user, so one volume is enough: a file belongs to the one user that may
read it. Nothing is ever overwritten; to rotate a secret see docs/operating/install.md.
"""

import json
import os
import secrets
from pathlib import Path

from shared.events.bus.topology import broker_user, definitions

FOLDER = Path("/secrets")
BROKER = Path("/broker")
USERS = {
    "migrate": 10010,
    "gateway": 10011,
    "catalog": 10012,
    "bookings": 10013,
    "forms": 10014,
    "webhooks": 10015,
}
BEHIND = ("catalog", "bookings", "forms", "webhooks")
NEEDED: dict[str, tuple[str, ...]] = {
    "gateway": ("key_pepper", "operator_token"),
    "catalog": (),
    "bookings": (),
    "forms": (),
    "webhooks": ("webhook_key",),
}


def main() -> None:
    FOLDER.chmod(0o711)
    kept = Path(FOLDER / "kept")
    kept.mkdir(mode=0o700, exist_ok=True)
    admin = secret(kept / "postgres", secrets.token_hex(24))
    shared = {
        "key_pepper": secret(kept / "key_pepper", secrets.token_hex(32)),
        "operator_token": secret(kept / "operator_token", "opt_" + secrets.token_hex(32)),
        "webhook_key": secret(kept / "webhook_key", secrets.token_hex(32)),
    }
    give("migrate", "database_url", f"postgresql://postgres:{admin}@postgres:5432/studio")
    for service, names in NEEDED.items():
        password = secret(kept / f"{service}_db_password", secrets.token_hex(24))
        give("migrate", f"{service}_db_password", password)
        give(service, "database_url", f"postgresql://studio_{service}:{password}@postgres:5432/studio")
        for name in names:
            give(service, name, shared[name])
    # Each service verifies its callers with its own key; only the gateway has them all.
    for service in BEHIND:
        key = secret(kept / f"caller_key_{service}", secrets.token_hex(32))
        give(service, "caller_key", key)
        give("gateway", f"caller_key_{service}", key)
    passwords = {}
    for service in BEHIND:
        passwords[service] = secret(kept / f"{service}_broker_password", secrets.token_hex(24))
        give(service, "amqp_url", f"amqp://{broker_user(service)}:{passwords[service]}@broker:5672/")
    write(BROKER / "definitions.json", json.dumps(definitions(passwords)), 0, 0o444)
    cookie = secret(kept / "erlang_cookie", secrets.token_hex(24))
    write(BROKER / "erlang.cookie", cookie, 0, 0o444)


def secret(path: Path, new: str) -> str:
    """Generated once. Only root, which runs this script, can enter the folder."""
    if not path.exists():
        write(path, new, 0, 0o400)
    return path.read_text()


def give(service: str, name: str, value: str) -> None:
    folder = FOLDER / service
    folder.mkdir(mode=0o500, exist_ok=True)
    os.chown(folder, USERS[service], USERS[service])
    write(folder / name, value, USERS[service], 0o400)


def write(path: Path, text: str, user: int, mode: int) -> None:
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text)
    os.chown(beside, user, user)
    beside.chmod(mode)
    beside.replace(path)


if __name__ == "__main__":
    main()
