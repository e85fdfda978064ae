"""What may stand in the translation of a rule: the model that files are validated with, as in `fields.py`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from troubleshoot.rulepack.fields import NumberAsText, Text, Texts


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class FixTranslationFields(_Fields):
    """A fix's texts. What is left out stays English; commands always do."""

    title: Text | None = Field(None, description="What to do, in one line.", examples=["查明插件为何没有被采用"])
    do: Text | None = Field(None, description="One or two sentences.", examples=["检查容器里有没有 EFA 设备。"])
    expect: NumberAsText | None = Field(
        None, description="Of `verify`: what it prints then, where that is prose.", examples=["只有一行"]
    )
    variants: dict[str, Text] | None = Field(
        None,
        description="Variants that are no commands: what to click, a manifest with remarks.",
        examples=[{"runai-ui": "在 General 部分选择 + Annotation"}],
    )


class TranslationFields(_Fields):
    """A rule's texts in another language: `rules/<domain>/<fault>.<language>.yaml`. Captures `{name}` stay as they are.

    What is left out stays English."""

    of: NumberAsText = Field(
        description="Which English it is a translation of; `troubleshoot rules check` prints it.",
        examples=["3fee1e 2bc665 - ac040d 6e52cb"],
    )
    title: Text | None = Field(
        None, description="One line that names the fault.", examples=["NCCL 在节点之间走 {network}"]
    )
    explanation: Text | None = Field(None, description="What happened and why.", examples=["作业能运行，但很慢。"])
    next: Texts | None = Field(
        None,
        description="Of `missing`: what to switch on to know, in the rule's order.",
        examples=["设置 NCCL_DEBUG=INFO 后重新运行"],
    )
    lookup: dict[str, dict[str, Text]] | None = Field(
        None,
        description="By name: English values that a look-up puts into texts, and theirs.",
        examples=[{"meaning": {"unknown error": "未知错误"}}],
    )
    fixes: list[FixTranslationFields] | None = Field(
        None, description="One entry per fix of the rule, in its order.", examples=[[{"title": "重新构建镜像"}]]
    )
