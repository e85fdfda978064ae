"""Replaces what identifies the machine in the logs of run_all.sh by invented names.

Needs: Python, on the machine that made the logs. Run: python scrub.py LOGS WORK_FOLDER
Host name, kernel release, network addresses, GPU serial numbers and UUIDs, the Python environment's folder, the driver's build user, links to package pages and the
work folder are replaced; nothing else is touched.
"""

import os
import pathlib
import platform
import re
import socket
import subprocess
import sys

logs, work = pathlib.Path(sys.argv[1]), sys.argv[2]
host = socket.gethostname()
swaps = [(re.escape(str(logs)) + r"/[a-z0-9-]+", "/workspace/train/logs")]
swaps += [(re.escape(work) + r"/[a-z0-9-]+(?=[/\"'\s:\])]|$)", "/workspace/train")]
swaps += [(re.escape(work), "/workspace")]
if sys.prefix not in ("/usr", "/usr/local"):
    swaps += [(re.escape(sys.prefix), "/opt/venv"), (re.escape(os.path.realpath(sys.prefix)), "/opt/venv")]
swaps += (
    [(r"(?<![\w.-])" + re.escape(socket.getfqdn()) + r"(?![\w-])", "gpu-node-17")]
    if not socket.getfqdn().startswith("localhost")
    else []
)
swaps += [(r"localhost(_\d+_\d+)", r"gpu-node-17\1"), (r"localhost\.localdomain", "gpu-node-17")]
swaps += [(r"(?m)^( *(?:\[\w+\]:)? *host +: )localhost", r"\1gpu-node-17")]
if host == "localhost":
    swaps += [(r"(?m)^(\[[^]]*\] )?localhost(:\d+:\d+ \[)", r"\1gpu-node-17\2")]
else:
    swaps += [(r"(?<![\w.-])" + re.escape(host) + r"(?![\w-])", "gpu-node-17")]
swaps += [(re.escape(platform.release()), "6.8.0-1030-generic"), (re.escape(platform.version()), "#32-Ubuntu SMP")]
addresses = subprocess.run(["hostname", "-I"], capture_output=True, text=True).stdout.split()
for n, address in enumerate(a for a in addresses if not a.startswith("127.")):
    swaps.append(
        (r"(?<![\d.])" + re.escape(address) + r"(?!\d)", "fd00:10::17" if ":" in address else f"10.0.3.{17 + n}")
    )

swaps += [(r"\(\w+bld@\)", "(buildd@builder)"), (r"https://\S+/project/litlogger/", "https://example.org/litlogger/")]

uuids = {}


def uuid(match):
    number = uuids.setdefault(match[0], len(uuids))
    return f"GPU-{number:08x}-5a17-4c2e-9f00-0123456789ab"


for path in sorted(p for p in logs.rglob("*") if p.is_file()):
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    for pattern, new in swaps:
        text = re.sub(pattern, new, text)
    text = re.sub(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", uuid, text)
    text = re.sub(
        r"((?:Serial Number|Board Part Number|GPU Part Number|GPU PDI|Chassis Serial Number)\s*: )(?!N/A)\S+",
        r"\g<1>0000000000000",
        text,
    )
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    if host in path.name:
        path.rename(path.with_name(path.name.replace(host, "gpu-node-17")))
