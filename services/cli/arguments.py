"""The words of `studioctl`: every command, its options, and the function that runs it."""

import argparse

from services.cli import local_commands, operator_commands
from shared.settings import SERVICES


def port(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port number from 1 to 65535")
    return int(text)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="studioctl", description="Run and administer the Studio Partner API.")
    top.add_argument("--json", action="store_true", help="print JSON (accepted anywhere on the line)")
    words = top.add_subparsers(title="commands", required=True, metavar="COMMAND")

    up = words.add_parser("up", help="run everything in one process, on an embedded Postgres")
    up.add_argument("--port", type=port, help="partner port (8080)")
    up.add_argument("--operator-port", type=port, help="operators' port (8081)")
    up.add_argument("--home", help="where data and secrets are stored (./.studio)")
    up.add_argument("--no-demo", action="store_true", help="do not load the demo studio on first start")
    up.add_argument("--verbose", action="store_true", help="show the request log here instead of in a file")
    up.set_defaults(run=local_commands.up)

    serve = words.add_parser("serve", help="run one service, for compose and Kubernetes")
    serve.add_argument("service", choices=SERVICES)
    serve.add_argument(
        "--only",
        choices=("log", "dispatch"),
        help="webhooks: the event log or the dispatcher alone, to scale them apart",
    )
    serve.set_defaults(run=local_commands.serve)

    migrate = words.add_parser("migrate", help="create schemas and roles, apply migrations")
    migrate.add_argument(
        "services", nargs="*", metavar="SERVICE", help=f"some of {', '.join(SERVICES)}; all by default"
    )
    migrate.set_defaults(run=local_commands.migrate)

    demo = words.add_parser("demo", help="load the demo studio (idempotent)")
    demo.set_defaults(run=operator_commands.demo)

    _studios(words.add_parser("studios", help="studios").add_subparsers(required=True, metavar="COMMAND"))
    _keys(words.add_parser("keys", help="keys").add_subparsers(required=True, metavar="COMMAND"))
    _clients(words.add_parser("clients", help="clients").add_subparsers(required=True, metavar="COMMAND"))

    load = words.add_parser("import", help="NDJSON in wire form, one resource a line")
    load.add_argument("file", metavar="FILE|-")
    load.add_argument("--studio", metavar="SLUG|ID", help="for lines that name no studio_id")
    load.set_defaults(run=operator_commands.import_file)

    for noun in ("members", "leads"):
        acts = words.add_parser(noun, help=f"erase {noun}").add_subparsers(required=True, metavar="COMMAND")
        erase = acts.add_parser("erase", help="anonymize a person everywhere; counts stay correct")
        erase.add_argument("id")
        erase.add_argument("--studio", metavar="SLUG|ID", help="search only this studio")
        erase.set_defaults(run=operator_commands.erase, noun=noun)

    sequences = words.add_parser("sequences", help="event sequences")
    _sequences(sequences.add_subparsers(required=True, metavar="COMMAND"))

    _queues(words.add_parser("queues", help="queues").add_subparsers(required=True, metavar="COMMAND"))

    _webhooks(words.add_parser("webhooks", help="webhooks").add_subparsers(required=True, metavar="COMMAND"))

    words.add_parser("status", help="services, outbox age, queue depth, dead deliveries").set_defaults(
        run=operator_commands.status
    )
    return top


def _studios(words: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    create = words.add_parser("create", help="create a studio")
    create.add_argument("--name", required=True)
    create.add_argument("--slug", required=True)
    create.add_argument("--timezone", required=True, metavar="TZ")
    create.add_argument("--id", metavar="UUID")
    create.add_argument("--test", action="store_true", help="a test studio: its keys start with spk_test_")
    create.set_defaults(run=operator_commands.create_studio)
    words.add_parser("list", help="list studios").set_defaults(run=operator_commands.list_studios)


def _keys(words: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    create = words.add_parser("create", help="issue a key; its text is shown once")
    create.add_argument("--studio", required=True, metavar="SLUG|ID")
    create.add_argument("--name", required=True)
    create.add_argument("--scopes", required=True, metavar="all|a,b")
    create.add_argument("--locations", metavar="id,id", help="limit the key to these locations")
    create.add_argument("--client", metavar="NAME", help="the partner's integration; created if new")
    create.add_argument("--expires-in", metavar="90d")
    create.set_defaults(run=operator_commands.create_key)
    listing = words.add_parser("list", help="list keys")
    listing.add_argument("--studio", metavar="SLUG|ID")
    listing.set_defaults(run=operator_commands.list_keys)
    for name, command in (("show", operator_commands.show_key), ("revoke", operator_commands.revoke_key)):
        one = words.add_parser(name, help=f"{name} a key")
        one.add_argument("id")
        one.set_defaults(run=command)
        if name == "revoke":
            one.add_argument(
                "--with-endpoints", action="store_true", help="also disable the endpoints that the key made"
            )
    rotate = words.add_parser("rotate", help="issue a second key for the same client")
    rotate.add_argument("id")
    rotate.add_argument("--overlap", default="24h", help="how long the old key stays valid, up to 7d (24h)")
    rotate.set_defaults(run=operator_commands.rotate_key)


def _sequences(words: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    advance = words.add_parser("advance", help="after a restore: skip the numbers of the lost time, once")
    advance.add_argument("--by", type=int, default=1_000_000, metavar="N", help="how many (1,000,000)")
    advance.add_argument("--yes", action="store_true", help="do not ask")
    advance.set_defaults(run=operator_commands.advance_sequences)


def _queues(words: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    words.add_parser("list", help="list queues with waiting and parked messages").set_defaults(
        run=operator_commands.list_queues
    )
    parked = words.add_parser("parked", help="show parked messages, which may contain personal data")
    parked.add_argument("queue")
    parked.set_defaults(run=operator_commands.show_parked)
    requeue = words.add_parser("requeue", help="send parked messages back to their queue")
    requeue.add_argument("queue")
    requeue.add_argument("ids", nargs="*", metavar="ID", help="all by default")
    requeue.set_defaults(run=operator_commands.requeue)


def _webhooks(words: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    listen = words.add_parser("listen", help="show events as they come, and forward them while developing")
    listen.add_argument("--forward-to", metavar="URL", help="post each event there, signed")
    listen.add_argument("--studio", metavar="SLUG|ID", help="needed when there is more than one")
    listen.add_argument("--events", metavar="a,b", help="only these event kinds")
    listen.add_argument("--secret", help="sign with this secret instead of a new one")
    listen.add_argument("--count", type=int, metavar="N", help="stop after N events")
    listen.set_defaults(run=local_commands.listen)


def _clients(words: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    listing = words.add_parser("list", help="list clients")
    listing.add_argument("--studio", metavar="SLUG|ID")
    listing.set_defaults(run=operator_commands.list_clients)
    limits = words.add_parser("set", help="set a client's rate limit")
    limits.add_argument("client", metavar="CLIENT")
    limits.add_argument("--rate", type=float, help="requests per second")
    limits.add_argument("--burst", type=int)
    limits.set_defaults(run=operator_commands.set_client)
