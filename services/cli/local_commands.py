"""The commands that do more than send one request.

Each imports its module when it is called, so that listing keys does not load a web framework, and a service
does not keep the code of the others in memory.
"""

import sys
from typing import Annotated, Any, Literal, get_args

from typer import Argument, Option

from services.cli.command import Call, command, confirm
from services.cli.requests import AN_ID, open_desk
from services.cli.values import Id, Member, Studio, Yes, duration, jump, port, positive

Service = Literal["gateway", "catalog", "bookings", "forms", "webhooks"]
SearchedStudio = Annotated[str | None, Option(metavar="SLUG|ID", help="search only this studio")]


def up(
    call: Call,
    port: Annotated[
        int | None, Option("--port", parser=port, metavar="PORT", help="partner port (8080)")
    ] = None,
    operator_port: Annotated[
        int | None, Option(parser=port, metavar="PORT", help="operators' port (8081)")
    ] = None,
    home: Annotated[str | None, Option(help="where data and secrets are stored (./.studio)")] = None,
    no_demo: Annotated[bool, Option("--no-demo", help="do not load the demo studio on first start")] = False,
    verbose: Annotated[
        bool, Option("--verbose", help="show the request log here instead of in a file")
    ] = False,
) -> None:
    """Run everything in one process, on an embedded Postgres."""
    from services.cli.output import step

    # Takes seconds where nothing is compiled yet, and longer on a busy machine.
    with step("Loading the services"):
        from services.cli.up import up

    up(call.settings, port=port, operator_port=operator_port, home=home, demo=not no_demo, verbose=verbose)


def serve(
    call: Call,
    service: Annotated[Service, Argument()],
    only: Annotated[
        Literal["log", "dispatch"] | None,
        Option(help="webhooks: the event log or the dispatcher alone, to scale them apart"),
    ] = None,
) -> None:
    """Run one service, for compose and Kubernetes."""
    from services.cli.serve import serve

    serve(call.settings, service, only)


def migrate(
    call: Call,
    services: Annotated[
        list[str] | None,
        Argument(metavar="[SERVICE ...]", help=f"some of {', '.join(get_args(Service))}; all by default"),
    ] = None,
) -> None:
    """Create schemas and roles, apply migrations."""
    from services.cli.database import migrate_schemas

    call.show({"object": "migrations", "applied": migrate_schemas(call.settings, services or ())})


def demo(call: Call) -> None:
    """Load the demo studio (idempotent)."""
    from services.cli.load_demo import load_demo

    call.show(load_demo(call.operators))


def import_file(
    call: Call,
    file: Annotated[str, Argument(metavar="FILE|-")],
    studio: Annotated[str | None, Option(metavar="SLUG|ID", help="for lines without a studio_id")] = None,
    no_events: Annotated[bool, Option("--no-events", help="create no events: for a first load")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="check every line, store nothing")] = False,
) -> int:
    """Import NDJSON, one resource per line, as the API returns it."""
    from services.cli.import_file import import_path

    report = import_path(call.operators, file, studio, dry_run=dry_run, send_events=not no_events)
    # The bad lines have already been printed to stderr.
    shown = {**report, "rejected": None} if call.on_terminal else report
    call.show({name: value for name, value in shown.items() if value is not None})
    return 1 if report["rejected_count"] else 0


def export(call: Call, studio: Annotated[str, Option(metavar="SLUG|ID")]) -> None:
    """Print a studio as NDJSON for `import`, without keys, endpoints and events."""
    call.operators.copy("/export", sys.stdout.buffer, studio=studio)


def export_member(call: Call, member: Member, studio: Studio = None) -> None:
    """Print the data stored about a member, one row per line, to give to the member."""
    desk = open_desk(call, studio)
    call.operators.copy(
        "/export", sys.stdout.buffer, studio=desk.studio["id"], member_id=desk.member_id(member)
    )


def erase_member(call: Call, id: Id, studio: SearchedStudio = None, yes: Yes = False) -> None:
    """Anonymize a person everywhere; counts stay correct."""
    _erase(call, "member", id, studio, yes)


def erase_lead(call: Call, id: Id, studio: SearchedStudio = None, yes: Yes = False) -> None:
    """Anonymize a person everywhere; counts stay correct."""
    _erase(call, "lead", id, studio, yes)


