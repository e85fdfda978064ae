"""A report in another language: its texts from the files beside the rules, everything else as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import troubleshoot
from troubleshoot.engine import Engine
from troubleshoot.evaluate.texts import COMMAND_PLATFORMS
from troubleshoot.localise import localise, localise_pack
from troubleshoot.model import Report, RulePack
from troubleshoot.report import RENDERERS
from troubleshoot.rulepack import load as load_module
from troubleshoot.rulepack.load import load_pack
from troubleshoot.rulepack.search import search_rules
from troubleshoot.rulepack.translations import COMMANDS, digests, find_translation

RULE = """\
title: "The encabulator on {machine} failed: {reason}"
severity: high
signatures:
  failed: { text: "encabulator failed on {machine:word}" }
  why: "because of {reason}"
condition: { all: [failed] }
supports: [why]
lookup: {}
explanation: It ran {count} times on ranks {ranks}, hosts {hosts}.
fixes:
  - title: Mend {machine}
    do: Open it. {{literal}}
    run: mend {machine}
    variants: { slurm: "srun mend {machine}", runai-ui: "press the button for {machine}" }
    verify: { run: "look {machine}", expect: "it runs" }
  - title: Or buy another
references: [somewhere]
examples:
  - match: encabulator failed on m1
  - no_match: nothing
"""
CHINESE = """\
of: {of}
title: "{{machine}} 上的增幅器失败：{{reason}}"
explanation: >
  它在 rank {{ranks}}、主机 {{hosts}} 上运行了 {{count}} 次，
  这一行接着上一行。
fixes:
  - title: 修理 {{machine}}
    do: 打开它。
    expect: 它在运行
    variants: {{ runai-ui: "按下 {{machine}} 的按钮" }}
  - title: 或者另买一台
"""
ABSENT = """\
title: No channel on {machine}
severity: low
signatures:
  seen: "encabulator {machine:word} is about"
  proof: "channels printed"
  channel: "channel open"
condition:
  missing: channel
  given: proof
  relevant: seen
  next: "switch {machine} to loud and run again; it then says more"
explanation: x
fixes: [{ title: mend it }]
references: [somewhere]
examples: [{ match: "channels printed" }, { no_match: nothing }]
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setattr(load_module, "default_rules_dir", lambda: tmp_path / "none")
    (tmp_path / "none").mkdir()
    folder = tmp_path / "p/net"
    folder.mkdir(parents=True)
    (folder / "failed.yaml").write_text(RULE, "utf-8")
    (folder / "absent.yaml").write_text(ABSENT, "utf-8")
    pack = load_pack([tmp_path / "p"], default_rules=False, cache=False)
    assert pack.problems == ()
    translate(pack, "net/failed", CHINESE)
    return Engine(pack)


def translate(pack: RulePack, id: str, text: str, tag: str = "zh-CN", of: str = "") -> Path:
    rule = pack.rules[id]
    path = Path(rule.path.replace(".yaml", f".{tag}.yaml"))
    path.write_text(text.format(of=of or " ".join(digests(rule))), "utf-8")
    return path


def told(engine: Engine, log: str, language: str = "zh-CN") -> Report:
    return localise(engine.scan_text(log), engine.pack, language)


def test_texts_are_set_anew_and_what_is_typed_stays(engine: Engine) -> None:
    english = engine.scan_text("encabulator failed on m1\n").findings[0]
    finding = told(engine, "encabulator failed on m1\n").findings[0]

    assert finding.title == "m1 上的增幅器失败"
    assert finding.explanation == "它在 rank 未知、主机 未知 上运行了 1 次，这一行接着上一行。"
    first, second = finding.fixes
    assert (first.title, first.do, second.title) == ("修理 m1", "打开它。", "或者另买一台")
    assert first.verify is not None
    assert (first.verify.run, first.verify.expect) == ("look m1", "它在运行")
    assert first.run == english.fixes[0].run == ("mend m1",)
    assert first.variants == {"slurm": "srun mend m1", "runai-ui": "按下 m1 的按钮"}
    assert finding.evidence == english.evidence
    assert finding.fingerprint == english.fingerprint


def test_a_title_keeps_its_closing_part_where_the_log_gives_it(engine: Engine) -> None:
    log = "encabulator failed on m1\nbecause of rust\n"

    assert told(engine, log).findings[0].title == "m1 上的增幅器失败：rust"
    assert told(engine, log).findings[0].because[0].startswith("置信度上调：日志中还有 why (paste:2)")


def test_english_is_the_report_itself(engine: Engine) -> None:
    report = engine.scan_text("encabulator failed on m1\n")

    assert localise(report, engine.pack, "en-GB") is report


@pytest.mark.parametrize("tag", ["zh", "zh-Hans", "zh_CN.UTF-8", "ZH-cn"])
def test_any_tag_for_simplified_chinese_finds_it(tag: str, engine: Engine) -> None:
    report = told(engine, "encabulator failed on m1\n", tag)

    assert (report.language, report.findings[0].title) == ("zh-CN", "m1 上的增幅器失败")


@pytest.mark.parametrize("tag", ["tlh", "zh-Hant", "not a tag at all; " + "x" * 100])
def test_an_unknown_language_is_english_with_a_note(tag: str, engine: Engine) -> None:
    report = told(engine, "encabulator failed on m1\n", tag)

    assert report.language == "en"
    assert report.findings[0].title == "The encabulator on m1 failed"
    assert [each.code for each in report.notes] == ["language"]
    assert "there are en, zh-CN" in report.notes[0].text


