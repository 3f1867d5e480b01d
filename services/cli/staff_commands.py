"""Tokens of a studio's staff."""

import argparse

from services.cli.confirm import confirm
from services.cli.desk import Desk
from services.cli.output import show
from shared.settings import Settings


def create_token(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    body = {"name": given.name, "role": given.role}
    show(desk.post("/staff-tokens", body), as_json=given.json, zone=desk.zone)


def list_tokens(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    columns = ("id", "name", "role", "prefix", "revoked_at")
    show(desk.get("/staff-tokens"), as_json=given.json, columns=columns, zone=desk.zone)


def revoke_token(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    confirm("The staff token will be revoked for good, from the next request on.", yes=given.yes)
    show(desk.post(f"/staff-tokens/{given.id}/revoke"), as_json=given.json, zone=desk.zone)
