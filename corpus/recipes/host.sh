#!/bin/bash
# Faults of the host: memory, processes, limits, disks, names, network, TLS, ssh, pip, libfabric; and benign look-alikes.
# Needs: root; the venv of lib.sh (torch numpy requests tqdm); Debian packages openssh-server openssh-client openssl curl
#        libfabric-bin gcc e2fsprogs bindfs; cgroup v1 with the memory and pids controllers. Talks to loopback only.
# Run:   bash corpus/recipes/host.sh [NAME-PATTERN]
. "$(dirname "$0")/lib.sh"
need_venv
PROGRAMS="Debian 12 (bash 5.2, coreutils 9.1, curl 7.88, OpenSSH 9.2, libfabric 1.17.0), CPython 3.11.7, torch 2.13.0+cpu"
ONLY=${1:-}
want() { [[ -z "$ONLY" || "$1" == *$ONLY* ]] && incident "$1"; }

# ---- fork and memory -----------------------------------------------------------------------------------------------
# `unshare --pid CMD` without --fork: CMD's first child is init of the new PID namespace; once it has ended the kernel
# answers every further fork with ENOMEM. lose_init.now() does the same to a running Python program, whose threads exist by then.
cat > /opt/app/lose_init.py <<'PY'
import ctypes
import os


def now():
    ctypes.CDLL(None).unshare(0x20000000)
    if os.fork() == 0:
        os._exit(0)
    os.wait()
