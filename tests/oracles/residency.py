"""How many workgroups of a kind fit on one compute unit at once: put them there one by one until one does not fit."""

import math


def resident(machine, shared_bytes, threads, vgprs):
    """Whole workgroups that fit together; a demand below zero is not known and takes nothing."""
    if threads > machine.get("threads_a_workgroup", 1024) or vgprs > machine.get("vgprs_a_thread", 256):
        return 0
    segments_left = machine["segments"]
    slots_left = machine["workgroups_a_unit"]
    waves_left = machine["waves_a_unit"]
    barriers_left = machine.get("barriers_a_module") or math.inf
    registers_left = [machine["vgprs_a_unit"] // machine["simds_a_unit"]] * machine["simds_a_unit"]
    a_group = 0
    if shared_bytes >= 0:
        a_group = math.ceil((shared_bytes + machine["reserved_bytes"]) / machine["granule_bytes"])
    waves = math.ceil(threads / machine["wave_size"]) if threads >= 0 else 0
    a_wave = (
        math.ceil(vgprs / machine["vgpr_granule"]) * machine["vgpr_granule"] * machine["wave_size"] if vgprs > 0 else 0
    )
    count = 0
    while True:
        segments_left -= a_group
        slots_left -= 1
        waves_left -= waves
        barriers_left -= waves > 1
        for _ in range(waves):
            roomiest = registers_left.index(max(registers_left))
            registers_left[roomiest] -= a_wave
        if min(segments_left, slots_left, waves_left, barriers_left, *registers_left) < 0:
            return count
        count += 1
