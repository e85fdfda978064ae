"""JUnit XML: valid by the schema that Jenkins uses, and counted as CI systems count."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest
import xmlschema
from job_samples import JOB_SAMPLES
from report_samples import FINDING, REPORT, SAMPLES

from troubleshoot.model import Role
from troubleshoot.report.junit import render_junit, xml_text

EVERY = {**SAMPLES, **JOB_SAMPLES}


@cache
def schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(Path(__file__).parents[1] / "schemas" / "junit-10.xsd"))


@pytest.mark.parametrize("name", EVERY)
def test_document_is_valid(name: str) -> None:
    schema().validate(render_junit(EVERY[name]))


def test_schema_would_find_an_error() -> None:
    assert not schema().is_valid(render_junit(REPORT).replace("<testcase ", "<case ").replace("</testcase>", "</case>"))


def test_cause_fails_and_symptoms_are_skipped() -> None:
    suite = Tree.fromstring(render_junit(REPORT).encode()).find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    assert len(cases) == len(REPORT.findings) == int(suite.get("tests") or 0)
    failure = cases[0].find("failure")
    assert failure is not None
    assert failure.get("type") == FINDING.rule
    assert FINDING.fixes[0].title in (failure.text or "")
    symptoms = sum(1 for each in REPORT.findings if each.role is Role.SYMPTOM)
    assert int(suite.get("skipped") or 0) == symptoms == len(suite.findall("testcase/skipped"))
    assert int(suite.get("failures") or 0) == len(suite.findall("testcase/failure"))


def test_unknown_fault_is_an_error_and_a_clean_report_passes() -> None:
    unknown = Tree.fromstring(render_junit(SAMPLES["unknown"]).encode())
    assert unknown.find("testsuite/testcase/error") is not None
    clean = Tree.fromstring(render_junit(SAMPLES["empty"]).encode()).find("testsuite")
    assert clean is not None
    assert (clean.get("failures"), clean.get("errors")) == ("0", "0")


@pytest.mark.parametrize("text", ["\x1b[31m", "\x00", "\ufffe", "\ud800", "a\x0bb"])
def test_characters_that_xml_forbids_become_escapes(text: str) -> None:
    Tree.fromstring(f"<a>{xml_text(text)}</a>")
