"""Hand-made reports, one per situation a reader can meet. The golden files show how each is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from troubleshoot.model import (
    Confidence,
    Evidence,
    Finding,
    Fix,
    Identity,
    Kind,
    Note,
    PackInfo,
    Report,
    Role,
    Severity,
    SourceInfo,
    Stamp,
    Stats,
    Suspect,
    Undecided,
    Verdict,
    Verify,
)

TIME = datetime(2026, 11, 30, 20, 33, 6, 432_000, tzinfo=UTC)
GLIBC_LINE = (
    "mpirun: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found "
    "(required by /opt/amazon-efa-ofi/openmpi/lib/libopen-rte.so.40)"
)

EVIDENCE = Evidence(
    source="launcher.log",
    line=12,
    offset=1034,
    signature="too_old",
    text=GLIBC_LINE,
    rank=None,
    host="launcher-0",
    time=TIME,
    start=GLIBC_LINE.index("version"),
    end=len(GLIBC_LINE) - 1,
)

FINDING = Finding(
    rule="efa/glibc-too-old",
    kind=Kind.FAULT,
    title="The image's glibc is older than the mounted EFA stack needs (GLIBC_2.34)",
    severity=Severity.HIGH,
    confidence=Confidence.HIGH,
    role=Role.CAUSE,
    evidence=(
        EVIDENCE,
        replace(EVIDENCE, source="worker-3.log", line=8, offset=512, rank=3, host="worker-3", time=None),
    ),
    count=9,
    ranks=(0, 1, 2, 3, 4, 5, 6, 7, 12),
    hosts=("launcher-0", "worker-3"),
    first_seen=Stamp(TIME),
    captures={"needed": "2.34", "library": "/opt/amazon-efa-ofi/openmpi/lib/libopen-rte.so.40"},
    explanation=(
        "The platform mounts Amazon's EFA stack at /opt/amazon-efa-ofi, and it was built against a newer C library "
        "than this image has. Either the image's base is too old, or the image's own mpirun was called with the "
        "mounted libraries in LD_LIBRARY_PATH. Nothing is wrong with the network itself."
    ),
    fixes=(
        Fix(
            title="Rebuild the image on a newer base",
            do="Ubuntu 22.04 or UBI 9 and later have glibc 2.34.",
            verify=Verify("/lib/x86_64-linux-gnu/libc.so.6", "stable release version 2.34 or later"),
        ),
        Fix(
            title="Call the mpirun of the mount and forward its variables",
            run=(
                "/opt/amazon-efa-ofi/openmpi/bin/mpirun -x LD_LIBRARY_PATH -x OPAL_PREFIX -x FI_EFA_USE_DEVICE_RDMA "
                "-np 64 python train.py --config /workspace/configs/llama-3-70b.yaml",
            ),
        ),
        Fix(
            title="Opt the workload out of the automatic EFA mount",
            safe=True,
            variants={
                "runai-cli": 'runai submit-dist mpi --annotation "disable-auto-efa=true" ...',
                "runai-ui": "General, + Annotation: disable-auto-efa = true",
                "yaml": 'metadata:\n  annotations:\n    disable-auto-efa: "true"',
            },
        ),
    ),
    owner="user",
    retry="after-fix",
    fingerprint="8c1d2e3f",
    references=("https://docs.nvidia.com/dgx-cloud/run-ai/latest/index.html",),
    because=("the match stands in two sources",),
)

OTHER = Finding(
    rule="nccl/info-debug-swapped",
    kind=Kind.FAULT,
    title="NCCL_INFO=DEBUG is set, which NCCL does not read",
    severity=Severity.LOW,
    confidence=Confidence.HIGH,
    role=Role.CAUSE,
    evidence=(Evidence("env.txt", 31, 900, "slip", "NCCL_INFO=DEBUG", start=0, end=15),),
    explanation="The variable is called NCCL_DEBUG and takes INFO.",
    fixes=(Fix(title="Set NCCL_DEBUG=INFO instead", run=("export NCCL_DEBUG=INFO",)),),
    fingerprint="11aa22bb",
)

SYMPTOM = Finding(
    rule="mpi/launch-failed",
    kind=Kind.FAULT,
    title="mpirun could not start its daemons",
    severity=Severity.MEDIUM,
    confidence=Confidence.MEDIUM,
    role=Role.SYMPTOM,
    symptom=True,
    explained_by=("efa/glibc-too-old",),
    evidence=(Evidence("launcher.log", 30, 2400, "orted", "ORTE was unable to reliably start one or more daemons."),),
    count=63,
    ranks=tuple(range(63)),
    explanation="The launcher lost the daemons it had started.",
    fingerprint="33cc44dd",
)

CONFIRMATION = Finding(
    rule="efa/in-use",
    kind=Kind.CONFIRMATION,
    title="EFA is in use: 64 of 64 channels over AWS Libfabric, with GDRDMA",
    severity=Severity.LOW,
    confidence=Confidence.HIGH,
    role=Role.CAUSE,
    evidence=(
        Evidence(
            "worker-0.log",
            88,
            9000,
            "channel",
            "worker-0:71:80 [2] NCCL INFO Channel 13/0 : 2[2] -> 10[2] [send] via NET/AWS Libfabric/2/GDRDMA",
            rank=2,
            start=18,
            end=99,
        ),
    ),
    count=64,
    fingerprint="55ee66ff",
)

REPORT = Report(
    verdict=Verdict.FAULT,
    findings=(FINDING, OTHER, SYMPTOM),
    confirmations=(CONFIRMATION,),
    undecided=(
        Undecided(
            rule="efa/not-in-use",
            title="Whether EFA is in use cannot be told",
            why="NCCL printed no channel lines",
            next="set NCCL_DEBUG=INFO and run again",
        ),
    ),
    suspects=(Suspect("worker-3.log", 40, "RuntimeError: something else", 2, "an exception's last line", 3),),
    sources=(
        SourceInfo("launcher.log", 48_210, 1_204, wrapper="kubectl --prefix", first_time=TIME, last_time=TIME),
        SourceInfo("worker-3.log", 1_204_000, 20_433, wrapper="cri", identity=Identity(host="worker-3", rank=3)),
        SourceInfo("env.txt", 2_048, 64, documents=("env",)),
    ),
    notes=(
        Note("binary-skipped", "looks binary, left out", "core.81234"),
        Note("rule-left-out", "rules/x/y.yaml:3:1: unknown key `titel`"),
    ),
    pack=PackInfo("default", "0.1.0", "d1e2f3a4b5c6"),
    stats=Stats(bytes=1_254_258, lines=21_701, seconds=0.041, rules=312),
    platform="runai-cli",
)

UNKNOWN = replace(
    REPORT,
    verdict=Verdict.UNKNOWN_FAULT,
    findings=(),
    confirmations=(),
    undecided=(),
    notes=(),
    suspects=(
        Suspect("worker-3.log", 40, "RuntimeError: the flux capacitor ran dry", 1, "an exception's last line", 3),
        Suspect(
            "worker-3.log", 44, "E1130 20:33:07 launcher.cc:88] stage <n> failed with code <n>", 17, "an error line"
        ),
        Suspect("launcher.log", 900, "worker exited with code 3", 16, "an exit code that is not zero"),
    ),
    platform=None,
)

GENERIC = replace(
    UNKNOWN,
    findings=(
        replace(
            SYMPTOM,
            rule="torch/child-failed",
            title="torchrun reports that a worker failed",
            role=Role.SYMPTOM,
            explained_by=(),
            generic=True,
            evidence=(Evidence("launcher.log", 950, 40_000, "line", "torch.distributed.elastic.ChildFailedError:"),),
            fixes=(Fix(title="Look at the log of the first failing rank"),),
        ),
    ),
)

CLEAN = replace(REPORT, verdict=Verdict.CLEAN, findings=(), undecided=(), suspects=(), notes=(), platform=None)

EMPTY = Report(
    verdict=Verdict.CLEAN,
    sources=(SourceInfo("stdin", 0, 0),),
    notes=(Note("empty", "holds nothing", "stdin"),),
    pack=REPORT.pack,
    stats=Stats(0, 0, 0.001, 312),
)

# A log that tries to steer whatever shows it: terminal, Markdown, Slack, GitHub.
NASTY_LINE = (
    "\x1b]0;owned\x07\x1b[31mERROR\x1b[0m </script><b>x</b> ```\r\n## not a heading [click](http://evil.example) "
    "<!channel> <@U1> *bold* @everyone %0A::error::x "
    "\u202etxt.exe\u202c \x9b31m \ud800 | a | b | \u4f60\u597d \U0001f600"
)
HOSTILE = replace(
    REPORT,
    findings=(
        replace(
            FINDING,
            title=f"Unknown thing {NASTY_LINE}",
            evidence=(replace(EVIDENCE, source="a\x1b[2J`b`<i>.log", text=NASTY_LINE, start=8, end=18),),
            explanation=f"It says {NASTY_LINE}",
            fixes=(Fix(title=f"Undo {NASTY_LINE}", do=NASTY_LINE, run=(f"echo '{NASTY_LINE}'",)),),
            references=("https://example.com/?a=b&c=<d>",),
            hosts=("h\x1b[0m",),
        ),
        replace(OTHER, title=NASTY_LINE),
        replace(SYMPTOM, title=NASTY_LINE),
    ),
    confirmations=(replace(CONFIRMATION, title=NASTY_LINE),),
    undecided=(Undecided("a/b", NASTY_LINE, NASTY_LINE, NASTY_LINE),),
    suspects=(Suspect("x", 1, NASTY_LINE, 2, NASTY_LINE),),
    sources=(SourceInfo("a\x1b[2Jb.log", 1, 1, wrapper="\x1b[1m"),),
    notes=(Note("note", NASTY_LINE, "\x1b[2J"),),
)

SAMPLES: dict[str, Report] = {
    "fault": REPORT,
    "unknown": UNKNOWN,
    "generic-only": GENERIC,
    "clean": CLEAN,
    "empty": EMPTY,
    "hostile": HOSTILE,
}
