"""What may stand in the files beside a pack's rules (`pack.yaml`, tables, shared signatures) and in overrides, as
pydantic models: see `fields.py` for rules."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from troubleshoot.rulepack.fields import Level, NumberAsText, SignatureValue, Text, Texts


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PackFields(_Fields):
    """`pack.yaml`: who a folder of rules is."""

    name: Annotated[str, Field(min_length=1)] = Field(
        description="The pack's name, by which its rules can be told from others: `acme` for `acme:gpu/hot`. "
        "Lower-case letters, digits and hyphens.",
        examples=["acme"],
    )
    title: Text | None = Field(None, description="What it is, in one line.", examples=["Faults of the acme cluster"])
    version: NumberAsText | None = Field(None, description="The pack's own version.", examples=["1.4"])
    min_engine: NumberAsText | None = Field(
        None, description="The first version of troubleshoot that understands its rules.", examples=["0.1"]
    )
    replaces: Texts | None = Field(
        None,
        description="Rules of packs below that its own of the same id stand in for on purpose: ids or globs.",
        examples=[["gpu/fell-off-bus", "nccl/*"]],
    )


class OverrideFields(_Fields):
    """What becomes of the rules that an entry names."""

    severity: Literal["low", "medium", "high", "critical"] | None = Field(None, description="The severity they get.")
    confidence: Level | None = Field(None, description="The confidence they get.")
    disable: bool = Field(False, description="They are left out.")
    reason: Text | None = Field(
        None,
        description="Why, for whoever reads the file next.",
        examples=["our file system prints this on every start"],
    )


class OverridesFile(RootModel[dict[str, OverrideFields]]):
    """By rule id, glob or `pack:id`; a later entry stands over an earlier one."""

    model_config = ConfigDict(strict=True)


class TableFields(_Fields):
    """A table: what a vendor numbers, once."""

    title: Text | None = Field(None, description="What it lists, in one line.", examples=["Xid codes"])
    references: Texts | None = Field(
        None,
        description="Documents, or the source files that the table was made from.",
        examples=[["https://docs.nvidia.com/deploy/xid-errors/"]],
    )
    columns: list[Text] = Field(description="The names of the columns.", examples=[["name", "action"]])
    rows: dict[str, dict[str, NumberAsText]] = Field(
        description="By key, what stands in the columns. A row may leave some out.",
        examples=[{"79": {"name": "GPU has fallen off the bus", "action": "reboot"}}],
    )


class SharedFile(RootModel[dict[str, SignatureValue]]):
    """Signatures by name, which rules use: `{ use: name }`."""

    model_config = ConfigDict(strict=True)
