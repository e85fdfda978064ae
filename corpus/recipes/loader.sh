#!/bin/bash
# Faults of the dynamic loader and the C library, provoked with real libraries and the real ld.so of Debian 12 (glibc 2.36).
# Needs: root; gcc gcc-multilib patchelf binutils openmpi-bin libopenmpi-dev libfabric-bin; the venv of lib.sh (torch, numpy).
# Run:   bash corpus/recipes/loader.sh      (writes corpus/<incident>/ for each `incident` below)
. "$(dirname "$0")/lib.sh"
need_venv
PROGRAMS="glibc 2.36 (Debian 12), gcc 12.2, CPython 3.11.7, torch 2.13.0+cpu, Open MPI 4.1.4"

# stub FILE SONAME VERSION SYMBOL: a library of that soname whose only symbol carries VERSION, to link against
stub() {
    mkdir -p "$(dirname "$1")"
    echo "void $4(void) {}" > stub.c
    if [ "$3" = - ]; then gcc -shared -nostdlib -fPIC -Wl,-soname,"$2" -o "$1" stub.c
    else echo "$3 { global: $4; };" > stub.map
         gcc -shared -nostdlib -fPIC -Wl,-soname,"$2" -Wl,--version-script=stub.map -o "$1" stub.c; fi
    rm -f stub.c stub.map
}
# extension FILE [LIBRARY SYMBOL]: a Python extension module, which needs SYMBOL of LIBRARY
extension() {
    mkdir -p "$(dirname "$1")"
    local name; name=$(basename "$1"); name=${name%%.*}
    printf 'extern void %s(void);\nvoid *PyModule_Create2(void *, int);\nvoid *PyInit_%s(void) { %s(); return 0; }\n' "${3:-abort}" "$name" "${3:-abort}" > ext.c
    gcc -shared -fPIC -w -o "$1" ext.c ${2:-}
    rm -f ext.c
}
train_py() {
    cat > train.py <<'PY'
import os
import torch
import torch.distributed as dist

import fused_ops  # our CUDA-free kernels


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(128, 128)
    fused_ops.patch(model)
    print("rank", dist.get_rank(), "ready")


if __name__ == "__main__":
    main()
PY
}

