// The longest run of ones in 128-bit masks: the window's length is doubled while there is one, then completed bit by bit.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "processor_time.h"

typedef uint64_t u64;
typedef unsigned __int128 u128;

static inline int longest(u128 starts) {
    if (!starts) return 0;
    if (!~starts) return 128;
    int length = 1, step = 1;
    while (step < 64) {
        u128 longer = starts & (starts >> step);
        if (!longer) break;
        starts = longer; length *= 2; step *= 2;
    }
    while (step > 1) {
        step >>= 1;
        u128 longer = starts & (starts >> step);
        int fits = -(longer != 0);  // masks: compilers turn a choice into a branch, which costs 40 %
        starts = (longer & (u128)(__int128)fits) | (starts & ~(u128)(__int128)fits);
        length += step & fits;
    }
    return length;
}

__attribute__((noinline)) static int probe(const u64 *words) {  // as engines ask: by a call, with an address
    return longest(((u128)words[1] << 64) | words[0]);
}

int main(int argc, char **argv) {
    const long masks = atol(argv[1]), rounds = atol(argv[2]), more = atol(argv[3]);
    std::vector<u64> words(2 * masks);
    u64 x = 88172645463325252ull;
    for (u64 &word : words) {
        word = 0;
        for (long k = 0; k <= more; k++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; word |= x; }
    }
    double began = processor_time();
    long sum = 0;
    for (long round = 0; round < rounds; round++)
        for (long mask = 0; mask < masks; mask++) sum += probe(&words[2 * mask]);
    double seconds = processor_time() - began;
    printf("{\"sum\": %ld, \"seconds\": %.6f}\n", sum, seconds);
}
