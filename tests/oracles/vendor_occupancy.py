"""Occupancy as the vendors' own sources compute it: NVIDIA's cuda_occupancy.h and LLVM's AMDGPUBaseInfo.cpp, compiled.

Neither source is part of this repository. `python -m tests.oracles.vendor_occupancy --cuda cuda_occupancy.h --llvm
llvm/lib/Target/AMDGPU` compiles what it is given with gcc, asks it about random kernels, and compares every card. With
--write it renews `tests/data/occupancy/`, which the tests read.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[1] / "data" / "occupancy"
NVIDIA = {  # compute capability, threads an SM, shared memory an SM, its most a block, the driver's share
    "v100": (7, 0, 2048, 98304, 98304, 0),
    "a100": (8, 0, 2048, 167936, 166912, 1024),
    "h100": (9, 0, 2048, 233472, 232448, 1024),
    "h200": (9, 0, 2048, 233472, 232448, 1024),
    "b200": (10, 0, 2048, 233472, 232448, 1024),
    "gb200": (10, 0, 2048, 233472, 232448, 1024),
}
"""What CUDA's deviceProperties say of each card; the header has all else."""
AMD = {  # the processor, and features that a compiler adds to those of the processor
    "vega10": ("FeatureISAVersion9_0_0", ()),
    "mi250x": ("FeatureISAVersion9_0_A", ()),
    "mi300x": ("FeatureISAVersion9_4_2", ()),
    "mi350x": ("FeatureISAVersion9_5_0", ()),
    "mi355x": ("FeatureISAVersion9_5_0", ()),
    "rx9070xt": ("FeatureISAVersion12", ("FeatureWavefrontSize32", "FeatureCuMode")),
}
COLUMNS = ("threads", "vgprs", "sgprs", "shared_bytes")
CUDA = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include "cuda_occupancy.h"
int main(int n, char **a) {
  cudaOccDeviceProp p = {0};
  p.computeMajor = atoi(a[1]); p.computeMinor = atoi(a[2]); p.maxThreadsPerMultiprocessor = atoi(a[3]);
  p.sharedMemPerMultiprocessor = atoi(a[4]); p.sharedMemPerBlockOptin = atoi(a[5]);
  p.reservedSharedMemPerBlock = atoi(a[6]);
  p.maxThreadsPerBlock = 1024; p.regsPerBlock = p.regsPerMultiprocessor = 65536; p.warpSize = 32;
  p.sharedMemPerBlock = 49152; p.numSms = 1;
  int threads, regs, sgprs; long bytes;
  while (scanf("%d %d %d %ld", &threads, &regs, &sgprs, &bytes) == 4) {
    cudaOccFuncAttributes f = {0}; cudaOccDeviceState s = {0}; cudaOccResult r = {0};
    f.maxThreadsPerBlock = INT_MAX; f.numRegs = regs; f.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    f.maxDynamicSharedSizeBytes = bytes; f.numBlockBarriers = 1; s.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, threads, bytes)) return 1;
    printf("%d %d\n", r.activeBlocksPerMultiprocessor, r.limitingFactors & 15);
  }
}
"""
LLVM = r"""
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
%(features)s
struct Bits {
  std::set<int> on;
  bool test(int f) const { return on.count(f); }
};
struct Triple { bool isAMDGCN() const { return true; } };
struct MCSubtargetInfo {
  Bits bits; unsigned major;
  const Bits &getFeatureBits() const { return bits; }
  bool hasFeature(int f) const { return bits.test(f); }
  Triple getTargetTriple() const { return {}; }
  unsigned getCPU() const { return major; }
};
struct IsaVersion { unsigned Major; };
static IsaVersion getIsaVersion(unsigned major) { return {major}; }
static bool isGFX10Plus(const MCSubtargetInfo &s) { return s.major >= 10; }
static bool isGFX90A(const MCSubtargetInfo &s) { return s.hasFeature(FeatureGFX90AInsts); }
static bool isGFX1250(const MCSubtargetInfo &s) { return s.hasFeature(FeatureGFX1250Insts); }
static bool hasGFX10_3Insts(const MCSubtargetInfo &s) { return s.hasFeature(FeatureGFX10_3Insts); }
static uint64_t alignTo(uint64_t v, uint64_t a) { return (v + a - 1) / a * a; }
static uint64_t alignDown(uint64_t v, uint64_t a) { return v / a * a; }
static uint64_t divideCeil(uint64_t v, uint64_t a) { return (v + a - 1) / a; }
namespace AMDGPU { using ::FeatureXNACK; using ::FeatureArchitectedFlatScratch; }
struct AMDGPUSubtarget { enum Generation { VOLCANIC_ISLANDS = 6, GFX10 = 9 }; };
enum { FIXED_NUM_SGPRS_FOR_INIT_BUG = 96, TRAP_NUM_SGPRS = 16 };
%(source)s
int main() {
  MCSubtargetInfo s; s.major = %(major)s; s.bits.on = {%(on)s};
  unsigned threads, vgprs, sgprs, bytes, simds = getEUsPerCU(&s), granule = 4 * getLdsDwGranularity(s);
  while (scanf("%%u %%u %%u %%u", &threads, &vgprs, &sgprs, &bytes) == 4) {
    unsigned waves = getWavesPerWorkGroup(&s, threads), of_sgprs = 0;
    unsigned by_waves = threads > getMaxFlatWorkGroupSize(&s) ? 0 : getMaxWorkGroupsPerCU(&s, threads);
    unsigned by_vgprs = vgprs ? simds * getNumWavesPerEUWithNumVGPRs(&s, vgprs, 0) / waves : by_waves;
    if (vgprs > getAddressableNumVGPRs(&s, 0)) by_vgprs = 0;
    for (unsigned w = 1; w <= getMaxWavesPerEU(&s); w++) if (getMaxNumSGPRs(&s, w, false) >= sgprs) of_sgprs = w;
    unsigned by_sgprs = sgprs > getAddressableNumSGPRs(&s) ? 0 : simds * of_sgprs / waves;
    unsigned by_lds = bytes ? getLocalMemorySize(&s) / alignTo(bytes, granule) : by_waves;
    printf("%%u %%u\n", std::min({by_waves, by_vgprs, by_sgprs, by_lds}), by_waves);
  }
}
"""


def kernels(count: int, amd: bool) -> np.ndarray:
    """Random kernels, int64[count, 4] in the order of `COLUMNS`: some as real ones, some beyond what can be launched.

    NVIDIA's header lets 256 registers a thread pass, where its documentation says 255: none has 256.
    """
    draw = np.random.default_rng(2026 + amd)
    threads = np.where(draw.random(count) < 0.5, 32 << draw.integers(0, 6, count), draw.integers(1, 1100, count))
    vgprs = np.where(
        draw.random(count) < 0.3, draw.integers(0, 40, count), draw.integers(0, 540 if amd else 300, count)
    )
    vgprs = np.where((vgprs == 256) & (not amd), 255, vgprs)
    sgprs = np.where(draw.random(count) < 0.5, 0, draw.integers(1, 110, count)) if amd else np.zeros(count, np.int64)
    most = 170_000 if amd else 240_000
    some = np.where(draw.random(count) < 0.5, draw.integers(1, 20_000, count), draw.integers(1, most, count))
    return np.stack([threads, vgprs, sgprs, np.where(draw.random(count) < 0.4, 0, some)], axis=1).astype(np.int64)


def cuda_groups(header: Path, card: str, asked_for: np.ndarray) -> np.ndarray:
    """Groups a unit and the limits that bind (bits: warps 1, registers 2, shared 4, blocks 8) by NVIDIA's header."""
    return _reply("cuda.c", CUDA, ["gcc", f"-I{header.parent}"], [*map(str, NVIDIA[card])], asked_for)


