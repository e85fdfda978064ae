"""A report in the reader's language: its texts set anew from the translations beside the rules.

    localise(report, pack, "zh-CN") -> the report, with `language` set

A finding keeps its captures, so its texts can be made again from another template. What has no translation, or none
that is fresh, stays English, text by text. Sentences of the engine (why a confidence was lowered, what was skipped)
come from the program's own words. Numbers, names, commands and evidence stay as they are.

Everything here happens after the report is made and redacted: where the redaction took something out of an English
text, that text is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from troubleshoot.evaluate.findings import known_names
from troubleshoot.evaluate.texts import COMMAND_PLATFORMS, Texts
from troubleshoot.language import ENGLISH, LANGUAGES, canonical, say, say_sentence, shipped, speaking
from troubleshoot.model import Finding, FirstFailure, Fix, Job, Note, Report, Rule, RulePack, Suspect, Undecided
from troubleshoot.ranks import compress_ranks
from troubleshoot.report import RENDERERS
from troubleshoot.rulepack.translations import Translation, fill, find_translation, next_steps, stale_parts

_MASK = "[redacted:"
_ONLY_A_CAPTURE = re.compile(r"\{\w+\}")
_HOLE = re.compile(r"\\\{(?:\\\{)?(\w+)\\\}(?:\\\})?")
_HOSTS_NAMED = 8
_MOST_REFIT = 4000  # characters of a text whose captures are read back out of it


def language_of(tag: str) -> str:
    """Return the language that a tag asks for: one of the program's own, else the tag as it is written."""
    return shipped(tag) or canonical(tag) or tag


def localise(report: Report, pack: RulePack, language: str) -> Report:
    """Return the report in a language; English fills every gap. A language that nothing is written in gives the
    English report with a note."""
    language = language_of(language)
    if language == ENGLISH:
        return report
    scribe = _Scribe(pack, language)
    with speaking(language):
        localised = replace(
            report,
            language=language,
            findings=tuple(scribe.finding(each) for each in report.findings),
            confirmations=tuple(scribe.finding(each) for each in report.confirmations),
            undecided=tuple(scribe.undecided(each) for each in report.undecided),
            suspects=tuple(_suspect(each) for each in report.suspects),
            notes=tuple(replace(each, text=say_sentence(each.text)) for each in report.notes),
            job=_job(report.job),
        )
    if language not in LANGUAGES and not scribe.found:
        text = f"there are no texts in the language {language[:40]!r}; there are {', '.join(LANGUAGES)}"
        return replace(report, notes=(*report.notes, Note("language", text)))
    return replace(localised, notes=(*localised.notes, *scribe.notes))


def render_as(report: Report, pack: RulePack, rendering: str) -> str:
    """Return the report in a format, and in a language where the rendering's name holds one: `markdown@zh-CN`."""
    format, _, language = rendering.partition("@")
    return RENDERERS[format](localise(report, pack, language) if language else report)


def localise_finding(finding: Finding, pack: RulePack, language: str) -> Finding:
    """Return one finding in a language, as `localise` does for a whole report."""
    language = language_of(language)
    if language == ENGLISH:
        return finding
    with speaking(language):
        return _Scribe(pack, language).finding(finding)


def localise_rule(rule: Rule, language: str) -> Rule:
    """Return a rule with its texts in a language, English where there are none."""
    language = language_of(language)
    translation = find_translation(rule, language)[0] if language != ENGLISH else None
    return fill(rule, translation) if translation is not None else rule


def localise_pack(pack: RulePack, language: str) -> RulePack:
    """Return a pack whose rules speak a language, for lists and searches."""
    if language_of(language) == ENGLISH:
        return pack
    return replace(pack, rules={id: localise_rule(rule, language) for id, rule in pack.rules.items()})


