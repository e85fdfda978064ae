"""Secrets that show by the name before them: `password=`, `"client_secret":`, `--api-key x`, `HF_TOKEN=`.

A hint (`passw`, `token`, ...) is searched for, the identifier around it is read by widening to both sides, and then
the separator and the value after it. Logs of training jobs are full of `num_tokens=4096`, `pad_token: "<pad>"`,
`TOKENIZERS_PARALLELISM=false` and `secretName: regcred`, so name and value must both look the part:

    hf_token = hf_x1y2...   access_token: "..."   DB_PASSWORD=...   --token ...     secrets
    max_tokens=512   eos_token: "</s>"   AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/...   not
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from troubleshoot import late

HINTS = ("passw", "passphrase", "secret", "token", "credential", "key", "pwd", "auth", "dockerconfigjson")
HINT = late.compile(
    r"passw(?:or)?d|passphrase|secret|token|credential"
    r"|api[_-]?key|(?:private|access|account|encryption|signing|master|auth|kaggle|storage|ngc|wandb)[_-]?key"
    r"|client-key-data|\.?dockerconfigjson|(?<=_)pwd|(?<=_)auth(?==)",
    re.IGNORECASE,
)
NAME_BEFORE = late.compile(r"[A-Za-z0-9_.-]{0,64}\Z")
NAME_AFTER = late.compile(r"[A-Za-z0-9_-]{0,40}")
ASSIGN = late.compile(r"""\\?["']?\]?\s{0,4}(?:=>|:=|[:=])[ \t]{0,16}(?:[bru]?(?=\\?["']))?""")
ARGUMENT = late.compile(r"""(?:[ \t]{1,4}|=|["'],\s{0,4})(?=[^-\s])""")
NAMED_VALUE = late.compile(  # {"name": "HF_TOKEN", "value": "..."} and the same in YAML over two lines
    r"""\\?["']?\s{0,4},?\s{0,64}\\?["']?value\\?["']?\s{0,4}:[ \t]{0,4}"""
)
QUOTED = late.compile(r"""(?P<q>\\?["'])(?P<s>[^\r\n]{0,2048}?)(?P=q)""")
BARE = late.compile(r"""[^\s"',;&|<>()\[\]{}\\]{1,4096}""")
PLACEHOLDER_WORD = late.compile(r"[A-Z_-]{0,16}(?:KEY|TOKEN|PASS|PASSWORD|SECRET)[A-Z_-]{0,16}")
CODE = late.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+")  # a traceback quotes `password=config.password`
PATH = late.compile(r"(?:~|\.{0,2})/\S*/\S*|s3://\S+|https?://\S+")
AWS_SECRET_CHARS = 40  # of an alphabet with a slash: may look like a path
BARE_ENV = late.compile(r"\S{1,4096}")  # a line of `env`: whatever is there up to a blank

NOT_A_SECRET_TAIL = late.compile(  # what the name says about the secret rather than holding it
    r"(?:^|[_.-]|(?<=[a-z])(?=[A-Z]))"
    r"(?:name|names|ids?|path|file|dir|ur[il]|arn|type|ref|keyref|seconds|secs|count|size|len|length|expir\w*|ttl|version"
    r"|enabled|policy|provider|class|mode|limits?|usage|rate|manager|store|namespace|mount|volume|format|source|hash|index"
    r"|required|prompt|column|parallelism|min|max|per|field|types?|s)$",
    re.IGNORECASE,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ML_TOKEN_WORDS = _words(
    """
    pad eos bos unk sep cls mask image special num max min total per of prompt completion input output new
    next first last start end stop added vocab text audio video visual think cached ignore decoder forced bad
    suppress loss valid n global batch train eval seq sequence
    """
)
TOKEN_WORDS = _words(
    """
    access auth refresh session bearer hf hub huggingface bot api git github gitlab gh wandb login client
    slack ngc security personal deploy registry npm pypi kube k8s service sa account user admin root jwt oauth
    csrf xsrf vault consul job ci write read push pull webhook app private secret identity id databricks
    neptune comet mlflow clearml dd sentry do gcp aws azure openai anthropic runai docker
    """
)
WORDS_OF_PROSE = _words(
    """
    true false none null nil yes no undefined set unset required missing invalid expired denied failed wrong
    incorrect empty not must is the was too permission authentication found authorized redacted hidden masked
    provided default connection closed change prompt for and or unknown error expected unexpected rejected
    optional string str int bool please enter with from
    """
)
Span = tuple[int, int, str]


def find_named_secrets(text: str, lower: str) -> Iterator[Span]:
    """Yield (start, end, kind) of values whose name gives them away. `lower` is the text in lower case."""
    if not any(hint in lower for hint in HINTS):
        return
    taken = 0
    for match in HINT.finditer(text):
        if match.start() < taken:
            continue
        span = _value_after(text, match)
        if span is not None:
            taken = span[1]
            yield span


def _value_after(text: str, hint: re.Match[str]) -> Span | None:
    before_at = max(0, hint.start() - 64)
    before = NAME_BEFORE.search(text[before_at : hint.start()])
    head = before[0] if before else ""
    after = NAME_AFTER.match(text, hint.end())
    tail = after[0] if after else ""
    name = head + hint[0] + tail
    if not _is_secret_name(head, hint[0], tail):
        return None
    at = hint.end() + len(tail)
    is_env = name.isupper() and text[at : at + 1] == "="
    is_argument = head.startswith("--")
    separator = (ARGUMENT if is_argument else ASSIGN).match(text, at) or NAMED_VALUE.match(text, at)
    if separator is None:
        return None
    value = _value_at(text, separator.end(), is_env and _begins_line(text, hint.start() - len(head)))
    if value is None:
        return None
    start, end, is_quoted = value
    if not (is_quoted or is_env or is_argument) and (
        CODE.fullmatch(text, start, end) or text[end : end + 1] in ("(", "[")
    ):
        return None
    sure = is_env or is_argument or _is_password(hint[0])
    return (start, end, _kind(hint[0])) if _is_secret_value(text[start:end], sure, is_quoted) else None


def _value_at(text: str, at: int, is_env_line: bool) -> tuple[int, int, bool] | None:
    quoted = QUOTED.match(text, at)
    if quoted:
        return (*quoted.span("s"), True)
    bare = (BARE_ENV if is_env_line else BARE).match(text, at)
    if bare is None:
        return None
    return (bare.start(), bare.end(), False)


def _begins_line(text: str, at: int) -> bool:
    return at <= 0 or text[at - 1] in "\r\n"


def _is_password(hint: str) -> bool:
    return hint.lower().startswith(("passw", "passphrase", "pwd"))


def _is_secret_name(head: str, hint: str, tail: str) -> bool:
    if tail and tail[0].islower() == hint[-1].islower() and tail[0].isalpha() and tail.lower() != "s":
        return False  # tokenizer, TOKENIZERS: another word
    if NOT_A_SECRET_TAIL.search(tail) and not (tail in ("s", "S") and hint.lower() != "token"):
        return False
    if hint.lower() == "token":
        return _is_secret_token(head, hint)
    return True


def _is_secret_token(head: str, hint: str) -> bool:
    """Tell `hub_token` from `eos_token` by the word before. A bare `token` may be either; its value decides."""
    words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+", head)
    word = words[-1].lower() if words else ""
    if not word:
        return True
    return word not in ML_TOKEN_WORDS if hint.isupper() or head.startswith("--") else word in TOKEN_WORDS


def _is_secret_value(value: str, sure: bool, is_quoted: bool) -> bool:
    """Say whether a value after a secret's name is one. `sure`: the name alone leaves no doubt."""
    if len(value) < 3 or is_placeholder(value):
        return False
    if value.lower().strip(".,!:") in WORDS_OF_PROSE or (len(value) != AWS_SECRET_CHARS and PATH.fullmatch(value)):
        return False
    if sure:
        return not (value.isdigit() and len(value) < 4)
    has_digit = any(char.isdigit() for char in value)
    has_letter = any(char.isalpha() for char in value)
    if " " in value:
        return False
    return (has_digit and has_letter and len(value) >= 8) or len(value) >= (8 if is_quoted else 16)


def is_placeholder(value: str) -> bool:
    """Say whether a value stands for a secret rather than being one: `$TOKEN`, `<token>`, `***`, `xxxx`, `YOUR_KEY`."""
    return value[:1] in "<$%{[*" or len(set(value.lower())) <= 2 or PLACEHOLDER_WORD.fullmatch(value) is not None


def _kind(hint: str) -> str:
    lower = hint.lower().lstrip(".")
    if _is_password(hint):
        return "password"
    if lower == "token":
        return "token"
    if lower == "secret":
        return "secret"
    if lower.endswith("key"):
        return "api-key" if lower.startswith("api") else "key"
    return {"client-key-data": "private-key", "dockerconfigjson": "docker-auth"}.get(lower, "credential")
