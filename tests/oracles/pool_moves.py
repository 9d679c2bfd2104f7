"""Regions that move: home when bytes come back, away when a newcomer needs room (spec 5, E17 and section 7)."""

import math
from itertools import pairwise


class Places:
    """Where the regions of a service lie; what moves is decided by its policy `residency`."""

    def __init__(self, service):
        self.service, self.policy = service, service.policies["residency"]
        self.evicts = self.policy.name == "managed_memory"
        self.returns = self.policy.name == "migrate_back" or (self.evicts and self.policy.back)
        self.live, self.moves = [], []
        """Every region that is in use, in the order in which it came to where it lies now; every move."""

    def narrowest(self, one, other):
        """The bandwidth at which data go from one card to another."""
        return min(self.service.direct[a][b] for a, b in pairwise(self.service.routes[one][other]))

    def reached(self, one, other):
        return one == other or bool(self.service.routes[one][other])

    def move(self, region, to):
        """Bring a region to a card, if that has one region of the size; whether."""
        service, left, size = self.service, region["card"], region["size"]
        blocks = service.placed(to, size)
        if not blocks:
            return False
        begin = service.begin + service.driver_ns
        service.driver_ns += int(size / self.narrowest(left.number, to.number))
        before = sum(block.size for block in region["blocks"])
        service.unstitch(region["blocks"])
        for block in region["blocks"]:
            service.give(left, block)
        region["card"], region["blocks"] = to, blocks
        self.live.remove(region)
        self.live.append(region)
        service.trim(left)
        after, address = sum(block.size for block in region["blocks"]), region["blocks"][0].address
        self.moves.append((service.row, region["row"], left.number, to.number, address, before, after, begin))
        return True

    def bring_home(self, card):
        """A release has brought bytes back on a card."""
        budget = getattr(self.policy, "at_most", 0) or math.inf
        with_room = {card.number} if self.returns else set()
        while with_room and budget > 0:
            home = self.service.cards[min(with_room)]
            away = [it for it in self.live if it["own"] == home.number and it["card"] is not home]
            away = [it for it in away if self.service.room(home, it["size"])]
            before = {id(it): it["card"].number for it in away}
            moved = next((it for it in sorted(away, key=self.rank) if self.move(it, home)), None)
            if moved:
                budget -= 1
                with_room.add(before[id(moved)])
            else:
                with_room.remove(home.number)

    def rank(self, region):
        order = getattr(self.policy, "order", "oldest")
        if order == "largest":
            return -region["size"], region["row"]
        if order == "slowest_link":
            return self.narrowest(region["card"].number, region["own"]), region["row"]
        return region["row"], 0

    def make_room(self, card, size):
        """Grant a newcomer on its own card by giving back what is cached there, then by moving regions away."""
        service = self.service
        _, least = service.cutting.segment(size, card.last, card.capacity - card.physical, card.physical)
        if not self.evicts or not service.policies["target"].own_first() or least > self.whole(card):
            return None
        while True:
            if not service.flush(card) and not any(self.evict(it) for it in list(self.live) if it["card"] is card):
                return None
            if result := service.serve(card, size, True):
                return result

    @staticmethod
    def whole(card):
        """What the driver can give at once of a card of which nothing is taken."""
        granules = getattr(card, "granules", None)
        return len(granules.free) * granules.granule if granules else card.capacity

    def evict(self, region):
        here, own, size = region["card"].number, region["own"], region["size"]
        if self.policy.to == "host":
            to = self.host(here, own, size)
            return to is not None and self.move(region, self.service.cards[to])
        to = self.service.choose(own, size, here)
        if to is None or not self.move(region, self.service.cards[to]):
            return False
        self.service.note_lending(own, to, size)
        return True

    def host(self, here, own, size):
        """The CPU card with room that the fastest path leads to; the lowest id of equal ones."""
        service, results = self.service, []
        for card in service.cards:
            k = card.number
            may = service.hosts[k] and service.options.cpus_lend and card.capacity and k != here
            if may and self.reached(here, k) and self.reached(own, k) and service.room(card, size):
                results.append((-service.gbps[here][k], k))
        return min(results)[1] if results else None
