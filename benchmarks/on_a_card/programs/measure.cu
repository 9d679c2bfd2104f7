// The measurements of benchmarks/on_a_card, one a subcommand; each prints lines that the Python driver reads.
#include "gpu.h"

#include <cstring>
#include <vector>

// ---- card: what the runtime says of the card -------------------------------------------------------------------------

static int card() {
    GPU_PROPERTIES p;
    TRY(GPU(GetDeviceProperties)(&p, 0));
    std::size_t free_bytes = 0, all_bytes = 0;
    TRY(GPU(MemGetInfo)(&free_bytes, &all_bytes));
    std::printf("platform=%s\nname=%s\nversion=%d.%d\nunits=%d\nwave_size=%d\nthreads_a_unit=%d\nblocks_a_unit=%d\n",
                GPU_PLATFORM, p.name, p.major, p.minor, p.multiProcessorCount, p.warpSize, p.maxThreadsPerMultiProcessor,
                p.maxBlocksPerMultiProcessor);
    std::printf("registers_a_unit=%d\nshared_bytes_a_unit=%zu\nfree_bytes=%zu\n", p.regsPerMultiprocessor,
                std::size_t(p.sharedMemPerMultiprocessor), free_bytes);
    return 0;
}

// ---- blocks: where and when each block of a few kernels runs ---------------------------------------------------------

struct Span {
    u64 start, end;
    unsigned unit;
    int base;
};

// A block lasts least_ticks and up to spread_ticks more, by its number.
__global__ void spin(Span *spans, u64 least_ticks, u64 spread_ticks, unsigned seed) {
    extern __shared__ int memory[];
    if (threadIdx.x == 0) {
        u64 start = shared_ticks();
        unsigned mixed = (blockIdx.x + seed) * 2654435761u;
        u64 until = start + least_ticks + u64(mixed >> 8) % (spread_ticks + 1);
        int base = shared_base();
        while (shared_ticks() < until) {}
        spans[blockIdx.x] = Span{start, shared_ticks(), unit_number(), base};
    }
    __syncthreads();
    if (spans == nullptr) memory[threadIdx.x] = 0;
}

// blocks STREAMS (BLOCKS THREADS SHARED_BYTES LEAST_NS SPREAD_NS)...: kernel k runs in stream k mod STREAMS.
static int blocks(int count, char **given) {
    int streams = std::atoi(given[0]), kernels = (count - 1) / 5;
    std::vector<GPU(Stream_t)> stream(streams);
    for (auto &one : stream) TRY(GPU(StreamCreateWithFlags)(&one, GPU(StreamNonBlocking)));
    std::vector<Span *> spans(kernels);
    double tick = host_ns_a_tick();
    for (int round = 0; round < 2; ++round) {  // the first one loads the code
        for (int k = 0; k < kernels; ++k) {
            char **own = given + 1 + 5 * k;
            int grid = std::atoi(own[0]), threads = std::atoi(own[1]), shared = std::atoi(own[2]);
            if (round == 0) {
                TRY(GPU(Malloc)((void **)&spans[k], sizeof(Span) * grid));
                TRY(GPU(FuncSetAttribute)((const void *)spin, GPU(FuncAttributeMaxDynamicSharedMemorySize), shared));
            }
            spin<<<grid, threads, shared, stream[k % streams]>>>(spans[k], u64(std::atof(own[3]) / tick),
                                                                 u64(std::atof(own[4]) / tick), 97u * k);
            TRY(GPU(GetLastError)());
        }
        TRY(GPU(DeviceSynchronize)());
    }
    GPU(FuncAttributes) attributes;
    TRY(GPU(FuncGetAttributes)(&attributes, (const void *)spin));
    std::printf("registers=%d\n", attributes.numRegs);
    for (int k = 0; k < kernels; ++k) {
        int grid = std::atoi(given[1 + 5 * k]);
        std::vector<Span> held(grid);
        TRY(GPU(Memcpy)(held.data(), spans[k], sizeof(Span) * grid, GPU(MemcpyDeviceToHost)));
        for (int b = 0; b < grid; ++b)
            std::printf("%d,%d,%d,%u,%.0f,%.0f,%d\n", k, k % streams, b, held[b].unit, double(held[b].start) * tick,
                        double(held[b].end) * tick, held[b].base);
    }
    return 0;
}

// ---- chase: cycles an access of a cyclic chain -----------------------------------------------------------------------

__global__ void link(u64 *chain, u64 stride, u64 entries) {
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < entries; i += u64(gridDim.x) * blockDim.x)
        chain[i * stride] = (i + 1) % entries * stride;
}

__global__ void follow(const u64 *chain, u64 entries, u64 accesses, u64 *result) {
    u64 at = 0;
    for (u64 i = 0; i < entries; ++i) at = chain[at];
    long long start = clock64();
    for (u64 i = 0; i < accesses; ++i) at = chain[at];
    long long end = clock64();
    result[0] = u64(end - start);
    result[1] = at;  // so that no compiler leaves the chase out
}

