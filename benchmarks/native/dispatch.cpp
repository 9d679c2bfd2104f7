// The dispatcher of `dispatch_full` as one would write it by hand: the same rules, everything on, the same dispatches.
//
// A free map is one 128-bit word; what each place of a module has, and what a head asks of it, are sixteen 16-bit
// numbers that one vector comparison judges; verdicts are a bit a module, renewed only for new heads and for modules
// that changed; releases wait in a wheel of one list a cycle; what was executed in the window is kept in whole numbers
// for each module, with a list of its changes of rate that the window's far end follows.
//
// Arguments: modules, groups, cycles of the window, the generator of the selection, a file of 64-bit numbers: a row of
// 13 a group (channel, priority, waves, duration, vgpr, sgpr, shared, six counts of instructions), then six weights.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "processor_time.h"

#pragma GCC optimize("fp-contract=off")  // scores must be those of the engine to the bit

typedef int64_t i64;
typedef uint64_t u64;
typedef unsigned __int128 u128;

const int UNITS = 4, CHANNELS = 4, LEVELS = 4, VGPR = 128, SGPR = 64, SLOTS = 10, SHARED = 128, GROUPS = 16;
const int PLACES = 16, CLASSES = 6, WHEEL = 1 << 14, RANGES = 2 * UNITS + 1;
const int WINDOWS[LEVELS] = {8, 4, 2, 1};
const double SCALE = 1 << 20;

struct Group { i64 channel, priority, waves, duration, vgpr, sgpr, shared, instructions[CLASSES]; };

struct Change { i64 cycle; int group, sign; };

struct Past {  // what a module has executed, in 2^-20 instructions of each class
    i64 rate[8] = {}, issued[8] = {}, at = 0, old_rate[8] = {}, old_issued[8] = {}, old_at = 0;
    std::vector<Change> changes;
    size_t first = 0;
};

struct Module {
    alignas(32) int16_t has[PLACES];  // longest runs of vgpr and sgpr, slots: each a unit; then shared, groups
    u128 vgpr[UNITS], sgpr[UNITS], shared;
    i64 total;
    int pointer;
};

struct Running { int module, group, link; u128 taken[RANGES]; int8_t counts[UNITS]; };

struct Head { alignas(32) int16_t asks[UNITS][PLACES]; i64 needs[5]; int group; };

static inline u128 ones(int length) { return length >= 128 ? ~(u128)0 : (((u128)1 << length) - 1); }

static inline int lowest(u128 word) {
    return (u64)word ? __builtin_ctzll((u64)word) : 64 + __builtin_ctzll((u64)(word >> 64));
}

static inline int highest(u128 word) {
    u64 above = (u64)(word >> 64);
    return above ? 127 - __builtin_clzll(above) : 63 - __builtin_clzll((u64)word);
}

static inline int longest_run(u128 free) {  // doubling: runs of 1, 2, 4, ... blocks, then back down to the longest
    u128 doubled[8]; int steps = 0;
    for (int length = 1; free; length *= 2) {
        doubled[steps++] = free;
        if (length == 128) break;
        free &= free >> length;
    }
    int longest = 0; u128 starts = ~(u128)0;
    for (int k = steps - 1; k >= 0; k--) {
        u128 both = starts & (doubled[k] >> longest);
        if (both) { starts = both; longest += 1 << k; }
    }
    return longest;
}

static inline u128 nearest_boundary(u128 free, int blocks, int length) {  // the taken blocks; the low start at a tie
    u128 starts = free;
    int done = 1;
    for (; 2 * done <= length; done *= 2) starts &= starts >> done;
    if (done < length) starts &= starts >> (length - done);
    int low = lowest(starts), high = highest(starts);
    return ones(length) << (low <= blocks - high - length ? low : high);
}

static u64 generator;

static int below(int count) {  // xorshift, too large draws drawn again
    if (count == 1) return 0;
    int spare = __builtin_clzll((u64)(count - 1));
    u64 drawn;
    do {
        generator ^= generator << 13; generator ^= generator >> 7; generator ^= generator << 17;
        drawn = generator >> spare;
    } while (drawn >= (u64)count);
    return (int)drawn;
}