PY
loader_py() {
    cat > train.py <<'PY'
import platform
import torch
from torch.utils.data import DataLoader, TensorDataset

print(f"{platform.node()}, torch {torch.__version__}", flush=True)
data = TensorDataset(torch.randn(512, 32), torch.randn(512, 1))
model = torch.nn.Linear(32, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
# fault
for epoch in range(2):
    for x, y in DataLoader(data, batch_size=64, num_workers=4):
        loss = (model(x) - y).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
PY
}
if want fork-enomem-dataloader; then
loader_py; sed -i 's/^# fault/__import__("lose_init").now()/' train.py
capture job.log env PYTHONPATH=/opt/app python train.py
expect fault host/fork-out-of-memory host-fork-enomem-generic - efa,host/oom-killed
readme "fork() fails with ENOMEM when the data loader starts its workers (real traceback through popen_fork.py). The kernel refuses since the init of the process's PID namespace has ended; nothing of EFA is about."
fi

if want fork-enomem-dataloader-two-ranks; then
loader_py; sed -i 's/^# fault/__import__("lose_init").now()/; s/^data = /torch.distributed.init_process_group("gloo")\ndata = /; s/^model = .*/model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(32, 1))/' train.py
capture job.log env PYTHONPATH=/opt/app torchrun --nproc-per-node 2 train.py
expect fault host/fork-out-of-memory host-fork-enomem-generic,torchrun-child-failed torch/child-failed,torch/gloo-peer-closed efa,host/oom-killed,nccl
readme "As fork-enomem-dataloader in both ranks of a torchrun job."
fi

if want fork-enomem-os-fork; then
cat > launch.py <<'PY'
import os

if os.fork() == 0:
    os._exit(0)
os.wait()
print("starting evaluation process", flush=True)
pid = os.fork()
PY
capture job.log unshare --pid python launch.py
expect fault host/fork-out-of-memory host-fork-enomem-generic - efa
readme "os.fork() fails with ENOMEM."
fi

if want fork-enomem-multiprocessing; then
cat > launch.py <<'PY'
import multiprocessing as mp


def work(n):
    print("worker", n, flush=True)


if __name__ == "__main__":
    ctx = mp.get_context("fork")
    for n in range(3):
        p = ctx.Process(target=work, args=(n,))
        p.start()
        p.join()
PY
capture job.log unshare --pid python launch.py
expect fault host/fork-out-of-memory host-fork-enomem-generic - efa
readme "multiprocessing.Process.start() fails with ENOMEM at the second process."
fi

if want fork-enomem-subprocess; then
cat > launch.py <<'PY'
import subprocess

for host in ("gpu-node-17", "gpu-node-18"):
    out = subprocess.run(["getent", "hosts", host], capture_output=True, text=True, check=True).stdout
    print(host, "->", out.split()[0], flush=True)
PY
capture job.log unshare --pid python launch.py
expect fault host/fork-out-of-memory host-fork-enomem-generic - efa
readme "subprocess.run() fails with ENOMEM at the second program."
fi

if want fork-enomem-bash; then
cat > launch.sh <<'SH'
echo "entrypoint on $(hostname)"
mkdir -p /tmp/run
python3 train.py
SH
capture job.log unshare --pid bash launch.sh
expect fault host/fork-out-of-memory host-fork-enomem-generic - efa
readme "The shell of an entry point cannot fork."
fi

if want pid-limit-bash; then
cat > launch.sh <<'SH'
for i in $(seq 1 30); do sleep 4 & done
python3 -c "print('training')"
wait
SH
G=/sys/fs/cgroup/pids/train-job; mkdir -p $G; echo 12 > $G/pids.max
LIMIT=60 capture job.log bash -c "echo \$\$ > $G/cgroup.procs; exec bash launch.sh"
sleep 5; rmdir $G 2>/dev/null
expect fault host/process-limit host-pid-thread-limit - host/fork-out-of-memory,efa
readme "The pids cgroup allows 12 processes; the entry point's shell retries and gives up."
fi

if want pid-limit-python; then
loader_py
sed -i 's/num_workers=4/num_workers=24/' train.py
G=/sys/fs/cgroup/pids/train-job; mkdir -p $G; echo 20 > $G/pids.max; dmesg -C
capture job.log bash -c "echo \$\$ > $G/cgroup.procs; exec python train.py"
sleep 1; dmesg > "$D/dmesg.log"; clean "$D/dmesg.log"; rmdir $G 2>/dev/null
expect fault host/process-limit host-pid-thread-limit - host/fork-out-of-memory,efa
readme "The pids cgroup allows 20 processes and threads; the data loader wants 24 workers."
fi

if want thread-limit-python; then
cat > train.py <<'PY'
import threading
import time

threads = []
for n in range(200):
    t = threading.Thread(target=time.sleep, args=(5,), daemon=True)
    t.start()
    threads.append(t)
    if n % 10 == 0:
        print("prefetch thread", n, flush=True)
PY
G=/sys/fs/cgroup/pids/train-job; mkdir -p $G; echo 40 > $G/pids.max
capture job.log bash -c "echo \$\$ > $G/cgroup.procs; exec python train.py"
sleep 1; rmdir $G 2>/dev/null
expect fault host/process-limit host-pid-thread-limit - host/fork-out-of-memory
readme "No more threads: RuntimeError: can't start new thread (pids cgroup of 40)."
fi

if want user-process-limit; then
cat > launch.sh <<'SH'
ulimit -u 6
for i in 1 2 3 4 5 6 7 8; do sleep 3 & done
python3 -c "import multiprocessing as mp; p = mp.Process(target=print); p.start()"
SH
chmod 755 /opt/train
LIMIT=40 capture job.log runuser -u nobody -- bash launch.sh
expect fault host/process-limit host-pid-thread-limit - host/fork-out-of-memory
readme "ulimit -u of six for an ordinary user."
fi

if want openblas-thread-limit; then
python -c 'import numpy' 2>/dev/null
G=/sys/fs/cgroup/pids/train-job; mkdir -p $G; echo 1 > $G/pids.max
capture job.log bash -c "echo \$\$ > $G/cgroup.procs; OPENBLAS_NUM_THREADS=16 exec python -c 'import numpy as np; a = np.ones((600, 600)); print((a @ a).sum())'"
sleep 1; rmdir $G 2>/dev/null
expect fault host/process-limit host-pid-thread-limit - host/fork-out-of-memory
readme "NumPy's OpenBLAS cannot make its threads (pids cgroup of 1)."
fi

if want memory-limit-python; then
cat > preprocess.py <<'PY'
rows = []
for shard in range(1000):
    rows.append(b"x" * (64 << 20))
    print(f"shard {shard} read", flush=True)
PY
capture job.log bash -c 'ulimit -v 700000; exec python preprocess.py'
expect fault host/cpu-allocation-failed - - host/oom-killed,efa
readme "ulimit -v of 700 MB: MemoryError with a bare traceback."
fi

if want numpy-array-memory; then
cat > preprocess.py <<'PY'
import numpy as np

tokens = np.zeros((400_000, 1_000_000), dtype=np.uint16)
tokens[:] = 1
PY
capture job.log bash -c 'ulimit -v 8000000; exec python preprocess.py'
expect fault host/cpu-allocation-failed - - host/oom-killed
readme "NumPy is asked for more memory than there is."
fi

if want cgroup-oom-kill; then
cat > preprocess.sh <<'SH'
echo "tokenising on $(hostname)"
python3 -c "
rows = []
for shard in range(64):
    rows.append(bytearray(16 << 20)); print('shard', shard, 'read', flush=True)"
rc=$?
echo "tokeniser ended with exit code $rc"
exit $rc
SH
G=/sys/fs/cgroup/memory/preprocess; mkdir -p $G; echo 200M > $G/memory.limit_in_bytes; dmesg -C
capture job.log bash -c "echo \$\$ > $G/cgroup.procs; exec bash preprocess.sh"
dmesg > "$D/dmesg.log"; clean "$D/dmesg.log"; sleep 1; rmdir $G
expect fault host/oom-killed host-oom-killer - efa
readme "A preprocessing job exceeds its memory cgroup of 200 MB: the shell prints Killed, the kernel's report is in dmesg.log."
fi

if want memlock-limit; then
cat > reg.c <<'C'
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
int main(void) {
    size_t n = 64 << 20;
    void *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mlock(p, n)) { fprintf(stderr, "cannot pin %zu bytes for registration: %s\n", n, strerror(errno)); return 1; }
    return 0;
}
C
gcc -o reg reg.c; chmod 755 /opt/train
capture job.log runuser -u nobody -- bash -c 'ulimit -l 64; ulimit -a; ./reg'
expect fault host/locked-memory-limit-low host-ulimit-core-memlock-check,efa-register-memory-memlock host/fork-out-of-memory host/oom-killed
readme "ulimit -a of an ordinary user with 64 kB of lockable memory, and a program that pins 64 MB."
fi

