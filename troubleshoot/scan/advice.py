r"""Tells advice, guesses and quoted code from what happened.

In: the text of a record. Out: the stretches in which a match is nobody's evidence. An error message often ends in
advice that names other faults, and a traceback quotes the code that builds a message:

    CUDA error: out of memory. For debugging consider passing CUDA_LAUNCH_BLOCKING=1
                                             ^------------------------------------- not evidence
    ERROR: Unexpected bus error. This might be caused by insufficient shared memory (shm).
                                      ^----------------------------------------------- not evidence
        raise RuntimeError(f"NCCL error in: {file}")
        ^------------------------------------------- not evidence

Advice reaches from its phrase to the end of the sentence, or of the brackets in which it stands. A match that begins
before the phrase, or with it, is the message itself and counts. The lists are data: a phrase and the reason for it.
"""

from __future__ import annotations

import functools
import re

from troubleshoot import late

# A phrase, a text that it cannot do without, and the reason for it.
PHRASES: tuple[tuple[str, str, str], ...] = (
    (
        r"(?:might|may|could|can) (?:also )?be (?:caused by|due to|because)",
        " be ",
        "a guess at a cause, not a sighting",
    ),
    (r"(?:possibly|probably|potentially|perhaps) caused by", " caused by", "the same"),
    (r"(?:possibly|probably|potentially|perhaps) due to", " due to", "the same"),
    (r"(?:possible|likely|common) causes?(?: (?:is|are|include))?:?", " cause", "a list of guesses"),
    (r"(?:possible|likely|common) reasons?(?: (?:is|are|include))?:?", " reason", "the same"),
    (r"(?:it|this) is possible that", " is possible that", "torch's data loader guesses at shared memory so"),
    (r"compile with [`'\"]?torch_use_cuda_dsa", "torch_use_cuda_dsa", "printed below every CUDA error"),
    (r"for debugging consider", "for debugging consider", "printed below every CUDA error"),
    (r"consider (?:\w+ly )?\w+ing\b", "consider ", "consider setting, passing, using, increasing"),
    (
        r"try (?:to )?(?:set|add|us|runn?|increas|decreas|reduc|rais|pass|enabl|disabl|upgrad|updat)\w*",
        "try ",
        "advice",
    ),
    (r"if reserved (?:but unallocated )?memory is", "if reserved ", "torch's advice, in every out-of-memory message"),
    (
        r"you (?:can|could|may|might|should) (?:also )?(?:set|use|try|run|add|enable|disable|specify|increase)",
        "you ",
        "advice",
    ),
    (r"(?:please |to )?make sure (?:that|to|you|the)", "make sure ", "advice"),
    (
        r"please (?:set|use|try|run|consider|check|make|install|ensure|specify|upgrade|update|increase|reduce)",
        "please ",
        "advice",
    ),
    (r"\(set the (?:environment )?variable", "(set the ", "Open MPI's and libfabric's way to name a switch"),
    (r"(?:re)?run with nccl_debug=", "run with nccl_debug=", "part of every NCCL error string since 2.13"),
    (r"set nccl_debug=", "set nccl_debug=", "the same, older"),
    (r"\bhint:", "hint:", "a labelled hint"),
    (r"\btip:", "tip:", "the same"),
    (r"\bsuggestion:", "suggestion:", "the same"),
    (r"\be\.g\.,?", "e.g.", "an example of a cause"),
    (r"\bfor (?:example|instance)\b", "for ", "the same, spelt out"),
)

# Lines that are code and not output: a traceback's quotation, or a shell's trace (`set -x`) of a message being built.
CODE: tuple[tuple[str, str], ...] = (
    (r"raise\s+[\w.]+\s*(?:\(|$)|raise\s+[\w.]+\s+from\b", "Python quotes the line that raised"),
    (r"(?:warnings\.)?warn\(", "Python quotes the line that warned"),
    (r"(?:\w+\.)*(?:log(?:ger|ging)?|_log(?:ger)?|LOG(?:GER)?)\.\w+\(", "a call of a logger"),
    (r"(?:\w+\.)?(?:print|printf|fprintf|eprintln!|println!|sys\.exit)\s*\(", "a call that prints"),
    (r"throw\s+(?:new\s+)?[\w:.<>]+\s*[({]", "C++, Java, JavaScript"),
    (r"assert\s+\S.*(?:==|!=|<|>|\bis\b|\bin\b|\bnot\b|\(|,\s*f?[\"'])", "a Python assertion, as code"),
    (r"(?:AT_ERROR|[A-Z0-9_]*(?:CHECK|ASSERT)[A-Z_]*)\(.*[;,]\s*$", "torch's and NCCL's checking macros"),
    (r"(?:std::)?(?:cerr|cout)\s*<<|LOG\((?:ERROR|WARNING|FATAL|INFO)\)\s*<<", "C++ streams"),
    (r"(?:\w+\s*=\s*\(?\s*)?f[\"'][^\"']*\{", "a message put together, with its holes still open"),
    (r"\++\s+(?:echo|printf|grep|egrep|fgrep|rg|awk|sed|logger)\b", "a shell's trace of a message or a search"),
    (r"(?:echo|printf)\s+[\"'$]", "a script's own text"),
    (r"(?:if|elif|while|until)\s+.*\bgrep\b", "a script that looks for the error"),
)

_PHRASE = late.compile("|".join(f"(?:{phrase})" for phrase, _, _ in PHRASES), re.IGNORECASE)
_SIGNS = tuple({sign for _, sign, _ in PHRASES})
_CODE = late.compile(r"\s*(?:" + "|".join(f"(?:{code})" for code, _ in CODE) + ")", re.MULTILINE)
_SENTENCE_END = late.compile(r"[.!?](?=\s|$)|\n|$")


@functools.lru_cache(maxsize=512)
def advised_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the stretches of advice as half-open columns. A match that begins inside one is no evidence; one that
    begins with the phrase itself is."""
    lowered = text.lower()
    if not any(sign in lowered for sign in _SIGNS):  # as for nearly all lines; ten times as fast as the phrases
        return ()
    spans = []
    at = 0
    while (phrase := _PHRASE.search(text, at)) is not None:
        end = _end_of_advice(text, phrase.start(), phrase.end())
        spans.append((phrase.start() + 1, end))
        at = max(end, phrase.end())
    return tuple(spans)


def is_advice(text: str, start: int) -> bool:
    """Tell whether a match that begins at column `start` lies in advice."""
    spans = advised_spans(text)
    return bool(spans) and any(first <= start < end for first, end in spans)


def is_quoted_code(text: str, start: int) -> bool:
    """Tell whether the line in which column `start` lies is code that builds a message, not a message."""
    return _CODE.match(text, text.rfind("\n", 0, start) + 1) is not None


def _end_of_advice(text: str, start: int, after: int) -> int:
    """Return where advice ends: at the bracket that closes around it, else at the end of its sentence."""
    found = _SENTENCE_END.search(text, after)
    end = found.start() if found is not None else len(text)
    depth = 0
    opened = text.rfind("(", 0, start + 1) > text.rfind(")", 0, start)
    for column in range(after, end) if opened else ():
        depth += {"(": 1, ")": -1}.get(text[column], 0)
        if depth < 0:
            return column
    return end
