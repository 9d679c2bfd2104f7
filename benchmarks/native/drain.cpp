// The loop of the engine `shared_memory` as one would write it by hand: first fit by shift-and doubling over 64-bit words
// (two words take the __int128 path), std::priority_queue of (cycle, serial, row), strict FIFO, one grant a cycle.
// Reads the lengths and the durations as int32 from a file.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <tuple>
#include <vector>

#include "processor_time.h"

typedef uint64_t u64;
typedef unsigned __int128 u128;
typedef std::tuple<int64_t, int64_t, int> Due;

static int first_fit_two(const u64 *w, int m) {
    u128 s = ((u128)w[1] << 64) | w[0];
    int reach = 1;
    while (2 * reach <= m) { s &= s >> reach; reach *= 2; }
    if (m > reach) s &= s >> (m - reach);
    if (!s) return -1;
    u64 low = (u64)s;
    return low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((u64)(s >> 64));
}

static int first_fit_many(const u64 *w, int words, int m) {
    for (int k = 0; k < words; k++) {
        if (!w[k]) continue;
        u128 s = ((u128)(k + 1 < words ? w[k + 1] : 0) << 64) | w[k];
        int reach = 1;
        while (2 * reach <= m) { s &= s >> reach; reach *= 2; }
        if (m > reach) s &= s >> (m - reach);
        if ((u64)s) return 64 * k + __builtin_ctzll((u64)s);
    }
    return -1;
}

static void mark(u64 *w, int start, int m, bool free_) {
    for (int left = m, at = start; left > 0;) {
        int bit = at & 63, here = std::min(64 - bit, left);
        u64 mask = (here == 64 ? ~0ull : ((1ull << here) - 1)) << bit;
        if (free_) w[at >> 6] |= mask; else w[at >> 6] &= ~mask;
        at += here; left -= here;
    }
}

int main(int argc, char **argv) {
    const int segments = atoi(argv[1]), jobs = atoi(argv[2]), words = (segments + 63) / 64;
    std::vector<int> length(jobs), duration(jobs);
    FILE *file = fopen(argv[3], "rb");
    if (!file || fread(length.data(), sizeof(int), jobs, file) != (size_t)jobs) return 1;
    if (fread(duration.data(), sizeof(int), jobs, file) != (size_t)jobs) return 1;
    fclose(file);
    std::vector<u64> w(words, ~0ull);
    if (segments % 64) w[words - 1] = (1ull << (segments % 64)) - 1;
    std::vector<int64_t> start(jobs); std::vector<int> base(jobs);
    std::priority_queue<Due, std::vector<Due>, std::greater<Due>> due;
    double began = processor_time();
    int head = 0; long events = 0; int64_t now = 0;
    while (head < jobs || !due.empty()) {
        while (!due.empty() && std::get<0>(due.top()) == now) {
            int r = std::get<2>(due.top()); due.pop();
            mark(w.data(), base[r], length[r], true); events++;
        }
        bool granted = false;
        if (head < jobs) {
            int at = words == 2 ? first_fit_two(w.data(), length[head]) : first_fit_many(w.data(), words, length[head]);
            if (at >= 0) {
                mark(w.data(), at, length[head], false);
                base[head] = at; start[head] = now;
                due.push(Due(now + duration[head], head, head));
                head++; events++; granted = true;
            }
        }
        if (granted && head < jobs) now++;
        else if (!due.empty()) now = std::get<0>(due.top());
        else break;
    }
    double seconds = processor_time() - began;
    printf("{\"events\": %ld, \"seconds\": %.6f, \"drain\": %ld}\n", events, seconds, (long)now);
}