if want core-dump-shell-segfault; then
echo 'int main(void) { return *(volatile int *)8; }' > t.c; gcc -o shard_index t.c; dmesg -C
capture job.log bash -c './shard_index --in /data/shards; echo "exit code $?"; python -c "import os; os.abort()"; echo "exit code $?"'
dmesg > "$D/dmesg.log"; clean "$D/dmesg.log"
expect fault host/segmentation-fault host-core-dump-segfault - -
readme "A program crashes at address 8: the shell's line, and the kernel's line in dmesg.log where it prints one."
fi

if want heap-corruption; then
printf '#include <stdlib.h>\n#include <string.h>\nint main(void) { char *a = malloc(1400), *b = malloc(1400); memset(a, 65, 1500); free(b); free(a); b = malloc(4000); free(b); return 0; }\n' > t.c
gcc -O0 -w -o merge_index t.c
printf '#include <stdlib.h>\nint main(void) { char *a = malloc(2000); free(a); free(a); return 0; }\n' > u.c; gcc -O0 -w -o dedup u.c
capture job.log bash -c './merge_index; echo "exit code $?"; ./dedup; echo "exit code $?"'
expect fault host/heap-corrupted host-core-dump-segfault host/segmentation-fault -
readme "glibc finds its heap damaged in two programs and aborts them."
fi

# ---- files and disks -----------------------------------------------------------------------------------------------
if want disk-full-shell; then
mkdir scratch; mount -t tmpfs -o size=1m tmpfs scratch; head -c 3000000 /dev/zero > shard.bin; tar cf data.tar shard.bin
capture job.log bash -c 'cp shard.bin scratch/; tar xf data.tar -C scratch; dd if=/dev/zero of=scratch/x bs=64k count=64; echo "{}" > scratch/done.json; df -h scratch'
umount scratch
expect fault storage/no-space-left host-no-space-left - -
readme "Staging data to a full scratch file system (tmpfs of 1 MB): cp, tar, dd and the shell."
fi

if want disk-full-python-logs; then
mkdir logs; mount -t tmpfs -o size=64k tmpfs logs
cat > train.py <<'PY'
import logging

