#!/bin/bash
# Clients of object stores and model hubs (boto3, huggingface_hub) against a loopback stand-in that answers as S3 and a hub do.
# Needs: root; the venv of lib.sh with boto3 and huggingface_hub as well.
# Run:   bash corpus/recipes/s3_hub.sh
. "$(dirname "$0")/lib.sh"
need_venv
PROGRAMS="boto3 and botocore 1.44.8, huggingface_hub 2.4.0, CPython 3.11.7, Debian 12; the server is a loopback stand-in (in the recipe)"
unset ${!AWS_@} ${!HF_@}
export AWS_EC2_METADATA_DISABLED=true AWS_DEFAULT_REGION=us-east-1 AWS_CONFIG_FILE=/nonexistent AWS_SHARED_CREDENTIALS_FILE=/nonexistent HF_HOME=/opt/app/hf
cat > /opt/app/server.py <<'PY'
import http.server

S3 = {"denied": (403, "AccessDenied", "Access Denied"), "missing": (404, "NoSuchKey", "The specified key does not exist."),
      "slow": (503, "SlowDown", "Please reduce your request rate."), "expired": (400, "ExpiredToken", "The provided token has expired."),
      "keyid": (403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."),
      "skewed": (403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large."),
      "nobucket": (404, "NoSuchBucket", "The specified bucket does not exist")}
HUB = {"gated": (403, "GatedRepo", "Access to model example/gated-7b is restricted and you are not in the authorized list."),
       "absent": (404, "RepoNotFound", "Repository not found"), "unauthorized": (401, "RepoNotFound", "Invalid username or password."),
       "limited": (429, None, "Too Many Requests"), "broken": (500, None, "Internal Server Error"), "nofile": (404, "EntryNotFound", "Entry not found")}


class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self, body=True):
        part = self.path.strip("/").split("/")[0]
        if part in S3:
            code, name, text = S3[part]
            data = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{name}</Code><Message>{text}</Message></Error>'.encode()
            headers = {"Content-Type": "application/xml"}
        else:
            key = next((k for k in HUB if k in self.path), "absent")
            code, name, text = HUB[key]
            data = text.encode()
            headers = {"X-Error-Message": text, "Content-Type": "text/plain", **({"X-Error-Code": name} if name else {})}
        self.send_response(code)
        for k, v in headers.items():
            self.send_header(k, v)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)

    def do_HEAD(self):
        self.do_GET(body=False)

    def log_message(self, *a):
        pass


http.server.ThreadingHTTPServer(("127.0.0.17", 8780), H).serve_forever()
PY
python /opt/app/server.py & SERVER=$!
trap 'kill $SERVER' EXIT
sleep 1

# s3 NAME BUCKET CALL FIRST ENTRY TEXT [ENVIRONMENT...]
s3() {
    incident "$1"
    cat > fetch.py <<PY
import os

import boto3
from botocore.config import Config

print("staging data set from s3://$2/tokens", flush=True)
s3 = boto3.client("s3", endpoint_url=os.environ.get("ENDPOINT", "http://gpu-node-17:8780"),
                  config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 2}, connect_timeout=2))
$3
PY
    local first=$4 entry=$5 text=$6; shift 6
    capture job.log env "$@" python fetch.py
    expect fault "$first" "$entry" - -
    readme "$text"
}
K="AWS_ACCESS_KEY_ID=AKIAEXAMPLEEXAMPLE00 AWS_SECRET_ACCESS_KEY=example/not-a-key"
GET='s3.get_object(Bucket="BUCKET", Key="tokens/shard-00000.bin")'
s3 s3-access-denied denied "${GET/BUCKET/denied}" storage/s3-access-denied host-s3-errors "S3 refuses the role: AccessDenied." $K
s3 s3-no-such-key missing "${GET/BUCKET/missing}" storage/s3-object-missing host-s3-errors "The object does not exist." $K
s3 s3-head-not-found missing 's3.download_file("missing", "tokens/shard-00000.bin", "shard.bin")' storage/s3-object-missing host-s3-errors "download_file asks by HEAD, so only the status is known." $K
s3 s3-no-such-bucket nobucket 's3.list_objects_v2(Bucket="nobucket")' storage/s3-object-missing host-s3-errors "The bucket does not exist." $K
s3 s3-slow-down slow "${GET/BUCKET/slow}" storage/s3-throttled host-s3-errors "S3 throttles; the retries are used up." $K
s3 s3-expired-token expired "${GET/BUCKET/expired}" storage/s3-access-denied host-s3-errors "The temporary credentials have expired." $K
s3 s3-invalid-key-id keyid "${GET/BUCKET/keyid}" storage/s3-access-denied host-s3-errors "The access key id is not known." $K
s3 s3-clock-skewed skewed "${GET/BUCKET/skewed}" host/clock-wrong host-clock-skew "The host's clock is off, S3 refuses the signature's time." $K
s3 s3-no-credentials denied "${GET/BUCKET/denied}" storage/s3-access-denied host-s3-errors "No credentials are configured." X=1
s3 s3-endpoint-unreachable denied "${GET/BUCKET/denied}" storage/s3-unreachable host-s3-errors "Nothing answers at the endpoint (loopback)." $K ENDPOINT=http://gpu-node-18:8781
s3 s3-endpoint-unresolvable denied "${GET/BUCKET/denied}" storage/s3-unreachable host-s3-errors,host-dns-failure "The endpoint's name has no address." $K ENDPOINT=http://s3-endpoint.invalid

# hub NAME REPOSITORY FIRST ENTRY TEXT [ENVIRONMENT...]
hub() {
    incident "$1"
    cat > fetch.py <<PY
from huggingface_hub import hf_hub_download, snapshot_download

print("loading $2", flush=True)
hf_hub_download("example/$2", "config.json")
PY
    [ -n "${CALL:-}" ] && sed -i "s#^hf_hub_download.*#$CALL#" fetch.py
    local first=$3 entry=$4 text=$5; shift 5
    capture job.log env HF_ENDPOINT=http://gpu-node-17:8780 HF_HUB_DISABLE_PROGRESS_BARS=1 "$@" python fetch.py
    expect fault "$first" "$entry" - -
    readme "$text"
}
hub hub-gated-model gated-7b hub/gated-repository hf-gated-or-offline "The model is gated and the token's owner has not been let in."
hub hub-model-not-found absent-7b hub/repository-not-found hf-gated-or-offline "There is no such model (or it is private)."
hub hub-unauthorized unauthorized-7b hub/unauthorized hf-gated-or-offline "The token is not valid." HF_TOKEN=hf_exampleexampleexampleexampleexample
hub hub-rate-limited limited-7b hub/rate-limited hf-gated-or-offline "The hub answers 429."
hub hub-file-not-found nofile-7b hub/file-not-found hf-gated-or-offline "The model has no such file."
hub hub-offline-not-cached absent-7b hub/offline-not-cached hf-gated-or-offline "HF_HUB_OFFLINE=1 and nothing in the cache." HF_HUB_OFFLINE=1
hub hub-endpoint-unreachable absent-7b hub/unreachable hf-gated-or-offline,host-connection-errors "The hub's mirror does not answer (loopback)." HF_ENDPOINT=http://gpu-node-18:8781
CALL='snapshot_download("example/absent-7b")' hub hub-snapshot-offline absent-7b hub/offline-not-cached hf-gated-or-offline "snapshot_download with HF_HUB_OFFLINE=1 and an empty cache." HF_HUB_OFFLINE=1