class _Scribe:
    """Writes texts of one report anew. `found`: a translation was of use; `notes`: what is wrong with those that were
    not."""

    def __init__(self, pack: RulePack, language: str) -> None:
        self._pack = pack
        self._language = language
        self.found = False
        self.notes: list[Note] = []

    def _translation(self, rule: Rule) -> Translation | None:
        translation, problem = find_translation(rule, self._language)
        self.found = self.found or translation is not None
        if problem is not None:
            note = Note("language", f"a translation cannot be used: {problem.place}: {problem.text}")
            self.notes += [note] if note not in self.notes else []
        return translation

    def finding(self, finding: Finding) -> Finding:
        finding = replace(finding, because=tuple(say_sentence(each) for each in finding.because))
        rule = self._pack.rules.get(finding.rule)
        translation = self._translation(rule) if rule is not None else None
        if rule is None or translation is None:
            return finding
        filled = fill(rule, translation)
        captures = {
            name: translation.lookup.get(name, {}).get(value, value) for name, value in finding.captures.items()
        }
        texts = Texts(
            {
                "count": str(finding.count),
                "ranks": compress_ranks(finding.ranks) or say("unknown"),
                "hosts": _hosts(finding.hosts),
                **captures,
            },
            known_names(self._pack, rule),
        )
        fixes = finding.fixes
        if len(fixes) == len(rule.fixes):
            triples = zip(fixes, rule.fixes, filled.fixes, strict=True)
            fixes = tuple(_fix(shown, english, other, texts) for shown, english, other in triples)
        return replace(
            finding,
            title=_chosen(finding.title, rule.title, filled.title, texts.title),
            explanation=_chosen(finding.explanation, rule.explanation, filled.explanation, texts.prose),
            fixes=fixes,
        )

    def undecided(self, undecided: Undecided) -> Undecided:
        why, step = say_sentence(undecided.why), say_sentence(undecided.next)
        rule = self._pack.rules.get(undecided.rule)
        translation = self._translation(rule) if rule is not None else None
        if rule is None or translation is None:
            return replace(undecided, why=why, next=step)
        title = _refit(rule.title, fill(rule, translation).title, undecided.title)
        if "next" not in stale_parts(rule, translation):
            for english, other in zip(next_steps(rule), translation.next, strict=False):
                step = _refit(english, other, undecided.next) or step
        return replace(undecided, title=title or undecided.title, why=why, next=step)


def _chosen(shown: str, english: str, other: str, render: Callable[[str], str]) -> str:
    """Return the other language's text rendered; what is shown where there is none, or where that was redacted."""
    same = other == english and not _ONLY_A_CAPTURE.fullmatch(english)  # `{action}` reads `{action}` in every language
    return shown if same or _MASK in shown else render(other)


def _fix(shown: Fix, english: Fix, other: Fix, texts: Texts) -> Fix:
    variants: Mapping[str, str] = {
        platform: text
        if platform in COMMAND_PLATFORMS
        else _chosen(text, english.variants.get(platform, ""), other.variants.get(platform, ""), texts.prose)
        for platform, text in shown.variants.items()
    }
    verify = shown.verify
    if verify is not None and english.verify is not None and other.verify is not None:
        expect = _chosen(verify.expect, english.verify.expect, other.verify.expect, texts.prose)
        verify = replace(verify, expect=expect)
    return replace(
        shown,
        title=_chosen(shown.title, english.title, other.title, texts.prose),
        do=_chosen(shown.do, english.do, other.do, texts.prose),
        variants=variants,
        verify=verify,
    )


def _refit(english: str, other: str, rendered: str) -> str:
    """Return the other template with the captures that the English one was rendered with; "" if it was not that one."""
    if len(rendered) > _MOST_REFIT or _MASK in rendered:
        return ""
    seen: set[str] = set()

    def hole(match: re.Match[str]) -> str:
        name = match[1]
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>.*?)"

    match = re.fullmatch(_HOLE.sub(hole, re.escape(english)), rendered, re.S)
    return Texts(match.groupdict()).prose(other) if match is not None else ""


def _hosts(hosts: Sequence[str]) -> str:
    named = ", ".join(hosts[:_HOSTS_NAMED]) or say("unknown")
    more = len(hosts) - _HOSTS_NAMED
    return say("{names} and {more} more", names=named, more=more) if more > 0 else named


def _suspect(suspect: Suspect) -> Suspect:
    return replace(suspect, reason=say_sentence(suspect.reason))


def _job(job: Job | None) -> Job | None:
    if job is None or job.first_failure is None:
        return job
    first: FirstFailure = job.first_failure
    told = replace(first, because=say_sentence(first.because), runner_up=say_sentence(first.runner_up))
    return replace(job, first_failure=told)
