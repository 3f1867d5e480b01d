"""How a command is added: with what it does, an example, and the function that runs it."""

import argparse
from collections.abc import Callable
from typing import Any, TypeAlias

from services.cli.values import an_id, positive

Words: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def group(words: Words, name: str, about: str) -> Words:
    """A noun; its commands come behind it."""
    parser = words.add_parser(name, help=about, description=about)
    return parser.add_subparsers(title="commands", required=True, metavar="COMMAND")


def command(
    words: Words, name: str, about: str, run: Callable[..., Any], example: str
) -> argparse.ArgumentParser:
    parser = words.add_parser(
        name,
        help=about,
        description=about[:1].upper() + about[1:] + ".",
        epilog=f"example:\n  studioctl {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def studio_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--studio", metavar="SLUG|ID", help="needed when there is more than one")


def id_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", type=an_id, metavar="ID")


def limit_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=positive, default=50, metavar="N", help="how many rows (50)")


def yes_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask")