def llvm_groups(target: Path, card: str, asked_for: np.ndarray) -> np.ndarray:
    """Groups a unit by LLVM's functions together, and by waves and barriers alone."""
    processor, added = AMD[card]
    base, features = (target / "Utils/AMDGPUBaseInfo.cpp").read_text(), (target / "AMDGPU.td").read_text()
    inside = base[base.index("unsigned getWavefrontSize(") : base.index("} // end namespace IsaInfo")]
    inside += re.search(r"unsigned getLdsDwGranularity\(.*?\n}", base, re.DOTALL)[0]  # type: ignore[index]
    heads = re.findall(r"^(?:static )?unsigned (?:\w+)\([^)]*\)(?= {)", inside, re.MULTILINE)
    heads = [re.sub(r"(std::optional<bool> \w+)", r"\1 = std::nullopt", head) for head in heads]
    names = sorted(
        {*re.findall(r"\bFeature\w+", inside), "FeatureGFX10_3Insts", "FeatureGFX90AInsts", "FeatureGFX1250Insts"}
    )
    on = _closure(features, [processor, *added]) & set(names)
    major = re.match(r"FeatureISAVersion(\d+)", processor)[1]  # type: ignore[index]
    enum = f"enum Feature {{ {', '.join(names)} }};"
    source = "\n".join([*(f"{head};" for head in heads), inside])
    text = LLVM % {"features": enum, "source": source, "major": major, "on": ", ".join(sorted(on))}
    return _reply("llvm.cpp", text, ["g++", "-std=c++17"], [], asked_for)


