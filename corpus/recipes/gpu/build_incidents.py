"""Turns the logs of run_all.sh into incident folders of the corpus, as incidents.txt describes them.

Needs: Python. Run: python build_incidents.py CORPUS LOGS [LOGS...]
A later folder of logs replaces the cases of an earlier one; a folder made by another recipe is never touched. Each incident gets its logs, README.md and expected.yaml;
consequences that every launcher or process group prints are added to `also` by what the logs hold.
"""

import pathlib
import re
import shutil
import sys

CONSEQUENCES = [
    (r"ChildFailedError", "torch/child-failed"),
    (r"failed \(exitcode: ", "torch/worker-exit-code"),
    (r"closing signal SIG", "torch/workers-stopped"),
    (r"SignalException: Process", "torch/stopped-by-signal"),
    (r"Watchdog caught collective operation timeout", "torch/collective-timeout"),
    (r"taking the entire process down", "torch/watchdog-ended-process"),
    (r"(?:due to a collective timeout from  rank|dump signal from another rank)", "torch/watchdog-timeout-elsewhere"),
    (r"communicator was aborted", "torch/communicator-aborted"),
    (r"NCCL error in: |ncclRemoteError", "torch/nccl-error"),
    (r"raised the following async exception|watchdog thread terminated with exception", "torch/nccl-work-failed"),
    (r'"should dump" flag', "torch/store-gone-at-dump-check"),
    (r"(?:recvValue|recvVector|sendBytes) failed|RendezvousConnectionError", "torch/store-connection-closed"),
    (r"socketProgress: Connection closed by remote peer", "nccl/connection-closed-by-peer"),
    (r"destroy_process_group\(\) was not called", "torch/process-group-not-destroyed"),
    (r"Guessing device ID", "torch/device-of-rank-unknown"),
]
VERSIONS = "torch 2.11.0+cu130, NCCL 2.28.9, CUDA 13.0, driver 580.159.04, Python 3.12.3, Ubuntu 24.04; two NVIDIA H200 of one host"
PACKAGES = {
    "hf_trainer.py": ", transformers 5.17.0, accelerate 1.15.0",
    "accelerate_job.py": ", accelerate 1.15.0",
    "lightning_job.py": ", lightning 2.6.6",
}
here = pathlib.Path(__file__).parent


def read_cases():
    cases = {}
    for line in (here / "cases.sh").read_text().splitlines():
        found = re.match(r"[xc] (\S+) +(\S+) +\d+ '(.*)'$", line)
        if found:
            cases[found[1]] = found[2], found[3]
    return cases


def read_incidents():
    for line in (here / "incidents.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, what, entries, first, also, never, verdict = (part.strip() for part in line.split("|"))
            lists = [[item.strip() for item in part.split(",") if item.strip()] for part in (entries, also, never)]
            yield name, what, first, verdict, *lists


def readable(command):
    for short, long in (
        ("$T1", "torchrun --standalone --nproc-per-node 1"),
        ("$T2", "torchrun --standalone --nproc-per-node 2"),
        ("$T4", "torchrun --standalone --nproc-per-node 4"),
    ):
        command = command.replace(short, long)
    return command


def build(corpus, sources, cases):
    missing = []
    for name, what, first, verdict, entries, also, never in read_incidents():
        source = next((folder / name for folder in reversed(sources) if (folder / name).is_dir()), None)
        if source is None:
            missing.append(name)
            continue
        target = corpus / name
        if target.exists() and "recipes/gpu/" not in (target / "README.md").read_text():
            sys.exit(f"{target} was made by another recipe")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
        text = "\n".join(p.read_bytes().decode("utf-8", "replace") for p in sorted(target.rglob("*")) if p.is_file())
        for pattern, rule in CONSEQUENCES:
            if re.search(pattern, text) and rule not in also and rule != first:
                also.append(rule)
        never = [rule for rule in never if rule not in also]
        healthy = verdict in ("healthy", "low")
        told = "clean" if healthy else verdict
        show = lambda items: "[" + ", ".join(items) + "]"
        (target / "expected.yaml").write_text(
            f"made: real run\nentry: {show(entries)}\nfirst: {first or 'null'}\nalso: {show(also)}\nnever: {show(never)}\n"
            f"healthy: {'true' if healthy else 'false'}\nverdict: {told}\n"
        )
        script, command = cases[name]
        recipe = "`corpus/recipes/gpu/run_all.sh`" + ("" if script == "-" else f" with `{script}`")
        (target / "README.md").write_text(
            f"# {name}\n\n{what}\n\nmade: real run\n\n- Recipe: {recipe}\n- Command: `{readable(command)}`\n"
            f"- Programs: {VERSIONS}{PACKAGES.get(script, '')}\n"
            "- Replaced, by `corpus/recipes/gpu/scrub.py`: host name, addresses, kernel release, serial numbers and UUIDs,\n"
            "  and the folders of the script and of the Python environment. Everything else is as printed.\n"
            "- Licence: Apache-2.0, made for this project\n"
        )
    return missing


if __name__ == "__main__":
    left = build(pathlib.Path(sys.argv[1]), [pathlib.Path(p) for p in sys.argv[2:]], read_cases())
    print("without logs:", *left)