def test_a_language_that_only_rules_speak_is_spoken_by_them(engine: Engine) -> None:
    translate(engine.pack, "net/failed", 'of: {of}\ntitle: "{{machine}} ist kaputt"\n', "de")
    report = told(engine, "encabulator failed on m1\n", "de-AT")

    assert report.findings[0].title == "m1 ist kaputt"
    assert report.findings[0].fixes[1].title == "Or buy another"
    assert report.notes == ()


def test_what_was_changed_since_is_english_and_the_rest_is_not(engine: Engine) -> None:
    stale = list(digests(engine.pack.rules["net/failed"]))
    stale[1] = stale[3] = "000000"
    translate(engine.pack, "net/failed", CHINESE, of=" ".join(stale))
    finding = told(engine, "encabulator failed on m1\n").findings[0]

    assert finding.title == "m1 上的增幅器失败"
    assert finding.explanation.startswith("It ran 1 times")
    assert [each.title for each in finding.fixes] == ["Mend m1", "或者另买一台"]


@pytest.mark.parametrize("text", ["of: [", "- a list\n", "of: x\nttile: y\n", "title: no of\n"])
def test_a_translation_that_cannot_be_read_is_english_with_a_note(text: str, engine: Engine) -> None:
    translate(engine.pack, "net/failed", text.replace("{", "{{"))
    report = told(engine, "encabulator failed on m1\n")

    assert report.findings[0].title == "The encabulator on m1 failed"
    assert [each.code for each in report.notes] == ["language"]


def test_a_translation_is_read_again_once_it_has_changed(engine: Engine) -> None:
    assert told(engine, "encabulator failed on m1\n").findings[0].title == "m1 上的增幅器失败"

    translate(engine.pack, "net/failed", 'of: {of}\ntitle: "{{machine}} 坏了，请修理"\n')

    assert told(engine, "encabulator failed on m1\n").findings[0].title == "m1 坏了，请修理"


def test_what_cannot_be_told_is_said_with_the_captures_of_the_log(engine: Engine) -> None:
    text = 'of: {of}\ntitle: "{{machine}} 上没有通道"\nnext: "把 {{machine}} 调到 loud 后重新运行"\n'
    translate(engine.pack, "net/absent", text)
    english = engine.scan_text("encabulator m7 is about\n").undecided[0]
    undecided = told(engine, "encabulator m7 is about\n").undecided[0]

    assert english.next == "switch m7 to loud and run again; it then says more"
    assert (undecided.title, undecided.next) == ("m7 上没有通道", "把 m7 调到 loud 后重新运行")
    assert undecided.why == "没有 channel，而缺少 proof 时这并不能说明问题"


def test_a_text_from_which_a_secret_was_taken_stays_as_it_is(engine: Engine) -> None:
    log = "encabulator failed on AKIAIOSFODNN7EXAMPLE\n"
    finding = told(engine, log).findings[0]

    assert "AKIAIOSFODNN7EXAMPLE" not in json.dumps(json.loads(RENDERERS["json"](told(engine, log))))
    assert "[redacted:" in finding.title


def test_a_capture_cannot_bring_captures_or_markup_along(engine: Engine) -> None:
    log = "encabulator failed on m1\nbecause of {machine} {{x}} **x**\n"

    assert told(engine, log).findings[0].title == "m1 上的增幅器失败：{machine} {{x}} **x**"


def test_the_json_keeps_its_shape(engine: Engine) -> None:
    def shape(value: object) -> object:
        if isinstance(value, dict):
            return {key: shape(each) for key, each in value.items()}
        return [shape(each) for each in value] if isinstance(value, list) else type(value).__name__

    log = "encabulator failed on m1\nbecause of rust\nencabulator m7 is about\nTraceback\nOSError: x\n"
    english = json.loads(RENDERERS["json"](engine.scan_text(log)))
    chinese = json.loads(RENDERERS["json"](told(engine, log)))

    assert shape(english) == shape(chinese)
    assert english != chinese


@pytest.mark.parametrize("format", sorted(RENDERERS))
def test_every_format_renders_it(format: str, engine: Engine) -> None:
    log = "encabulator failed on m1\nencabulator m7 is about\n"

    assert "增幅器" in RENDERERS[format](told(engine, log))


def test_lists_of_rules_can_be_searched_in_the_language(engine: Engine) -> None:
    pack = localise_pack(engine.pack, "zh-CN")

    assert [rule.id for rule in search_rules(pack, ["增幅器"])] == ["net/failed"]
    assert pack.rules["net/absent"].title == "No channel on {machine}"


def test_what_is_a_command_is_the_same_for_rules_and_findings() -> None:
    assert COMMANDS == COMMAND_PLATFORMS


def test_python_callers_name_the_language() -> None:
    log = "mpirun: /lib/libc.so.6: version `GLIBC_2.34' not found (required by /opt/amazon-efa-ofi/openmpi/lib/x.so)\n"

    assert troubleshoot.scan(log, language="zh").findings[0].title.startswith("镜像的 C 库太旧")
    assert troubleshoot.scan_text(log).findings[0].title.startswith("The image's C library")


@pytest.mark.parametrize("tag", ["../../secret", "zh-CN/../../x", "", "-", "zh_CN/..", "zh-cn"])
def test_a_tag_never_becomes_a_path_of_its_own(tag: str, engine: Engine) -> None:
    assert find_translation(engine.pack.rules["net/failed"], tag) == (None, None)


def test_fix_that_is_a_value_of_a_table_is_said_in_the_readers_language() -> None:
    engine = Engine.default()
    report = engine.scan_text("NVRM: Xid (PCI:0000:4e:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row")

    finding = localise(report, engine.pack, "zh-CN").findings[0]

    assert finding.rule == "gpu/xid-notice"
    assert finding.fixes[0].title == "目前无需处理；remap 在下次重置 GPU 时生效"
