"""The table of secrets that show by their own shape. A line per kind; sources: the issuers' documentation of their
token formats and the public rule sets of gitleaks and GitHub secret scanning.

`pattern` marks the secret as group `s`, or is the secret as a whole. `literals` are lower-case texts of which one
stands in every match. A word in front of a bare prefix would make it part of something else, so those begin with
`EDGE`: not after a letter or digit, unless that belongs to an escape (`\\n`, `%3D`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    kind: str
    literals: tuple[str, ...]
    pattern: str


EDGE = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"

SHAPES: tuple[Shape, ...] = (
    # clouds
    Shape(
        "aws-access-key-id",
        ("akia", "asia", "abia", "acca"),
        EDGE + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    Shape(
        "presigned-url",
        ("x-amz-", "x-goog-", "signature="),
        r"(?i)(?:X-(?:Amz|Goog)-(?:Signature|Security-Token|Credential)|[?&]Signature)(?:=|%3D)(?P<s>[^&\s\"'<>]{4,4096})",
    ),
    Shape(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        r"(?i)(?:AccountKey|SharedAccessKey)=(?P<s>[\w%+/-]{8,512}={0,2})",
    ),
    Shape(
        "azure-sas",
        ("sig=", "sharedaccesssignature="),
        r"(?i)(?:[?&;]sig|SharedAccessSignature)=(?P<s>[\w%+/=.&-]{16,1024}?)(?=[&\s\"';]|$)",
    ),
    Shape("azure-client-secret", ("q~",), r"(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,40}(?![\w~.-])"),
    Shape("google-api-key", ("aiza",), EDGE + r"AIza[\w-]{35}(?![\w-])"),
    Shape("google-oauth", ("ya29.", "gocspx-"), EDGE + r"(?:ya29\.[\w-]{20,2048}|GOCSPX-[\w-]{20,64})"),
    Shape("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[opr]_v1_[a-f0-9]{64}"),
    Shape("databricks-token", ("dapi",), EDGE + r"dapi[a-f0-9]{32}(?:-\d)?(?![\w])"),
    # code hosts and registries
    Shape(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{40,255}",
    ),
    Shape("gitlab-token", ("gl",), r"(?:glpat|gldt|glrt|glcbt|glptt|glft|glimt|glagent|glsoat|glffct)-[\w.-]{20,300}"),
    Shape("bitbucket-token", ("atbb", "atctt3"), EDGE + r"(?:ATBB[A-Za-z0-9]{28,64}|ATCTT3xFfG[\w=.-]{20,300})"),
    Shape("pypi-token", ("pypi-ageichlw",), r"pypi-AgEIcHlw[\w-]{30,1024}"),
    Shape(
        "npm-token",
        ("npm_", "_authtoken"),
        r"npm_[A-Za-z0-9]{36}|_authToken[\"']?\s{0,4}[=:]\s{0,4}[\"']?(?P<s>[^\s\"']{8,512})",
    ),
    Shape("docker-token", ("dckr_",), r"dckr_(?:pat|oat)_[\w-]{20,128}"),
    Shape(
        "docker-auth",
        ("auth",),
        r"\"(?:auth|identitytoken|registrytoken)\\?\"\s{0,4}:\s{0,4}\\?\"(?P<s>[\w+/=.-]{16,4096})",
    ),
    # models, trackers and inference
    Shape(
        "huggingface-token",
        ("hf_", "api_org_"),
        r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))(?:hf|api_org)_[A-Za-z0-9]{30,64}(?![A-Za-z0-9])",
    ),
    Shape(
        "wandb-key",
        ("wandb",),
        r"(?i)wandb[\w .:/\"'=-]{0,40}?(?:key|login|relogin)\W{1,5}(?P<s>[0-9a-f]{40})(?![0-9a-f])"
        r"|wandb_v1_[\w-]{20,128}",
    ),
    Shape(
        "openai-key",
        ("sk-",),
        EDGE + r"sk-(?:(?:proj|svcacct|admin|None|or-v1)-[\w-]{20,256}|[A-Za-z0-9]{32,64}(?![\w-]))",
    ),
    Shape("anthropic-key", ("sk-ant-",), EDGE + r"sk-ant-[a-z0-9]{2,12}-[\w-]{20,256}"),
    Shape("ngc-key", ("nvapi-",), r"nvapi-[\w-]{40,256}"),
    Shape("replicate-token", ("r8_",), EDGE + r"r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])"),
    Shape("groq-key", ("gsk_",), EDGE + r"gsk_[A-Za-z0-9]{40,64}(?![A-Za-z0-9])"),
    Shape("kaggle-key", ('"key"',), r"\"username\"[^}\r\n]{1,100}\"key\"\s{0,4}:\s{0,4}\"(?P<s>[0-9a-f]{32})\""),
    Shape("langsmith-key", ("lsv2_",), EDGE + r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    Shape("pinecone-key", ("pcsk_",), EDGE + r"pcsk_[A-Za-z0-9_]{40,80}"),
    Shape("runpod-key", ("rpa_",), EDGE + r"rpa_[A-Z0-9a-z]{40,50}(?![A-Za-z0-9])"),
    Shape("lambda-key", ("secret_",), EDGE + r"secret_[a-z0-9-]{1,40}_[0-9a-f]{32}\.[A-Za-z0-9]{32}"),
    # chat, mail, payment, watching
    Shape("slack-token", ("xox", "xapp-", "xoxe"), r"xox[abeoprs](?:\.xox[bp])?-[\w-]{10,512}|xapp-\d-[\w-]{10,256}"),
    Shape(
        "slack-webhook",
        ("hooks.slack",),
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<s>[\w/+-]{20,256})",
    ),
    Shape("teams-webhook", ("webhook.office.com",), r"webhook\.office\.com/\w{1,16}/(?P<s>[\w@/-]{40,512})"),
    Shape("discord-webhook", ("/api/webhooks/",), r"/api/webhooks/\d{10,24}/(?P<s>[\w-]{40,128})"),
    Shape("telegram-token", (":aa",), EDGE + r"\d{8,10}:AA[\w-]{33}(?![\w-])"),
    Shape("sendgrid-key", ("sg.",), EDGE + r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    Shape("stripe-key", ("k_live_", "k_test_"), EDGE + r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,128}"),
    Shape("grafana-token", ("glsa_", "glc_"), EDGE + r"(?:glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|glc_[\w+/=]{32,400})"),
    Shape("newrelic-key", ("nrak-", "nrii-"), EDGE + r"NR(?:AK|II)-[\w-]{27,40}"),
    # identity and secret stores
    Shape(
        "jwt",
        ("eyj",),
        r"(?:(?<![\w-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))eyJ[\w-]{8,4096}\.eyJ[\w-]{8,8192}\.[\w-]{4,4096}",
    ),
    Shape("vault-token", ("hvs.", "hvb.", "hvr."), EDGE + r"hv[sbr]\.[\w-]{24,300}"),
    Shape("age-key", ("age-secret-key-",), r"(?i)AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Shape("password-hash", ("$",), r"\$(?:apr1|2[abxy]|5|6|y|argon2id?)\$[\w./$=,+-]{20,256}"),
    Shape("tailscale-key", ("tskey-",), EDGE + r"tskey-[a-z]{3,10}-[A-Za-z0-9]{8,32}(?:-[A-Za-z0-9]{16,64})?"),
    Shape("linear-key", ("lin_api_",), EDGE + r"lin_api_[A-Za-z0-9]{32,48}"),
    Shape("sentry-dsn", (".sentry.io",), r"https?://(?P<s>[0-9a-f]{32}(?::[0-9a-f]{32})?)@[\w.-]{1,100}\.sentry\.io"),
    Shape("atlassian-token", ("atatt3",), EDGE + r"ATATT3[\w=-]{30,300}"),
    # by what stands before it, whatever its shape
    Shape(
        "authorization",
        ("authorization",),
        r"(?i)authorization\\?[\"']?\s{0,4}[:=]\s{0,4}(?:b?\\?[\"'])?"
        r"(?P<s>(?:bearer|basic|token|negotiate|apikey)\s{1,4}(?![<$%{.])[^\s\"'\\,]{4,4096}"
        r"|(?:digest|aws4-hmac-sha256)\s[^'\r\n\\]{1,4096}"
        r"|[^\s\"'\\]{20,4096})",
    ),
    Shape(
        "bearer-token",
        ("bearer",),
        r"(?i)(?<![a-z0-9])bearer(?:\s{1,4}|%20)(?P<s>(?=[^\s\"']{0,200}\d)[\w.~+/=-]{16,4096})",
    ),
    Shape("basic-auth", ("basic",), r"(?i)(?<![a-z0-9])basic\s(?P<s>[A-Za-z0-9+/]{16,1024}={1,2})"),
    Shape(
        "cookie",
        ("cookie",),
        r"(?i)(?<![a-z])(?:set-)?cookie\\?[\"']?\s{0,4}:\s{0,4}\\?[\"']?(?P<s>[\w!#$%&*+.^`|~-]{1,128}=[^\"'\r\n]{1,4096})",
    ),
    Shape("xauth-cookie", ("mit-magic-cookie",), r"MIT-MAGIC-COOKIE-1\s{1,8}(?P<s>[0-9a-f]{32})"),
    Shape(
        "url-password",
        ("://",),
        r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@?#\"'<>\[]{0,256}:(?P<s>[^\s/@\"'<>]{1,512})@(?=[\w.\[-])",
    ),
    Shape(
        "url-token",
        ("token=", "key=", "auth=", "sig=", "signature=", "secret="),
        r"(?i)[?&](?:[a-z]{1,16}[_-])?(?:token|api_?key|key|auth|sig|signature|secret)=(?P<s>[^&\s\"'<>#]{12,2048})",
    ),
    Shape(
        "curl-user",
        (" -u ", "--user "),
        r"(?:curl|wget|http|lftp)(?:\s[^\r\n]{0,400}?)?\s(?:-u|--user)\s{1,4}[\"']?[^\s:\"']{1,128}:(?P<s>[^\s\"']{1,256})",
    ),
    Shape(
        "netrc",
        ("machine",),
        r"(?i)machine\s{1,8}\S{1,256}\s{1,8}login\s{1,8}\S{1,256}\s{1,8}password\s{1,8}(?P<s>[^\s\"',]{1,512})",
    ),
    Shape(
        "password-argument",
        (" login ",),
        r"(?:docker|podman|nerdctl|helm|oras|crane|skopeo|buildah)(?:\s[^\r\n]{0,40}?)?\slogin\s[^\r\n]{0,200}?"
        r"(?<=\s)-p(?:\s{1,4}|=)?[\"']?(?P<s>[^\s\"'=-][^\s\"']{3,512})",
    ),
    Shape("password-argument", ("bindpw",), r"(?i)bindpw[\"']?\s{0,4}[=:\s]\s{0,4}[\"']?(?P<s>[^\s\"',;]{3,256})"),
    Shape("munge-key", ("munge_key",), r"(?i)munge_key\s{0,4}[=:]\s{0,4}[\"']?(?P<s>[^\s\"']{16,2048})"),
    Shape("password-argument", ("sshpass",), r"sshpass\s{1,4}-p\s{0,4}[\"']?(?P<s>[^\s\"']{1,256})"),
    Shape("password-argument", ("mysql",), r"mysql(?:dump)?\s(?:[^\r\n]{0,200}?\s)?-p(?P<s>[^\s\"']{1,256})"),
    Shape("kubeadm-token", ("token",), r"(?i)token\W{1,4}(?P<s>[a-z0-9]{6}\.[a-z0-9]{16})(?![\w.])"),
)

EMAIL = r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}"
IPV4 = r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)"
IPV6_CANDIDATE = r"(?<![\w:.])(?=[0-9A-Fa-f:]{0,40}(?:::|(?::[0-9A-Fa-f]{1,4}){7}))[0-9A-Fa-f:]{2,39}(?![\w:])"
