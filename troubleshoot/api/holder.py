"""The pack a running service answers from: loaded at the start, loaded again when its files change.

A changed pack replaces the serving one only if every rule of it loads; otherwise the last good one stays and
`problems` says what is wrong. Requests take `engine` once and keep it to their end, so a reload drops none.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from troubleshoot.api.children import child_environment
from troubleshoot.api.discreet import Discretion
from troubleshoot.api.faults import OverloadedError
from troubleshoot.api.prepare import prepare_pack
from troubleshoot.engine import Engine
from troubleshoot.errors import RuleError, TroubleshootError
from troubleshoot.model import RulePack
from troubleshoot.rulepack.load import default_rules_dir, list_rule_files, load_pack

log = logging.getLogger("troubleshoot.pack")

PROBLEMS_LOGGED = 20
POLL_S = 2.0  # an author who saves a rule sees it served within two seconds; a poll of 300 files costs 2 ms

Listing = tuple[tuple[str, int, int], ...]


class PackHolder:
    """Holds the serving engine. `engine` is None only while no good pack was ever loaded."""

    def __init__(self, rules: Sequence[Path] = (), *, drafts: bool = False, default_rules: bool = True) -> None:
        self._rules = tuple(rules)
        self._drafts = drafts
        self._default_rules = default_rules
        self._listing: Listing = ()
        self._discretion = Discretion([*self._rules, default_rules_dir()])
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.engine: Engine | None = None
        self.problems: tuple[str, ...] = ()
        self.reload()

    def reload(self) -> bool:
        """Load the pack from its files; return whether it now serves. Never raises for a bad pack."""
        self._listing = self._list()
        try:
            pack = self._load()
        except TroubleshootError as error:
            self._refuse(self._listing, tuple(str(problem) for problem in error.problems) or (error.text,))
            return False
        self.engine = Engine(pack)
        self.problems = ()
        log.info("rule pack loaded: %d rules, %s", len(pack.rules), pack.hash[:12])
        return True

    def serving(self) -> Engine:
        """Return the engine to answer with. Raises OverloadedError while there is none."""
        if self.engine is None:
            raise OverloadedError("no rule pack could be loaded; see /readyz")
        return self.engine

    def watch(self, changed: Callable[[], None] | None = None) -> None:
        """Poll the rule files in a thread of its own until `close`; `changed` is called, in that thread, once another
        pack serves."""

        def poll() -> None:
            while not self._stop.wait(POLL_S):
                listing = self._list()
                if listing == self._listing:
                    continue
                options = {"drafts": self._drafts, "default_rules": self._default_rules}
                problems = prepare_pack({"rules": [str(each) for each in self._rules], **options}, child_environment())
                if problems:
                    self._refuse(listing, problems)
                elif self.reload() and changed is not None:
                    changed()

        self._thread = threading.Thread(target=poll, name="rule-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=POLL_S * 2)

    def _refuse(self, listing: Listing, problems: tuple[str, ...]) -> None:
        self._listing = listing
        self.problems = tuple(map(self._discretion.text, problems))
        log.error("rule pack not loaded, the last good one stays: %d problem(s)", len(problems))
        for each in problems[:PROBLEMS_LOGGED]:
            log.error("%s", each)
        if self.engine is None:
            self._serve_what_loads()

    def _load(self) -> RulePack:
        pack = load_pack(list(self._rules), drafts=self._drafts, default_rules=self._default_rules, strict=True)
        return self._told(pack)

    def _told(self, pack: RulePack) -> RulePack:
        """Return the pack as reports may tell of it: what is wrong with it, and not where its files lie."""
        return replace(pack, problems=self._discretion.problems(pack.problems)) if pack.problems else pack

    def _serve_what_loads(self) -> None:
        """At the start there is no last good pack: serve the rules that do load rather than nothing."""
        try:
            pack = load_pack(list(self._rules), drafts=self._drafts, default_rules=self._default_rules)
        except RuleError:
            return
        if pack.rules:
            self.engine = Engine(self._told(pack))

    def _list(self) -> Listing:
        rows = []
        for path in list_rule_files(list(self._rules), default_rules=self._default_rules):
            try:
                stat = path.stat()
            except OSError:
                continue
            rows.append((str(path), stat.st_size, stat.st_mtime_ns))
        return tuple(rows)
