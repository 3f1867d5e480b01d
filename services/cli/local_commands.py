"""The commands that run something on this machine.

Each imports its module when it is called, so that listing keys does not load a web framework, and a service
does not keep the code of the others in memory.
"""

import argparse
import sys
from types import ModuleType

from services.cli.progress_steps import step
from shared.settings import Settings


def up(settings: Settings, given: argparse.Namespace) -> None:
    # Takes seconds where nothing is compiled yet, and longer on a busy machine.
    with step("Loading the services"):
        from services.cli.up import up as run

    run(settings, given)


def serve(settings: Settings, given: argparse.Namespace) -> None:
    leave_out_yaml()
    from services.cli.serve import serve as run

    run(settings, given)


def migrate(settings: Settings, given: argparse.Namespace) -> None:
    from services.cli.migrate import migrate_schemas

    migrate_schemas(settings, given)


def listen(settings: Settings, given: argparse.Namespace) -> None:
    from services.cli.listen import listen as run

    run(settings, given)


def completion(settings: Settings, given: argparse.Namespace) -> None:
    from services.cli.arguments import parser
    from services.cli.completion import script

    print(script(parser(), given.shell), end="")


def leave_out_yaml() -> None:
    """Litestar imports it for a page that no service has: an OpenAPI document in YAML. It needs 2 MB."""
    sys.modules.setdefault("yaml", ModuleType("yaml"))
