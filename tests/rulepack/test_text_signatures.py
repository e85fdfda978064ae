from __future__ import annotations

import hypothesis
import pytest
import regex
from hypothesis import strategies as st

from troubleshoot.rulepack.holes import BLANKS, HOLE_TYPES, QUOTES
from troubleshoot.rulepack.signatures import compile_pattern
from troubleshoot.rulepack.text import TextError, localise_regex, regex_from_text


def find(text: str, line: str, lines: int = 1, *, exact_case: bool = False) -> dict[str, str] | None:
    source, holes = regex_from_text(text, lines, exact_case=exact_case)
    match = compile_pattern(source, exact_case).search(line)
    if match is None:
        return None
    assert tuple(match.groupdict()) == holes
    return match.groupdict()


GLIBC = "version 'GLIBC_{needed:version}' not found (required by {library:path})"
GLIBC_LINES = [
    "mpirun: /lib/libc.so.6: version `GLIBC_2.34' not found (required by /opt/x/libopen-rte.so.40)",
    "mpirun: /lib/libc.so.6: version 'GLIBC_2.34' not found (required by /opt/x/libopen-rte.so.40)",
    'version "GLIBC_2.34" not found (required by /opt/x/libopen-rte.so.40)',
    "version ‘GLIBC_2.34’ not found (required by /opt/x/libopen-rte.so.40)",
    "version “GLIBC_2.34” not found (required by /opt/x/libopen-rte.so.40)",
    "version ´GLIBC_2.34´ not found (required by /opt/x/libopen-rte.so.40)",
    "version ′GLIBC_2.34′ not found (required by /opt/x/libopen-rte.so.40)",
    "version «GLIBC_2.34» not found (required by /opt/x/libopen-rte.so.40)",
    "version ‚GLIBC_2.34‘ not found (required by /opt/x/libopen-rte.so.40)",
    "version ``GLIBC_2.34'' not found (required by /opt/x/libopen-rte.so.40)",
    "version &#39;GLIBC_2.34&#39; not found (required by /opt/x/libopen-rte.so.40)",
    "version &#x27;GLIBC_2.34&#x27; not found (required by /opt/x/libopen-rte.so.40)",
    "version &quot;GLIBC_2.34&quot; not found (required by /opt/x/libopen-rte.so.40)",
    "version &lsquo;GLIBC_2.34&rsquo; not found (required by /opt/x/libopen-rte.so.40)",
    "version &apos;GLIBC_2.34&apos; not found (required by /opt/x/libopen-rte.so.40)",
    "version &amp;#39;GLIBC_2.34&amp;#39; not found (required by /opt/x/libopen-rte.so.40)",
    "version \\'GLIBC_2.34\\' not found (required by /opt/x/libopen-rte.so.40)",
    'version \\\\\\"GLIBC_2.34\\\\\\" not found (required by /opt/x/libopen-rte.so.40)',
    "version GLIBC_2.34 not found (required by /opt/x/libopen-rte.so.40)",
    "VERSION `glibc_2.34' Not Found (Required By /opt/x/libopen-rte.so.40)",
    "version\u00a0`GLIBC_2.34'  not\tfound\u2009(required\u200b by /opt/x/libopen-rte.so.40)",
]


@pytest.mark.parametrize("line", GLIBC_LINES)
def test_quotes_case_and_blanks_are_forgiven(line: str) -> None:
    assert find(GLIBC, line) == {"needed": "2.34", "library": "/opt/x/libopen-rte.so.40"}


@pytest.mark.parametrize(
    "line",
    [
        "version `GLIBCXX_3.4.30' not found (required by /opt/x/libfabric.so.1)",
        "version `GLIBC_2.34' found (required by /opt/x/libfabric.so.1)",
        "version '''GLIBC_2.34' not found (required by /opt/x/libfabric.so.1)",  # two quotes in a row at most
        "version `GLIBC_2.34' not\nfound (required by /opt/x/libfabric.so.1)",
    ],
)
def test_what_has_meaning_is_not_forgiven(line: str) -> None:
    assert find(GLIBC, line) is None


