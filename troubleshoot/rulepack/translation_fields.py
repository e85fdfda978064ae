"""What may stand in the translation of a rule: the model that files are validated with, as in `fields.py`."""

from __future__ import annotations

from pydantic import Field

from troubleshoot.rulepack.fields import NumberAsText, Text, Texts, _Fields


class FixTranslationFields(_Fields):
    """A fix's texts. What is left out stays English; commands always do."""

    title: Text | None = Field(None, description="What to do, in one line.")
    do: Text | None = Field(None, description="One or two sentences.")
    expect: NumberAsText | None = Field(None, description="Of `verify`: what it prints then, where that is prose.")
    variants: dict[str, Text] | None = Field(
        None, description="Variants that are no commands: what to click, a manifest with remarks."
    )


class TranslationFields(_Fields):
    """A rule's texts in another language: `rules/<domain>/<fault>.<language>.yaml`. Captures `{name}` stay as they are.

    What is left out stays English."""

    of: NumberAsText = Field(description="Which English it is a translation of; `troubleshoot rules check` prints it.")
    title: Text | None = Field(None, description="One line that names the fault.")
    explanation: Text | None = Field(None, description="What happened and why.")
    next: Texts | None = Field(None, description="Of `missing`: what to switch on to know, in the rule's order.")
    lookup: dict[str, dict[str, Text]] | None = Field(
        None, description="By name: English values that a look-up puts into texts, and theirs."
    )
    fixes: list[FixTranslationFields] | None = Field(None, description="One entry per fix of the rule, in its order.")
