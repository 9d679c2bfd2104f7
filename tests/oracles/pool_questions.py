"""The policies of the memory pool in the plainest Python, by name and levers, from the sentences of spec 5."""

import hashlib
import math

from workbench.streams import Streams

NEVER = 1 << 62


def fit(policy, cached, need):
    """The block that is taken of `cached`, a list of (size, address); None = none."""
    enough = sorted(it for it in cached if it[0] >= need)
    if policy.name == "first_fit":
        return min(enough, key=lambda it: it[1], default=None)
    if policy.name == "worst_fit":
        return min(enough, key=lambda it: (-it[0], it[1]), default=None)
    best = enough[0] if enough else None
    if policy.name == "exact_fit":
        return best if best and best[0] == need else None
    if policy.name == "limited_fit":
        return best if best and best[0] - need <= policy.waste * need else None
    assert policy.name == "best_fit"
    return best


def idle(policy, excess, sizes):
    """The place in `sizes`, wholly cached driver allocations in their order, of the one that goes; None = none."""
    if policy.name == "keep_all":
        return None
    if policy.name == "least_recently_used":
        return 0
    places = range(len(sizes))
    enough = [k for k in places if sizes[k] >= excess]
    if policy.name == "smallest_sufficient" and enough:
        return min(enough, key=lambda k: (sizes[k], k))
    return min(places, key=lambda k: (-sizes[k], k))


