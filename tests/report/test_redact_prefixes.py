"""Secrets that show by their issuer's mark: each kind is caught as a bare word, and nothing that looks near it is.

The samples are made by chance. Their marks are written in two parts, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import random
import string

import pytest

from troubleshoot.report.redact import redact_text
from troubleshoot.report.secret_prefixes import PREFIXED

ALNUM = string.ascii_letters + string.digits
LOW = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
WORD = ALNUM + "_-"
BASE64 = ALNUM + "+/"
CHANCE = random.Random(11)


def by_chance(length: int, letters: str = ALNUM) -> str:
    """Return letters by chance, small and capital ones and a digit among them where there are such."""
    while True:
        text = "".join(CHANCE.choice(letters) for _ in range(length))
        if all(any(char in some for char in text) or not set(letters) & set(some) for some in (HEX[:10], LOW, UPPER)):
            return text


def uuid() -> str:
    return "-".join(by_chance(length, HEX) for length in (8, 4, 4, 4, 12))


SAMPLES = {
    "fireworks-key": "fw" + "_" + by_chance(24),
    "fireworks-key/short": "fw" + "_" + by_chance(22),
    "cerebras-key": "csk" + "-" + by_chance(48, LOW),
    "together-key": "tgp" + "_v1_" + by_chance(43, WORD),
    "xai-key": "xai" + "-" + by_chance(80),
    "perplexity-key": "pplx" + "-" + by_chance(48),
    "tavily-key": "tvly" + "-dev-" + by_chance(32),
    "e2b-key": "e2b" + "_" + by_chance(40, HEX),
    "langfuse-key": "sk-lf" + "-" + uuid(),
    "jina-key": "jina" + "_" + by_chance(60),
    "anyscale-key": "aph" + "0_" + by_chance(70),
    "anyscale-key/old": "esecret" + "_" + by_chance(26),
    "elevenlabs-key": "sk" + "_" + by_chance(48, HEX),
    "huggingface-token": "hf_oauth" + "_" + by_chance(60),
    "logfire-token": "pylf_v1" + "_us_" + by_chance(43),
    "apify-token": "apify" + "_api_" + by_chance(36),
    "firecrawl-key": "fc" + "-" + by_chance(32, HEX),
    "dbt-token": "dbtc" + "_" + by_chance(40, WORD),
    "prefect-key": "pnu" + "_" + by_chance(36),
    "aws-bedrock-key": "ABS" + "K" + by_chance(110, BASE64),
    "aws-session-token": "IQoJb3JpZ2lu" + "X2Vj" + by_chance(300, BASE64),
    "alibaba-key-id": "LTA" + "I" + by_chance(20),
    "google-refresh-token": "1//" + "0" + by_chance(100, WORD),
    "google-hmac-key": "GOOG" + "1E" + by_chance(55, UPPER),
    "databricks-token": "dos" + "e" + by_chance(32, HEX),
    "yandex-key": "AQV" + "N" + by_chance(36, WORD),
    "yandex-token": "t1" + "." + by_chance(86, WORD) + "." + by_chance(86, WORD),
    "scaleway-key": "SC" + "W" + by_chance(17, UPPER),
    "coreweave-token": "CW-SECRET" + "-" + by_chance(20) + "-" + by_chance(40),
    "nebius-token": "v1." + "CmQ" + by_chance(120, WORD),
    "heroku-key": "HRKU" + "-AA" + by_chance(58, WORD),
    "fly-token": "fm2" + "_lJPE" + by_chance(120, BASE64),
    "netlify-token": "nfp" + "_" + by_chance(36),
    "vercel-token": "vcp" + "_" + by_chance(50),
    "render-key": "rnd" + "_" + by_chance(28),
    "deno-token": "ddp" + "_" + by_chance(36),
    "supabase-key": "sbp" + "_" + by_chance(40, HEX),
    "supabase-key/secret": "sb_secret" + "_" + by_chance(31),
    "planetscale-token": "pscale_tkn" + "_" + by_chance(43, WORD),
    "scalingo-token": "tk-us" + "-" + by_chance(48),
    "openshift-token": "sha256" + "~" + by_chance(43),
    "1password-token": "ops" + "_eyJ" + by_chance(260),
    "1password-key": "A3-" + "-".join(by_chance(length, UPPER) for length in (6, 11, 5, 5, 5)),
    "doppler-token": "dp.pt" + "." + by_chance(43),
    "pulumi-token": "pul" + "-" + by_chance(40, HEX),
    "infracost-key": "ico" + "-" + by_chance(32),
    "defined-networking-key": "dnkey" + "-" + by_chance(26, UPPER) + "-" + by_chance(52, UPPER),
    "dynatrace-token": "dt0c01" + "." + by_chance(24, UPPER) + "." + by_chance(64, UPPER),
    "sentry-token": "sntrys" + "_eyJpYXQiOjE" + by_chance(80),
    "sourcegraph-token": "sgp" + "_" + by_chance(16, HEX) + "_" + by_chance(40, HEX),
    "sonar-token": "squ" + "_" + by_chance(40, HEX),
    "buildkite-token": "bkua" + "_" + by_chance(40, HEX),
    "circleci-token": "CCIPAT" + "_" + by_chance(22) + "_" + by_chance(40, HEX),
    "postman-key": "PMAK" + "-" + by_chance(24, HEX) + "-" + by_chance(34, HEX),
    "octopus-key": "API" + "-" + by_chance(26, UPPER),
    "honeycomb-key": "hcaik" + "_" + by_chance(58, LOW),
    "posthog-key": "phx" + "_" + by_chance(43),
    "checkly-key": "cu" + "_" + by_chance(32, HEX),
    "grafana-token": "eyJr" + "Ijoi" + by_chance(90),
    "gitlab-token": "gloas" + "-" + by_chance(64, HEX),
    "gitlab-token/runner": "GR134" + "8941" + by_chance(20),
    "gitlab-token/refresh": "glrtr" + "-" + by_chance(27),
    "rubygems-token": "rubygems" + "_" + by_chance(48, HEX),
    "nuget-key": "oy" + "2" + by_chance(43, LOW),
    "clojars-token": "CLOJARS" + "_" + by_chance(60, LOW),
    "artifactory-token": "AKC" + "p" + by_chance(69),
    "artifactory-token/reference": "cmVmdGtu" + "OjAx" + by_chance(52),
    "dropbox-token": "sl" + "." + by_chance(140),
    "frameio-token": "fio-u" + "-" + by_chance(64),
    "notion-token": "ntn" + "_" + by_chance(46),
    "figma-token": "figd" + "_" + by_chance(40),
    "linear-key": "lin_oauth" + "_" + by_chance(64, HEX),
    "contentful-token": "CFPAT" + "-" + by_chance(43),
    "shopify-token": "shpat" + "_" + by_chance(32, HEX),
    "shippo-token": "shippo_live" + "_" + by_chance(40, HEX),
    "square-token": "sq0csp" + "-" + by_chance(43),
    "flutterwave-key": "FLWSECK" + "-" + by_chance(32, HEX) + "-X",
    "duffel-token": "duffel_live" + "_" + by_chance(43),
    "easypost-token": "EZA" + "K" + by_chance(54),
    "typeform-token": "tfp" + "_" + by_chance(59),
    "readme-key": "rdme" + "_" + by_chance(70, LOW),
    "brevo-key": "xkeysib" + "-" + by_chance(64, HEX) + "-" + by_chance(16),
    "twilio-key": "S" + "K" + by_chance(32, HEX),
    "twitch-token": "oauth" + ":" + by_chance(30, LOW),
    "mapbox-token": "sk." + "eyJ" + by_chance(60) + "." + by_chance(22),
    "azure-devops-token": by_chance(76) + "AZ" + "DO" + by_chance(4),
    "azure-key/cognitive": by_chance(52) + "JQQJ" + "99" + by_chance(24),
    "azure-key/function": by_chance(44) + "Az" + "Fu" + by_chance(8) + "==",
    "azure-key/registry": by_chance(42) + "+AC" + "R" + by_chance(6),
    "terraform-token": by_chance(14) + ".atlas" + "v1." + by_chance(60),
    "cloudflare-key": "v1.0" + "-" + by_chance(24, HEX) + "-" + by_chance(146, HEX),
    "harness-token": "pat" + "." + by_chance(22) + "." + by_chance(24, HEX) + "." + by_chance(20),
    "hubspot-token": "pat" + "-na1-" + uuid(),
    "airtable-token": "pat" + by_chance(14) + "." + by_chance(64, HEX),
    "mailchimp-key": by_chance(32, HEX) + "-us" + "20",
    "maxmind-key": by_chance(6) + "_" + by_chance(29) + "_m" + "mk",
    "resend-key": "re" + "_" + by_chance(8) + "_" + by_chance(24),
    "clickhouse-key": "4b" + "1d" + by_chance(38),
    "snowflake-token": "ver:1-" + "hint:1234-ETMsDg" + by_chance(100),
    "fcm-key": "AAAA" + by_chance(7) + ":APA" + "91b" + by_chance(134),
    "github-token/app": "ghs" + "_12345_eyJ" + by_chance(60) + "." + by_chance(60) + "." + by_chance(60),
    "modal-token": "ak" + "-" + by_chance(22),
    "voyage-key": "pa" + "-" + by_chance(43),
}

HARMLESS = """\
torch/_inductor/runtime/fw_graph_of_the_backward_pass_0.py fw_kernel_fused_add_mul_relu_0123 bw_abc
pod pa-training-job-with-a-name-of-forty-letters-0 ak-node-pool-0123456789ab as-1234567890abcdef
git sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 0123456789abcdef0123456789abcdef-us-east-1
SKU 12345678901234567890 API-SERVER-VERSION-1.30.2-EKS-1552AD0 A3-MEGAGPU-8G a3-highgpu-8g-0123 SCWMEMORY_LIMIT
v1.0-rc1-0123456789abcdef01234567 t1.micro t1.0 tk-us-west-2 NVIDIA_A100-SXM4-80GB_0123456789 sk_buff_0123456789
GPU-3f2504e0-4f89-41d3-9a0c-0305e82c3301 cu_seqlens_q_0123456789 cu_12_4_cudnn_9_1_0_70 rnd_seed_01234567890123456789
libibverbs: re_register_memory_region_0x7f3a0b1c2d3e4f5a fc-0123 fc-switch-0123456789abcdef.example.com e2b_it_model_0
comm 0x55d0c0de1234 rank 3 nranks 16 cudaDev 3 busId 101c0 commId 0x8f7a6b5c4d3e2f1a - Init COMPLETE
oauth:2.0:required sl.so.1 sl.0123456789 pat.0 sat.1 dose01 jina_embeddings_v3_0123456789_base_model_of_many_words
"""


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("around", ["value {} end", "key={}", "'{}',", "https://x.example/?q={}", "a\\n{}\\nb"])
def test_marked_secret_is_masked_by_kind(name: str, around: str) -> None:
    secret = SAMPLES[name]
    redacted = redact_text(around.format(secret))
    assert secret not in redacted
    assert secret[len(secret) // 3 :] not in redacted
    if around.startswith("value"):
        assert redacted == f"value [redacted:{name.split('/')[0]}] end"


def test_every_row_of_the_table_has_a_sample() -> None:
    tried = {name.split("/")[0] for name in SAMPLES}
    assert {shape.kind for shape in PREFIXED} - tried == {"gitlab-session"}
    assert "s=[redacted" not in redact_text("no s=" + "a" * 32)
    assert redact_text("_gitlab_session=" + "0af" * 10 + "ab") == "_gitlab_session=[redacted:gitlab-session]"


@pytest.mark.parametrize("line", HARMLESS.splitlines())
def test_what_only_looks_near_stays(line: str) -> None:
    assert redact_text(line) == line


def test_there_are_more_than_a_hundred_and_forty_kinds() -> None:
    from troubleshoot.report.secret_shapes import SHAPES

    assert len({shape.kind for shape in (*SHAPES, *PREFIXED)}) > 140
