r"""The strong wrappers: prefixes so particular that a line which has one surely was wrapped.

In: the text of one line. Out: what is left of it, and named facts (time, rank, host, pod, stream, level). They need no
look at the rest of the source, so they are tried on every candidate line. `WRAPPERS` stands in order, outermost first:
collectors, viewers, launchers, torch, library headers.

    "2026-11-30T20:15:04.1Z stderr F [1,3]<stderr>:[rank3]: RuntimeError"
     cri                             open-mpi      torch-rank

What names the program in its own output stays (`NCCL WARN`, `slurmstepd: error:`), for rules are written on it.
Source of the grammars: knowledge/log-formats.md, sections 1 to 29.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from troubleshoot import late
from troubleshoot.normalise.jsonrecords import show_record
from troubleshoot.normalise.months import LOCAL_LEADS
from troubleshoot.normalise.timestamps import (
    AMERICAN,
    CLOCK,
    CTIME,
    FULL,
    ISO,
    KIBANA,
    LOCAL,
    LOCAL_CTIME,
    SHORT,
    SYSLOG,
    ZONE,
)
from troubleshoot.shapes import ByShape, blurred

DIGITS = "0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LETTERS = UPPER + UPPER.lower()

# Programs whose name before the colon is part of what they say, also where no syslog stands in front of it.
SPEAKING = frozenset({"slurmstepd", "slurmd", "slurmctld", "srun", "mpirun", "mpiexec", "prterun", "orted"})
HOST = r"[A-Za-z0-9][\w.-]*"
IDENT = r"[A-Za-z_(][\w./@()+-]*"


MESSAGE = "(?P<msg>.*)$"
_GROUP_NAME = late.compile(r"\(\?P<\w+>")


@dataclass(frozen=True, slots=True)
class Wrapper:
    """One kind of prefix. `lead`: the characters a line of it may begin with ("" means any).

    `finish` makes the remaining text where it is not simply the group `msg`. `zone` is what a bare stamp in it means.
    `after` names the wrapper that must just have come off, for prefixes that are too plain to stand alone.
    """

    name: str
    pattern: re.Pattern[str]
    lead: str = ""
    zone: str = "assumed-local"
    finish: Callable[[Mapping[str, str | None]], str] | None = None
    after: str | None = None

    def take(self, text: str) -> tuple[str, dict[str, str | None]] | None:
        """Return the text without this wrapper, and its facts; None when it does not have it."""
        m = self.pattern.match(text)
        if m is None:
            return None
        facts = m.groupdict()
        rest = self.finish(facts) if self.finish else facts["msg"] or ""
        return (rest, facts) if len(rest) < len(text) else None


def wrapper(
    name: str,
    pattern: str,
    lead: str = "",
    zone: str = "assumed-local",
    finish: Callable[[Mapping[str, str | None]], str] | None = None,
    after: str | None = None,
) -> Wrapper:
    """Return the wrapper whose prefix is `pattern`; what follows it is the message."""
    return Wrapper(name, late.compile(pattern + MESSAGE, re.DOTALL), lead, zone, finish, after)


def _keep_speaker(facts: Mapping[str, str | None]) -> str:
    ident, rest = facts.get("ident"), facts["msg"] or ""
    return f"{ident}: {rest}" if ident in SPEAKING else rest


def _unescape(facts: Mapping[str, str | None]) -> str:
    return html.unescape((facts["msg"] or "").rpartition("</std")[0] or facts["msg"] or "")


def _unquote(facts: Mapping[str, str | None]) -> str:
    """Return what stands before the end of a quoted string."""
    m = re.match(r'((?:[^"\\]|\\.)*)"', facts["msg"] or "")
    return re.sub(r"\\(.)", r"\1", m[1].removesuffix("\\n")) if m else facts["msg"] or ""


def _message(facts: Mapping[str, str | None]) -> str:
    """Return the message of a record of JSON."""
    text = facts["msg"] or ""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return text
    shown = show_record(record) if isinstance(record, dict) else None
    return " ".join((*shown.lines, *([shown.rest] if shown.rest else ()))) if shown is not None else text


COLLECTORS: tuple[Wrapper, ...] = (
    wrapper("cri", rf"(?P<ts>{ISO}{ZONE}) (?P<stream>stdout|stderr) [PF](?::\S+)*(?: |$)", DIGITS),
    wrapper("gitlab", rf"(?P<ts>{ISO}Z) [0-9a-f]{{2}}[OE][ +]", DIGITS),
    wrapper(
        "github",
        r"\ufeff?(?:[^\t]{1,200}\t[^\t]{1,200}\t\ufeff?)?(?P<ts>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z)(?: |$)"
        r"(?:(?:##\[|::(?=(?:error|warning|notice|debug|group|endgroup)[ :]))(?P<sev>\w+)(?:\]|(?: [^:]*)?::))?",
    ),
    wrapper(
        "syslog",
        rf"(?:\d{{1,5}} )?<(?P<pri>\d{{1,3}})>1 (?:(?P<ts>{ISO}{ZONE})|-) (?:-|(?P<host>\S+)) (?P<ident>\S+) \S+ \S+ "
        r"(?:-|(?:\[(?:[^\]\\]|\\.)*\])+)(?: \ufeff?|$)",
        "<" + DIGITS,
        finish=_keep_speaker,
    ),
    wrapper(
        "syslog",
        rf"(?:<(?P<pri>\d{{1,3}})>)?(?P<ts>{SYSLOG}|{FULL}) (?P<host>{HOST}) (?P<ident>{IDENT})(?:\[\d+\])?:(?: |$)",
        "<" + UPPER,
        finish=_keep_speaker,
    ),
    wrapper(
        "syslog",
        rf"(?:<(?P<pri>\d{{1,3}})>)?(?P<ts>{ISO}{ZONE}|\d{{10}}\.\d{{6}}) (?P<host>{HOST}) "
        rf"(?:(?P<ident>kernel|{IDENT}(?=\[))(?:\[(?:\d+|-)\])?):(?: |$)",
        "<" + DIGITS,
        finish=_keep_speaker,
    ),
    wrapper(
        "syslog",
        rf"(?P<ts>{LOCAL}) (?P<host>{HOST}) (?P<ident>{IDENT})(?:\[\d+\])?:(?: |$)",
        LOCAL_LEADS,
        finish=_keep_speaker,
    ),
    wrapper("ucx", r"\[(?P<ts>\d{10}\.\d{6})\] \[(?P<host>[\w.-]+):\d+:\d+(?::\d+)?\] +", "["),
    wrapper(
        "dmesg",
        r"(?:[a-z]+ *:(?P<sev>[a-z]+) *: )?(?:\[ *\d+\.\d{6}\]|\[ *\+\d+\.\d{6}\]"
        rf"|\[(?P<ts>{CTIME}|{LOCAL_CTIME}|[A-Z][a-z]{{2}}[ \d]\d \d\d:\d\d)\]) (?!<std)",
        "[" + LETTERS.lower(),
    ),
    wrapper("syslog", rf"(?P<host>{HOST}) (?P<ident>{IDENT})(?:\[\d+\])?: ", finish=_keep_speaker, after="dmesg"),
    wrapper("dmesg", r"\d+,\d+,\d+,[-c][^;]{0,40};", DIGITS),
    wrapper(
        "labels", rf'(?:(?P<ts>{ISO}{ZONE}) )?\{{(?P<labels>(?:\w+="(?:[^"\\]|\\.)*",? ?)+)\}}(?:: | +)', "{" + DIGITS
    ),
    wrapper("loki", rf"\d{{13}}\t(?P<ts>{ISO}{ZONE})\t", DIGITS),
    wrapper("loki", rf"(?P<ts>{ISO}{ZONE}) \{{\}} +", DIGITS),
    wrapper(
        "cloudwatch",
        rf"(?P<ts>{ISO}(?:Z|\+00:00)?) (?P<pod>[\w.-]+)/(?P<host>algo-\d+)-\d+ ",
        DIGITS,
        "assumed-utc",
    ),
    wrapper(
        "cloudwatch",
        rf"(?P<ts>{ISO}(?:Z|\+00:00)?) (?:LifecycleConfig|SagemakerHealthMonitoringAgent)/[\w.-]+/"
        r"(?P<host>i-[0-9a-f]+) ",
        DIGITS,
        "assumed-utc",
    ),
)

VIEWERS: tuple[Wrapper, ...] = (
    wrapper(
        "kubectl-prefix",
        r"\[pod/(?P<pod>[a-z0-9][a-z0-9.-]*)/(?P<container>[a-z0-9][a-z0-9-]*)\](?: |$)",
        "[",
    ),
    wrapper(
        "fluent-bit",  # its standard output; the record's other fields are left out
        r"\[\d+\] [\w.*-]+: \[\[?(?P<ts>\d{10}\.\d+)(?:, \{[^{}]*\}\])?, \{(?:[^{}]*?, )?\"(?:log|message|msg)\"=>\"",
        "[",
        finish=_unquote,
    ),
    wrapper("jenkins", r"\[(?P<ts>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\](?: |$)", "["),
    wrapper("jenkins", rf"<b>(?P<ts>{CLOCK})</b> {{1,2}}", "<"),
    wrapper("kaggle", r"\d+\.\d+s[ \t]+\d+[ \t]", DIGITS),
)

LAUNCHERS: tuple[Wrapper, ...] = (
    wrapper(
        "sagemaker-mpi",
        r"\[\d+,mpirank:(?P<rank>\d+),(?P<host>algo-\d+)\](?:<(?P<stream>stdout|stderr)>)?: ?",
        "[",
    ),
    wrapper(
        "open-mpi",
        rf"(?:\[?(?P<ts>{CTIME})\]?)?(?:\[[^,\]\[]+,(?P<rank>\d+|WILDCARD|INVALID)\]|\[(?P<rankonly>\d+)\])?"
        r"(?:\[(?P<host>[^:\]]+):(?:\d+|unknown)\])?<(?P<stream>stdout|stderr|stddiag)>: ?",
        "[<" + UPPER,
    ),
    wrapper("open-mpi", r"\[\d+,(?P<rank>\d+)\]: ?", "["),  # its <stderr> was eaten as a tag by a web page
    wrapper(
        "open-mpi",
        r"<(?P<stream>stdout|stderr)(?: jobid=\"[^\"]*\")? rank=\"(?P<rank>\d+)\"(?: timestamp=\"(?P<ts>[^\"]*)\")?>",
        "<",
        finish=_unescape,
    ),
    wrapper(
        "ray",
        r"\((?:[^()]*?[^()\s] )?(?:pid=\d+|raylet|autoscaler \+\S+|gcs_server)"
        r"(?:, ip=(?P<host>[0-9A-Fa-f.:]+))?\)(?: |$)",
        "(",
    ),
)

_PADDED = r"(?:DEBUG|INFO|ERROR|FATAL|TRACE|NOTICE)(?=  )|(?:WARNING|CRITICAL)(?= )"
SEVERITY = r"DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE"
TORCH: tuple[Wrapper, ...] = (
    wrapper("torchrun", r"\[default(?P<local_rank>\d+)\]:", "["),
    wrapper("torch-rank", r"\[rank(?P<rank>\d+)\]: ?", "["),
    wrapper(
        "torch-log",  # c10: the fraction is no wall clock's, so it is no part of the stamp
        r"\[(?P<sev>[IWEFV])(?P<ts>\d{3,4} \d\d:\d\d:\d\d)\.\d{6,9} [^\s\]]+:\d+\] ",
        "[",
    ),
    wrapper("torch-log", r"\[?(?P<sev>[IWEFCDV])(?P<ts>\d{4} \d\d:\d\d:\d\d\.\d{6}) +(?:\d+ )?[^\s\]]+:\d+\](?: |$)"),
    wrapper("torch-log", rf"\[(?P<ts>{ISO})\] [A-Za-z_][\w.]*: \[(?P<sev>{SEVERITY})\] ", "["),
)

HEADERS: tuple[Wrapper, ...] = (
    wrapper("nemo", rf"\[NeMo (?P<sev>[IWEDF]) (?P<ts>{ISO}) [^\]]*\] ?", "["),
    wrapper(
        "deepspeed",
        rf"\[(?P<ts>{ISO})\] \[(?P<sev>{SEVERITY})\] (?:\[(?:RANK |Rank )(?P<rank>\d+)\] )?\[[^\]\s]+:\d+:\w+\] ",
        "[",
    ),
    wrapper("ray-core", rf"\[(?P<ts>{ISO}) (?P<sev>[IWEDCF]) \d+ \d+\] (?:\(\w+\) )?(?:[\w./]+:\d+: )?", "["),
    wrapper(
        "nccl",
        rf"(?:\[(?P<ts>{ISO})\] )?(?P<host>[\w.-]+):\d+:\d+ \[\d+\] (?:\S+:\d+(?: \(\w+\))? )?"
        r"(?=NCCL (?P<sev>INFO|WARN|TRACE|ERROR|ABORT) )",
    ),
    wrapper(
        "log4j",
        rf"\[(?P<ts>{ISO}{ZONE}?)\](?:\[[^\]]{{1,80}}\])*?\[(?P<sev>{SEVERITY})\](?:\[[^\]]{{1,80}}\])* ?[-:]? ?",
        "[",
    ),
    wrapper("python-logging", rf"(?P<sev>{SEVERITY}):[A-Za-z_][\w.]*:", UPPER),
    wrapper(
        "python-logging",
        rf"[A-Za-z_][\w.-]*(?: - | +)(?P<sev>{SEVERITY})(?: - | +)",
        LETTERS,
        after="timestamp",
    ),
    wrapper(  # loguru
        "python-logging", rf"\| (?P<sev>{SEVERITY}|SUCCESS) +\| [\w.<>]+:[\w<>]+:\d+ - ", "|", after="timestamp"
    ),
    wrapper(  # the examples of Transformers and Accelerate
        "python-logging", rf"(?P<ts>{AMERICAN}) - (?P<sev>{SEVERITY}) - [A-Za-z_][\w.]* - *", DIGITS
    ),
    wrapper("python-logging", rf"(?P<sev>{SEVERITY}) (?P<ts>{SHORT}) \[[\w./-]+:\d+\] ", UPPER),  # vLLM
    wrapper(  # Fluentd's files
        "fluentd", r"[\w.*-]+(?:: ?|\t)(?=\{\")", LETTERS, finish=_message, after="timestamp"
    ),
    wrapper("timestamp", rf"\[(?P<ts>{ISO}(?: ?{ZONE})?)\](?: |$)", "["),
    wrapper("timestamp", rf"\[(?P<ts>{CLOCK})\] (?:(?P<sev>{_PADDED}) +)?", "["),  # rich, dmlc
    wrapper("rich", rf" {{11}}(?P<sev>{_PADDED}) +", " "),  # in the same second
    wrapper("timestamp", rf"(?P<ts>{KIBANA})[ \t]+", UPPER),
    wrapper(
        "timestamp",
        rf"(?P<ts>(?:[A-Z][a-z]{{2}} )?{ISO}(?: ?(?:{ZONE}|UTC|GMT)(?![\w.]))?)(?:[ \t]+(?:-[ \t]+)?|$)",
    ),
    wrapper("timestamp", rf"\[?(?P<ts>{CTIME})\]?:? ", "[" + UPPER),
)

WRAPPERS: tuple[Wrapper, ...] = COLLECTORS + VIEWERS + LAUNCHERS + TORCH + HEADERS
GROUP_AFTER_LINES = 400  # with one first character: from then on one expression for all its wrappers is worth compiling
ONCE_MORE = frozenset({"cri", "syslog", "timestamp", "torch-log"})  # may stand inside another of their kind


class Group:
    """The wrappers that can stand before a line that begins with a certain character."""

    def __init__(self, wrappers: Iterable[Wrapper]) -> None:
        self.wrappers = tuple(wrappers)
        self._asked = 0
        self._any: re.Pattern[str] | None = None
        self._of_shape = ByShape(self._ask)

    def candidates(self, text: str) -> Sequence[Wrapper]:
        """Return those of the wrappers that may be there, in order. Most lines have few, so what counts is how fast the
        others say no: once it pays, they are asked about each shape of a line once."""
        if self._any is None:
            self._asked += 1
            if self._asked < GROUP_AFTER_LINES:
                return self.wrappers
            prefixes = (blurred(each.pattern).pattern.removesuffix(MESSAGE) for each in self.wrappers)
            self._any = re.compile("|".join(f"(?:{_GROUP_NAME.sub('(?:', each)})" for each in prefixes), re.DOTALL)
        return self._of_shape(text)

    def _ask(self, shape: str) -> Sequence[Wrapper]:
        if self._any is None or self._any.match(shape) is None:
            return ()
        return tuple(each for each in self.wrappers if blurred(each.pattern).match(shape) is not None)


def by_lead(wrappers: Iterable[Wrapper]) -> tuple[Mapping[str, Group], Group]:
    """Return the wrappers by the first character of a line, and those for every other character."""
    each = tuple(wrappers)
    leads = {c for w in each for c in w.lead}
    return {c: Group(w for w in each if not w.lead or c in w.lead) for c in leads}, Group(w for w in each if not w.lead)
