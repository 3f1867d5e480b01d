"""One of the two commits: its working tree, its database and the processes of the current rows."""

from collections.abc import Callable
from contextlib import ExitStack

from bench.cores import memory_mb
from bench.studios import MANY_ENDPOINTS, READING, RECEIVING, TOLD, WRITING, execute, furnish
from bench.system import SERVICES, System
from bench.testbed import Testbed
from bench.working_tree import WorkingTree
from shared.servers.ports import free_port

BEHIND = ("catalog", "bookings", "forms", "webhooks")


class Side:
    """`five` has a broker. `quiet` is gateway and bookings without one: events are written, not relayed."""

    def __init__(self, name: str, tree: WorkingTree, testbed: Testbed) -> None:
        self.name = name
        self.tree = tree
        self.testbed = testbed
        url = testbed.database(f"studio_{name}")
        self.five = System(testbed.home(f"{name}-five"), url, amqp_url=testbed.rabbit.url_of(name), tree=tree)
        nowhere = f"amqp://127.0.0.1:{free_port()}/"
        self.quiet = System(
            testbed.home(f"{name}-quiet"), url, amqp_url=nowhere, tree=tree, secrets_of=self.five
        )
        self.hop = System(testbed.home(f"{name}-hop"), url, tree=tree, secrets_of=self.five)
        self.up = System(testbed.home(f"{name}-up"), "", tree=tree)
        self.keys: dict[str, str] = {}
        self.memory: dict[str, float] = {}

    def furnish(self) -> None:
        self.five.migrate()
        with ExitStack() as stack:
            stack.callback(self.five.stop)
            self.five.serve()
            studios = (READING, WRITING, TOLD, MANY_ENDPOINTS, RECEIVING)
            self.keys = furnish(self.five.operator, self.five.database_url, studios)

    def start(self, group: str) -> None:
        starts: dict[str, Callable[[], None]] = {
            "hop": lambda: self.hop.serve(["gateway"], urls=dict.fromkeys(BEHIND, self.testbed.nginx.url)),
            "quiet": lambda: self.quiet.serve(["gateway", "bookings"]),
            "five": self._start_five,
        }
        starts.get(group, lambda: None)()

    def _start_five(self) -> None:
        """Empties the outbox first: events of the quiet rows would be relayed in the middle of a row."""
        execute(self.five.database_url, "TRUNCATE bookings.outbox")
        self.five.serve(SERVICES)

    def stop(self, group: str) -> None:
        if group == "five":
            self.memory = {name: memory_mb(process.pid) for name, process in self.five.processes.items()}
        {"hop": self.hop, "quiet": self.quiet, "five": self.five}.get(group, self.up).stop()
