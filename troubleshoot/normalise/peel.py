"""Takes wrappers off one line, outermost first, until none is left.

In: one line as given, without its line feed. Out: `Peeled`: the text that remains and what the wrappers told of time,
rank, host, pod, stream and level. Facts of an inner wrapper stand nearer to the program and win, save the stamp: the
collector's clock is one for all streams of a node, so the outermost stamp that is sure wins.

    "2026-11-30T20:15:04.1Z stderr F [rank3]: E"  ->  "E", rank 3, stderr, 20:15:04.1 UTC

Strong wrappers come off any line. Weak ones only where the source adopted them (see weak.py), which is asked of a
sample of its lines at the first candidate, so that a source without candidates costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from troubleshoot import limits
from troubleshoot.model import NOBODY, Identity, Peeled, Stamp
from troubleshoot.normalise.detect import Detected, detect
from troubleshoot.normalise.facts import facts_within, identity_from, level_from, level_of
from troubleshoot.normalise.timestamps import Clock, parse_stamp
from troubleshoot.normalise.ways import ROUNDS, Found, first_strong, take_weak
from troubleshoot.normalise.wrappers import Wrapper

PUT_BEFORE = frozenset({"quote", "indent", "bullet", "line-numbers"})


class LineNormaliser:
    """Peels the lines of one source.

    `sample` is asked once, when first needed, for lines of the source and whether they are only some of it.
    `document_at` tells the kind of document that a line stands in, `identity_at` whose log it belongs to; who finds
    that out sets them.
    """

    def __init__(
        self,
        identity: Identity = NOBODY,
        clock: Clock | None = None,
        sample: Callable[[], tuple[Sequence[str], bool]] = lambda: ((), False),
    ) -> None:
        self.identity = identity
        self._clock = clock or Clock(datetime.now(UTC))
        self._sample = sample
        self.document_at: Callable[[int], str] = lambda line: "log"
        self.identity_at: Callable[[int], Identity] | None = None
        self._detected: Detected | None = None

    @property
    def detected(self) -> Detected:
        """Which wrappers the source has."""
        if self._detected is None:
            lines, sampled = self._sample()
            self._detected = detect(lines, self._clock, sampled=sampled)
            self._clock = self._detected.clock
            self.identity = self._detected.identity.over(self.identity)
        return self._detected

    def bare(self, raw: str) -> str:
        """Return the line without what was put before every line of the source: quote marks, numbers, blanks."""
        for each in self.detected.weak:
            if each.name in PUT_BEFORE and (taken := each.take(raw)):
                raw = taken[0]
        return raw

    def peel(self, raw: str, line: int) -> Peeled:
        """Return what is left of `raw`, which stands on `line`, and what its wrappers told."""
        text = raw.removesuffix("\r")
        document = self.document_at(line)
        if len(text) > limits.LINE_BYTES:
            return Peeled(text, identity=self.identity, document=document)
        weak = self.detected.weak
        identity, level = NOBODY, None
        stamp: Stamp | None = None
        used: set[str] = set()
        last: str | None = None
        for _ in range(ROUNDS):
            found = first_strong(text, last, used) or _first_weak(text, last, weak, used)
            if found is None:
                break
            wrapper, text, facts = found
            last = wrapper.name
            used.add(last)
            identity = identity_from(facts).over(identity)
            level = level_from(facts) or level
            if facts.get("ts") and (stamp is None or stamp.zone != "explicit"):
                stamp = _surer(stamp, parse_stamp(facts["ts"] or "", self._clock, wrapper.zone))
        if level is None or stamp is None:
            said = facts_within(text)
            level = level or level_from(said) or level_of(text)
            if stamp is None and said.get("ts"):
                stamp = parse_stamp(said["ts"] or "", self._clock)
        if self.identity_at is not None:
            identity = identity.over(self.identity_at(line))
        return Peeled(text, stamp, identity.over(self.identity), level, document)


def _first_weak(text: str, last: str | None, weak: Sequence[Wrapper], used: set[str]) -> Found | None:
    for each in weak:
        if each.name not in used:
            found = take_weak(each, text, last)
            if found is not None:
                return found
    return None


def _surer(outer: Stamp | None, inner: Stamp | None) -> Stamp | None:
    if outer is None or inner is None:
        return outer or inner
    return inner if inner.zone == "explicit" else outer
