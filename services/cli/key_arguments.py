"""Arguments of the commands for keys, clients, staff tokens, the console, the audit log and usage."""

from services.cli import console_commands, operator_commands, staff_commands
from services.cli.command_words import (
    Words,
    command,
    group,
    id_argument,
    limit_option,
    studio_option,
    yes_option,
)
from services.cli.values import duration, positive

_ID = "8c1f5e0a-3b0e-4d52-9a41-3f2f7f9b0c55"


def add_key_commands(words: Words) -> None:
    _keys(group(words, "keys", "partners' keys"))
    _clients(group(words, "clients", "partners' integrations and their rate limits"))
    _staff(group(words, "staff", "tokens of a studio's staff"))
    _console(words)
    _audit(group(words, "audit", "what operators and staff changed"))
    _usage(words)


def _keys(words: Words) -> None:
    create = command(
        words,
        "create",
        "issue a key; its text is shown once",
        operator_commands.create_key,
        'keys create --studio mine --name "Partner Inc" --scopes studio:read,schedule:read --expires-in 90d',
    )
    create.add_argument("--studio", required=True, metavar="SLUG|ID")
    create.add_argument("--name", required=True)
    create.add_argument("--scopes", required=True, metavar="all|a,b")
    create.add_argument("--locations", metavar="id,id", help="limit the key to these locations")
    create.add_argument("--client", metavar="NAME", help="the partner's integration; created if new")
    create.add_argument("--expires-in", type=duration, metavar="90d")
    listing = command(words, "list", "list keys", operator_commands.list_keys, "keys list --studio mine")
    listing.add_argument("--studio", metavar="SLUG|ID")
    show = command(words, "show", "show a key", operator_commands.show_key, f"keys show {_ID}")
    id_argument(show)
    rotate = command(
        words,
        "rotate",
        "issue a second key for the same client",
        operator_commands.rotate_key,
        f"keys rotate {_ID} --overlap 24h",
    )
    id_argument(rotate)
    rotate.add_argument(
        "--overlap",
        type=duration,
        default="24h",
        metavar="24h",
        help="how long the old key stays valid, up to 7d (24h)",
    )
    revoke = command(
        words,
        "revoke",
        "revoke a key for good",
        operator_commands.revoke_key,
        f"keys revoke {_ID} --with-endpoints",
    )
    id_argument(revoke)
    revoke.add_argument(
        "--with-endpoints", action="store_true", help="also disable the endpoints that the key created"
    )
    yes_option(revoke)


def _clients(words: Words) -> None:
    listing = command(
        words, "list", "list clients", operator_commands.list_clients, "clients list --studio mine"
    )
    listing.add_argument("--studio", metavar="SLUG|ID")
    limits = command(
        words,
        "set",
        "set a client's rate limit",
        operator_commands.set_client,
        'clients set "Partner Inc" --rate 100 --burst 400',
    )
    limits.add_argument("client", metavar="CLIENT", help="name or id")
    limits.add_argument("--rate", type=float, metavar="N", help="requests per second")
    limits.add_argument("--burst", type=positive, metavar="N", help="requests at once")


def _staff(words: Words) -> None:
    create = command(
        words,
        "create",
        "issue a staff token; its text is shown once",
        staff_commands.create_token,
        'staff create --studio mine --name "Front desk" --role staff',
    )
    create.add_argument("--name", required=True)
    create.add_argument(
        "--role",
        choices=("staff", "manager"),
        default="staff",
        help="staff for the desk; manager also for keys, imports, erasure and staff tokens (staff)",
    )
    studio_option(create)
    listing = command(
        words, "list", "list a studio's staff tokens", staff_commands.list_tokens, "staff list --studio mine"
    )
    studio_option(listing)
    revoke = command(
        words, "revoke", "revoke a staff token for good", staff_commands.revoke_token, f"staff revoke {_ID}"
    )
    id_argument(revoke)
    studio_option(revoke)
    yes_option(revoke)


def _console(words: Words) -> None:
    console = command(
        words,
        "console",
        "print the operators' console, or a link into a client's console",
        console_commands.console,
        'console --client "Partner Inc"',
    )
    console.add_argument("--client", metavar="CLIENT", help="name or id; the link works once, for 10 minutes")
    console.add_argument("--expires-in", type=duration, metavar="1h", help="how long the session lasts (1h)")
    console.add_argument("--open", action="store_true", help="open it in a browser")


def _audit(words: Words) -> None:
    listing = command(
        words,
        "list",
        "list writes by operators and staff, oldest first",
        console_commands.list_audit,
        "audit list --since 7d",
    )
    listing.add_argument("--since", type=duration, default="7d", metavar="7d", help="how far back (7d)")
    limit_option(listing)


def _usage(words: Words) -> None:
    usage = command(
        words,
        "usage",
        "list keys with their requests, errors and last use",
        console_commands.usage,
        "usage --studio mine --since 24h",
    )
    usage.add_argument("--studio", metavar="SLUG|ID")
    usage.add_argument(
        "--since", type=duration, default="7d", metavar="7d", help="how far back, up to 31d (7d)"
    )
    limit_option(usage)
