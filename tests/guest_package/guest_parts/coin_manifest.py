"""The manifest of the engine."""

from workbench.mechanisms.manifest import Manifest

MECHANISM = Manifest(
    name="guest_coin",
    engine="guest_parts.coin:GuestCoin",
    record="guest_parts.coin:CoinRecord",
    measured="guest_parts.coin",
    measures=("heads_rate",),
    figures={"heads": "guest_parts.figures:HEADS"},
)
