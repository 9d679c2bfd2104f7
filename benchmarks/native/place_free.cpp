// Alternating place and free on many compute units of 128 segments: 128-bit masks, shift-and doubling, lowest start.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "processor_time.h"

typedef uint64_t u64;
typedef unsigned __int128 u128;

int main(int argc, char **argv) {
    const int units = 64; const long steps = atol(argv[1]);
    std::vector<u128> free_(units, ~(u128)0);
    std::vector<int> base(units * 128), length(units * 128), held(units, 0);
    u64 x = 88172645463325252ull; long placed = 0;
    double began = processor_time();
    for (long step = 0; step < steps; step++) {
        x ^= x << 13; x ^= x >> 7; x ^= x << 17;
        int unit = x & 63, m = 1 + ((x >> 6) & 15);
        if ((x >> 32) & 1) {
            u128 s = free_[unit]; int reach = 1;
            while (2 * reach <= m) { s &= s >> reach; reach *= 2; }
            if (m > reach) s &= s >> (m - reach);
            if (!s) continue;
            int at = (u64)s ? __builtin_ctzll((u64)s) : 64 + __builtin_ctzll((u64)(s >> 64));
            free_[unit] &= ~((((u128)1 << m) - 1) << at);
            int k = unit * 128 + held[unit]++; base[k] = at; length[k] = m; placed++;
        } else if (held[unit]) {
            int pick = (int)(((x >> 33) & 0x7fffffff) % held[unit]), k = unit * 128 + pick, last = unit * 128 + --held[unit];
            free_[unit] |= (((u128)1 << length[k]) - 1) << base[k];
            base[k] = base[last]; length[k] = length[last];
        }
    }
    double seconds = processor_time() - began;
    printf("{\"steps\": %ld, \"placed\": %ld, \"seconds\": %.6f}\n", steps, placed, seconds);
}