struct Dispatcher {
    const std::vector<Group> &groups;
    const double *weights;
    const int modules, words;
    const i64 window;
    std::vector<Module> module;
    std::vector<Past> past;
    std::vector<i64> rates;  // eight a group
    std::vector<Running> running;
    std::vector<int> first, last, spare, queue[CHANNELS];
    std::vector<u64> busy, fits[CHANNELS], enough;
    std::vector<double> residual, energy;
    std::vector<int> candidates, changed;
    std::vector<char> is_changed;
    Head heads[CHANNELS];
    bool marks[CHANNELS][LEVELS + 1] = {}, is_new[CHANNELS];
    int fitting[CHANNELS] = {};
    size_t next[CHANNELS] = {};
    i64 makespan = 0;
    u64 digest = 0, dispatched = 0;

    Dispatcher(const std::vector<Group> &groups, const double *weights, int modules, i64 window)
        : groups(groups), weights(weights), modules(modules), words((modules + 63) / 64), window(window),
          module(modules), past(modules), rates(8 * groups.size()), running(modules * GROUPS), first(WHEEL, -1),
          last(WHEEL, -1), busy(WHEEL / 64), residual(modules), energy(modules), candidates(modules),
          is_changed(modules) {
        for (size_t g = 0; g < groups.size(); g++) {
            queue[groups[g].channel].push_back((int)g);
            for (int s = 0; s < CLASSES; s++)
                rates[8 * g + s] = ((groups[g].instructions[s] << 20) + groups[g].duration / 2) / groups[g].duration;
        }
        for (int k = modules * GROUPS - 1; k >= 0; k--) spare.push_back(k);
        for (Module &m : module) {
            for (int u = 0; u < UNITS; u++) {
                m.vgpr[u] = ones(VGPR); m.sgpr[u] = ones(SGPR);
                m.has[u] = VGPR; m.has[UNITS + u] = SGPR; m.has[2 * UNITS + u] = SLOTS;
            }
            m.shared = ones(SHARED);
            m.has[12] = SHARED; m.has[13] = GROUPS; m.has[14] = m.has[15] = 0;
            m.total = UNITS * (VGPR + SGPR + SLOTS) + SHARED + GROUPS;
            m.pointer = 0;
        }
        for (int c = 0; c < CHANNELS; c++) { fits[c].resize(words); put_forward(c); }
    }

    void put_forward(int c) {  // what the head asks of the places of a module with each pointer
        is_new[c] = true;
        Head &head = heads[c];
        head.group = next[c] < queue[c].size() ? queue[c][next[c]] : -1;
        if (head.group < 0) { fitting[c] = 0; std::fill(fits[c].begin(), fits[c].end(), 0); return; }
        const Group &g = groups[head.group];
        for (int p = 0; p < UNITS; p++) {
            int16_t *asks = head.asks[p];
            for (int u = 0; u < UNITS; u++) {
                int waves = share(g.waves, p, u);
                asks[u] = waves * g.vgpr; asks[UNITS + u] = waves * g.sgpr; asks[2 * UNITS + u] = waves;
            }
            asks[12] = g.shared; asks[13] = 1; asks[14] = asks[15] = 0;
        }
    }

    static int share(i64 waves, int pointer, int unit) {  // the balanced split, rotated by the tail pointer
        int ahead = (unit - pointer - 1 + 2 * UNITS) % UNITS;
        return (int)(waves / UNITS) + (ahead < waves % UNITS);
    }

    void judge(int c, int m) {
        const int16_t *has = module[m].has, *asks = heads[c].asks[module[m].pointer];
        int16_t lacks = 0;
        for (int k = 0; k < PLACES; k++) lacks |= has[k] < asks[k];
        u64 bit = 1ull << (m & 63), &word = fits[c][m >> 6];
        fitting[c] += (int)!lacks - (int)((word & bit) != 0);
        word = lacks ? word & ~bit : word | bit;
    }

    void judge_all() {
        for (int c = 0; c < CHANNELS; c++) {
            if (heads[c].group < 0) continue;
            if (is_new[c]) for (int m = 0; m < modules; m++) judge(c, m);
            else for (int m : changed) judge(c, m);
            is_new[c] = false;
        }
        for (int m : changed) is_changed[m] = 0;
        changed.clear();
    }

    void note(int m) { if (!is_changed[m]) { is_changed[m] = 1; changed.push_back(m); } }

