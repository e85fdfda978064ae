#!/bin/bash
# The usual faults as a shell, coreutils, glibc and Python say them in Chinese, German and Japanese.
# Needs: root; Debian packages locales libc-l10n coreutils bash (with their translations under /usr/share/locale), gcc;
#        the venv of lib.sh (torch). Locales are compiled into a temporary folder, the machine's own are left alone.
# Run:   bash corpus/recipes/locale_runs.sh
. "$(dirname "$0")/lib.sh"
need_venv
PROGRAMS="Debian 12 (glibc 2.36, bash 5.2, coreutils 9.1), CPython 3.11.7, torch 2.13.0+cpu"
mkdir -p /opt/locales
for l in zh_CN de_DE ja_JP; do localedef -i $l -f UTF-8 /opt/locales/$l.UTF-8; done
export LOCPATH=/opt/locales
LC_ALL=zh_CN.UTF-8 ls /nonexistent 2>&1 | grep -q '没有' || { echo "translations are missing (libc-l10n)" >&2; exit 1; }
# speak LOCALE: $IN_LANG before a command gives it that locale
speak() { IN_LANG="env LC_ALL=$1.UTF-8 LANG=$1.UTF-8 LANGUAGE="; }

# After its init has ended a PID namespace refuses every fork with ENOMEM; see host.sh.
cat > /opt/app/lose_init.py <<'PY'
import ctypes
import os


def now():
    ctypes.CDLL(None).unshare(0x20000000)
    if os.fork() == 0:
        os._exit(0)
    os.wait()
PY
fork_py() {
    cat > train.py <<'PY'
import locale

import torch
from torch.utils.data import DataLoader, TensorDataset

import lose_init

locale.setlocale(locale.LC_ALL, "")
data = TensorDataset(torch.randn(64, 4))
loader = DataLoader(data, batch_size=8, num_workers=2)
lose_init.now()
for batch in loader:
    print(len(batch))
PY
}
for l in zh_CN de_DE ja_JP; do
short=${l%_*}; speak $l
incident localised-$short-fork-enomem; fork_py
capture job.log $IN_LANG env PYTHONPATH=/opt/app python train.py
expect fault host/fork-out-of-memory host-fork-enomem-generic - efa,host/oom-killed
readme "A data loader cannot fork its workers (ENOMEM); Python took the user's locale ($l), so the errno text is in that language. The kernel refuses since the init of the process's PID namespace has ended."

incident localised-$short-shell
cat > launch.sh <<'SH'
echo "node $(hostname)"
cp weights.bin scratch/
./train_worker --rank 0
echo "exit code $?"
sh -c 'kill -9 $$'
echo "exit code $?"
cat /data/hostfile
python3x train.py
cd ro && mkdir cache
SH
echo 'int main(void) { return *(volatile int *)8; }' > t.c; gcc -o train_worker t.c
head -c 400000 /dev/zero > weights.bin; mkdir scratch ro; mount -t tmpfs -o size=64k tmpfs scratch; mount -t tmpfs -o ro tmpfs ro
capture job.log $IN_LANG bash launch.sh
umount scratch ro
expect fault storage/no-space-left host-no-space-left,host-core-dump-segfault host/segmentation-fault,python/file-not-found,storage/read-only,host/process-killed -
readme "A shell script in the locale $l: a full scratch disk (first), a segmentation fault, a kill, a missing file, a missing command, a read-only folder."

incident localised-$short-bash-fork
printf 'mkdir -p out\npython3 train.py\n' > launch.sh
capture stderr.log $IN_LANG unshare --pid bash launch.sh
expect fault host/fork-out-of-memory host-fork-enomem-generic - efa
readme "The shell of an entry point cannot fork (ENOMEM), in the locale $l."

incident localised-$short-python-network
cat > client.py <<'PY'
import ctypes
import locale
import socket
import traceback

locale.setlocale(locale.LC_ALL, "")
for call in (
    lambda: socket.getaddrinfo("train-job-master-0.invalid", 29500),
    lambda: socket.create_connection(("127.0.0.18", 8765), 2),
    lambda: ctypes.CDLL("libcudart.so.12"),
):
    try:
        call()
    except OSError:
        traceback.print_exc()
PY
capture job.log $IN_LANG python client.py
expect fault network/name-not-resolved host-dns-failure,host-connection-errors,shared-library-not-found network/connection-failed,loader/shared-library-missing -
readme "Python with the locale $l: a name without address, a refused connection, a missing library."
done

incident localised-zh-glibc-too-old
printf 'void __isoc23_strtol(void) {}\n' > s.c; echo 'GLIBC_2.38 { global: __isoc23_strtol; };' > s.map
mkdir stub site; gcc -shared -nostdlib -fPIC -w -Wl,-soname,libc.so.6 -Wl,--version-script=s.map -o stub/libc.so.6 s.c
printf 'extern void __isoc23_strtol(void);\nvoid *PyInit_fused_ops(void) { __isoc23_strtol(); return 0; }\n' > e.c
gcc -shared -fPIC -w -o site/fused_ops.cpython-311-x86_64-linux-gnu.so e.c stub/libc.so.6
printf 'import locale\nlocale.setlocale(locale.LC_ALL, "")\nimport fused_ops\n' > train.py
speak zh_CN; capture job.log $IN_LANG env PYTHONPATH=site python train.py
expect fault loader/glibc-too-old glibc-version-not-found-generic - efa
readme "The loader's version text stays English in the locale zh_CN."

incident localised-de-mpi-missing-executable
speak de_DE; capture stderr.log $IN_LANG mpirun --allow-run-as-root -np 2 /opt/train/bin/train_gpt
expect fault mpi/executable-not-found mpi-executable-not-found - -
readme "Open MPI's help texts stay English in the locale de_DE."
