// Seconds of processor time that this process has used: what other processes do does not count.
#pragma once
#include <ctime>

static double processor_time() {
    timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec + 1e-9 * used.tv_nsec;
}
