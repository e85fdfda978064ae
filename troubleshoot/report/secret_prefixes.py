"""The table of secrets that show by what they begin with: a mark of their issuer, and then letters by chance.

    fw_3ZkT9...  ->  fireworks-key        xai-...  ->  xai-key        shpat_...  ->  shopify-token

A row says what stands after the mark: of which letters, and how many. Issuers add such marks for scanners to find, so
the XX secret without a mark (Cohere, Mistral, Datadog) is known by its name only.
"""

from __future__ import annotations

import re

from troubleshoot import late
from troubleshoot.report.secret_shapes import EDGE, Shape

# Twenty letters of a secret in a row, a digit among the first two hundred.
LONG = late.compile(r"(?<![0-9A-Za-z_~+=-])(?=[A-Za-z_~+=-]{0,200}[0-9])[0-9A-Za-z_~+=-]{20}")

_LETTERS = {
    "hex": "0-9a-f",
    "low": "0-9a-z",
    "upper": "0-9A-Z",
    "alnum": "0-9A-Za-z",
    "word": "0-9A-Za-z_-",
    "dotted": "0-9A-Za-z_.-",
    "base64": "0-9A-Za-z+/=_-",
}

# kind, marks, letters after it, how many: at least and at most
_MARKED: tuple[tuple[str, str, str, int, int], ...] = (
    # models, trackers and inference
    ("fireworks-key", "fw_ fpk_", "alnum", 20, 64),
    ("cerebras-key", "csk-", "low", 40, 64),
    ("together-key", "tgp_v1_", "word", 30, 80),
    ("xai-key", "xai-", "alnum", 60, 100),
    ("perplexity-key", "pplx-", "alnum", 40, 80),
    ("tavily-key", "tvly-", "word", 28, 80),
    ("e2b-key", "e2b_", "hex", 40, 64),
    ("langfuse-key", "sk-lf-", "word", 30, 48),
    ("jina-key", "jina_", "alnum", 40, 80),
    ("anyscale-key", "aph0_ esecret_", "alnum", 20, 128),
    ("elevenlabs-key", "sk_", "hex", 48, 48),
    ("huggingface-token", "hf_oauth_ hf_jwt_", "dotted", 30, 2048),
    ("logfire-token", "pylf_v1_", "word", 30, 80),
    ("apify-token", "apify_api_", "alnum", 30, 60),
    ("firecrawl-key", "fc-", "hex", 32, 32),
    ("dbt-token", "dbtc_ dbtu_", "word", 32, 80),
    ("prefect-key", "pnu_ pnb_", "alnum", 36, 36),
    # clouds and hosts
    ("aws-bedrock-key", "ABSK bedrock-api-key-", "base64", 60, 400),
    ("aws-session-token", "IQoJb3JpZ2lu FwoGZXIvYXdz", "base64", 80, 4096),
    ("alibaba-key-id", "LTAI", "alnum", 16, 30),
    ("google-refresh-token", "1//0", "word", 40, 200),
    ("google-hmac-key", "GOOG1E", "upper", 20, 60),
    ("databricks-token", "dose", "hex", 32, 32),
    ("yandex-key", "AQVN", "word", 35, 38),
    ("scaleway-key", "SCW", "upper", 17, 17),
    ("coreweave-token", "CW-SECRET-", "word", 30, 100),
    ("nebius-token", "v1.CmQ ne1", "word", 90, 400),
    ("heroku-key", "HRKU-AA", "word", 50, 64),
    ("fly-token", "fo1_ fm1_ fm1a_ fm1r_ fm2_", "base64", 40, 2048),
    ("netlify-token", "nfp_", "alnum", 30, 50),
    ("vercel-token", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", "word", 24, 80),
    ("render-key", "rnd_", "alnum", 24, 40),
    ("deno-token", "ddp_", "alnum", 36, 36),
    ("supabase-key", "sbp_ sb_secret_", "word", 30, 64),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", "dotted", 30, 80),
    ("scalingo-token", "tk-us-", "word", 48, 48),
    ("openshift-token", "sha256~", "word", 43, 43),
    # secret stores and what builds and deploys
    ("1password-token", "ops_eyJ", "base64", 200, 4096),
    ("doppler-token", "dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.", "dotted", 40, 80),
    ("pulumi-token", "pul-", "hex", 40, 40),
    ("infracost-key", "ico-", "alnum", 32, 32),
    ("defined-networking-key", "dnkey-", "word", 70, 100),
    ("dynatrace-token", "dt0c01. dt0s16. dt0s01.", "dotted", 80, 120),
    ("sentry-token", "sntrys_ sntryu_", "base64", 60, 400),
    ("sourcegraph-token", "sgp_ slk_", "word", 40, 80),
    ("sonar-token", "squ_ sqp_ sqa_", "hex", 40, 40),
    ("buildkite-token", "bkua_", "low", 40, 40),
    ("circleci-token", "CCIPAT_ CCIPRJ_", "word", 40, 80),
    ("postman-key", "PMAK-", "word", 50, 70),
    ("octopus-key", "API-", "upper", 25, 32),
    ("honeycomb-key", "hcaik_ hcalk_ hcxik_", "low", 50, 64),
    ("posthog-key", "phx_", "alnum", 40, 60),
    ("checkly-key", "cu_", "hex", 32, 32),
    ("grafana-token", "eyJrIjoi", "base64", 40, 400),
    # code and packages
    ("gitlab-token", "gloas- glrtr- glwt- GR1348941", "word", 20, 100),
    ("rubygems-token", "rubygems_", "hex", 48, 48),
    ("nuget-key", "oy2", "low", 43, 43),
    ("clojars-token", "CLOJARS_", "low", 60, 60),
    ("artifactory-token", "AKCp cmVmdGtuOjAx", "alnum", 50, 100),
    # what people and shops use
    ("dropbox-token", "sl.", "word", 130, 200),
    ("frameio-token", "fio-u-", "word", 64, 64),
    ("notion-token", "ntn_", "alnum", 40, 60),
    ("figma-token", "figd_", "word", 38, 60),
    ("linear-key", "lin_oauth_", "hex", 64, 64),
    ("contentful-token", "CFPAT-", "word", 43, 43),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", "hex", 32, 32),
    ("shippo-token", "shippo_live_ shippo_test_", "hex", 40, 40),
    ("square-token", "sq0atp- sq0csp- sq0idp-", "word", 22, 60),
    ("square-token", "EAAA", "word", 60, 60),
    ("flutterwave-key", "FLWSECK-", "dotted", 32, 40),
    ("duffel-token", "duffel_live_ duffel_test_", "word", 43, 43),
    ("easypost-token", "EZAK EZTK", "alnum", 54, 54),
    ("typeform-token", "tfp_", "dotted", 40, 80),
    ("readme-key", "rdme_", "low", 70, 70),
    ("brevo-key", "xkeysib- xsmtpsib-", "word", 64, 100),
    ("twilio-key", "SK", "hex", 32, 32),
    ("twitch-token", "oauth:", "low", 30, 30),
    ("mapbox-token", "sk.eyJ", "dotted", 60, 200),
)

# What a mark in the middle or at the end, or a form of several parts, tells of.
_FORMS: tuple[Shape, ...] = (
    Shape("1password-key", ("a3-",), EDGE + r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){3,5}[A-Z0-9]{5}(?![A-Z0-9-])"),
    Shape("azure-devops-token", ("azdo",), EDGE + r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])"),
    Shape("azure-key", ("jqqj99",), EDGE + r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{22,30}(?![A-Za-z0-9])"),
    Shape("azure-key", ("azfu", "azse", "azca"), EDGE + r"[\w-]{40,52}Az(?:Fu|Se|Ca)[\w-]{6,10}={0,2}(?![\w=])"),
    Shape(
        "azure-key",
        ("+acr",),
        r"(?:(?<![A-Za-z0-9+/])|(?<=\\[nrt]))[A-Za-z0-9+/]{42}\+ACR[A-Za-z0-9]{6}(?![A-Za-z0-9])",
    ),
    Shape("terraform-token", (".atlasv1.",), EDGE + r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{50,80}"),
    Shape("cloudflare-key", ("v1.0-",), EDGE + r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    Shape("yandex-token", ("t1.",), EDGE + r"t1\.[\w-]{40,120}={0,2}\.[\w-]{80,90}"),
    Shape("harness-token", ("pat.", "sat."), EDGE + r"[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    Shape("hubspot-token", ("pat-",), EDGE + r"pat-(?:na|eu|ap)\d-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    Shape("airtable-token", ("pat",), EDGE + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Shape("mailchimp-key", ("-us",), EDGE + r"[0-9a-f]{32}-us\d{1,2}(?![\w-])"),
    Shape("maxmind-key", ("_mmk",), EDGE + r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)"),
    Shape("resend-key", ("re_",), EDGE + r"re_(?=\w{0,40}\d)[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?!\w)"),
    Shape("clickhouse-key", ("4b1d",), EDGE + r"4b1d(?=[a-z0-9]{0,38}[A-Z])[A-Za-z0-9]{38}(?![A-Za-z0-9])"),
    Shape("snowflake-token", ("ver:1-hint:",), r"ver:1-hint:\d{1,20}-ETMsDg[\w+/=-]{50,2048}"),
    Shape("fcm-key", (":apa91b",), EDGE + r"[\w-]{7,30}:APA91b[\w-]{100,200}"),
    Shape("github-token", ("ghs_",), r"ghs_[0-9A-Za-z]{1,20}_eyJ[\w-]{8,2048}\.[\w-]{8,4096}\.[\w-]{8,2048}"),
    Shape("gitlab-session", ("_gitlab_session=",), r"_gitlab_session=(?P<s>[0-9a-z]{32})"),
    Shape(
        "modal-token",
        ("ak-", "as-"),
        EDGE + r"a[ks]-(?=[0-9A-Z]{0,21}[a-z])(?=[0-9a-z]{0,21}[A-Z])(?=[A-Za-z]{0,21}\d)[A-Za-z0-9]{22}(?![\w-])",
    ),
    Shape(
        "voyage-key",
        ("pa-",),
        EDGE + r"pa-(?=[0-9A-Z_-]{0,42}[a-z])(?=[0-9a-z_-]{0,42}[A-Z])(?=[A-Za-z_-]{0,42}\d)[\w-]{43}(?![\w-])",
    ),
)


def _shape(kind: str, marks: str, letters: str, least: int, most: int) -> Shape:
    """Return the shape of a row. A text by chance has a digit in it; a word of somebody's program seldom has."""
    mark = "|".join(re.escape(each) for each in marks.split())
    some = _LETTERS[letters]
    rest = f"(?=[{some.replace('0-9', '')}]{{0,{most}}}[0-9])[{some}]{{{least},{most}}}(?![0-9A-Za-z])"
    return Shape(kind, tuple(each.lower() for each in marks.split()), f"{EDGE}(?:{mark}){rest}")


PREFIXED: tuple[Shape, ...] = (*(_shape(*row) for row in _MARKED), *_FORMS)
