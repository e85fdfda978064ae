// A plain CUDA program with a choice of faults.
// Needs: nvcc and one GPU. Build: nvcc -lineinfo -arch=native -o saxpy saxpy.cu
// Run: ./saxpy {ok|illegal|launch|alloc}. Built with -gencode arch=compute_75,code=sm_75 it finds no kernel on newer GPUs.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t e = (call);                                                                      \
        if (e != cudaSuccess) {                                                                      \
            fprintf(stderr, "CUDA error at %s:%d: %s (%d)\n", __FILE__, __LINE__, cudaGetErrorString(e), (int)e); \
            exit(EXIT_FAILURE);                                                                      \
        }                                                                                            \
    } while (0)

__global__ void saxpy(float a, const float *x, float *y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "ok";
    const size_t n = 1 << 20;
    float *x, *y;
    printf("saxpy: %zu elements\n", n);
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&y, strcmp(mode, "alloc") == 0 ? (size_t)1 << 42 : n * sizeof(float)));
    CHECK(cudaMemset(x, 0, n * sizeof(float)));
    size_t count = strcmp(mode, "illegal") == 0 ? n * 1024 : n;
    int threads = strcmp(mode, "launch") == 0 ? 2048 : 256;
    saxpy<<<(count + threads - 1) / threads, threads>>>(2.0f, x, y, count);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    printf("saxpy: done\n");
    return 0;
}