def _closure(features: str, names: list[str]) -> set[str]:
    """All features that some imply, by the definitions of AMDGPU.td."""
    reached: set[str] = set()
    while names:
        name = names.pop()
        if name not in reached:
            reached.add(name)
            body = re.search(rf"^def {name}\b\s*:(.*?);$", features, re.DOTALL | re.MULTILINE)
            names += re.findall(r"\bFeature[A-Z0-9]\w*", body[1]) if body else []
    return reached


def _reply(name: str, text: str, compiler: list[str], words: list[str], asked_for: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_text(text)
        subprocess.run([*compiler, "-O1", "-w", "-o", f"{folder}/a", f"{folder}/{name}"], check=True)
        lines = "\n".join(" ".join(map(str, row)) for row in asked_for.tolist())
        run = subprocess.run([f"{folder}/a", *words], input=lines, capture_output=True, text=True, check=True)
    return np.array([line.split() for line in run.stdout.splitlines()], np.int64)


def ours(card: str, asked_for: np.ndarray) -> np.ndarray:
    """The same by the workbench: groups a unit, and the limits that bind as NVIDIA's bits."""
    from workbench.machine import preset
    from workbench.machine.occupancy import Demand, group_limits

    limits = group_limits(preset(card).machine(), Demand(*asked_for.T))
    groups = np.minimum.reduce(np.broadcast_arrays(*limits.values()))
    bits = {"waves": 1, "vgpr": 2, "shared": 4, "workgroups": 8}
    return np.stack([groups, sum((limits[label] == groups) * bit for label, bit in bits.items())], axis=1)


def read(vendor: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The kernels of a vendor's table, and what its source says of each card."""
    with gzip.open(DATA / f"{vendor}.csv.gz", "rt") as file:
        header, *rows = csv.reader(file)
    table = np.array(rows, np.int64)
    cards = dict.fromkeys(name.partition(".")[0] for name in header[4:])
    return table[:, :4], {
        card: table[:, [k for k, n in enumerate(header) if n.startswith(f"{card}.")]] for card in cards
    }


def _write(vendor: str, asked_for: np.ndarray, replies: dict[str, np.ndarray]) -> None:
    header = [*COLUMNS, *(f"{card}.{k}" for card in replies for k in range(replies[card].shape[1]))]
    rows = np.concatenate([asked_for, *replies.values()], axis=1).tolist()
    text = "\n".join(",".join(map(str, row)) for row in [header, *rows]) + "\n"
    DATA.mkdir(exist_ok=True)
    (DATA / f"{vendor}.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuda", type=Path, required=True)
    parser.add_argument("--llvm", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    for source in (args.cuda, args.llvm / "Utils/AMDGPUBaseInfo.cpp", args.llvm / "AMDGPU.td"):
        print(source.name, hashlib.sha256(source.read_bytes()).hexdigest())
    count = 2000 if args.write else args.count
    for vendor, cards in (("nvidia", NVIDIA), ("amd", AMD)):
        asked_for, replies = kernels(count, vendor == "amd"), {}
        for card in cards:
            reply = (
                cuda_groups(args.cuda, card, asked_for)
                if vendor == "nvidia"
                else llvm_groups(args.llvm, card, asked_for)
            )
            reply = reply if vendor == "nvidia" else reply[:, :1]
            replies[card] = reply
            wrong = (ours(card, asked_for)[:, : reply.shape[1]] != reply).any(axis=1)
            print(f"{card}: {count - wrong.sum()} of {count} kernels agree", *asked_for[wrong][:3].tolist())
        if args.write:
            _write(vendor, asked_for, replies)


if __name__ == "__main__":
    main()
