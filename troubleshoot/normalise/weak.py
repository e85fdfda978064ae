r"""The weak wrappers: prefixes that also stand in ordinary text, and how to be sure of them.

`3: step 10` is a Slurm label, a numbered list or `grep -n`; `node: text` is pdsh, YAML or a compiler. So these are
taken off only in a source that adopted them: enough of its lines have the prefix, and what the prefixes say agrees
(ranks are dense from 0, hosts come again with other text, numbers rise by one). Other lines stay as they are.

In: the prefixes found on a sample of a source's lines. Out: whether they are that wrapper.
Source of the shares and cross-checks: knowledge/log-formats.md, sections 0, 3, 5, 18, 19, 22, 23, 25, 30.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from troubleshoot import late
from troubleshoot.normalise.timestamps import CLOCK, ISO, SHORT, ZONE
from troubleshoot.normalise.wrappers import HOST, IDENT, SEVERITY, SPEAKING, Wrapper, wrapper

Facts = Mapping[str, str | None]
HOSTS = 4096
PODS = 256
SERVICES = 64
REPEATS = 3  # lines of each label, on average: those of some ranks only, taken out by somebody
DENSE = 16  # so many different ranks in a sample make up for those that are not in it

# Lines that launchers print themselves stand outside the wrapper that they give to others, and so do the states of a
# progress bar that were drawn over one another.
LAUNCHER_LINE = late.compile(
    r"(?:srun|slurmstepd|sbatch|salloc|mpirun|mpiexec|prterun|orterun|pdsh@\S+|bash|kill):|[-=*#+]{4,}|\+ "
    r"|Defaulted container|Killed$|Terminated$|[+-] \S+ › |\S+ exited with code \d+$|[^|]{0,80}?\d{1,3}%\|"
)


@dataclass(frozen=True, slots=True)
class WeakWrapper:
    """A prefix, the share of lines that must have it, and the cross-check on the facts of those that do.

    `sampled` tells the check that the lines are only some of the source.
    """

    wrapper: Wrapper
    share: float
    check: Callable[[Sequence[Facts], bool], bool]


def _quote(facts: Sequence[Facts], sampled: bool) -> bool:
    return True


def _line_numbers(facts: Sequence[Facts], sampled: bool) -> bool:
    """Numbers rise by one, as `cat -n` counts, or all are followed by a colon and rise, as `grep -n` has them."""
    numbers = [int(f["number"] or 0) for f in facts]
    steps = [b - a for a, b in pairwise(numbers)]
    by_one = sum(step == 1 for step in steps)
    colons = all(f["mark"] in (":", "-") for f in facts)
    return len(steps) >= 2 and all(step > 0 for step in steps) and (by_one >= 0.9 * len(steps) or colons)


def _slurm_label(facts: Sequence[Facts], sampled: bool) -> bool:
    """Ids are dense from 0, or few for the lines there are, as somebody took out those of some tasks; they are
    right-aligned to the width of the largest, and do not simply count up."""
    ids = [int(f["rank"] or 0) for f in facts]
    width = {len(f["label"] or "") for f in facts if not f["het"]}
    is_counting = all(b - a >= 1 for a, b in pairwise(ids))
    is_aligned = len(width) <= 1 and max(width, default=9) >= len(str(max(ids)))
    return is_aligned and not is_counting and (_dense(ids, sampled) or len(ids) >= REPEATS * len(set(ids)))


def _hydra(facts: Sequence[Facts], sampled: bool) -> bool:
    """Ranks are dense from 0, or few for the lines there are; a bare number after the bracket is a shell telling of a
    background job."""
    ids = [int(f["rank"] or 0) for f in facts]
    known = _dense(ids, sampled) or len(ids) >= REPEATS * len(set(ids))
    return known and not any((f["msg"] or "").isdigit() for f in facts)


def _dense(ids: Sequence[int], sampled: bool) -> bool:
    seen = set(ids)
    return len(seen) == max(ids) + 1 or (sampled and len(seen) >= DENSE)


def _compose(facts: Sequence[Facts], sampled: bool) -> bool:
    """The bar stands in one column, names are few, and some service says more than one thing."""
    names = [f["host"] or "" for f in facts]
    columns = {len(f["name"] or "") for f in facts}
    return (len(columns) == 1 or len(set(names)) <= SERVICES) and len(set(names)) < len(names)


def _stern(facts: Sequence[Facts], sampled: bool) -> bool:
    pods = [(f["pod"], f["container"]) for f in facts]
    return len(set(pods)) <= min(PODS, max(1, len(pods) - 1))


def _pdsh(facts: Sequence[Facts], sampled: bool) -> bool:
    """Names that can be hosts, each with more than one text; in a sample, most of them. A single one has more texts."""
    texts: dict[str, set[str]] = {}
    for f in facts:
        texts.setdefault(f["host"] or "", set()).add(f["msg"] or "")
    if len(texts) > HOSTS or any(_is_no_host(name) for name in texts):
        return False
    if len(texts) == 1:
        (name, said), lines = next(iter(texts.items())), len(facts)
        enough = len(said) >= 2 * REPEATS or (len(said) >= REPEATS and lines >= 4 * REPEATS)
        return enough and any(c.isdigit() for c in name)
    several = sum(len(t) > 1 for t in texts.values())
    return several >= (0.5 if sampled else 1.0) * len(texts)


def _is_no_host(name: str) -> bool:
    program = name.lower() in SPEAKING | {"bash", "sh", "python", "python3", "error", "warning", "info", "pdsh"}
    return program or name.endswith(("Error", "Exception", "Warning", "Interrupt")) or not re.search(r"\d|-", name)


def _roles(facts: Sequence[Facts], sampled: bool) -> bool:
    return len({f["role"] for f in facts}) == 1 and _dense([int(f["local_rank"] or 0) for f in facts], sampled)


def _hosts(facts: Sequence[Facts], sampled: bool) -> bool:
    """Few hosts for the lines there are: a text that only looks like `HOST PROGRAM:` has new words on each line."""
    return len({f["host"] for f in facts}) <= max(1, len(facts) // 2)


def _always(facts: Sequence[Facts], sampled: bool) -> bool:
    return True


_POD = r"[a-z0-9][a-z0-9.-]*-(?:[a-z0-9]{4,10}|\d+)"

WEAK: tuple[WeakWrapper, ...] = (
    WeakWrapper(wrapper("quote", r"(?:(?:>|&gt;|\|(?!.*\|\s*$)) ?){1,4}"), 0.6, _quote),
    WeakWrapper(wrapper("bullet", r"\s*[•▪‣] "), 1.0, _always),
    WeakWrapper(
        wrapper("line-numbers", r"[ \t]*(?P<number>\d{1,9})(?:(?P<mark>[:|-]) ?|\. |\t| {1,2}|$)"), 0.9, _line_numbers
    ),
    WeakWrapper(
        wrapper("grep", r"[\w.+-]*(?:/[\w.+-]+)*\.(?:log|txt|out|err)(?:\.\d+)?(?::(?:\d{1,9}:)?|-\d{1,9}-)"),
        0.9,
        _always,
    ),
    WeakWrapper(wrapper("slurm-label", r"(?:P(?P<het>\d+) )?(?P<label> *(?P<rank>\d{1,6})): "), 0.9, _slurm_label),
    WeakWrapper(wrapper("hydra", rf"\[(?P<rank>\d{{1,6}})(?:@(?P<host>{HOST}))?\] "), 0.9, _hydra),
    WeakWrapper(wrapper("compose", rf"(?P<name>(?P<host>{HOST}?) +)\| (?:(?P<ts>{ISO}{ZONE}) )?"), 0.9, _compose),
    WeakWrapper(
        wrapper(
            "stern",
            rf"(?:[a-z0-9][a-z0-9-]* )?(?P<pod>{_POD}) (?P<container>[a-z0-9][a-z0-9-]*) "
            rf"(?:(?P<ts>{ISO}{ZONE}|{SHORT}) )?",
        ),
        0.9,
        _stern,
    ),
    WeakWrapper(wrapper("pdsh", r"(?P<host>(?=[^:\s]*[a-zA-Z])[A-Za-z0-9][A-Za-z0-9.-]*): "), 0.9, _pdsh),
    WeakWrapper(wrapper("torchrun", r"\[(?!rank\d)(?P<role>[A-Za-z_][\w-]*?)(?P<local_rank>\d+)\]:(?! )"), 0.6, _roles),
    WeakWrapper(
        wrapper("syslog", rf"(?P<host>{HOST}) (?P<ident>{IDENT})(?:\[\d+\])?: ", after="timestamp"), 0.6, _hosts
    ),
    WeakWrapper(wrapper("cloudwatch", r"(?=\S*/)(?=\S*-)[\w.#$-][\w.#$/-]* ", after="timestamp"), 0.6, _always),
    WeakWrapper(
        wrapper("jenkins-branch", rf"\[(?!(?:{SEVERITY})\])[A-Za-z][\w. -]*\] ", after="jenkins"), 0.9, _always
    ),
    WeakWrapper(wrapper("csv", rf"\"?(?P<ts>\d{{13}}|{ISO})\"?,\"?"), 0.6, _always),
    WeakWrapper(wrapper("clock", rf"(?P<ts>{CLOCK}) {{1,2}}(?:\[[\w-]+\] )?"), 0.9, _always),
)