logging.basicConfig(filename="logs/train.log", level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
for step in range(400):
    logging.info("step %d %s", step, "x" * 400)
with open("logs/metrics.json", "w") as f:
    f.write("{}" * 4000)
    f.flush()
PY
capture job.log python train.py; umount logs
head -c 20000 "$D/job.log" > t && tail -n 12 "$D/job.log" >> t && cp t "$D/job.log"
expect fault storage/no-space-left host-no-space-left - -
readme "The file system of the logs is full: Python's logging prints its own errors without end, then the job fails. The middle of the log was cut out."
fi

if want inodes-exhausted; then
mkdir cache; mount -t tmpfs -o size=8m,nr_inodes=20 tmpfs cache
capture job.log bash -c 'python - <<PY
import os
for n in range(100):
    os.makedirs(f"cache/triton/{n}", exist_ok=True)
PY
df -h cache; df -i cache'
umount cache
expect fault storage/no-space-left host-no-space-left - -
readme "No free inode though there is space (df -h and df -i at the end)."
fi

if want too-many-open-files; then
cat > index.py <<'PY'
import os
import numpy as np

os.makedirs("shards", exist_ok=True)
maps = []
for n in range(200):
    path = f"shards/tokens_{n:05d}.bin"
    np.zeros(16, dtype=np.uint16).tofile(path)
    maps.append(open(path, "rb"))
PY
capture job.log bash -c 'ulimit -n 64; exec python index.py'
expect fault host/too-many-open-files host-too-many-open-files - -
readme "A limit of 64 open files and an index over 200 shards."
fi

if want permission-denied; then
mkdir -m 755 ckpt out
cat > train.py <<'PY'
import json
import os

os.makedirs("out/run7", exist_ok=True)
json.dump({}, open("out/run7/config.json", "w"))
PY
chmod 755 /opt/train
capture job.log runuser -u nobody -- bash -c 'id -un; /usr/bin/python3 train.py; ./train.py; touch ckpt/lock'
expect fault storage/permission-denied host-permission-denied - -
readme "An ordinary user writes where only root may, and starts a script that is not executable."
fi

if want read-only-root; then
mkdir ro; mount -t tmpfs -o ro tmpfs ro
capture job.log bash -c 'mkdir -p ro/.cache/huggingface; python -c "import os; os.makedirs(\"ro/.triton/cache\")"; touch ro/x'
umount ro
expect fault storage/read-only host-read-only-fs - -
readme "Caches are to be written on a read-only file system."
fi

if want io-error-backing-file; then
truncate -s 20M img; mkfs.ext4 -q img; mkdir data; mount -o loop img data 2>/dev/null
if mountpoint -q data; then
head -c 4000000 /dev/urandom > data/tokens.bin; sync; dmesg -C; echo 1 > /proc/sys/vm/drop_caches; truncate -s 1M img
capture job.log bash -c 'cat data/tokens.bin | md5sum; python -c "print(len(open(\"data/tokens.bin\", \"rb\").read()))"'
dmesg > "$D/dmesg.log"; clean "$D/dmesg.log"; umount data
fi
expect fault storage/io-error host-io-error - -
readme "The device under the data set loses its end (a loop device whose file was cut): reads give EIO, the kernel reports I/O errors (dmesg.log)."
grep -q 'Input/output' "$D/job.log" 2>/dev/null || { echo "   (no EIO here)"; rm -rf "$D"; }
fi

if want data-folder-missing; then
capture job.log bash -c 'cd /data/datasets/pile && ls; python -c "import json; json.load(open(\"/data/configs/run7.json\"))"; bash run_train.sh; cat /data/hostfile'
expect fault python/file-not-found py-file-not-found-script storage/file-not-found -
readme "A data folder that is not mounted: shell and Python say that files are missing."
fi

# ---- names and network -------------------------------------------------------------------------------------------
if want dns-failure-many-programs; then
capture job.log bash -c 'getent hosts train-job-worker-1.invalid; curl -sS http://dataset-cache.invalid/shards/0.tar -o x
ssh -o StrictHostKeyChecking=no train-job-worker-1.invalid true
python -c "import socket; socket.getaddrinfo(\"train-job-master-0.invalid\", 29500)"
python -c "import requests; requests.get(\"http://dataset-cache.invalid/v1/index\", timeout=4)"'
expect fault network/name-not-resolved host-dns-failure network/ssh-unreachable -
readme "Names under .invalid: curl, ssh, Python's socket and requests."
fi

if want dns-failure-urllib; then
cat > fetch.py <<'PY'
import urllib.request

urllib.request.urlopen("http://metadata-service.invalid/latest", timeout=4)
PY
capture job.log python fetch.py
expect fault network/name-not-resolved host-dns-failure - -
readme "urllib asks for a name that has no address."
fi

if want connection-refused; then
capture job.log bash -c 'curl -sS http://127.0.0.18:8765/health
python -c "import socket; socket.create_connection((\"gpu-node-18\", 8765), 3)"
python -c "import requests; requests.get(\"http://gpu-node-18:8765/v1/index\", timeout=3)"'
expect fault network/connection-failed host-connection-errors - -
readme "Nothing listens on the port (loopback): curl, socket, requests."
fi

if want port-in-use; then
cat > serve.py <<'PY'
import http.server
import socket

first = socket.create_server(("127.0.0.17", 8766))
http.server.HTTPServer(("127.0.0.17", 8766), http.server.SimpleHTTPRequestHandler)
PY
capture job.log python serve.py
expect fault network/address-in-use host-address-in-use - -
readme "Two servers want the same port."
fi

if want cannot-assign-address; then
cat > serve.py <<'PY'
import socket

s = socket.socket()
s.bind(("192.0.2.10", 29500))
PY
capture job.log python serve.py
expect fault network/cannot-assign-address host-connection-errors - -
readme "A server binds to an address that this host has not (192.0.2.10, for documentation); nothing is sent."
fi

if want connection-reset-and-broken-pipe; then
cat > client.py <<'PY'
import socket
import struct
import threading
import traceback

server = socket.create_server(("127.0.0.17", 8767))


def serve():
    for _ in range(2):
        conn, _ = server.accept()
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        conn.close()


threading.Thread(target=serve, daemon=True).start()
for attempt in (1, 2):
    s = socket.create_connection(("127.0.0.17", 8767))
    try:
        if attempt == 1:
            s.recv(10)
        else:
            for _ in range(50):
                s.sendall(b"gradient" * 10000)
    except OSError:
        traceback.print_exc()
PY
capture job.log python client.py
expect fault network/connection-failed host-connection-errors - -
readme "The peer closes its end hard."
fi

if want tls-self-signed; then
openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 2 -subj /CN=model-hub.invalid -addext subjectAltName=DNS:gpu-node-17 2> /dev/null
cat > https.py <<'PY'
import http.server, ssl
s = http.server.HTTPServer(("127.0.0.17", 8443), http.server.SimpleHTTPRequestHandler)
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); c.load_cert_chain("c.pem", "k.pem")
s.socket = c.wrap_socket(s.socket, server_side=True)
s.serve_forever()
PY
python https.py > /dev/null 2>&1 & HTTPS=$!; sleep 1.5
capture job.log bash -c 'curl -sS https://gpu-node-17:8443/model.safetensors -o m
python -c "import urllib.request; urllib.request.urlopen(\"https://gpu-node-17:8443/model.safetensors\")"
python -c "import requests; requests.get(\"https://gpu-node-17:8443/model.safetensors\", timeout=5)"'
kill $HTTPS
expect fault network/tls-failed host-http-proxy-or-egress - -
readme "An https server with a self-signed certificate on loopback: curl, urllib, requests."
fi