// chase STRIDE_KB FROM_KB TO_KB REPEATS: footprints are the multiples of the stride.
static int chase(int, char **given) {
    u64 stride_kb = std::atoll(given[0]), from = std::atoll(given[1]), to = std::atoll(given[2]);
    int repeats = std::atoi(given[3]);
    u64 *chain, *result;
    TRY(GPU(Malloc)((void **)&chain, to << 10));
    TRY(GPU(Malloc)((void **)&result, 16));
    for (u64 kb = (from + stride_kb - 1) / stride_kb * stride_kb; kb <= to; kb += stride_kb) {
        u64 entries = kb / stride_kb, accesses = entries > 512 ? entries : 512 / entries * entries;
        link<<<64, 128>>>(chain, (stride_kb << 10) / sizeof(u64), entries);
        double sum = 0;
        for (int r = 0; r < repeats; ++r) {
            u64 held[2];
            follow<<<1, 1>>>(chain, entries, accesses, result);
            TRY(GPU(GetLastError)());
            TRY(GPU(Memcpy)(held, result, sizeof held, GPU(MemcpyDeviceToHost)));
            sum += double(held[0]) / accesses;
        }
        std::printf("%llu,%.3f\n", kb, sum / repeats);
    }
    return 0;
}

// ---- heap and lock: milliseconds of a kernel in which every thread calls once ----------------------------------------

__global__ void allocate(void **given, std::size_t bytes, int threads) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < threads) given[thread] = malloc(bytes);
}

__global__ void release(void **given, int threads) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < threads) free(given[thread]);
}

__global__ void contend(int *lock, int *counter, int threads) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    bool done = thread >= threads;
    while (!done) {  // the release stands inside the attempt, so that lanes of a warp do not wait for each other
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)counter += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

template <typename Launch, typename After>
static void timed(int repeats, Launch launch, After after) {
    GPU(Event_t) begin, end;
    TRY(GPU(EventCreate)(&begin));
    TRY(GPU(EventCreate)(&end));
    for (int r = 0; r < repeats; ++r) {
        float ms = 0;
        TRY(GPU(EventRecord)(begin, 0));
        launch();
        TRY(GPU(GetLastError)());
        TRY(GPU(EventRecord)(end, 0));
        TRY(GPU(EventSynchronize)(end));
        TRY(GPU(EventElapsedTime)(&ms, begin, end));
        std::printf("%.6f\n", ms);
        after();
    }
}

// heap BYTES THREADS REPEATS HEAP_BYTES
static int heap(int, char **given) {
    std::size_t bytes = std::atoll(given[0]);
    int threads = std::atoi(given[1]), grid = (threads + 255) / 256, block = threads < 256 ? threads : 256;
    TRY(GPU(DeviceSetLimit)(GPU(LimitMallocHeapSize), std::size_t(std::atoll(given[3]))));
    void **held;
    TRY(GPU(Malloc)((void **)&held, sizeof(void *) * threads));
    timed(
        std::atoi(given[2]), [&] { allocate<<<grid, block>>>(held, bytes, threads); },
        [&] {
            std::vector<void *> found(threads);
            TRY(GPU(Memcpy)(found.data(), held, sizeof(void *) * threads, GPU(MemcpyDeviceToHost)));
            for (void *one : found)
                if (one == nullptr) {
                    std::fprintf(stderr, "the heap of the card is too small for %d times %zu bytes\n", threads, bytes);
                    std::exit(4);
                }
            release<<<grid, block>>>(held, threads);
            TRY(GPU(DeviceSynchronize)());
        });
    return 0;
}

// lock THREADS REPEATS
static int lock(int, char **given) {
    int threads = std::atoi(given[0]), repeats = std::atoi(given[1]), grid = (threads + 255) / 256;
    int block = threads < 256 ? threads : 256, counted = 0, *words;
    TRY(GPU(Malloc)((void **)&words, 8));
    TRY(GPU(Memset)(words, 0, 8));
    timed(repeats, [&] { contend<<<grid, block>>>(words, words + 1, threads); }, [] {});
    TRY(GPU(Memcpy)(&counted, words + 1, sizeof counted, GPU(MemcpyDeviceToHost)));
    if (counted != threads * repeats) {
        std::fprintf(stderr, "the lock lost updates: %d of %d\n", counted, threads * repeats);
        return 4;
    }
    return 0;
}

int main(int count, char **given) {
    struct {
        const char *name;
        int arguments;
        int (*run)(int, char **);
    } const known[] = {{"card", 0, [](int, char **) { return card(); }}, {"blocks", 6, blocks}, {"chase", 4, chase},
                       {"heap", 4, heap}, {"lock", 2, lock}};
    for (auto const &one : known)
        if (count > 1 && std::strcmp(given[1], one.name) == 0 && count - 2 >= one.arguments)
            return one.run(count - 2, given + 2);
    std::fprintf(stderr, "usage: measure card | blocks ... | chase ... | heap ... | lock ...\n");
    return 2;
}
