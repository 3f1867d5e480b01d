"""Keeps a copy of a studio in SQLite: `python mirror.py FILE`, with STUDIO_URL and STUDIO_KEY set."""

import json
import os
import sqlite3
import sys
import time
from urllib import request

# Scope, object and list path. One resource is at the list path plus its id, except where PATHS differs.
ROWS = """studio:read studio /studio
studio:read location /locations
schedule:read room /rooms
schedule:read class_type /class-types
schedule:read instructor /instructors
schedule:read class /classes
catalog:read product /products?active=true
catalog:read product /products?active=false
members:read member /members
members:read membership /members/{member}/memberships
purchases:read purchase /purchases
bookings:read booking /bookings
bookings:read waitlist /waitlist
forms:read form /forms
form_submissions:read form_submission /forms/{form_id}/submissions
leads:read lead /leads"""
LISTS = [row.split() for row in ROWS.splitlines()]
PATHS = {name: path.partition("?")[0] for _, name, path in LISTS} | {"membership": "/memberships"}
THIN = {"id", "object", "status", "form_id"}  # An event with only these fields does not contain the resource.
PLACE, db = {"object": "place", "id": ""}, sqlite3.connect(sys.argv[1])


def get(path):
    key = {"X-Service-Key": os.environ["STUDIO_KEY"]}
    while True:
        try:
            asked = request.Request(os.environ["STUDIO_URL"] + path, headers=key)
            return json.load(request.urlopen(asked, timeout=60))
        except OSError as problem:  # Retry 429 and 5xx. 404 and 410 mean that it is not there any more.
            if getattr(problem, "code", 500) < 429:
                return None if problem.code in (404, 410) else sys.exit(f"{path}: {problem}")
        time.sleep(1)


def save(row, version):
    db.execute("REPLACE INTO copy VALUES (?, ?, ?, ?)", (row["object"], row["id"], version, json.dumps(row)))


def copy_everything(scopes):
    # Read the newest sequence first: changes made while we list have later events, which are applied on top.
    save(PLACE, get("/events?limit=1")["latest_sequence"])
    for _, name, path in (row for row in LISTS if row[0] in scopes):
        path += "?include_drafts=true" if name == "form" and "forms:write" in scopes else ""
        of = ["member" if "{member}" in path else "form"]
        found = db.execute("SELECT id FROM copy WHERE object = ?", of).fetchall()
        for (parent_id,) in found if "{" in path else [("",)]:
            where, cursor = path.format(member=parent_id, form_id=parent_id), ""
            while cursor is not None:
                page = get(f"{where}{'&' if '?' in where else '?'}limit=200{cursor}") or {"data": []}
                for row in page.get("data", [page]):
                    save(row, 0)
                cursor = f"&cursor={page['next_cursor']}" if page.get("has_more") else None


def apply(event):
    row, key, version = event["data"]["object"], event["resource"]["id"], event["resource"]["version"]
    held = db.execute("SELECT version FROM copy WHERE id = ? AND object = ?", (key, row["object"])).fetchone()
    if row["object"] == "webhook_endpoint" or (held and held[0] >= version):
        return
    if set(row) <= THIN:  # Erased, moved, no longer published, or sent without content: fetch it.
        row = get(f"{PATHS[row['object']].format(**row)}/{key}") or row
    # A seat that is or was only held is no booking yet, and lists leave it out.
    only_held = "held" in (row.get("status"), event["data"].get("previous", {}).get("status"))
    if set(row) <= THIN or event["data"].get("active") is False or only_held:
        db.execute("DELETE FROM copy WHERE id = ? AND object = ?", (key, row["object"]))
    else:
        save(row, version)


db.execute("CREATE TABLE IF NOT EXISTS copy (object, id, version, body, PRIMARY KEY (object, id))")
while True:
    with db:  # The rows and our position are stored in one transaction.
        place = db.execute("SELECT version FROM copy WHERE object = 'place'").fetchone()
        if place is None:
            copy_everything(get("/key")["scopes"])
            continue
        page = get(f"/events?after_sequence={place[0]}&limit=200&wait=20")
        if page is None:  # Events that we have not seen are no longer kept: start again.
            db.execute("DELETE FROM copy")
            continue
        for event in page["data"]:
            apply(event)
        save(PLACE, page["data"][-1]["sequence"] if page["has_more"] else page["latest_sequence"])
