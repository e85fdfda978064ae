"""Report -> JUnit XML, as Jenkins and other CI systems read it.

One suite; a case per finding. A cause is a failure with its explanation, evidence and fixes; a symptom is skipped,
since one fault must not count twenty times; an unknown fault is an error with its suspects; a clean report is one case
that passes. Characters that XML 1.0 cannot hold become escapes one can read."""

from __future__ import annotations

from xml.etree import ElementTree as Tree

from troubleshoot import late
from troubleshoot.model import Finding, Report, Role, Severity, Verdict
from troubleshoot.report import job_words, words
from troubleshoot.report.printable import visible

SUITE = "troubleshoot"
_NOT_XML = late.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(report: Report) -> str:
    """Return the report as an XML document that ends in a newline."""
    cases = [_case(each) for each in report.findings]
    if report.verdict is Verdict.UNKNOWN_FAULT:
        cases.insert(0, _unknown(report))
    if not cases:
        cases.append(_new_case("troubleshoot", "no known fault"))
    suite = Tree.Element(
        "testsuite",
        {
            "name": SUITE,
            "tests": str(len(cases)),
            "failures": str(_count(cases, "failure")),
            "errors": str(_count(cases, "error")),
            "skipped": str(_count(cases, "skipped")),
            "time": f"{report.stats.seconds:.3f}",
        },
    )
    suite.extend(cases)
    said = Tree.SubElement(suite, "system-out")
    said.text = xml_text(_summary(report))
    suites = Tree.Element("testsuites", {"name": SUITE, "tests": str(len(cases))})
    suites.append(suite)
    Tree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Tree.tostring(suites, encoding="unicode") + "\n"


def xml_text(text: str) -> str:
    """Return the text without characters that XML 1.0 forbids."""
    return _NOT_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", visible(text))


def _new_case(group: str, name: str) -> Tree.Element:
    return Tree.Element("testcase", {"classname": xml_text(group), "name": xml_text(name), "time": "0"})


def _case(finding: Finding) -> Tree.Element:
    group, _, name = finding.rule.partition("/")
    case = _new_case(f"troubleshoot.{group}", f"{name}: {finding.title}")
    if finding.role is Role.SYMPTOM:
        why = f"an effect of {', '.join(finding.explained_by)}" if finding.explained_by else "a symptom"
        Tree.SubElement(case, "skipped", {"message": xml_text(why)})
    elif finding.severity > Severity.LOW:
        told = {"message": xml_text(finding.title), "type": xml_text(finding.rule)}
        Tree.SubElement(case, "failure", told).text = xml_text(_body(finding))
    out = Tree.SubElement(case, "system-out")
    out.text = xml_text("\n".join(f"{words.place(each)}: {each.text}" for each in finding.evidence))
    return case


def _body(finding: Finding) -> str:
    lines = [
        finding.explanation,
        f"severity {finding.severity.word}, confidence {finding.confidence.word}",
        ", ".join(words.whereabouts(finding)),
        *(f"{words.place(each)}: {each.text}" for each in finding.evidence[:1]),
    ]
    for number, fix in enumerate(finding.fixes, 1):
        lines.append(f"Fix {number}: {fix.title}" + (f". {fix.do}" if fix.do else ""))
        lines += [f"    {command}" for command in fix.run]
    return "\n".join(line for line in lines if line)


def _unknown(report: Report) -> Tree.Element:
    case = _new_case("troubleshoot", "unknown fault")
    lines = [f"{each.source}:{each.line} ({each.reason}): {each.text}" for each in report.suspects]
    message = report.suspects[0].text if report.suspects else "no rule knows this failure"
    Tree.SubElement(case, "error", {"message": xml_text(message), "type": "unknown-fault"}).text = xml_text(
        "\n".join(lines)
    )
    return case


def _summary(report: Report) -> str:
    lines = [words.what_was_read(report)]
    if report.job is not None:
        lines = [f"{label}: {text}" for label, text in job_words.summary(report)] + lines
        lines += [f"Ranks: {job_words.ranks_line(report.job)}"]
    lines += [f"note: {note.source}: {note.text}" if note.source else f"note: {note.text}" for note in report.notes]
    return "\n".join(lines)


def _count(cases: list[Tree.Element], kind: str) -> int:
    return sum(1 for case in cases if case.find(kind) is not None)