if want proxy-unreachable; then
capture job.log env https_proxy=http://127.0.0.18:3128 http_proxy=http://127.0.0.18:3128 bash -c 'curl -sS https://model-hub.invalid/api -o m
python -c "import requests; requests.get(\"https://model-hub.invalid/api\", timeout=5)"'
expect fault network/http-unreachable host-http-proxy-or-egress network/connection-failed -
readme "The proxy named by the environment does not answer (loopback)."
fi

if want http-errors-download; then
cat > server.py <<'PY'
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(403 if "gated" in self.path else 404)
    def log_message(self, *a):
        pass
http.server.HTTPServer(("127.0.0.17", 8768), H).serve_forever()
PY
python server.py & SRV=$!; sleep 1
capture job.log bash -c 'curl -fsS http://gpu-node-17:8768/gated/model.bin -o m
python -c "import requests; requests.get(\"http://gpu-node-17:8768/missing/model.bin\", timeout=5).raise_for_status()"
python -c "import urllib.request; urllib.request.urlopen(\"http://gpu-node-17:8768/gated/model.bin\")"'
kill $SRV
expect fault network/http-error - hub/access-denied -
readme "Downloads answered with 403 and 404: curl -f, requests, urllib."
fi

if want pip-no-matching-distribution; then
cat > server.py <<'PY'
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)
    def log_message(self, *a):
        pass
http.server.HTTPServer(("127.0.0.17", 8769), H).serve_forever()
PY
python server.py & SRV=$!; sleep 1
capture job.log env PIP_CONFIG_FILE=/dev/null python -m pip install --disable-pip-version-check --index-url http://gpu-node-17:8769/simple --trusted-host gpu-node-17 transformer-engine==9.9
kill $SRV
expect fault python/pip-no-matching-distribution pip-install-failures - -
readme "pip's index (a loopback server) has no such package."
fi

if want pip-index-unreachable; then
LIMIT=60 capture job.log env PIP_CONFIG_FILE=/dev/null python -m pip install --disable-pip-version-check --retries 2 --timeout 2 --index-url http://package-index.invalid/simple --trusted-host package-index.invalid flash-attn
expect fault network/name-not-resolved pip-install-failures,host-dns-failure python/pip-no-matching-distribution -
readme "pip cannot resolve the name of its index: the final 'No matching distribution' is an echo of that."
fi

