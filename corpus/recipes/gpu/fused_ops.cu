// Kernels with one bug each, as a shared library that the recipe native_op.py calls.
// Needs: nvcc. Build: nvcc -arch=native -cudart shared -shared -Xcompiler -fPIC -o libfused_ops.so fused_ops.cu
// A library for one older GPU only: nvcc -gencode arch=compute_75,code=sm_75 ... (no PTX, so no newer GPU can run it).
#include <cstdint>
#include <cuda_runtime.h>

__global__ void gather_rows(const float *table, const int64_t *index, float *out, int width) {
    out[(int64_t)blockIdx.x * width + threadIdx.x] = table[index[blockIdx.x] * width + threadIdx.x];
}

__global__ void scale_packed(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4 - 1) {
        // The offset of one float breaks float4's 16-byte alignment.
        float4 v = *reinterpret_cast<const float4 *>(in + 1 + 4 * i);
        reinterpret_cast<float4 *>(out)[i] = make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2);
    }
}

__global__ void checked_scale(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        if (in[i] < -1e30f) __trap();
        out[i] = 2 * in[i];
    }
}

extern "C" int fused_gather(const float *table, const int64_t *index, float *out, int rows, int width, cudaStream_t s) {
    gather_rows<<<rows, width, 0, s>>>(table, index, out, width);
    return 0;
}

extern "C" int fused_scale(const float *in, float *out, int n, cudaStream_t s) {
    scale_packed<<<(n / 4 + 255) / 256, 256, 0, s>>>(in, out, n);
    return 0;
}

extern "C" int fused_checked(const float *in, float *out, int n, cudaStream_t s) {
    checked_scale<<<(n + 255) / 256, 256, 0, s>>>(in, out, n);
    return 0;
}
