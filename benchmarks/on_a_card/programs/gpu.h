// CUDA and HIP under one name each, and what a program needs of the card.
#pragma once
#include <cstdio>
#include <cstdlib>

#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#define GPU_PLATFORM "hip"
#define GPU_PROPERTIES hipDeviceProp_t
#else
#include <cuda_runtime.h>
#define GPU(name) cuda##name
#define GPU_PLATFORM "cuda"
#define GPU_PROPERTIES cudaDeviceProp
#endif

#define TRY(call)                                                                    \
    do {                                                                             \
        GPU(Error_t) status = (call);                                                \
        if (status != GPU(Success)) {                                                \
            std::fprintf(stderr, "%s: %s\n", #call, GPU(GetErrorString)(status));    \
            std::exit(3);                                                            \
        }                                                                            \
    } while (0)

typedef unsigned long long u64;

// Ticks of a clock that all SMs share; host_ns_a_tick says how long a tick is.
__device__ __forceinline__ u64 shared_ticks() {
#ifdef __HIP_PLATFORM_AMD__
    return wall_clock64();
#else
    u64 ticks;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ticks));
    return ticks;
#endif
}

inline double host_ns_a_tick() {
#ifdef __HIP_PLATFORM_AMD__
    int khz = 0;
    TRY(hipDeviceGetAttribute(&khz, hipDeviceAttributeWallClockRate, 0));
    return 1e6 / khz;
#else
    return 1.0;
#endif
}

// The SM; of AMD's gfx9 the unit: die, shader engine, shader array and compute unit in one number.
__device__ __forceinline__ unsigned unit_number() {
#ifdef __HIP_PLATFORM_AMD__
    unsigned unit = 0, array = 0, engine = 0, die = 0;
    asm volatile("s_getreg_b32 %0, hwreg(HW_REG_HW_ID, 8, 4)" : "=s"(unit));
    asm volatile("s_getreg_b32 %0, hwreg(HW_REG_HW_ID, 12, 1)" : "=s"(array));
    asm volatile("s_getreg_b32 %0, hwreg(HW_REG_HW_ID, 13, 3)" : "=s"(engine));
#if defined(__gfx942__) || defined(__gfx950__)
    asm volatile("s_getreg_b32 %0, hwreg(HW_REG_XCC_ID, 0, 4)" : "=s"(die));
#endif
    return ((die * 8 + engine) * 2 + array) * 16 + unit;
#else
    unsigned number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
#endif
}

// Where the shared memory of this block begins, in bytes from that of its unit; -1 where no register tells it.
__device__ __forceinline__ int shared_base() {
#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__)
    unsigned base = 0;
    asm volatile("s_getreg_b32 %0, hwreg(HW_REG_LDS_ALLOC, 0, 8)" : "=s"(base));
    return int(base) * 256;
#else
    return -1;
#endif
}
