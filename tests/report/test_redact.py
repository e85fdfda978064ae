"""What is taken out, what is left alone, and that a report stays a report."""

from __future__ import annotations

import random
import string
import time
from dataclasses import replace
from pathlib import Path

import pytest
from report_samples import EVIDENCE, FINDING, REPORT

from troubleshoot.model import Condition, Hit, Op, Outcome, Record, SignatureHit, Source, Suspect, Truth
from troubleshoot.report.redact import redact, redact_text

ROOT = Path(__file__).parents[2]


def fake(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """A value of the right shape, made here so that no scanner takes this file for a leak."""
    made = random.Random(length).choices(alphabet, k=length - 2)
    return "".join(("Q", *made, "7"))


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
AKIA = "AKI" + "A" + fake(16, UPPER).upper()
JWT = f"ey{'J'}hbGciOiJIUzI1NiJ9.ey{'J'}{fake(60)}.{fake(43)}"
PEM = "-----BEGIN RSA PRIVATE" + " KEY-----"
PEM_END = "-----END RSA PRIVATE" + " KEY-----"

# kind -> (text with {} for the secret, the secret). Several texts of one kind have a number behind the kind.
SECRETS: dict[str, tuple[str, str]] = {
    "aws-access-key-id": ("botocore: using key {} for s3", AKIA),
    "aws-access-key-id/asia": ("AWS_ACCESS_KEY_ID={}", "ASI" + "A" + fake(16, UPPER).upper()),
    "secret/aws-env": ("AWS_SECRET_ACCESS_KEY={}", fake(40, string.ascii_letters + "/+")),
    "secret/aws-with-slashes": ("AWS_SECRET_ACCESS_KEY={}", "/" + fake(18) + "/" + fake(20)),
    "secret/aws-json": ('"SecretAccessKey": "{}",', fake(40)),
    "token/aws-session": ("export AWS_SESSION_TOKEN={}", fake(300)),
    "presigned-url": ("GET https://b.s3.amazonaws.com/x?X-Amz-Signature={}&X-Amz-Date=20261130T000000Z", fake(64, HEX)),
    "presigned-url/gcs": ("https://storage.googleapis.com/b/o?X-Goog-Signature={}", fake(128, HEX)),
    "presigned-url/token": ("?X-Amz-Security-Token={}&x=1", fake(200)),
    "azure-key": ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x", fake(86) + "=="),
    "azure-sas": ("https://a.blob.core.windows.net/c/b?sv=2022-11-02&sig={}&se=2026", fake(44)),
    "azure-client-secret": ("client {} used", "abc8Q~" + fake(34)),
    "google-api-key": ("key={}", "AI" + "za" + fake(35)),
    "google-oauth": ("Using ya29 {}", "ya29." + fake(80)),
    "private-key/gcp": (
        '"private_key": "-----BEGIN PRIVATE' + ' KEY-----{}-----END PRIVATE KEY-----\\n"',
        "\\n" + fake(64) + "\\n",
    ),
    "digitalocean-token": ("{}", "dop_v1_" + fake(64, HEX).lower().replace("q", "a")),
    "databricks-token": ("DATABRICKS: {}", "dap" + "i" + fake(32, HEX).lower().replace("q", "a")),
    "github-token": ("git clone with {}", "ghp" + "_" + fake(36)),
    "github-token/fine": ("{}", "github" + "_pat_" + fake(82)),
    "github-token/escaped": ('{{"log":"x\\n{}\\n"}}', "ghs" + "_" + fake(36)),
    "gitlab-token": ("remote: {}", "glpat" + "-" + fake(20)),
    "pypi-token": ("{}", "pypi-" + "AgEIcHlwaS5vcmc" + fake(100)),
    "curl-user/first": ("curl -u admin:{} https://x.example", fake(12)),
    "kaggle-key": ('{{"username":"bob","key":"{}"}}', fake(32, HEX).lower().replace("q", "a")),
    "langsmith-key": ("{}", "lsv2_pt_" + "5" * 32 + "_" + "a" * 10),
    "pinecone-key": ("key {}", "pcsk" + "_" + fake(60)),
    "runpod-key": ("key {}", "rpa" + "_" + fake(44)),
    "lambda-key": ("{}", "secret_cluster_" + "5" * 32 + "." + fake(32)),
    "password-hash/apache": ("admin:{}", "$apr" + "1$ab12cd34$" + fake(22)),
    "tailscale-key": ("tailscale up --authkey {}", "tskey-" + "auth-" + fake(17) + "-" + fake(32)),
    "linear-key": ("{}", "lin" + "_api_" + fake(40)),
    "sentry-dsn": ("dsn https://{}@o123.ingest.sentry.io/45", "9" * 16 + "ab" * 8),
    "password-argument/docker": ("docker login -u $oauthtoken -p {} nvcr.io", fake(84)),
    "password-argument/ldap": ("bindpw {}", fake(10)),
    "munge-key": ("MUNGE_KEY={}", fake(40)),
    "npm-token": ("//registry.example.com/:_authToken={}", fake(40)),
    "npm-token/bare": ("{}", "npm" + "_" + fake(36)),
    "docker-token": ("docker login -p {}", "dckr_" + "pat_" + fake(27)),
    "docker-auth": ('{{"auths":{{"nvcr.io":{{"auth": "{}"}}}}}}', fake(40)),
    "docker-auth/secret": (".dockerconfigjson: {}", "eyJhdXRocyI6" + fake(60)),
    "huggingface-token": ("huggingface-cli login --token {}", "hf" + "_" + fake(34)),
    "wandb-key": ("wandb: Appending key for api.wandb.ai: wandb login {}", fake(40, HEX).lower().replace("q", "a")),
    "openai-key": ("openai.AuthenticationError: Incorrect API key: {}.", "sk" + "-" + fake(48)),
    "openai-key/project": ("{}", "sk" + "-proj-" + fake(80)),
    "anthropic-key": ("x-api {}", "sk" + "-ant-api03-" + fake(90)),
    "ngc-key": ("docker: login nvcr.io {}", "nvapi" + "-" + fake(64)),
    "replicate-token": ("{}", "r8" + "_" + fake(37)),
    "groq-key": ("{}", "gsk" + "_" + fake(52)),
    "slack-token": ("{}", "xoxb" + "-1234567890-" + fake(24)),
    "slack-token/app": ("{}", "xapp" + "-1-A012-" + fake(24)),
    "slack-webhook": ("POST https://hooks.slack.com/services/{}", "T0000/B0000/" + fake(24)),
    "teams-webhook": ("https://x.webhook.office.com/webhookb2/{}", fake(80)),
    "discord-webhook": ("https://discord.com/api/webhooks/123456789012345678/{}", fake(68)),
    "telegram-token": ("bot {}", "123456789:" + "AA" + fake(33)),
    "sendgrid-key": ("{}", "SG" + "." + fake(22) + "." + fake(43)),
    "stripe-key": ("{}", "sk" + "_live_" + fake(24)),
    "grafana-token": ("{}", "glsa" + "_" + fake(32) + "_0a1b2c3d"),
    "newrelic-key": ("{}", "NRA" + "K-" + fake(27)),
    "jwt": ("mounted token {} for default", JWT),
    "vault-token": ("vault: {}", "hvs" + "." + fake(90)),
    "password-hash": ("root:{}:19000:0:99999:7:::", "$6$" + fake(16) + "$" + fake(86)),
    "authorization": ("> Authorization: {}", "Bearer " + fake(40)),
    "authorization/basic": ("{{'Authorization': '{}', 'Accept': '*/*'}}", "Basic " + fake(40)),
    "authorization/aws4": ("Authorization: {}", "AWS4-HMAC-SHA256 Credential=x/20261130, Signature=" + fake(64, HEX)),
    "bearer-token": ("curl -H 'auth: Bearer {}'", fake(40)),
    "cookie": ("Set-Cookie: {}", "session=" + fake(24) + "; Path=/; HttpOnly"),
    "xauth-cookie": ("node/unix:0 MIT-MAGIC-COOKIE-1 {}", fake(32, HEX).lower().replace("q", "a")),
    "url-password": ("pip install --index-url https://bob:{}@pypi.example.com/simple x", "hunter2!"),
    "url-password/redis": ("redis://:{}@redis-0:6379/0", "s3cr3t"),
    "url-password/postgres": ("sqlalchemy postgresql+psycopg://app:{}@db.internal:5432/jobs", "p%40ss"),
    "url-token": ("GET /download?file=a.tar&token={}", fake(24)),
    "curl-user": ("+ curl -sS -u admin:{} https://nexus.example.com/x", "letmein99"),
    "netrc": ("machine github.com login bob password {}", "abc123xyz"),
    "password-argument": ("sshpass -p {} ssh root@node", "toor99"),
    "password-argument/mysql": ("mysql -h db -u root -p{} jobs", "toor99"),
    "kubeadm-token": ("kubeadm join 10.0.0.1:6443 --token {}", "abcdef.0123456789abcdef"),
    "password": ("db password: {}", "hunter2"),
    "password/argument": ("train.py --password {} --lr 0.1", "hunter"),
    "password/argument-equals": ("--redis-password='{}'", "a b c!"),
    "password/argv": ("args = ['--db-password', '{}', '--x']", "hunter"),
    "password/env": ("MYSQL_ROOT_PASSWORD={}", "we,ird;pa&ss"),
    "password/connection-string": ("Server=db;Database=x;User Id=sa;Password={};Encrypt=yes", "Pa55w0rd"),
    "password/pg": ("PGPASSWORD={} psql", "hunter"),
    "password/pwd": ("DB_PWD={}", "hunter2"),
    "secret": ("client_secret={}", fake(32)),
    "secret/env": ("MY_SECRET={}", "swordfish"),
    "token/env": ("RUNAI_TOKEN={}", "swordfish"),
    "token/json": ('{{"access_token": "{}", "expires_in": 3600}}', fake(32)),
    "token/escaped-json": ('{{\\"refresh_token\\":\\"{}\\"}}', fake(32)),
    "token/dict": ("{{'hub_token': '{}', 'seed': 1}}", fake(20)),
    "token/manifest": ("- name: GIT_TOKEN\n  value: {}", "swordfish99"),
    "token/manifest-json": ('{{"name":"CI_TOKEN","value":"{}"}}', "swordfish99"),
    "api-key": ("api_key = '{}'", fake(32)),
    "api-key/argument": ("--wandb-api-key {}", fake(40, HEX)),
    "api-key/env": ("NGC_API_KEY={}", fake(84)),
    "key/azure-storage": ("AZURE_STORAGE_KEY={}", fake(88)),
    "private-key/kubeconfig": ("    client-key-data: {}", fake(200)),
    "credential": ("credentials={}", fake(24)),
}

HARMLESS = """\
mpirun: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /opt/amazon-efa-ofi/lib/x.so.40)
NCCL INFO Channel 13/0 : 2[2] -> 10[2] [send] via NET/AWS Libfabric/2/GDRDMA
NCCL INFO comm 0x55d0c0de1234 rank 3 nranks 16 cudaDev 3 busId 101c0 commId 0x8f7a6b5c4d3e2f1a - Init START
[rank3]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2395
image sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 pulled
git commit 2aae6c35c94fcfb415dbe95f408b9ce91ee846ed
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-3f2504e0-4f89-41d3-9a0c-0305e82c3301)
pod 3f2504e0-4f89-41d3-9a0c-0305e82c3301 deleted
max_tokens=4096 num_tokens: 131072 tokens_per_second=12345678 total_tokens=99999999
pad_token: "<|endoftext|>" eos_token='</s>' eos_token_id: 50256 bos_token=<s> unk_token: [UNK]
PAD_TOKEN=endoftext128 EOS_TOKEN=endoftext128
TOKENIZERS_PARALLELISM=false tokenizer=meta-llama/Llama-3-8B-Instruct tokenizer_path: /models/tok1234567
loss 1.2 | tokens/s 38123.5 | grad_norm 0.3
AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/eks.amazonaws.com/serviceaccount/token
GOOGLE_APPLICATION_CREDENTIALS=/etc/gcp/key.json
PWD=/workspace/project OLDPWD=/root
MountVolume.SetUp failed for volume "creds" : secret "hf-token-2026" not found
Error: couldn't find key HF_TOKEN in Secret default/hub-credentials-1
secretName: registry-credentials-2 imagePullSecrets: [regcred12345678]
HF_TOKEN:   <set to the key 'token' in secret 'hf-secret-1'>  Optional: false
export HF_TOKEN=$HF_TOKEN API_KEY=${API_KEY} --token "$TOKEN" --password <password> NGC_API_KEY=YOUR_NGC_KEY
password=****** token: [redacted:token] secret=xxxxxxxx
Password: incorrect. password authentication failed for user "train1234"
Permission denied (publickey,password,keyboard-interactive).
huggingface_hub.errors.HfHubHTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/api/models/x
Invalid username or password. Token is required, but no token found. token: invalid
ValueError: Unexpected token 'endoftext1' at position 12
wandb: ERROR api_key not configured (no-tty). call wandb.login(key=[your_api_key])
ssh: connect to host worker-0.train-job.default.svc.cluster.local port 22: Connection refused
rsync://mirror.example.com:873/x https://example.com:8443/path@v1.2 docker.io/library/x:tag@sha256:abcdef
scp -P 22 root@10.0.0.1:/x git@github.com:org/repo.git
python train.py --tokenizer gpt2 --pad-token end128of --token-count 77777777 --keyfile /etc/k
basic configuration of bearer plugs; Basic authentication is off
risk-assessment-of-disk-usage-0123456789 task-sk-train-worker
CUDA error: an illegal memory access was encountered; kernel key=val key: 0x7f3a0b1c2d3e4f5a
X-Request-ID: 8f7a6b5c4d3e2f1a; authorization mode Node,RBAC
Xid (PCI:0000:10:1c): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
NCCL version 2.21.5+cuda12.4 libfabric 1.22.0amzn4.0 OpenMPI 4.1.7
E1130 20:33:06.432000 140 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -6)
c = Client(address, authkey=process.current_process().authkey, password=args.password, api_key=os.environ["API_KEY"])
secret sharing and the key takeaways of a token ring; author: someone@example.com from 10.11.12.13
"""


@pytest.mark.parametrize("name", SECRETS)
def test_secret_is_masked_by_kind(name: str) -> None:
    template, secret = SECRETS[name]
    expected = template.format(f"[redacted:{name.split('/')[0]}]")
    assert redact_text(template.format(secret)) == expected


def test_there_are_tests_for_forty_kinds() -> None:
    assert len({name.split("/")[0] for name in SECRETS}) >= 40


@pytest.mark.parametrize("line", HARMLESS.splitlines())
def test_harmless_line_stays(line: str) -> None:
    assert redact_text(line) == line


def test_redacting_twice_is_redacting_once() -> None:
    for template, secret in SECRETS.values():
        once = redact_text(template.format(secret))
        assert redact_text(once) == once


@pytest.mark.parametrize("prefix", ["", "2026-11-30T20:33:06Z [pod-0/main] "])
def test_private_key_block_keeps_its_lines(prefix: str) -> None:
    body = [fake(64), fake(60), fake(20) + "=="]
    lines = [prefix + each for each in (PEM, *body, PEM_END)] + ["loss 1.0"]
    redacted = redact_text("\n".join(lines)).split("\n")
    assert [redacted[0], *redacted[4:]] == [lines[0], lines[4], "loss 1.0"]
    assert redacted[1:4] == [prefix + "[redacted:private-key]"] * 3


def test_private_key_that_breaks_off_takes_no_log_lines() -> None:
    lines = [PEM, fake(64), "step 10 loss 3.1", "A" + fake(64)]
    assert redact_text("\n".join(lines)).split("\n") == [PEM, "[redacted:private-key]", *lines[2:]]


def test_emails_and_addresses_go_only_when_asked_for() -> None:
    text = "mail bob.b+x@example.com from 10.11.12.13, fe80::1:2 and 127.0.0.1 at 12:30:45, version 1.2.3"
    assert redact_text(text) == text
    assert redact_text(text, emails=True, ips=True) == (
        "mail [redacted:email] from [redacted:ip], [redacted:ip] and 127.0.0.1 at 12:30:45, version 1.2.3"
    )


def test_no_rule_is_changed() -> None:
    """What rules live on must pass: their patterns, and the examples as logs print them."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "rules").rglob("*.yaml"))}
    assert [str(path) for path, text in texts.items() if redact_text(text) != text] == []


def test_no_corpus_log_is_changed() -> None:
    changed = []
    for path in sorted((ROOT / "corpus").rglob("*")):
        if path.is_file() and path.suffix not in {".md", ".yaml", ".sh"}:
            text = path.read_bytes().decode("utf-8", "replace")
            if redact_text(text) != text:
                changed.append(str(path))
    assert changed == []


def test_report_is_clean_in_all_its_texts_and_spans_still_point_at_the_match() -> None:
    secret = fake(30)
    text = f"HF_TOKEN={secret} torchrun: rendezvous failed for https://bob:{secret}@hub.example.com"
    start = text.index("rendezvous")
    record = Record(Source("a.log"), 1, 1, 0, text, text)
    hit = Hit(0, record, {"value": secret}, start, start + 17)
    outcome = Outcome(Condition(Op.SIGNATURE, signature="line"), Truth.TRUE, (SignatureHit("line", hit),))
    evidence = replace(EVIDENCE, text=text, start=start, end=start + 17)
    fix = replace(FINDING.fixes[0], run=(f"echo {secret}",), variants={"yaml": f"token {secret}"})
    finding = replace(
        FINDING,
        title=f"the value {secret} is wrong",
        captures={"value": secret},
        explanation=f"because of {secret}",
        evidence=(evidence,),
        fixes=(fix,),
        outcome=outcome,
    )
    report = replace(
        REPORT, findings=(finding,), suspects=(Suspect("a.log", 3, f"API_KEY={secret}", 1, "error"),), notes=()
    )
    redacted = redact(report)
    assert secret not in repr(redacted)
    shown = redacted.findings[0].evidence[0]
    assert shown.text[shown.start : shown.end] == "rendezvous failed"
    assert redacted.findings[0].captures == {"value": "[redacted:token]"}


def test_job_part_is_cleaned_whatever_its_types() -> None:
    job = {"first_failure": replace(EVIDENCE, text="password=hunter2"), "timeline": [("api_key=hunter2hunter2", 3)]}
    redacted = redact(replace(REPORT, job=job)).job
    assert redacted["first_failure"].text == "password=[redacted:password]"
    assert redacted["timeline"] == [("api_key=[redacted:api-key]", 3)]


def test_outcome_keeps_enough_hits_to_show_why() -> None:
    record = Record(Source("a.log"), 1, 1, 0, "x", "x")
    hits = tuple(SignatureHit("line", Hit(0, record, {}, 0, 1)) for _ in range(1000))
    outcome = Outcome(Condition(Op.SIGNATURE, signature="line"), Truth.TRUE, hits)
    redacted = redact(replace(REPORT, findings=(replace(FINDING, outcome=outcome, count=1000),))).findings[0]
    assert redacted.outcome is not None
    assert (len(redacted.outcome.hits), redacted.count) == (32, 1000)


def test_report_without_secrets_is_equal_after_redaction() -> None:
    assert redact(REPORT) == REPORT


UNITS = [
    *("a", "-", "eyJ-", "a.", "://a:", "key=", "TOKEN", "password", "=", "@", "sk-", "hf_", " -u a:", "curl ", "::"),
    *("1.", "-----BEGIN PRIVATE KEY-----\n", 'token="', "authorization: ", "mysql -", "name: A_TOKEN\n", '\\"'),
    *("AccountKey=", "wandb ", "machine x login y ", "$6$", "cookie: a="),
]


@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear_in_the_text(unit: str) -> None:
    """Ten times the text may take some thirty-five times the CPU time; a quadratic pattern takes a hundred times."""

    def seconds(repeats: int) -> float:
        text = unit * repeats
        began = time.process_time()
        redact_text(text)
        return time.process_time() - began

    small = min(seconds(4_000) for _ in range(3))
    assert min(seconds(40_000) for _ in range(2)) < 35 * small + 0.02