class Cutting:
    """What a cache does with sizes."""

    def __init__(self, policy):
        self.name, self.policy = policy.name, policy
        self.flushes = self.name in ("pytorch_caching", "expandable_segments", "bfc", "stitching") or (
            self.name == "split_and_coalesce" and policy.flush_before_remote
        )
        self.joins = {"size_classes": "apart", "binary_buddies": "buddies"}.get(self.name, "neighbours")
        if self.name == "split_and_coalesce" and not policy.coalesce:
            self.joins = "apart"
        self.stitches = policy.least_piece if self.name == "stitching" else 0
        self.pages = self.name == "expandable_segments"

    def need(self, size):
        """What a request takes."""
        if self.name == "split_and_coalesce":
            return math.ceil(size / self.policy.align) * self.policy.align
        if self.name == "size_classes":
            return next_class(size, self.policy.classes)
        if self.name == "binary_buddies":
            return next_class(size, 1)
        granule = {
            "pytorch_caching": 512,
            "expandable_segments": 512,
            "stitching": 512,
            "bfc": 256,
            "rmm_pool": 256,
        }.get(self.name, 1)
        return math.ceil(size / granule) * granule

    def small(self, size):
        """Whether a request belongs to the small pool."""
        return self.name in ("pytorch_caching", "expandable_segments", "stitching") and size <= 1 << 20

    def segment(self, size, last, reserved, physical):
        """What the driver is asked for, and what it must have at least."""
        need = self.need(size)
        if self.small(size):
            return (2 << 20,) * 2
        if self.pages:
            return (math.ceil(need / self.policy.large_page) * self.policy.large_page,) * 2
        if self.name == "pytorch_caching" and need < 10 << 20:
            return (20 << 20,) * 2
        if self.name in ("pytorch_caching", "stitching"):
            return (math.ceil(need / (2 << 20)) * (2 << 20),) * 2
        if self.name == "binary_buddies":
            return (max(need, self.policy.segment),) * 2
        if self.name == "rmm_pool":
            want = max(reserved if last else self.policy.initial, need)
        elif self.name == "bfc":
            want = 2 * last if last else self.policy.first_region
            want = max(want, self.policy.first_region)
            while want < need:
                want *= 2
        else:
            return (need,) * 2
        while want > physical and want > need:
            want = max(want // 2, need)
        return want, need

    def first(self, size):
        """What RMM's pool takes when it is built, if a request is larger than that; 0 = it serves the request."""
        initial = self.policy.initial if self.name == "rmm_pool" else 0
        return initial if initial < self.need(size) else 0

    def page(self, small):
        """Bytes of a page."""
        return 2 << 20 if small else self.policy.large_page

    def parts(self, size, need, small):
        """How a block is cut: the part that is used, then what stays cached, by rising address."""
        rest = size - need
        if self.name == "binary_buddies":
            kept = []
            while size % 2 == 0 and size // 2 >= need:
                size //= 2
                kept.insert(0, size)
            return [size, *kept]
        cuts = {
            "no_cache": False,
            "size_classes": False,
            "expandable_segments": rest >= 512,
            "pytorch_caching": rest >= 512 if small else rest > 1 << 20,
            "stitching": rest >= 512 if small else rest >= 2 << 20,
            "bfc": rest >= need or rest >= 128 << 20,
        }.get(self.name, True)
        if self.name == "split_and_coalesce":
            cuts = self.policy.split and rest >= self.policy.min_remainder
        return [need, rest] if cuts and rest > 0 else [size]


def next_class(size, classes):
    """The least of the sizes p + k * p / classes that holds a size, p the powers of two, in whole steps."""
    power = 1
    while power < size:
        power *= 2
    step = max(power // 2 // classes, 1)
    return math.ceil(size / step) * step


class Scores:
    """One term of a choice of a card, with what it remembers."""

    def __init__(self, policy, seed):
        self.policy, self.name, self.fallbacks = policy, policy.name, 0
        self.next = 0
        if self.name in ("random_card", "two_choices"):
            self.word = max(Streams(seed).integer(self.name), 1)

    def below(self, count):
        """A number below a count: as many upper bits of the next xorshift word as it needs, again if too large."""
        if count == 1:
            return 0
        while True:
            word, most = self.word, (1 << 64) - 1
            word ^= (word << 13) & most
            word ^= word >> 7
            word ^= (word << 17) & most
            self.word = word
            drawn = word >> (64 - (count - 1).bit_length())
            if drawn < count:
                return drawn

    def scores(self, cards, borrower, seen):
        """The score of each candidate, in their order."""
        name, policy = self.name, self.policy
        free, gbps, hops, lent, held = (seen[it] for it in ("free", "gbps", "hops", "lent", "held"))
        if name in ("max_bandwidth", "most_free"):
            of = gbps if name == "max_bandwidth" else free
            shape = {"linear": float, "square_root": math.sqrt, "square": lambda x: float(x) * float(x)}[policy.shape]
            return [shape(of[card]) for card in cards]
        if name == "least_borrowed":
            total = sum(lent)
            shape = {
                "reciprocal": lambda c: 1 / (1 + c),
                "share": lambda c: 1 - c / total if total else 1.0,
                "halving": lambda c: 2.0 ** -min(c, 1000),
            }[policy.shape]
            return [shape(lent[card]) for card in cards]
        if name == "bandwidth_then_most_free":
            if all(gbps[card] < policy.threshold_gbps for card in cards):
                self.fallbacks += 1
                return [gbps[card] for card in cards]
            return [float(free[c]) if gbps[c] >= policy.threshold_gbps else -1.0 for c in cards]
        if name == "nearest":
            return [gbps[card] - 1e7 * hops[card] for card in cards]
        if name == "first_touch":
            order = sorted(cards, key=lambda card: (hops[card], card))
            return [-float(order.index(card)) for card in cards]
        if name in ("interleave", "round_robin"):
            return [-float((card - self.next) % len(free)) for card in cards]
        if name == "random_card":
            drawn = self.below(len(cards))
            return [float(k == drawn) for k in range(len(cards))]
        if name == "two_choices":
            return self.two(cards, free)
        if name in ("preferred", "bind"):
            named = [seen["ids"].index(it) for it in policy.cards.split()]
            order = sorted(cards, key=lambda card: (card not in named, hops[card], card))
            refused = [] if name == "preferred" else [card for card in cards if card not in named]
            return [-math.inf if card in refused else -float(order.index(card)) for card in cards]
        if name == "consistent_hashing":
            return [hashed(seen["ids"][card], seen["ids"][borrower], seen["size"]) for card in cards]
        if name == "least_loaded":
            return [-held[card] / seen["totals"][card] for card in cards]
        if name == "host_offload":
            return [gbps[card] if seen["hosts"][card] else -math.inf for card in cards]
        assert name == "local_only"
        return [-math.inf for _ in cards]

    def two(self, cards, free):
        """Two of the candidates, the one with more free memory first."""
        result, one = [0.0] * len(cards), self.below(len(cards))
        result[one] = 2.0
        if len(cards) > 1:
            two = [k for k in range(len(cards)) if k != one][self.below(len(cards) - 1)]
            result[one] = 2.0 if free[cards[one]] >= free[cards[two]] else 1.0
            result[two] = 2.0 if free[cards[two]] >= free[cards[one]] else 1.0
        return result

    def told(self, card, cards):
        """A card was taken."""
        self.next = (card + 1) % cards


def hashed(card, borrower, size):
    """The weight of a card for a borrower and a size: Thaler and Ravishankar's W_rand, modulo 2 to the power of 31."""
    most = 2**31

    def weight(server, key):
        return (1103515245 * ((1103515245 * server + 12345) % most ^ key) + 12345) % most

    def digest(name):
        return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "little") % most

    return float(weight(digest(card), weight(digest(borrower), size % most ^ size // most % most)))
