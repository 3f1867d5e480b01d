"""A studio's webhook endpoints, their deliveries, and its events."""

import argparse

from services.cli.desk import Desk
from services.cli.output import show
from services.cli.values import in_zone
from shared.settings import Settings


def list_endpoints(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    columns = ("id", "url", "status", "disabled_reason", "event_types")
    show(desk.rows("/webhook-endpoints", given.limit), as_json=given.json, columns=columns)


def list_deliveries(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    query = {"status": given.status, "endpoint_id": given.endpoint}
    columns = ("id", "event_type", "status", "attempt_count", "next_attempt_at", "created_at")
    rows = desk.rows("/webhook-deliveries", given.limit, **query)
    show(rows, as_json=given.json, columns=columns, zone=desk.zone)


def retry_delivery(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    show(desk.post(f"/webhook-deliveries/{given.id}/retry"), as_json=given.json, zone=desk.zone)


def recover_endpoint(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    body = {"since": in_zone(given.since, desk.zone)}
    show(desk.post(f"/webhook-endpoints/{given.id}/recover", body), as_json=given.json, zone=desk.zone)


def list_events(settings: Settings, given: argparse.Namespace) -> None:
    desk = Desk.open(settings, given.studio)
    after = str(given.after) if given.after is not None else None
    rows = desk.rows("/events", given.limit, type=given.type, after_sequence=after)
    columns = ("sequence", "id", "type", "created_at", "request_id")
    show(rows, as_json=given.json, columns=columns, zone=desk.zone)