@pytest.mark.parametrize(
    ("text", "line", "captures"),
    [
        ("Xid 7", "NVRM: Xid 79", None),
        ("Xid 7", "NVRM: Xid 7, pid=1", {}),
        ("7 devices", "17 devices", None),
        ("7 devices", "found 7 devices", {}),
        ("'7' devices", "17 devices", None),
        ("ranks: {n:int}", "ranks: -12x", {"n": "-12"}),
        ("{n:int} ranks", "ended: 128 ranks", {"n": "128"}),
        ("{_} took {s:float} s", "step 3 took 1.5e-3 s", {"s": "1.5e-3"}),
        ("loss {l:float}", "loss .5", {"l": ".5"}),
        ("version {v:version}", "libfabric version 1.22.0amzn4.0, done", {"v": "1.22.0amzn4.0"}),
        ("version {v:version}", "NCCL version 2.21.5+cuda12.4", {"v": "2.21.5+cuda12.4"}),
        ("version {v:version}", "version v1.12.1-aws.", {"v": "1.12.1-aws"}),
        (
            "open {f:path}: No such file or directory",
            "open /a/b-1.so.2: No such file or directory",
            {"f": "/a/b-1.so.2"},
        ),
        ('File "{f:path}", line', "File &quot;/w/train.py&quot;, line 3", {"f": "/w/train.py"}),
        ("see {f:path}", "see /var/log/x.", {"f": "/var/log/x"}),
        ("node {n:word} failed", "node gpu-node_3.a failed", {"n": "gpu-node_3.a"}),
        ("node {n:word}", "node gpu-3.", {"n": "gpu-3"}),
        ("AT {when:word} DUE", "AT 2026-11-30T20:15:04 DUE", {"when": "2026-11-30T20:15:04"}),
        ("at {when:word}", "at 2026-11-30T20:15:04.123+01:00: no", {"when": "2026-11-30T20:15:04.123+01:00"}),
        ("{h:word}:{p:int}:{t:int} [", "gpu-3:812:901 [0]", {"h": "gpu-3", "p": "812", "t": "901"}),
        ("connect to {h:host}", "connect to fe80::1%eth0 now", {"h": "fe80::1%eth0"}),
        ("connect to {h:host}:{p:int}", "connect to 10.0.3.7:29500 now", {"h": "10.0.3.7", "p": "29500"}),
        ("connect to {h:host}.", "connect to worker-0.train.svc.", {"h": "worker-0.train.svc"}),
        ("status {x:hex}", "status 0x7f3A", {"x": "0x7f3A"}),
        ("status {x:hex}", "status 7f3a,", {"x": "7f3a"}),
        ("allocate {n:size}", "Tried to allocate 2.50 GiB.", {"n": "2.50 GiB"}),
        ("hugepages-2Mi: {n:size}", "hugepages-2Mi: 5Gi", {"n": "5Gi"}),
        ("need {n:size} more", "need 512 more", {"n": "512"}),
        ("after {t:duration}", "after 600000 ms in", {"t": "600000 ms"}),
        ("after {t:duration}", "after 1h30m.", {"t": "1h30m"}),
        ("after {t:duration}", "after 1-02:03:04", {"t": "1-02:03:04"}),
        ("after {t:duration} more", "after 30 more", {"t": "30"}),
        ("{p}: error: {m}", "a b: error:  no way  ", {"p": "a b", "m": "no way"}),
        ("No module named '{m}'", "No module named 'flash_attn'; 'x' is no package", {"m": "flash_attn"}),
        ("No module named '{m}'", "No module named &#39;flash_attn&#39;", {"m": "flash_attn"}),
        ("No module named '{m}'", "No module named flash_attn", {"m": "flash_attn"}),
        ("Cuda failure '{why}'", "Cuda failure 801 'operation not supported'", None),
        (
            "Cuda failure {_:int} '{why}'",
            "Cuda failure 801 'operation not supported'",
            {"why": "operation not supported"},
        ),
        ("lib '{a}' in '{b}' is", "lib ‘x y’ in `z' is", {"a": "x y", "b": "z"}),
        ("lib '{a}' in '{b}' is", "lib x y in z is", {"a": "x y", "b": "z"}),
        ("lib '{a}' in", "lib no. 3 'x' in", None),
        ("'{m}' is not found", "error: 'flash attn' is not found", {"m": "flash attn"}),
        ("a {_} b {_:int}", "a xx b 3", {}),
        ("error: x", "error : x", {}),
        ("error : x", "error: x", {}),
        ("error: x", "error\u00a0: x", {}),
        ("set {{a}} now", "set {a} now", {}),
        ("${{VAR}}", "${VAR}", {}),
        ("  padded text  ", "padded text", {}),
        ("{what} failed", "x" * 1000 + " failed", {"what": "x" * 1000}),
        ("a {what} failed", "a " + "x" * 401 + " failed", None),
    ],
)
def test_holes(text: str, line: str, captures: dict[str, str] | None) -> None:
    assert find(text, line) == captures


