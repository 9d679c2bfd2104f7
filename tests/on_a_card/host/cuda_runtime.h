// Declarations of CUDA that the program of benchmarks/on_a_card uses, so that a compiler for the host checks its types.
#pragma once
#include <cstddef>
#include <cstdlib>
#define __global__
#define __device__
#define __shared__
#define __forceinline__ inline
struct dim3 { unsigned x, y, z; };
static const dim3 blockIdx{}, threadIdx{}, blockDim{}, gridDim{};
enum cudaError_t { cudaSuccess };
enum cudaMemcpyKind { cudaMemcpyDeviceToHost };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaLimit { cudaLimitMallocHeapSize };
struct cudaStream;
struct cudaEvent;
typedef cudaStream *cudaStream_t;
typedef cudaEvent *cudaEvent_t;
static const unsigned cudaStreamNonBlocking = 1;
struct cudaFuncAttributes { int numRegs; };
struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount, warpSize, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
    int regsPerMultiprocessor;
    std::size_t sharedMemPerMultiprocessor;
};
const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int);
cudaError_t cudaMemGetInfo(std::size_t *, std::size_t *);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned);
cudaError_t cudaMalloc(void **, std::size_t);
cudaError_t cudaMemset(void *, int, std::size_t);
cudaError_t cudaMemcpy(void *, const void *, std::size_t, cudaMemcpyKind);
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, const void *);
cudaError_t cudaGetLastError();
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t);
cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);
void __syncthreads();
void __threadfence();
long long clock64();
int atomicCAS(int *, int, int);
int atomicExch(int *, int);