if want pip-version-conflict; then
mkdir wh; for n in a b; do mkdir -p pk/$n; cat > pk/$n/setup.py <<PY
from setuptools import setup
setup(name="trainlib-$n", version="1.0", py_modules=[], install_requires=["trainlib-core==$([ $n = a ] && echo 1.0 || echo 2.0)"])
PY
done
for v in 1.0 2.0; do mkdir -p pk/c$v; printf 'from setuptools import setup\nsetup(name="trainlib-core", version="%s", py_modules=[])\n' $v > pk/c$v/setup.py; done
for p in pk/*; do (cd $p; python setup.py -q bdist_wheel -d /opt/train/wh > /dev/null 2>&1); done
capture job.log env PIP_CONFIG_FILE=/dev/null python -m pip install --disable-pip-version-check --no-index --find-links wh --target t trainlib-a trainlib-b
expect fault python/pip-dependency-conflict pip-install-failures - -
readme "Two packages want different versions of a third (wheels made on the spot)."
fi

# ---- ssh on loopback ------------------------------------------------------------------------------------------------
if want ssh-problems; then
mkdir -p /run/sshd /opt/app/home/.ssh
ssh-keygen -q -t ed25519 -N '' -f hostkey; ssh-keygen -q -t ed25519 -N '' -f otherkey; ssh-keygen -q -t ed25519 -N '' -f id
chmod 600 hostkey otherkey; cp id.pub id.auth
printf '[gpu-node-18]:2223 %s\n' "$(cut -d' ' -f1,2 otherkey.pub)" > known
/usr/sbin/sshd -D -p 2223 -o ListenAddress=127.0.0.18 -h /opt/train/hostkey -o PidFile=none -o UsePAM=no -o PasswordAuthentication=no -o StrictModes=no -o PermitRootLogin=yes -o AuthorizedKeysFile=/opt/train/id.auth & SSHD=$!; sleep 1
capture ssh-refused.log ssh -o BatchMode=yes -p 2224 gpu-node-18 hostname
capture ssh-host-key.log ssh -o BatchMode=yes -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes -p 2223 gpu-node-18 hostname
capture ssh-host-key-changed.log ssh -o BatchMode=yes -o UserKnownHostsFile=/opt/train/known -o StrictHostKeyChecking=yes -p 2223 gpu-node-18 hostname
capture ssh-no-key.log ssh -o BatchMode=yes -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no -i otherkey -p 2223 gpu-node-18 hostname
chmod 644 id; rm id.pub
capture ssh-key-too-open.log ssh -o BatchMode=yes -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no -i id -p 2223 gpu-node-18 hostname
kill $SSHD
for f in host-key host-key-changed no-key key-too-open refused; do
    mkdir -p "$CORPUS/ssh-$f"; mv "$D/ssh-$f.log" "$CORPUS/ssh-$f/stderr.log"
done
rm -rf "$D"
text() { NAME=ssh-$1; D=$CORPUS/$NAME; CODES=" stderr.log: exit code 255;"; expect fault "$2" mpi-ssh-host-key "$4" -; readme "$3"; }
text host-key network/ssh-refused "The worker's host key is not known and strict checking is on." -
text host-key-changed network/ssh-refused "The worker's host key is another than the one on file (a recreated node)." network/ssh-refused
text no-key network/ssh-refused "The worker does not accept the key; the warning about the added host is harmless." -
text key-too-open network/ssh-refused "The private key is readable by everyone, so ssh ignores it." network/ssh-refused
text refused network/ssh-unreachable "No ssh server on the port." network/connection-failed
fi

if want sshd-no-hostkeys; then
mkdir -p /run/sshd
capture sshd.log bash -c '/usr/sbin/sshd -D -p 2225 -h /opt/train/no_such_key; rmdir /run/sshd; ssh-keygen -q -t ed25519 -N "" -f k; /usr/sbin/sshd -D -p 2225 -h /opt/train/k'
expect fault mpi/sshd-not-started mpi-ssh-host-key - -
readme "A worker image whose sshd has no host key, and one without /run/sshd."
fi

# ---- libfabric ---------------------------------------------------------------------------------------------------
if want fi-info-no-efa; then
capture fi_info.log bash -c 'fi_info -p efa; echo "exit code $?"; fi_info -p efa -t FI_EP_RDM; fi_info -l'
expect fault efa/provider-missing efa-fi-info-no-data - -
readme "fi_info -p efa on a host without an EFA device (-61), and the list of providers."
fi

if want fi-info-no-efa-verbose; then
capture fi_info.log env FI_LOG_LEVEL=info fi_info -p efa
expect fault efa/provider-missing efa-fi-info-no-data - -
readme "The same with libfabric's log at info: the registration of every provider, warnings that mean nothing here among them."
fi

if want healthy-fi-info-tcp; then
capture fi_info.log bash -c 'fi_info --version; fi_info -p tcp -t FI_EP_MSG; fi_info -p tcp'
expect clean - - - efa/provider-missing
readme "fi_info for the tcp provider works."
fi

# ---- healthy and benign --------------------------------------------------------------------------------------------
if want healthy-download-retried; then
cat > server.py <<'PY'
import http.server
count = 0
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global count
        count += 1
        if count <= 2:
            self.send_error(503)
        else:
            self.send_response(200); self.send_header("Content-Length", "5"); self.end_headers(); self.wfile.write(b"ready")
    def log_message(self, *a):
        pass
http.server.HTTPServer(("127.0.0.17", 8770), H).serve_forever()
PY
cat > fetch.py <<'PY'
import logging
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
s = requests.Session()
s.mount("http://", HTTPAdapter(max_retries=Retry(total=5, backoff_factor=0.3, status_forcelist=[503])))
r = s.get("http://gpu-node-17:8770/datasets/pile/shard-0.tar")
logging.info("downloaded shard-0.tar, %d bytes, status %d", len(r.content), r.status_code)
PY
python server.py & SRV=$!; sleep 1
capture job.log python fetch.py
kill $SRV
expect clean - - - network/http-error,network/connection-failed
readme "A server answers 503 twice and then 200; the client retries and succeeds."
fi

if want healthy-connect-retried; then
cat > fetch.py <<'PY'
import logging
import threading
import time
import http.server
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

logging.basicConfig(level=logging.WARNING, format="%(levelname)s:%(name)s:%(message)s")


def late():
    time.sleep(1.5)
    http.server.HTTPServer(("127.0.0.17", 8771), http.server.SimpleHTTPRequestHandler).serve_forever()


threading.Thread(target=late, daemon=True).start()
s = requests.Session()
s.mount("http://", HTTPAdapter(max_retries=Retry(total=8, backoff_factor=0.3)))
print("index:", s.get("http://gpu-node-17:8771/").status_code)
PY
capture job.log python fetch.py
expect clean - - - network/connection-failed
readme "A service starts late: connection refused three times in urllib3's warnings, then success."
fi

if want healthy-tqdm; then
cat > train.py <<'PY'
import time
from tqdm import tqdm, trange

bar = trange(120, desc="Epoch 0", mininterval=0)
for i in bar:
    time.sleep(0.004)
    bar.set_postfix(loss=f"{2 / (i + 1):.4f}", lr="3.0e-04")
    if i == 60:
        tqdm.write("checkpoint saved to /opt/train/ckpt/step-60.pt")
print("done")
PY
capture job.log python train.py
expect clean - - - -
readme "Progress bars of tqdm, with carriage returns instead of line ends."
fi

if want healthy-probe-noise; then
cat > server.py <<'PY'
import http.server
class H(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path in ("/healthz", "/readyz", "/metrics"):
            self.send_response(200); self.end_headers()
        else:
            self.send_error(404, "File not found")
print("serving metrics on :8772", flush=True)
http.server.HTTPServer(("127.0.0.17", 8772), H).serve_forever()
PY
(sleep 1; for i in 1 2 3 4 5 6; do curl -s http://gpu-node-17:8772/healthz http://gpu-node-17:8772/readyz http://gpu-node-17:8772/favicon.ico > /dev/null; done; kill %1 2>/dev/null) &
LIMIT=4 capture server.log python server.py
expect clean - - - network/http-error,kubernetes
readme "An access log full of probes, with 404 for an icon that nobody needs."
fi

if want healthy-benign-error-words; then
cat > train.py <<'PY'
import logging

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
log = logging.getLogger("trainer")
log.info("error_feedback=True, max_errors=0, on_failure=restart, timeout=1800")
log.info("0 errors, 0 warnings in 128 shards")
log.info("abort_on_nan disabled; killed=0 failed=0 skipped=3")
try:
    import apex  # noqa
except ImportError as e:
    log.info("apex is not installed (%s); using torch.optim instead", e)
try:
    open("/opt/train/resume.json")
except FileNotFoundError:
    log.info("no resume file, starting from step 0")
for step in range(5):
    log.info("step %d mean_squared_error %.4f", step, 1 / (step + 1))
log.info("training finished without errors")
PY
capture job.log python train.py
expect clean - - - python/module-not-found,python/file-not-found
readme "A good run full of words that look bad: error, failed, killed, an optional module that is not installed."
fi

# ---- packages that do not fit --------------------------------------------------------------------------------------
if want numpy-abi-mismatch; then
ABI=${ABI:-/var/tmp/corpus-abi}    # pandas 2.0.3 was built for NumPy 1.x
[ -d "$ABI/pandas" ] || PIP_CONFIG_FILE= "$VENV/bin/python" -m pip install -q --no-deps --target "$ABI" pandas==2.0.3 python-dateutil pytz six tzdata > /dev/null 2>&1
cp -r "$ABI" site
printf 'import pandas as pd\n\nframe = pd.read_parquet("/data/index.parquet")\n' > prepare.py
capture job.log env PYTHONPATH=/opt/train/site python prepare.py
expect fault python/numpy-abi-mismatch py-numpy-abi - loader
readme "pandas 2.0.3, built for NumPy 1.x, is imported with NumPy 2.4."
fi

if want numpy-attribute-removed; then
printf 'import numpy as np\n\nmask = np.zeros((4, 4), dtype=np.bool8)\nscale = np.float(0.5)\n' > prepare.py
capture job.log python prepare.py
expect fault python/numpy-abi-mismatch py-numpy-abi python/attribute-error -
readme "A script uses a name that NumPy 2 has not."
fi

if want python-version-too-old; then
printf 'from typing import override, reveal_type\n\ntype Batch = dict[str, int]\nprint(f"{"tokens"}")\n' > model.py
printf 'import tomllib\nimport model\n' > train.py
capture job.log python train.py
expect fault python/syntax-error py-syntax-or-version - -
readme "A module uses the type statement of Python 3.12 and the interpreter is 3.11."
fi

# ---- more of TLS, FUSE and signals -----------------------------------------------------------------------------------
if want tls-certificate-problems; then
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 30 -subj "/CN=Cluster CA" 2> /dev/null
cert() {  # NAME START END SAN: a certificate of that CA
    openssl req -newkey rsa:2048 -nodes -keyout $1.key -out $1.csr -subj /CN=$4 2> /dev/null
    mkdir -p db && : > db/index && printf '%04X\n' $RANDOM > db/serial
    printf '[ca]\ndefault_ca=d\n[d]\ndatabase=db/index\nserial=db/serial\nnew_certs_dir=db\ndefault_md=sha256\npolicy=p\nx509_extensions=e\n[p]\ncommonName=supplied\n[e]\nsubjectAltName=DNS:%s\n' $4 > ca.cnf
    openssl ca -batch -config ca.cnf -cert ca.pem -keyfile ca.key -in $1.csr -out $1.pem -startdate $2 -enddate $3 2> /dev/null
}
cert expired 20240101000000Z 20240601000000Z gpu-node-17; cert future 20400101000000Z 20410101000000Z gpu-node-17; cert name 20240101000000Z 20400101000000Z other-host.invalid
cat > https.py <<'PY'
import http.server, ssl, sys, threading
servers = []
for port, name in ((8450, "expired"), (8451, "future"), (8452, "name")):
    s = http.server.HTTPServer(("127.0.0.17", port), http.server.SimpleHTTPRequestHandler)
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); c.load_cert_chain(f"{name}.pem", f"{name}.key")
    s.socket = c.wrap_socket(s.socket, server_side=True)
    threading.Thread(target=s.serve_forever, daemon=True).start()
threading.Event().wait()
PY
python https.py > /dev/null 2>&1 & HTTPS=$!; sleep 1.5
for p in 8450:expired 8451:not-yet-valid 8452:wrong-host; do
    capture tls-${p#*:}.log env REQUESTS_CA_BUNDLE=/opt/train/ca.pem bash -c "curl -sS --cacert ca.pem https://gpu-node-17:${p%:*}/model -o m
python -c 'import requests; requests.get(\"https://gpu-node-17:${p%:*}/model\", timeout=5)'"
    mkdir -p "$CORPUS/tls-certificate-${p#*:}"; mv "$D/tls-${p#*:}.log" "$CORPUS/tls-certificate-${p#*:}/job.log"
done
kill $HTTPS; rm -rf "$D"
text() { NAME=tls-certificate-$1; D=$CORPUS/$NAME; CODES=" job.log: exit code 1;"; expect fault "$2" host-http-proxy-or-egress,host-clock-skew "$4" -; readme "$3"; }
text expired network/tls-failed "The server's certificate has expired (curl, requests; loopback, a CA made on the spot)." network/tls-failed
text not-yet-valid host/clock-wrong "The server's certificate is valid from 2040 on, as a host sees it whose clock is behind." network/tls-failed
text wrong-host network/tls-failed "The certificate is made out to another name." network/tls-failed
fi

if want fuse-daemon-died; then
mkdir source data; echo '{}' > source/index.json
bindfs -f source data & FUSE=$!; sleep 1.5
cat data/index.json > /dev/null; kill -KILL $FUSE; sleep 0.5
capture job.log bash -c 'ls data; cat data/index.json; python -c "import os; print(os.listdir(\"/opt/train/data\"))"'
umount -l data
expect fault storage/mount-lost host-stale-file-handle - -
readme "The FUSE daemon (bindfs) under the data folder was killed."
fi

if want torchrun-gets-sigint; then
cat > train.py <<'PY'
import time
import torch.distributed as dist

dist.init_process_group("gloo")
for step in range(100):
    dist.barrier()
    print(f"rank {dist.get_rank()} step {step}", flush=True)
    time.sleep(0.5)
PY
capture job.log timeout -s INT 7 torchrun --nproc-per-node 2 train.py
expect fault torch/stopped-by-signal torchrun-signal-exception,py-keyboard-or-systemexit python/keyboard-interrupt nccl
readme "torchrun is interrupted (SIGINT), as by Ctrl-C."
fi

if want healthy-leaked-shared-memory-warning; then
cat > train.py <<'PY'
import os
from multiprocessing import shared_memory

block = shared_memory.SharedMemory(create=True, size=1 << 20)
print("preprocessing finished, 128 shards", flush=True)
os._exit(0)
PY
capture job.log bash -c 'python train.py; sleep 1'
expect clean - benign-warnings-pack - host/oom-killed
readme "A script leaves with os._exit(0); the resource tracker cleans up a leaked block of shared memory and says so, which is harmless here."
fi