# ---- versions -------------------------------------------------------------------------------------------------------
incident glibc-too-old-extension
stub stub/libc.so.6 libc.so.6 GLIBC_2.38 __isoc23_strtol
extension site/fused_ops.cpython-311-x86_64-linux-gnu.so stub/libc.so.6 __isoc23_strtol
train_py
capture job.log env PYTHONPATH=/opt/train/site python train.py
expect fault loader/glibc-too-old glibc-version-not-found-generic - efa,nccl
readme "A Python extension was built on a distribution with glibc 2.38 and is imported where glibc is 2.36. The version need was
linked in with a stub libc.so.6 that exports \`__isoc23_strtol@@GLIBC_2.38\`, the name that real builds on newer systems need."

incident glibc-too-old-program
mkdir -p stub bin; printf 'void __isoc23_strtol(void) {}\nvoid __libc_start_main(void) {}\n' > s.c
echo 'GLIBC_2.34 { global: __libc_start_main; }; GLIBC_2.38 { global: __isoc23_strtol; } GLIBC_2.34;' > s.map
gcc -shared -nostdlib -fPIC -w -Wl,-soname,libc.so.6 -Wl,--version-script=s.map -o stub/libc.so.6 s.c
echo 'extern long __isoc23_strtol(void); int main(void) { return __isoc23_strtol(); }' > t.c
gcc -w -o bin/tokenize_corpus t.c stub/libc.so.6
cat > launch.sh <<'SH'
#!/bin/bash
echo "[launch] $(date -u +%FT%TZ) preparing shards"
./bin/tokenize_corpus --shards 64 --out /data/shards
rc=$?
echo "[launch] $(date -u +%FT%TZ) tokenize_corpus ended with exit code $rc"
exit $rc
SH
capture job.log bash launch.sh
expect fault loader/glibc-too-old glibc-version-not-found-generic - efa
readme "A program built against glibc 2.38 is started on glibc 2.36."

incident glibc-too-old-efa-mount
stub stub/libc.so.6 libc.so.6 GLIBC_2.38 __isoc23_strtol
mkdir -p /opt/amazon-efa-ofi/openmpi/lib
echo 'extern long __isoc23_strtol(void); long orte_init(void) { return __isoc23_strtol(); }' > r.c
gcc -shared -fPIC -w -Wl,-soname,libopen-rte.so.40 -o /opt/amazon-efa-ofi/openmpi/lib/libopen-rte.so.40 r.c stub/libc.so.6
capture stderr.log env LD_LIBRARY_PATH=/opt/amazon-efa-ofi/openmpi/lib mpirun -np 8 --allow-run-as-root python train.py
expect fault efa/glibc-too-old-for-auto-mount glibc-2.34-not-found-auto-efa-mount,efa-glibc-2.34-not-found-auto-mount,mpirun-wrong-binary-under-auto-efa loader/glibc-too-old -
readme "Debian's own mpirun (Open MPI 4.1.4) finds the libopen-rte.so.40 of an automatically mounted EFA folder first on
LD_LIBRARY_PATH; that library needs a newer glibc (2.38 here) than the image has (2.36). The library is a stand-in with the real
name, place and version need; program and loader are the real ones."

incident glibc-too-old-all-ranks
stub stub/libc.so.6 libc.so.6 GLIBC_2.38 __isoc23_strtol
extension site/fused_ops.cpython-311-x86_64-linux-gnu.so stub/libc.so.6 __isoc23_strtol
train_py
capture job.log env PYTHONPATH=/opt/train/site torchrun --nproc-per-node 4 train.py
expect fault loader/glibc-too-old glibc-version-not-found-generic,torchrun-child-failed torch/child-failed efa
readme "As glibc-too-old-extension, in all four ranks of a torchrun job: four tracebacks and the launcher's summary, one cause."

incident glibcxx-not-found
stub stub/libstdc++.so.6 libstdc++.so.6 GLIBCXX_3.4.32 _ZSt21ios_base_library_initv
extension site/fused_ops.cpython-311-x86_64-linux-gnu.so stub/libstdc++.so.6 _ZSt21ios_base_library_initv
train_py
capture job.log env PYTHONPATH=/opt/train/site python train.py
expect fault loader/glibcxx-too-old glibcxx-not-found - loader/glibc-too-old,efa
readme "An extension built with GCC 13 (GLIBCXX_3.4.32) meets the libstdc++ of GCC 12."

incident glibc-private-mixed
stub stub/libc.so.6 libc.so.6 GLIBC_PRIVATE __libc_early_init_v2
mkdir -p lib bin
echo 'extern void __libc_early_init_v2(void); void start(void) { __libc_early_init_v2(); }' > r.c
gcc -shared -fPIC -w -o lib/librt_host.so r.c stub/libc.so.6
echo 'extern void start(void); int main(void) { start(); return 0; }' > t.c
gcc -w -o bin/preflight t.c -Llib -lrt_host -Wl,-rpath,/opt/train/lib -Wl,--unresolved-symbols=ignore-all
capture stderr.log ./bin/preflight
expect fault loader/mixed-glibc glibc-private-mixed-loader - loader/glibc-too-old
readme "A library of another glibc build (wants a GLIBC_PRIVATE symbol this libc lacks) is on the path."

# ---- missing and broken libraries -----------------------------------------------------------------------------------
# minimal ROOT PROGRAM: a root directory that holds the program, the loader and libc only
minimal() {
    mkdir -p "$1"/lib/x86_64-linux-gnu "$1"/lib64 "$1"/usr/bin
    cp /lib/x86_64-linux-gnu/libc.so.6 "$1"/lib/x86_64-linux-gnu/; cp /lib64/ld-linux-x86-64.so.2 "$1"/lib64/
    cp "$2" "$1"/usr/bin/
}
incident libmpi-missing
mkdir stubs; stub stubs/libmpi.so.40 libmpi.so.40 - MPI_Init
echo 'extern void MPI_Init(void); int main(void) { MPI_Init(); return 0; }' > t.c
gcc -w -o osu_allreduce t.c stubs/libmpi.so.40; minimal root osu_allreduce
capture stderr.log chroot root /usr/bin/osu_allreduce -m 8:1048576
expect fault loader/shared-library-missing shared-library-not-found - efa
readme "An MPI program is started in a root directory that has the C library but no Open MPI. Exit code 127."

incident libcuda-missing
mkdir stubs; stub stubs/libcuda.so.1 libcuda.so.1 - cuInit
echo 'extern void cuInit(int); int main(void) { cuInit(0); return 0; }' > t.c
gcc -w -o gpu_preflight t.c stubs/libcuda.so.1
cat > launch.sh <<'SH'
echo "Running GPU preflight on $(hostname)"
./gpu_preflight --devices 8 || { rc=$?; echo "preflight failed with exit code $rc" >&2; exit $rc; }
SH
capture job.log bash launch.sh
expect fault loader/driver-library-missing shared-library-not-found,cuda-stub-library loader/shared-library-missing -
readme "A program linked against the CUDA driver runs in a container without the driver: libcuda.so.1 is not there."

incident libfabric-missing
minimal root /usr/bin/fi_info
capture stderr.log chroot root /usr/bin/fi_info -p efa
expect fault loader/shared-library-missing shared-library-not-found - efa/provider-missing
readme "fi_info (libfabric 1.17.0) in a root directory without libfabric.so.1."

incident libcudart-missing-python
mkdir stubs; stub stubs/libcudart.so.12 libcudart.so.12 - cudaMalloc
extension site/fused_ops.cpython-311-x86_64-linux-gnu.so stubs/libcudart.so.12 cudaMalloc
train_py
capture job.log env PYTHONPATH=/opt/train/site torchrun --nproc-per-node 2 train.py
expect fault loader/shared-library-missing shared-library-not-found,torchrun-child-failed torch/child-failed -
readme "An extension needs libcudart.so.12, which the image has not; two ranks fail in their import."

incident undefined-symbol-torch-extension
extension site/fused_ops.cpython-311-x86_64-linux-gnu.so "" _ZN3c106detail14torchCheckFailEPKcS2_jRKSs
train_py
capture job.log env PYTHONPATH=/opt/train/site LD_BIND_NOW=1 python train.py
expect fault loader/extension-for-another-torch undefined-symbol loader/undefined-symbol -
readme "An extension built for a torch of the old C++ ABI (\`c10::detail::torchCheckFail(char const*, char const*, unsigned int, std::string const&)\`) is imported with torch 2.13."

incident symbol-lookup-error-nccl
mkdir -p lib bin
echo 'extern int ncclCommRegister(void); int comm_setup(void) { return ncclCommRegister(); }' > r.c
gcc -shared -fPIC -w -o lib/libcomm.so r.c
echo 'extern int comm_setup(void); int puts(const char *); int main(void) { puts("setting up communicators"); return comm_setup(); }' > t.c
gcc -w -o bin/allreduce_bench t.c -Llib -lcomm -Wl,-rpath,/opt/train/lib -Wl,--unresolved-symbols=ignore-all
capture job.log ./bin/allreduce_bench
expect fault loader/nccl-symbol-missing undefined-symbol loader/undefined-symbol nccl/timeout
readme "A library was built against a newer NCCL than the one it finds: the call fails when it is first made (lazy binding)."

incident wrong-elf-class
mkdir -p site; printf 'int PyInit_fused_ops(void) { return 0; }\n' > e.c
gcc -m32 -shared -nostdlib -fPIC -w -o site/fused_ops.cpython-311-x86_64-linux-gnu.so e.c
train_py
capture job.log env PYTHONPATH=/opt/train/site python train.py
expect fault loader/wrong-elf-class wrong-elf-class-or-arch - -
readme "The extension module is a 32-bit library."

incident wrong-elf-class-program
mkdir -p lib bin
echo 'int ops(void) { return 0; }' > r.c
gcc -shared -fPIC -Wl,-soname,libops.so.1 -o libops64.so r.c
echo 'extern int ops(void); int main(void) { return ops(); }' > t.c
gcc -w -o bin/train_worker t.c libops64.so -Wl,-rpath,/opt/train/lib
gcc -m32 -shared -nostdlib -fPIC -Wl,-soname,libops.so.1 -o lib/libops.so.1 r.c
capture stderr.log ./bin/train_worker
expect fault loader/wrong-elf-class wrong-elf-class-or-arch - loader/shared-library-missing
readme "A 64-bit program finds only a 32-bit build of its library."

incident exec-format-error
cp /bin/true preprocess; printf '\267' | dd of=preprocess bs=1 seek=18 conv=notrunc status=none
cat > launch.sh <<'SH'
uname -m
/opt/train/preprocess --in /data/raw
echo "preprocess: exit code $?"
python - <<'PY'
import subprocess
subprocess.run(["/opt/train/preprocess"], check=True)
PY
SH
capture job.log bash launch.sh
expect fault loader/wrong-architecture wrong-elf-class-or-arch - -
readme "A program for aarch64 is started on x86-64, by the shell and by Python. (The machine field of a copied program was set to EM_AARCH64; the refusal is the kernel's.)"

incident missing-interpreter
cp /bin/true tokenizer; patchelf --set-interpreter /lib/ld-musl-x86_64.so.1 tokenizer
cat > launch.sh <<'SH'
#!/bin/sh
ls -l /opt/train/tokenizer
/opt/train/tokenizer --version
echo "exit code $?"
SH
capture job.log sh -c 'sh launch.sh; bash -c /opt/train/tokenizer'
expect fault loader/interpreter-missing musl-image - -
readme "A program whose ELF interpreter is musl's, on a glibc image: the file is there, and the shell says it is not (dash and bash)."

incident library-file-too-short
extension site/fused_ops.cpython-311-x86_64-linux-gnu.so
truncate -s 40 site/fused_ops.cpython-311-x86_64-linux-gnu.so
train_py
capture job.log env PYTHONPATH=/opt/train/site python train.py
expect fault loader/library-truncated wrong-elf-class-or-arch - -
readme "The extension module was cut off while it was copied (40 bytes are left)."

incident library-is-lfs-pointer
mkdir site; printf 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345678\n' > site/fused_ops.cpython-311-x86_64-linux-gnu.so
train_py
capture job.log env PYTHONPATH=/opt/train/site python train.py
expect fault loader/library-not-elf wrong-elf-class-or-arch - -
readme "The image was built from a checkout without Git LFS: the extension is the pointer text instead of the library."

incident static-tls-block
mkdir site
cat > e.c <<'C'
static __thread char scratch[1 << 20] __attribute__((tls_model("initial-exec")));
void *PyInit_fused_ops(void) { scratch[0] = 1; return scratch; }
C
gcc -shared -fPIC -O0 -w -o site/fused_ops.cpython-311-x86_64-linux-gnu.so e.c
train_py
capture job.log env PYTHONPATH=/opt/train/site python train.py
expect fault loader/static-tls-exhausted static-tls-block - host/fork-out-of-memory,host/oom-killed
readme "An extension wants 1 MiB of static TLS and is loaded late. The words 'cannot allocate memory' have nothing to do with a shortage of memory."

incident ctypes-library-missing
cat > train.py <<'PY'
import ctypes

lib = ctypes.CDLL("libfabric.so.1.99")
PY
capture job.log python train.py
expect fault loader/shared-library-missing shared-library-not-found - -
readme "A library is opened by name through ctypes and is not there (OSError instead of ImportError)."

# ---- benign -----------------------------------------------------------------------------------------------------
healthy_py() {
    cat > train.py <<'PY'
import torch

torch.manual_seed(0)
model = torch.nn.Linear(16, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(64, 16)
y = x.sum(1, keepdim=True)
for step in range(5):
    loss = torch.nn.functional.mse_loss(model(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(f"step {step} loss {loss.item():.4f}", flush=True)
print("training finished")
PY
}
incident healthy-preload-ignored
healthy_py
capture job.log env LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4 python train.py
expect clean - ld-preload-ignored loader/preload-ignored loader/shared-library-missing
readme "LD_PRELOAD names a library that the image has not. The loader says so and the run ends well."

incident healthy-toolchain-check
capture check.log sh -c '/lib/x86_64-linux-gnu/libc.so.6; ldd --version'
expect clean - check-c-toolchain-version - loader/glibc-too-old,efa
readme "What the check of the C library's version prints on a good image (2.36)."

incident healthy-no-version-information
mkdir -p lib stubs bin
stub stubs/libprof.so.1 libprof.so.1 PROF_1.0 prof_start
echo 'int putchar(int); void prof_start(void) { putchar(10); }' > r.c; gcc -shared -fPIC -Wl,-soname,libprof.so.1 -o lib/libprof.so.1 r.c
echo 'extern void prof_start(void); int puts(const char *); int main(void) { prof_start(); puts("profile written, 128 steps"); return 0; }' > t.c
gcc -w -o bin/profile_run t.c stubs/libprof.so.1 -Wl,-rpath,/opt/train/lib
capture job.log ./bin/profile_run
expect clean - no-version-information-benign - loader/glibc-too-old
readme "A library without version section shadows the one the program was linked with; harmless."
