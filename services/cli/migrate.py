"""`studioctl migrate`: schemas, roles, migrations."""

import argparse
import os

from services.cli.errors import CommandFailed
from services.cli.output import show
from services.cli.run_async import run_async
from shared.db.migrate import migrate
from shared.observability.log import set_up_logging
from shared.settings import SERVICES, Settings, with_files


def migrate_schemas(settings: Settings, given: argparse.Namespace) -> None:
    unknown = [name for name in given.services if name not in SERVICES]
    if unknown:
        raise CommandFailed(f"There is no service {', '.join(unknown)}.", exit_code=2)
    if settings.database_url is None:
        raise CommandFailed("Set STUDIO_DATABASE_URL to a role that may create roles and schemas.")
    set_up_logging(settings, "migrate")
    environ = with_files(os.environ)
    passwords = {
        name: password for name in SERVICES if (password := environ.get(f"STUDIO_{name.upper()}_DB_PASSWORD"))
    }
    url = settings.database_direct_url or settings.database_url
    applied = run_async(migrate(url, given.services or SERVICES, passwords=passwords))
    show({"object": "migrations", "applied": applied}, as_json=given.json)