def _erase(call: Call, noun: str, id: str, studio: str | None, yes: bool) -> None:
    confirm(f"The {noun} {id} will be anonymous everywhere, for good.", yes=yes)
    call.show(call.operators.post(f"/{noun}s/{id}/erase", studio=studio))


def listen(
    call: Call,
    forward_to: Annotated[str | None, Option(metavar="URL", help="post each event there, signed")] = None,
    studio: Studio = None,
    events: Annotated[str | None, Option(metavar="a,b", help="only these event kinds")] = None,
    secret: Annotated[str | None, Option(help="sign with this secret instead of a new one")] = None,
    count: Annotated[int | None, Option(parser=positive, metavar="N", help="stop after N events")] = None,
) -> None:
    """Show events as they happen, and forward them while developing."""
    from services.cli.listen import listen

    listen(call, forward_to=forward_to, studio=studio, events=events, secret=secret, count=count)


def console(
    call: Call,
    client: Annotated[
        str | None,
        Option("--client", metavar="CLIENT", help="name or id; the link works once, for 10 minutes"),
    ] = None,
    expires_in: Annotated[
        int | None, Option(parser=duration, metavar="1h", help="how long the session lasts (1h)")
    ] = None,
    open: Annotated[bool, Option("--open", help="open it in a browser")] = False,
    token: Annotated[
        bool, Option("--token", help="print the token that the operators' console asks for")
    ] = False,
) -> None:
    """Print the operators' console, or a link into a client's console."""
    if token:
        print(call.operators.token)
        return
    if client is None:
        response: Any = {"object": "console", "url": f"{call.operators.url}/console"}
    else:
        body = {"expires_in": expires_in} if expires_in is not None else None
        response = call.operators.post(f"/clients/{client}/console-sessions", body)
    if open:
        import webbrowser

        webbrowser.open(response["url"])
    if call.on_terminal:
        # On a line of its own, so that a terminal recognises the link.
        print(response["url"])
    else:
        call.show(response)


def list_queues(call: Call) -> None:
    """List queues with waiting and parked messages."""
    from services.cli.output import queue_lines

    response = call.operators.get("/queues")
    if call.on_terminal:
        print("\n".join(queue_lines(response["data"])))
    else:
        call.show(response)


def status(call: Call) -> int:
    """Services, outbox age, queue depth, dead deliveries, and what to type next."""
    from services.cli.output import status_lines

    response = call.operators.get("/status")
    if call.on_terminal:
        print("\n".join(status_lines(response["services"])))
    else:
        call.show(response)
    ready = all(service["status"] == "ready" for service in response["services"].values())
    if not ready:
        print("studioctl: not every service is ready", file=sys.stderr)
    return 0 if ready else 1


def advance_sequences(
    call: Call,
    offline: Annotated[
        bool,
        Option(
            "--offline",
            help="directly in the database, before any service is started "
            "(STUDIO_DATABASE_URL as for migrate)",
        ),
    ] = False,
    by: Annotated[int | None, Option(parser=jump, metavar="N", help="how many (1,000,000)")] = None,
    yes: Yes = False,
) -> None:
    """Skip the numbers used since the backup; run once after a restore."""
    by = by or 1_000_000
    confirm(f"Every studio's sequences will skip {by:,} numbers, for good.", yes=yes)
    if offline:
        from services.cli.database import advance_offline

        call.show(advance_offline(call.settings, by))
    else:
        call.show(call.operators.post("/sequences/advance", {"by": by}))


def completion(call: Call, shell: Annotated[Literal["bash", "zsh", "fish"], Argument()]) -> None:
    """Print a script that completes commands in your shell."""
    from services.cli.main import completion_script

    print(completion_script(shell))


LOCAL_COMMANDS = (
    command("up", up, "--port 9000"),
    command("serve", serve, "bookings"),
    command("migrate", migrate),
    command("demo", demo),
    command("import", import_file, "data.ndjson --studio mine"),
    command("export", export, "--studio mine > mine.ndjson"),
    command("members export", export_member, "ada@example.com > ada.ndjson"),
    command("members erase", erase_member, AN_ID),
    command("leads erase", erase_lead, AN_ID),
    command("webhooks listen", listen, "--forward-to http://127.0.0.1:9000/hook"),
    command("console", console, '--client "Partner Inc"'),
    command("queues list", list_queues),
    command("status", status),
    command("sequences advance", advance_sequences, "--offline --yes"),
    command("completion", completion, "bash > ~/.local/share/bash-completion/completions/studioctl"),
)
