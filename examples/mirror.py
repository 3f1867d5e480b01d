"""A copy of a studio in SQLite: what the key may see, as GET shows it. Kill it anywhere and start it again.

STUDIO_URL=http://127.0.0.1:8080/partner/v1 STUDIO_KEY=spk_... python mirror.py FILE [PORT FOR WEBHOOKS]
"""

import json
import os
import sqlite3
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib import error, request

# What is listed where, and which scope reads it. One of them is at the same path with its id.
LISTS = {
    "location": ("studio:read", "/locations"),
    "room": ("schedule:read", "/rooms"),
    "class_type": ("schedule:read", "/class-types"),
    "instructor": ("schedule:read", "/instructors"),
    "class": ("schedule:read", "/classes"),
    "product": ("catalog:read", "/products"),
    "member": ("members:read", "/members"),
    "membership": ("members:read", "/members/{member_id}/memberships"),
    "purchase": ("purchases:read", "/purchases"),
    "booking": ("bookings:read", "/bookings"),
    "waitlist": ("bookings:read", "/waitlist"),
    "form": ("forms:read", "/forms"),
    "form_submission": ("form_submissions:read", "/forms/{form_id}/submissions"),
    "lead": ("leads:read", "/leads"),
}
THIN = {"id", "object", "status", "form_id"}  # An event with no more than these tells of a change, not what.
db, told = sqlite3.connect(sys.argv[1]), threading.Event()


def get(path):
    call = request.Request(
        os.environ["STUDIO_URL"] + path, headers={"X-Service-Key": os.environ["STUDIO_KEY"]}
    )
    while True:
        try:
            return json.load(request.urlopen(call, timeout=30))
        except OSError as problem:  # 404 is an answer; what is our own fault is not worth another attempt.
            if isinstance(problem, error.HTTPError) and problem.code < 429:
                return None if problem.code == 404 else sys.exit(f"{path}: {problem}")
        time.sleep(1)


def save(row, version):
    db.execute("REPLACE INTO copy VALUES (?, ?, ?, ?)", (row["object"], row["id"], version, json.dumps(row)))


def copy_everything(scopes):
    # The newest sequence comes first: what changes while we list is told after it, and applied on top.
    db.execute("INSERT INTO place VALUES (?)", (get("/events?limit=1")["latest_sequence"],))
    if "studio:read" in scopes:
        save(get("/studio"), 0)
    drafts = "&include_drafts=true" if "forms:write" in scopes else ""
    for name, (_, path) in ((name, row) for name, row in LISTS.items() if row[0] in scopes):
        parent = "member" if "{member_id}" in path else "form" if "{form_id}" in path else None
        found = (
            db.execute("SELECT id FROM copy WHERE object = ?", (parent,)).fetchall() if parent else [("",)]
        )
        for filters in {"product": ("&active=true", "&active=false"), "form": (drafts,)}.get(name, ("",)):
            for (parent_id,) in found:
                cursor, where = "", path.format(member_id=parent_id, form_id=parent_id)
                while page := get(f"{where}?limit=200{filters}{cursor}"):
                    for row in page["data"]:
                        save(row, 0)
                    if not page["has_more"]:
                        break
                    cursor = f"&cursor={page['next_cursor']}"


def apply(event, scopes):
    row, version, key = event["data"]["object"], event["resource"]["version"], event["resource"]["id"]
    scope, path = LISTS.get(
        row["object"], ("studio:read", "/studio") if row["object"] == "studio" else (0, 0)
    )
    held = db.execute("SELECT version FROM copy WHERE id = ? AND object = ?", (key, row["object"])).fetchone()
    if scope not in scopes or (held and held[0] >= version):
        return
    if set(row) <= THIN:  # Erased, moved away, no longer published, or sent without its content: look.
        path = "/memberships" if row["object"] == "membership" else path.format(**row)
        row = get(f"{path}/{key}") or row
    if set(row) <= THIN or event["data"].get("active") is False:
        db.execute("DELETE FROM copy WHERE id = ? AND object = ?", (key, row["object"]))
    else:
        save(row, version)


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):  # It only says that there is news: the log has it in order, and only once.
        told.set()
        self.send_response(204)
        self.end_headers()


db.execute("CREATE TABLE IF NOT EXISTS copy (object, id, version, body, PRIMARY KEY (object, id))")
db.execute("CREATE TABLE IF NOT EXISTS place (sequence)")
if len(sys.argv) > 2:
    hooks = HTTPServer(("127.0.0.1", int(sys.argv[2])), Hook)
    threading.Thread(target=hooks.serve_forever, daemon=True).start()
scopes = get("/key")["scopes"]
while True:
    with db:  # One transaction: the rows, and the place that we have reached.
        place = db.execute("SELECT sequence FROM place").fetchone()
        if place is None:
            copy_everything(scopes)
            continue
        page = get(f"/events?after_sequence={place[0]}&limit=200")
        for event in page["data"]:
            apply(event, scopes)
        last = page["data"][-1]["sequence"] if page["has_more"] else page["latest_sequence"]
        db.execute("UPDATE place SET sequence = ?", (max(last, place[0]),))
    if not page["has_more"]:
        told.wait(float(os.environ.get("MIRROR_SECONDS", "2")))
        told.clear()
