"""The commands of `studioctl`: each with its options and the function that runs it."""

import argparse
from typing import Any

from services.cli import local_commands, operator_commands
from services.cli.command_words import Words, command, group, id_argument, yes_option
from services.cli.desk_arguments import add_desk_commands, add_member_reads, add_webhook_commands
from services.cli.key_arguments import add_key_commands
from services.cli.values import jump, port, positive, slug
from shared.settings import SERVICES
from shared.wire import API_VERSION

_ID = "8c1f5e0a-3b0e-4d52-9a41-3f2f7f9b0c55"


class _ShowVersion(argparse.Action):
    """Looks the version up only when it is asked for: the lookup costs every other command 20 ms."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        given: argparse.Namespace,
        values: Any,
        option: str | None = None,
    ) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            installed = version("studio-partner-api")
        except PackageNotFoundError:
            installed = "(a checkout that is not installed)"
        print(f"studioctl {installed} (API {API_VERSION})")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="studioctl",
        description="Run and administer the Studio Partner API. `studioctl COMMAND --help` shows an example.",
    )
    top.add_argument("--json", action="store_true", help="print JSON (accepted anywhere on the line)")
    top.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    words = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _run(words)
    _studios(group(words, "studios", "create and list studios"))
    add_key_commands(words)
    _import(words)
    _export(words)
    _people(words)
    add_desk_commands(words)
    webhooks = group(words, "webhooks", "endpoints, deliveries, and listening while developing")
    _listen(webhooks)
    add_webhook_commands(webhooks)
    _queues(group(words, "queues", "message queues and what is parked in them"))
    _sequences(group(words, "sequences", "event sequences after a restore"))
    command(
        words,
        "status",
        "services, outbox age, queue depth, dead deliveries, and what to type next",
        operator_commands.status,
        "status",
    )
    shell = command(
        words,
        "completion",
        "print a script that completes commands in your shell",
        local_commands.completion,
        "completion bash > ~/.local/share/bash-completion/completions/studioctl",
    )
    shell.add_argument("shell", choices=("bash", "zsh"))
    return top


def _run(words: Words) -> None:
    up = command(
        words,
        "up",
        "run everything in one process, on an embedded Postgres",
        local_commands.up,
        "up --port 9000",
    )
    up.add_argument("--port", type=port, help="partner port (8080)")
    up.add_argument("--operator-port", type=port, help="operators' port (8081)")
    up.add_argument("--home", help="where data and secrets are stored (./.studio)")
    up.add_argument("--no-demo", action="store_true", help="do not load the demo studio on first start")
    up.add_argument("--verbose", action="store_true", help="show the request log here instead of in a file")

    serve = command(
        words,
        "serve",
        "run one service, for compose and Kubernetes",
        local_commands.serve,
        "serve bookings",
    )
    serve.add_argument("service", choices=SERVICES)
    serve.add_argument(
        "--only",
        choices=("log", "dispatch"),
        help="webhooks: the event log or the dispatcher alone, to scale them apart",
    )

    migrate = command(
        words, "migrate", "create schemas and roles, apply migrations", local_commands.migrate, "migrate"
    )
    migrate.add_argument(
        "services", nargs="*", metavar="SERVICE", help=f"some of {', '.join(SERVICES)}; all by default"
    )
    command(words, "demo", "load the demo studio (idempotent)", operator_commands.demo, "demo")


def _studios(words: Words) -> None:
    create = command(
        words,
        "create",
        "create a studio",
        operator_commands.create_studio,
        'studios create --name "My Studio" --slug mine --timezone Europe/Berlin',
    )
    create.add_argument("--name", required=True)
    create.add_argument("--slug", required=True, type=slug)
    create.add_argument("--timezone", required=True, metavar="TZ", help="as Europe/Berlin")
    create.add_argument("--id", metavar="UUID")
    create.add_argument("--test", action="store_true", help="a test studio: its keys start with spk_test_")
    command(words, "list", "list studios", operator_commands.list_studios, "studios list")


def _import(words: Words) -> None:
    load = command(
        words,
        "import",
        "import NDJSON, one resource per line, as the API returns it",
        operator_commands.import_file,
        "import data.ndjson --studio mine",
    )
    load.add_argument("file", metavar="FILE|-")
    load.add_argument("--studio", metavar="SLUG|ID", help="for lines without a studio_id")
    load.add_argument("--no-events", action="store_true", help="create no events: for a first load")
    load.add_argument("--dry-run", action="store_true", help="check every line, store nothing")


def _export(words: Words) -> None:
    take = command(
        words,
        "export",
        "print a studio as NDJSON for `import`, without keys, endpoints and events",
        operator_commands.export,
        "export --studio mine > mine.ndjson",
    )
    take.add_argument("--studio", metavar="SLUG|ID", required=True)


def _people(words: Words) -> None:
    for noun, about in (("members", "members of a studio"), ("leads", "people who may become members")):
        acts = group(words, noun, about)
        if noun == "members":
            add_member_reads(acts)
        erase = command(
            acts,
            "erase",
            "anonymize a person everywhere; counts stay correct",
            operator_commands.erase,
            f"{noun} erase {_ID}",
        )
        id_argument(erase)
        erase.add_argument("--studio", metavar="SLUG|ID", help="search only this studio")
        erase.set_defaults(noun=noun)
        yes_option(erase)


def _sequences(words: Words) -> None:
    advance = command(
        words,
        "advance",
        "skip the numbers used since the backup; run once after a restore",
        operator_commands.advance_sequences,
        "sequences advance --offline --yes",
    )
    advance.add_argument(
        "--offline",
        action="store_true",
        help="directly in the database, before any service is started (STUDIO_DATABASE_URL as for migrate)",
    )
    advance.add_argument("--by", type=jump, default=1_000_000, metavar="N", help="how many (1,000,000)")
    yes_option(advance)


def _queues(words: Words) -> None:
    command(
        words,
        "list",
        "list queues with waiting and parked messages",
        operator_commands.list_queues,
        "queues list",
    )
    parked = command(
        words,
        "parked",
        "show parked messages, which may contain personal data",
        operator_commands.show_parked,
        "queues parked webhooks.events",
    )
    parked.add_argument("queue", metavar="QUEUE")
    requeue = command(
        words,
        "requeue",
        "send parked messages back to their queue",
        operator_commands.requeue,
        "queues requeue webhooks.events",
    )
    requeue.add_argument("queue", metavar="QUEUE")
    requeue.add_argument("ids", nargs="*", metavar="ID", help="all by default")


def _listen(words: Words) -> None:
    listen = command(
        words,
        "listen",
        "show events as they happen, and forward them while developing",
        local_commands.listen,
        "webhooks listen --forward-to http://127.0.0.1:9000/hook",
    )
    listen.add_argument("--forward-to", metavar="URL", help="post each event there, signed")
    listen.add_argument("--studio", metavar="SLUG|ID", help="needed when there is more than one")
    listen.add_argument("--events", metavar="a,b", help="only these event kinds")
    listen.add_argument("--secret", help="sign with this secret instead of a new one")
    listen.add_argument("--count", type=positive, metavar="N", help="stop after N events")
