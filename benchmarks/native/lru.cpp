// An exact LRU cache of so many entries as one would write it by hand: an intrusive list over a dense page index.
// Reads int32 pages from a file; prints the accesses, the misses and the seconds.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "processor_time.h"

int main(int argc, char **argv) {
    const char *name = argv[1];
    const int entries = atoi(argv[2]), pages = atoi(argv[3]);
    FILE *file = fopen(name, "rb");
    fseek(file, 0, SEEK_END);
    std::vector<int32_t> trace(ftell(file) / sizeof(int32_t));
    rewind(file);
    if (fread(trace.data(), sizeof(int32_t), trace.size(), file) != trace.size()) return 1;
    std::vector<int32_t> where(pages, -1), page(entries), newer(entries, -1), older(entries, -1);
    int newest = -1, oldest = -1, used = 0;
    long misses = 0;
    double began = processor_time();
    for (int32_t wanted : trace) {
        int at = where[wanted];
        if (at == newest && at >= 0) continue;
        if (at >= 0) {
            if (older[at] >= 0) newer[older[at]] = newer[at]; else oldest = newer[at];
            older[newer[at]] = older[at];
        } else {
            misses++;
            if (used < entries) at = used++;
            else {
                at = oldest;
                oldest = newer[at];
                if (oldest >= 0) older[oldest] = -1; else newest = -1;
                where[page[at]] = -1;
            }
            page[at] = wanted;
            where[wanted] = at;
        }
        older[at] = newest; newer[at] = -1;
        if (newest >= 0) newer[newest] = at; else oldest = at;
        newest = at;
    }
    double seconds = processor_time() - began;
    printf("{\"accesses\": %ld, \"misses\": %ld, \"seconds\": %.6f}\n", (long)trace.size(), misses, seconds);
}