    int select(i64 now) {  // the most urgent priority of the window, taking turns by marks
        int at = (int)(now % 15), top = 0, equal[CHANNELS], fresh[CHANNELS], equals = 0, unmarked = 0;
        while (at >= WINDOWS[top]) at -= WINDOWS[top++];
        i64 best = 99;
        for (int c = 0; c < CHANNELS; c++) {
            if (!fitting[c]) continue;
            i64 priority = groups[heads[c].group].priority, rank = priority == top + 1 ? 0 : priority;
            if (rank < best) { best = rank; equals = 0; }
            if (rank == best) equal[equals++] = c;
        }
        if (equals < 2) return equals ? equal[0] : -1;
        i64 level = groups[heads[equal[0]].group].priority;
        for (int k = 0; k < equals; k++) if (!marks[equal[k]][level]) fresh[unmarked++] = equal[k];
        if (unmarked) {
            int chosen = fresh[below(unmarked)];
            marks[chosen][level] = true;
            return chosen;
        }
        int chosen = equal[below(equals)];
        for (int k = 0; k < equals; k++) if (equal[k] != chosen) marks[equal[k]][level] = false;
        return chosen;
    }

    double executed(int m, i64 now) {  // weighted instructions in the window
        Past &p = past[m];
        i64 until = std::max(now - window, (i64)0);
        while (p.first < p.changes.size() && p.changes[p.first].cycle <= until) {
            const Change &change = p.changes[p.first++];
            i64 passed = change.cycle - p.old_at, sign = change.sign;
            const i64 *rate = &rates[8 * (size_t)change.group];
            p.old_at = change.cycle;
            for (int s = 0; s < 8; s++) { p.old_issued[s] += p.old_rate[s] * passed; p.old_rate[s] += sign * rate[s]; }
        }
        i64 old_passed = until - p.old_at, passed = now - p.at;
        p.old_at = until; p.at = now;
        for (int s = 0; s < 8; s++) { p.old_issued[s] += p.old_rate[s] * old_passed; p.issued[s] += p.rate[s] * passed; }
        double energy = 0.0;
        for (int s = 0; s < CLASSES; s++) energy += weights[s] * ((double)(p.issued[s] - p.old_issued[s]) / SCALE);
        return energy;
    }

    void change_rate(int m, int group, int sign, i64 now) {
        Past &p = past[m];
        i64 passed = now - p.at;
        p.at = now;
        const i64 *rate = &rates[8 * (size_t)group];
        for (int s = 0; s < 8; s++) { p.issued[s] += p.rate[s] * passed; p.rate[s] += sign * rate[s]; }
        if (p.first > 64) { p.changes.erase(p.changes.begin(), p.changes.begin() + p.first); p.first = 0; }
        p.changes.push_back({now, group, sign});
    }

    static void normalise(double *scores, int count) {
        double least = scores[0], most = scores[0];
        for (int k = 1; k < count; k++) { least = std::min(least, scores[k]); most = std::max(most, scores[k]); }
        for (int k = 0; k < count; k++) scores[k] = most > least ? (scores[k] - least) / (most - least) : 0.0;
    }

    int choose(int c, i64 now) {  // most residual and least recent energy, half and half
        int count = 0;
        for (int w = 0; w < words; w++)
            for (u64 bits = fits[c][w]; bits; bits &= bits - 1) candidates[count++] = 64 * w + __builtin_ctzll(bits);
        for (int k = 0; k < count; k++) {
            residual[k] = (double)module[candidates[k]].total;
            energy[k] = -executed(candidates[k], now);
        }
        normalise(residual.data(), count);
        normalise(energy.data(), count);
        int best = 0; double most = -1.0;
        for (int k = 0; k < count; k++) {
            double sum = 0.0;
            sum += 0.5 * residual[k];
            sum += 0.5 * energy[k];
            if (sum > most) { most = sum; best = k; }
        }
        return candidates[best];
    }

