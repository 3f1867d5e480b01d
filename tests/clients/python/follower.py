"""Follows a studio and writes what it sees to a file, from where that ends: `python -m … FILE URL KEY`."""

import json
import sys
from pathlib import Path

from studio_partner import Client, ResyncNeeded

if __name__ == "__main__":
    file, url, key = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    seen = file.read_text().splitlines() if file.exists() else []
    after = int(seen[-1].split()[0]) if seen else 0
    with Client(key, base_url=url) as client, file.open("a", buffering=1) as output:
        try:
            for event in client.events.follow(after):
                # One write: whoever is killed has written the line or not.
                output.write(f"{event.sequence} {event.resource.id}\n")
        except ResyncNeeded as needed:
            sys.stdout.write(json.dumps({"reason": needed.reason, "oldest": needed.oldest_sequence}))
