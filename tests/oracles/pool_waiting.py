"""The service that lets applications wait for memory, in plain Python: lists that are searched anew each time (E16)."""

import math
from dataclasses import dataclass, field

from tests.oracles.pool import Service


@dataclass(eq=False)
class Application:
    left: list = field(default_factory=list)
    """(number, request) of what it has not been answered yet, in its order."""
    late: int = 0
    waits_since: int | None = None

    def asked_at(self):
        return self.left[0][1][0] + self.late


class WaitingService(Service):
    eager = False
    """Whether who waits is tried after every request, whatever came of it, as long as anything comes of that."""

    def run(self, requests):
        """What came of each request in the order in which they were answered."""
        self.rows, self.queue, self.free_at = [], [], 0
        apps = {}
        for number, request in enumerate(self.without_deaths(requests)):
            apps.setdefault(request[1], Application()).left.append((number, request))
        limit = self.options.wait_limit_ns or math.inf
        while any(app.left for app in apps.values()):
            free = [app for app in apps.values() if app.left and app.waits_since is None]
            free.sort(key=lambda app: (app.asked_at(), app.left[0][0]))
            next_at = max(self.free_at, free[0].asked_at()) if free else math.inf
            if self.queue and self.queue[0].waits_since + limit < next_at:
                self.free_at = max(self.free_at, self.queue[0].waits_since + limit)
                self.leave(self.queue[0], self.refusal(self.queue[0]))
                if self.eager or self.options.wait_order == "first_come":
                    self.try_queue()
            elif free:
                self.take(free[0])
            else:
                self.give_up(apps)
        return self.rows

    def take(self, app):
        self.row, request = len(self.rows), app.left[0][1]
        blocked = request[3] == 0 and self.queue and self.options.wait_order == "first_come"
        self.begin = max(self.free_at, app.asked_at()) + self.options.ipc_ns + self.options.service_ns
        since = len(self.calls)
        row = self.refusal(app) if blocked else self.answer(request)
        self.free_at = self.begin + row.pop("work")
        if row["outcome"] == "refused":
            app.waits_since = self.free_at
            self.queue.append(app)
        else:
            self.note(app, row, 0)
        if self.eager or row["outcome"] == "released" or self.gave_back(since):
            self.try_queue()

    def gave_back(self, since):
        """Whether a card has given anything back to its driver."""
        return any(call[3] < 0 for call in self.calls[since:])

    def try_queue(self):
        """As long as that brings memory back to a driver."""
        while True:
            before = len(self.calls), len(self.queue)
            self.try_each()
            if self.eager and before != (len(self.calls), len(self.queue)):
                continue
            if self.options.wait_order == "first_come" or not self.gave_back(before[0]):
                return

    def try_each(self):
        limit = self.options.wait_limit_ns or math.inf
        for app in list(self.queue):
            self.row = len(self.rows)
            if self.free_at - app.waits_since > limit:
                self.leave(app, self.refusal(app))
                continue
            self.begin = self.free_at
            row = self.answer(app.left[0][1])
            self.free_at += row["work"]
            if row["outcome"] != "refused":
                self.leave(app, row)
            elif self.options.wait_order == "first_come":
                return

    def leave(self, app, row):
        """It has waited to now, and goes on."""
        waited = self.free_at - app.waits_since
        self.queue.remove(app)
        row.pop("work")
        self.note(app, row, waited)
        app.late += waited
        app.waits_since = None

    def note(self, app, row, waited):
        self.rows.append({**row, "time": app.asked_at(), "done": self.free_at, "waited": waited})
        app.left.pop(0)

    def refusal(self, app):
        """A refusal without a look at any card."""
        _, name, _, _, handle, _ = app.left[0][1]
        self.regions[name, handle] = {"row": len(self.rows), "blocks": None, "freed": False}
        nothing = {"card": -1, "identifier": -1, "taken": 0, "work": 0}
        return {"app": name, "handle": handle, "allocation": len(self.rows), "outcome": "refused", **nothing}

    def give_up(self, apps):
        """Everybody who has anything left waits, and nothing will be released."""
        for app in self.queue:
            row = self.refusal(app)
            row.pop("work")
            self.note(app, row, self.free_at - app.waits_since)
        rest = sorted((number, app) for app in apps.values() for number, _ in app.left)
        for _, app in rest:
            self.note(app, self.never(app), 0)

    def never(self, app):
        """What is not asked any more; a free among it still names its allocation."""
        _, name, _, action, handle, _ = app.left[0][1]
        region = self.regions.get((name, handle)) if action else None
        row = {**self.refusal(app), "outcome": "never_asked"}
        row.pop("work")
        if action == 0:
            return row
        gone = region is None or region["freed"]
        self.regions[name, handle] = region
        if not gone:
            region["freed"] = True
        return {**row, "allocation": -1 if gone else region["row"]}