def test_exact_case() -> None:
    assert find("OOM", "room") == {}
    assert find("OOM", "room", exact_case=True) is None
    assert find("OOM {x:hex}", "OOM 0XAB", exact_case=True) == {"x": "0XAB"}


def test_blanks_cross_line_ends_only_where_lines_are_spanned() -> None:
    text = "first line second line {name}"
    log = "first line\n   second line it"
    assert find(text, log) is None
    assert find(text, log, lines=2) == {"name": "it"}
    assert find("a {x} b", "a 1\n2 b", lines=2) is None  # a hole stays within its line


@pytest.mark.parametrize(
    ("text", "lines", "said"),
    [
        ("rank {r:itn} died", 1, [(5, "unknown type of hole `itn`", "did you mean `int`?")]),
        ("{a} x {a}", 1, [(6, "two holes named `a`", "name them apart, or use `{_}` where the value is not needed")]),
        ("{a x", 1, [(0, "a lone `{`", "write `{{` for a brace")]),
        ("a } x", 1, [(2, "a lone `}`", "write `}}` for a brace")]),
        ("{a} '{b}'", 1, [(0, "no words besides holes and quotes", "keep some of the program's own words")]),
        (" ", 1, [(0, "no text", "keep some of the program's own words")]),
        ("x {a}{b}", 1, [(5, "two holes with nothing between them", "make them one, or give the first a type")]),
        ("a\nb", 1, [(1, "the text spans lines", "add `lines: 2` (or as many as it spans)")]),
        (
            "x {count:int}",
            1,
            [(2, "a hole cannot be named `count`", "every finding has that name already; take another")],
        ),
        (
            '{"level": 1} {b:}',
            1,
            [
                (0, '`{"level": 1}` is no hole', "a hole is `{name}` or `{name:type}`, in lower case; `{{` is a brace"),
                (13, "unknown type of hole ``", "the types are " + ", ".join(HOLE_TYPES)),
            ],
        ),
    ],
)
def test_wrong_texts_are_told_all_at_once(text: str, lines: int, said: list[tuple[int, str, str]]) -> None:
    with pytest.raises(TextError) as caught:
        regex_from_text(text, lines)
    assert [(fault.position, fault.text, fault.help) for fault in caught.value.faults] == said


WORDS = st.text(st.sampled_from("abZ09 .*+?()[]|^$\\/-_:'\"`\u00a0<>&#;,=é错"), min_size=1, max_size=12)
HOLES = st.sampled_from(
    ["{a}", "{b:int}", "{c:path}", "{d:word}", "{_}", "{_:size}", "{{", "}}", "{e:duration}", "{f:host}"]
)


@hypothesis.given(st.lists(WORDS | HOLES, min_size=1, max_size=6), st.integers(1, 3))
def test_any_text_makes_a_pattern_or_is_refused(pieces: list[str], lines: int) -> None:
    try:
        source, holes = regex_from_text("".join(pieces), lines)
    except TextError:
        return
    compiled = compile_pattern(source)
    assert set(compiled.groupindex) == set(holes)
    assert compiled.search("nothing of the kind") is None or True  # it runs


@hypothesis.given(
    st.text(
        st.characters(codec="utf-8", exclude_characters="{}\n\r\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029"),
        min_size=1,
        max_size=30,
    )
)
def test_a_text_without_holes_finds_itself(text: str) -> None:
    try:
        source, _holes = regex_from_text(text)
    except TextError:
        return
    assert compile_pattern(source).search(text.strip()) is not None