    void begin(int c, int m, i64 now) {
        Module &on = module[m];
        const Group &g = groups[heads[c].group];
        int slot = spare.back();
        spare.pop_back();
        Running &run = running[slot];
        run.module = m; run.group = heads[c].group;
        for (int u = 0; u < UNITS; u++) {
            int waves = share(g.waves, on.pointer, u);
            run.counts[u] = (int8_t)waves;
            run.taken[u] = run.taken[UNITS + u] = 0;
            if (waves && g.vgpr) {
                on.vgpr[u] ^= run.taken[u] = nearest_boundary(on.vgpr[u], VGPR, (int)(waves * g.vgpr));
                on.has[u] = longest_run(on.vgpr[u]);
            }
            if (waves && g.sgpr) {
                on.sgpr[u] ^= run.taken[UNITS + u] = nearest_boundary(on.sgpr[u], SGPR, (int)(waves * g.sgpr));
                on.has[UNITS + u] = longest_run(on.sgpr[u]);
            }
            on.has[2 * UNITS + u] -= waves;
        }
        run.taken[2 * UNITS] = 0;
        if (g.shared) {
            on.shared ^= run.taken[2 * UNITS] = nearest_boundary(on.shared, SHARED, (int)g.shared);
            on.has[12] = longest_run(on.shared);
        }
        on.has[13]--;
        on.total -= g.waves * (g.vgpr + g.sgpr + 1) + g.shared + 1;
        on.pointer = (int)((on.pointer + g.waves) % UNITS);
        change_rate(m, run.group, 1, now);
        put(now + g.duration, slot);
        makespan = std::max(makespan, now + g.duration);
        digest += (u64)(now * 1000003 + m) * (u64)(run.group + 1);
        dispatched++;
        note(m);
        next[c]++;
        put_forward(c);
    }

    void end(int slot, i64 now) {
        Running &run = running[slot];
        Module &on = module[run.module];
        const Group &g = groups[run.group];
        for (int u = 0; u < UNITS; u++) {
            if (run.taken[u]) { on.vgpr[u] |= run.taken[u]; on.has[u] = longest_run(on.vgpr[u]); }
            if (run.taken[UNITS + u]) {
                on.sgpr[u] |= run.taken[UNITS + u];
                on.has[UNITS + u] = longest_run(on.sgpr[u]);
            }
            on.has[2 * UNITS + u] += run.counts[u];
        }
        if (run.taken[2 * UNITS]) { on.shared |= run.taken[2 * UNITS]; on.has[12] = longest_run(on.shared); }
        on.has[13]++;
        on.total += g.waves * (g.vgpr + g.sgpr + 1) + g.shared + 1;
        change_rate(run.module, run.group, -1, now);
        note(run.module);
        spare.push_back(slot);
    }

    void put(i64 cycle, int slot) {
        int at = (int)(cycle & (WHEEL - 1));
        running[slot].link = -1;
        if (first[at] < 0) { first[at] = slot; busy[at >> 6] |= 1ull << (at & 63); }
        else running[last[at]].link = slot;
        last[at] = slot;
    }

    void end_due(i64 now) {
        int at = (int)(now & (WHEEL - 1)), slot = first[at];
        if (slot < 0) return;
        first[at] = -1;
        busy[at >> 6] &= ~(1ull << (at & 63));
        for (int following; slot >= 0; slot = following) { following = running[slot].link; end(slot, now); }
    }

    i64 next_due(i64 now) {  // the first busy cycle behind now, within a turn of the wheel
        int at = (int)((now + 1) & (WHEEL - 1));
        u64 word = busy[at >> 6] & (~0ull << (at & 63));
        for (int w = at >> 6, k = 0; k <= WHEEL / 64; k++) {
            if (word) return now + 1 + ((64 * w + __builtin_ctzll(word) - at + WHEEL) & (WHEEL - 1));
            w = (w + 1) % (WHEEL / 64);
            word = busy[w];
        }
        return -1;
    }

    void play() {
        for (i64 now = 0; now >= 0;) {
            end_due(now);
            judge_all();
            int chosen = select(now);
            if (chosen >= 0) begin(chosen, choose(chosen, now), now);
            i64 due = next_due(now);
            now = chosen >= 0 ? now + 1 : due;
            if (dispatched == groups.size()) now = due;
        }
    }
};

int main(int argc, char **argv) {
    const int modules = atoi(argv[1]);
    const size_t count = strtoull(argv[2], nullptr, 10);
    std::vector<Group> groups(count);
    double weights[CLASSES];
    FILE *file = fopen(argv[5], "rb");
    if (!file || fread(groups.data(), sizeof(Group), count, file) != count) return 1;
    if (fread(weights, sizeof(double), CLASSES, file) != CLASSES) return 1;
    fclose(file);
    generator = strtoull(argv[4], nullptr, 10);
    double began = processor_time();
    Dispatcher dispatcher(groups, weights, modules, atoll(argv[3]));
    dispatcher.play();
    double seconds = processor_time() - began;
    printf("{\"seconds\": %.9f, \"groups\": %llu, \"makespan\": %lld, \"digest\": %llu}\n", seconds,
           (unsigned long long)dispatcher.dispatched, (long long)dispatcher.makespan, (unsigned long long)dispatcher.digest);
    return 0;
}
