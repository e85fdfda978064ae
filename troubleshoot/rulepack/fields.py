"""What may stand in a rule file: the keys, their values, and what they mean, as pydantic models.

This is the one description of the rule language that a program reads: files are validated with it (`schema.py`) and the
JSON Schema that editors use is made from it (`jsonschema.py`), descriptions and examples included. Where a value has a
short form and a long one, the form is chosen by its shape (text, list, mapping) and never by trial, so that an error
speaks of what the author wrote and of nothing else.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from troubleshoot import limits
from troubleshoot.rulepack.positions import text_of

PLATFORMS = (
    "shell", "docker", "kubernetes", "yaml", "runai-cli", "runai-ui", "slurm", "sagemaker", "hyperpod", "mpirun",
    "torchrun", "python",
)  # fmt: skip
SHAPES = {str: "text", list: "list", dict: "mapping"}
TAG = "as "  # how the branches of a union are told from keys in an error's location


def _shape(value: Any) -> str | None:
    for kind, name in SHAPES.items():
        if isinstance(value, kind):
            return TAG + name
    return None


def _chosen_by_shape(expected: str) -> Discriminator:
    return Discriminator(_shape, custom_error_type="shape", custom_error_message=expected)


def _yes_or_no(value: Any) -> Any:
    """YAML 1.1 readers take a bare yes or no for a boolean; ours does not, and others hand us theirs."""
    return ("yes" if value else "no") if isinstance(value, bool) else value


_TEXT, _LIST, _MAPPING = (Tag(TAG + name) for name in SHAPES.values())

Text = Annotated[str, Field(min_length=1)]
NumberAsText = Annotated[str, BeforeValidator(text_of)]  # `2.30` counts as the text "2.30"
Texts = Annotated[Annotated[Text, _TEXT] | Annotated[list[Text], _LIST], _chosen_by_shape("text, or a list of texts")]
DocumentKind = Literal[
    "log", "env", "manifest", "describe", "fi_info", "nvidia_smi", "ls", "pip_list", "dockerfile", "resourceconfig"
]
Level = Literal["low", "medium", "high"]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


# --- signatures ------------------------------------------------------------------------------------------------------


class SignatureFields(_Fields):
    """A signature with options. One of `text`, `regex`, `use`."""

    text: Texts | None = Field(
        None,
        description="Literal text of the log line, found anywhere in it, with holes `{name}`, `{name:int}`, `{_}` for "
        "what varies. Forgives letter case, quotes, white space. A list holds alternative wordings.",
        examples=["version 'GLIBC_{needed:version}' not found (required by {library:path})"],
    )
    regex: Texts | None = Field(
        None,
        description="A pattern in `regex` syntax with named groups. Prefer `text`. A list holds alternatives.",
        examples=[r"Watchdog caught .* Timeout\(ms\)=(?P<timeout>\d+)"],
    )
    use: Text | None = Field(
        None, description="The name of a shared signature from `_shared/`.", examples=["efa_about"]
    )
    exact_case: bool | None = Field(None, description="Letter case counts.")
    lines: Annotated[int, Field(ge=1, le=limits.SPAN_LINES)] | None = Field(
        None, description="How many lines one match may span.", examples=[3]
    )
    entry: bool | None = Field(
        None,
        description="One match may span the lines of a log entry: those that follow without a time of their own, or "
        f"indented. Up to {limits.SPAN_LINES} lines, or as many as `lines` says.",
    )
    slow: Text | None = Field(
        None,
        description="Why this signature has no literal to search for and runs on every line all the same.",
        examples=["the program prints the code and nothing else"],
    )
    advice: bool | None = Field(
        None, description="May match inside advice (`try setting ...`) and in quoted source code."
    )
    applies_to: list[DocumentKind] | None = Field(
        None, description="Kinds of document this signature looks at; all if left out.", examples=[["env", "manifest"]]
    )


Alternative = Annotated[
    Annotated[Text, _TEXT] | Annotated[SignatureFields, _MAPPING], _chosen_by_shape("text or a mapping")
]
SignatureValue = Annotated[
    Annotated[Text, _TEXT]
    | Annotated[list[Alternative], _LIST, Field(min_length=1)]
    | Annotated[SignatureFields, _MAPPING],
    _chosen_by_shape("text, a list of wordings, or a mapping"),
]
NamedSignatures = dict[str, SignatureValue]


def _signatures_shape(value: Any) -> str | None:
    if isinstance(value, dict) and not {"text", "regex", "use"} & value.keys():
        return TAG + "names"
    return _shape(value)


Signatures = Annotated[
    Annotated[Text, _TEXT]
    | Annotated[list[Alternative], _LIST, Field(min_length=1)]
    | Annotated[SignatureFields, _MAPPING]
    | Annotated[NamedSignatures, Tag(TAG + "names"), Field(min_length=1)],
    Discriminator(
        _signatures_shape,
        custom_error_type="shape",
        custom_error_message="a signature, or a mapping of names to signatures",
    ),
]

# --- conditions ------------------------------------------------------------------------------------------------------


class AtLeastFields(_Fields):
    """So many of a list of conditions, so many hits of one signature, or so many different values of a capture."""

    n: Annotated[int, Field(ge=1)] = Field(description="How many.", examples=[3])
    of: Conditions = Field(description="One signature, or a list of conditions.", examples=["timeout"])
    distinct: Text | None = Field(
        None, description="Count different values of this capture, or of `rank`, `host`, `source`.", examples=["rank"]
    )


class ConditionFields(_Fields):
    """One operator (`all`, `any`, `none`, `at_least`, `in_order`, `missing`) and modifiers."""

    all: Conditions | None = Field(None, description="Each holds.", examples=[["too_old", "efa_mount"]])
    any: Conditions | None = Field(None, description="One holds.", examples=[["refused", "reset"]])
    none: Conditions | None = Field(None, description="None hits.", examples=[["recovered"]])
    at_least: AtLeastFields | None = Field(
        None, description="So many of a list, or hits of one.", examples=[{"n": 3, "of": "timeout", "distinct": "rank"}]
    )
    in_order: Conditions | None = Field(
        None, description="Each after the one before.", examples=[["started", "stopped"]]
    )
    missing: Conditions | None = Field(
        None,
        description="What should have been there and is not. Needs `given`, without which nothing is concluded.",
        examples=["libfabric_channel"],
    )
    same: Text | None = Field(
        None,
        description="What the hits must share: record, source, rank, host, job, or the name of a capture.",
        examples=["record", "rank"],
    )
    within: Text | None = Field(
        None, description="The span in which hits count together.", examples=["30 s", "5 min", "20 records"]
    )
    where: Text | None = Field(
        None,
        description="A comparison over captures: and, or, not, ==, !=, <, <=, >, >=, in; numbers, sizes, durations, "
        "dotted versions, quoted strings.",
        examples=["needed > 2.31 and code in [134, 137]"],
    )
    unless: Conditions | None = Field(
        None, description="A condition that vetoes; of a list each does.", examples=["recovered"]
    )
    since: Text | None = Field(
        None,
        description="In `unless`: from when on it vetoes, seen from the events of what it vetoes. Default `first`.",
        examples=["first - 30 s", "event 2"],
    )
    until: Text | None = Field(
        None,
        description="In `unless`: until when it vetoes; `span` is the time from the first event to the last. Default "
        "`last`.",
        examples=["last + 10 s", "event 2 + span + 10 s"],
    )
    given: Conditions | None = Field(
        None,
        description="With `missing`: the evidence that it could have been there.",
        examples=[["network_chosen", "two_nodes"]],
    )
    relevant: Conditions | None = Field(
        None,
        description="With `missing`: when the question arises at all; then without `given` it cannot be told.",
        examples=["nccl_seen"],
    )
    next: Text | None = Field(
        None, description="With `missing`: what to switch on to know.", examples=["set NCCL_DEBUG=INFO and run again"]
    )


ConditionValue = Annotated[
    Annotated[Text, _TEXT] | Annotated[ConditionFields, _MAPPING],
    _chosen_by_shape("the name of a signature, or a mapping with one operator"),
]
Conditions = Annotated[
    Annotated[Text, _TEXT]
    | Annotated[list[ConditionValue], _LIST, Field(min_length=1)]
    | Annotated[ConditionFields, _MAPPING],
    _chosen_by_shape("the name of a signature, a list of conditions, or a mapping with one operator"),
]

# --- the rest of a rule ----------------------------------------------------------------------------------------------


class LookupFields(_Fields):
    """A capture looked up in a table; the value found becomes a capture of its own."""

    table: Text = Field(description="The name of a table in `_tables/`.", examples=["xid"])
    key: Text = Field(description="The capture that selects the row.", examples=["code"])
    column: Text = Field(description="The column whose value is taken.", examples=["name"])
    default: NumberAsText = Field("", description="What stands in for a row that is not there.", examples=["unknown"])


class VerifyFields(_Fields):
    """How to see that a fix worked."""

    run: Text = Field(description="A command.", examples=["df -h /dev/shm"])
    expect: NumberAsText = Field("", description="What it prints then.", examples=["less than 90 % in use"])


class FixFields(_Fields):
    """One thing the reader can do. Captures may stand in every text."""

    title: Text = Field(description="What to do, in one line.", examples=["Rebuild the image on a newer base"])
    do: Text | None = Field(
        None, description="One or two sentences.", examples=["Take a base image with glibc {needed} or newer."]
    )
    run: Texts | None = Field(None, description="Commands, in order.", examples=["sbatch --time=24:00:00 job.sh"])
    variants: dict[str, Text] | None = Field(
        None,
        description="The same fix by platform: " + ", ".join(PLATFORMS) + ".",
        examples=[{"runai-cli": 'runai submit-dist ... --annotation "disable-auto-efa=true"'}],
    )
    safe: bool = Field(False, description="It can do no harm if the diagnosis was wrong.")
    verify: (
        Annotated[
            Annotated[Text, _TEXT] | Annotated[VerifyFields, _MAPPING],
            _chosen_by_shape("a command, or a mapping with `run` and `expect`"),
        ]
        | None
    ) = Field(
        None,
        description="How to see that it worked: a command, and what it prints then.",
        examples=[{"run": "df -h /dev/shm", "expect": "less than 90 % in use"}],
    )


LogFiles = Annotated[
    Annotated[Text, _TEXT] | Annotated[dict[str, str], _MAPPING, Field(min_length=1)],
    _chosen_by_shape("log text, or a mapping of file names to log texts"),
]


class ExampleFields(_Fields):
    """A log excerpt and what must come of it. One of `match`, `no_match`, `undecided`."""

    match: LogFiles | None = Field(
        None,
        description="Log lines on which the rule fires. Verbatim, below `|`; of several sources a mapping of names.",
        examples=["/lib/libc.so.6: version `GLIBC_2.34' not found (required by /opt/x/lib/y.so)"],
    )
    no_match: LogFiles | None = Field(
        None,
        description="The closest text that is not this fault.",
        examples=["/lib/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by /opt/x/lib/y.so)"],
    )
    undecided: LogFiles | None = Field(
        None,
        description="A log in which a `missing` cannot be told.",
        examples=["NCCL version 2.21.5+cuda12.4"],
    )
    captures: dict[str, NumberAsText] | None = Field(
        None, description="Captures that must come out so.", examples=[{"needed": "2.34"}]
    )
    confidence: Level | None = Field(None, description="The confidence that must come out.")
    also: Texts | None = Field(
        None, description="Other rules that may fire on this text.", examples=[["mpi/launch-failed"]]
    )
    why: Text | None = Field(
        None, description="Why it does or does not fire.", examples=["another library's requirement, same wording"]
    )


class RuleFields(_Fields):
    """One fault we know, or one good thing worth confirming."""

    title: Text = Field(
        description="One line that names the fault. Captures may be used.",
        examples=["The image's glibc is older than the mounted EFA stack needs (GLIBC_{needed})"],
    )
    kind: Literal["fault", "confirmation"] = Field(
        "fault", description="`confirmation` for something good and asked for."
    )
    severity: Literal["low", "medium", "high", "critical"] | None = Field(
        None, description="How bad it is if true. Required for a fault."
    )
    confidence: Level = Field("medium", description="How surely the signatures mean this fault.")
    status: Literal["draft", "stable", "deprecated", "imported"] = Field(
        "stable",
        description="Drafts are off unless asked for. `imported`: taken over from another format, so that near-misses, "
        "fixes and sources are not asked for.",
    )
    since: NumberAsText | None = Field(
        None, description="The first version of the pack that has this rule.", examples=["1.4"]
    )
    symptom: bool = Field(False, description="Never stands first when anything else was found.")
    generic: bool = Field(False, description="A catch-all, which never makes a log known.")
    systems: Texts | None = Field(None, description="Names a reader would search by.", examples=[["efa", "nccl"]])
    tags: Texts | None = Field(
        None, description="Names that `causes` of other rules can mean.", examples=[["peer-lost"], ["echo"], ["exit"]]
    )
    applies_to: list[DocumentKind] | None = Field(
        None, description="Kinds of document this rule looks at; all if left out.", examples=[["env", "manifest"]]
    )
    signatures: Signatures = Field(
        description="The lines to recognise: one signature, or a mapping of names to signatures. A plain text is "
        "literal, with holes `{name}`, `{name:int}` for what varies.",
        examples=[
            "version 'GLIBC_{needed:version}' not found",
            {"too_old": "version 'GLIBC_{needed:version}' not found"},
        ],
    )
    condition: ConditionValue | None = Field(
        None,
        description="What must hold over the signatures. Not needed where there is only one.",
        examples=[{"all": ["too_old", "efa_mount"], "same": "record"}],
    )
    supports: Texts | None = Field(
        None, description="Signatures that raise confidence by a step when they hit.", examples=[["efa_about"]]
    )
    contradicts: Texts | None = Field(
        None, description="Signatures that lower confidence by a step when they hit.", examples=[["recovered"]]
    )
    lookup: dict[str, LookupFields] | None = Field(
        None,
        description="Captures looked up in a table.",
        examples=[{"meaning": {"table": "xid", "key": "code", "column": "name", "default": "unknown"}}],
    )
    explanation: Text | None = Field(
        None,
        description="What happened and why, for a person in a hurry. Captures may be used.",
        examples=["Slurm killed the job because it ran longer than its `--time`."],
    )
    fixes: list[FixFields] | None = Field(
        None,
        description="What to do, best first, few.",
        examples=[[{"title": "Ask for more time", "run": "sbatch --time=24:00:00 job.sh"}]],
    )
    owner: Literal["user", "platform", "vendor"] = Field("user", description="Who can fix it.")
    retry: Annotated[Literal["yes", "no", "after-fix"], BeforeValidator(_yes_or_no)] = Field(
        "after-fix", description="Does running it again help."
    )
    causes: Texts | None = Field(
        None,
        description="Findings that this one explains: rule ids, `domain/*`, or tags.",
        examples=[["mpi/launch-failed", "#peer-lost"]],
    )
    fingerprint: Texts | None = Field(
        None, description="Captures that tell one fault of this rule from another.", examples=[["library"]]
    )
    references: Texts | None = Field(
        None,
        description="Documents, or the source files where the messages are born.",
        examples=[["https://slurm.schedmd.com/sbatch.html"]],
    )
    examples: list[ExampleFields] | None = Field(
        None, description="A log that matches and a near miss, at least.", examples=[[{"match": "...\n"}]]
    )


KEYS = tuple(RuleFields.model_fields)  # in the order in which they are written


for _model in (AtLeastFields, ConditionFields, RuleFields):
    _model.model_rebuild()