@pytest.mark.parametrize("kind", ["", *HOLE_TYPES])
@pytest.mark.parametrize("filler", ["a", "1", "1.", "a/", "ab-", "::", "0x", "'", " ", "1h"])
def test_patterns_stay_near_linear(kind: str, filler: str) -> None:
    """A long run of what a hole takes, and no match at its end: a pattern of squared cost would take minutes."""
    hole = f"{{x:{kind}}}" if kind else "{x}"
    compiled = [
        compile_pattern(regex_from_text(text)[0]) for text in (f"{hole} went wrong", f"start {hole} went wrong")
    ]
    line = "start " + filler * (20_000 // len(filler))
    for pattern in compiled:
        assert pattern.search(line, timeout=5) is None


# --- system messages in other languages ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "captures"),
    [
        ("OSError: {_} Cannot allocate memory", "OSError: [Errno 12] 无法分配内存", {}),
        ("Cannot allocate memory", "os.fork: Nicht genügend Hauptspeicher verfügbar", {}),
        ("Cannot allocate memory", "メモリを確保できません", {}),
        ("Cannot allocate memory", "Ne peut allouer de la mémoire", {}),
        ("cannot allocate  memory", "невозможно выделить память", {}),
        ("Cannot allocate memory", "메모리를 할당할 수 없습니다", {}),
        ("Cannot allocate memory", "Cannot allocate\u00a0memory", {}),
        ("Disk quota exceeded", "Débordement du quota d’espace disque", {}),
        (
            "{lib:path}: cannot open shared object file: No such file or directory",
            "libx.so.1: Kann die Shared-Object-Datei nicht öffnen: Datei oder Verzeichnis nicht gefunden",
            {"lib": "libx.so.1"},
        ),
        # the longer message wins over the one within it
        ("cannot allocate memory in static TLS block", "Kein Speicher im statischen TLS-Block verfügbar", {}),
        ("cannot allocate memory in static TLS block", "无法分配内存", None),
        # not a whole word of the text, or a hole: left alone
        ("xPermission deniedx", "x权限不够x", None),
        ("Invalid argument {n:int}", "无效的参数 3", {"n": "3"}),
        # one word: only where the text says nothing else, and only as a word
        ("Killed", "已杀死", {}),
        ("{pid:int} Killed", "4711 Getötet", {"pid": "4711"}),
        ("Aborted", "the run was abandoned", None),
        ("Aborted", "line 3: Abandon", {}),
        ("Aborted", "训练已中止了", None),
        ("Killed process {pid:int}", "Getötet process 3", None),
    ],
)
def test_system_messages_are_found_in_other_languages(text: str, line: str, captures: dict[str, str] | None) -> None:
    assert find(text, line) == captures


def test_exact_case_holds_for_the_english_wording_and_its_translations() -> None:
    assert find("CANNOT ALLOCATE MEMORY", "无法分配内存", exact_case=True) is None
    assert find("Cannot allocate memory", "无法分配内存", exact_case=True) == {}
    assert find("Cannot allocate memory", "Nicht genügend hauptspeicher verfügbar", exact_case=True) is None


@pytest.mark.parametrize(
    ("pattern", "line", "found"),
    [
        (r"errno=(?P<n>\d+) Permission denied", "errno=13 Keine Berechtigung", True),
        (r"(?:Permission denied|EACCES)", "权限不够", True),
        (r"[Permission denied]{5}", "权限不够", False),
        (r"Permission denied*", "Keine Berechtigung", False),
        (r"Permission denie\d", "Keine Berechtigung", False),
        (r"\bKilled\b", "已杀死", False),
        (r"(?x) Permission denied", "Keine Berechtigung", False),
    ],
)
def test_system_messages_in_a_regex(pattern: str, line: str, found: bool) -> None:
    assert (compile_pattern(localise_regex(pattern)).search(line) is not None) == found


def test_classes_hold_what_they_should() -> None:
    assert all(regex.fullmatch(f"[{BLANKS}]", blank) for blank in "\t \u00a0\u2007\u2009\u200b\u202f\u3000\ufeff")
    assert all(regex.fullmatch(f"[{QUOTES}]", quote) for quote in "'\"`´‘’“”«»′″")
