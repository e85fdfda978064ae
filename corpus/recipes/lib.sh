# Shared by every recipe; source it first.
#
# What it does: moves the recipe into a mount and UTS namespace of its own, where the host is called gpu-node-17,
# /opt is an empty tmpfs and the names gpu-node-17..19 lead to loopback addresses. So the programs themselves print
# an invented host name and ordinary paths, and nothing is left behind on the machine.
# What it needs: root, util-linux; for Python jobs a virtual environment with torch (see `need_venv`).
#
# A recipe calls, per incident:
#   incident NAME             starts corpus/NAME afresh, but for its expected.yaml, and a clean working directory /opt/train
#   capture FILE COMMAND...   runs COMMAND, both streams in one file as a terminal would show them
#   expect VERDICT FIRST ENTRY ALSO NEVER     writes expected.yaml where there is none yet (lists as comma-separated words,
#                             - for none): a first guess; the file is kept by hand from then on
#   readme TEXT               writes README.md; TEXT says what happened and how

set -u
CORPUS=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
RECIPE=$(basename "$0")
VENV=${VENV:-/tmp/corpusvenv}
PROGRAMS=""            # one line for the READMEs; a recipe sets it

if [ -z "${IN_SANDBOX:-}" ]; then
    exec env IN_SANDBOX=1 unshare --mount --uts --propagation private bash "$0" "$@"
fi

hostname gpu-node-17
HOSTS=$(mktemp)
printf '127.0.0.1 localhost\n127.0.0.17 gpu-node-17\n127.0.0.18 gpu-node-18\n127.0.0.19 gpu-node-19\n' > "$HOSTS"
mount --bind "$HOSTS" /etc/hosts
mount -t tmpfs tmpfs /opt
mkdir -p /opt/train /opt/app
if [ -d "$VENV" ]; then mkdir -p /opt/venv && mount --bind "$VENV" /opt/venv; fi
unset PYTHONPATH VIRTUAL_ENV OMP_NUM_THREADS ${!PIP_@}
export PATH=/opt/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LANG=C.UTF-8 LC_ALL= PYTHONUNBUFFERED=1

need_venv() {
    # The environment is built once at $VENV and seen by the jobs as /opt/venv, its scripts' first lines included.
    [ -x "$VENV/bin/python" ] || { echo "build it first: python3 -m venv $VENV && $VENV/bin/pip install torch==2.13.0 numpy tqdm requests" >&2; exit 1; }
    grep -lI "$VENV/bin" "$VENV"/bin/* 2>/dev/null | xargs -r sed -i "s#$VENV#/opt/venv#g"
}

# Temporary and personal paths of the machine that made the log become those of an ordinary image; the kernel's local suffix goes.
clean() {
    sed -i -e 's/\([0-9]\.[0-9]*\.[0-9]*\)-fc-v[0-9]*/\1/g' -e "s#$VENV#/opt/venv#g" -e 's#/root/\.pyenv/versions/[0-9.]*#/usr/local#g' "$@"
}

incident() {
    NAME=$1; D=$CORPUS/$NAME; CODES=""
    mkdir -p "$D"; find "$D" -mindepth 1 ! -name expected.yaml -delete
    rm -rf /opt/train; mkdir -p /opt/train; cd /opt/train
    echo "== $NAME"
}

capture() {
    local file=$1; shift
    mkdir -p "$(dirname "$D/$file")"
    timeout -k 3 "${LIMIT:-90}" "$@" > "$D/$file" 2>&1 < /dev/null
    local code=$?
    clean "$D/$file"
    CODES="$CODES $file: exit code $code;"
}

list() { [ "$1" = - ] && echo "[]" || echo "[${1//,/, }]"; }

expect() {
    local verdict=$1 first=$2 healthy=false
    [ -f "$D/expected.yaml" ] && return
    [ "$verdict" = clean ] && healthy=true
    [ "$first" = - ] && first=null
    cat > "$D/expected.yaml" <<YAML
made: real run
entry: $(list "$3")
first: $first
also: $(list "$4")
never: $(list "$5")
healthy: $healthy
verdict: $verdict
YAML
}

readme() {
    cat > "$D/README.md" <<MD
# $NAME

$1

made: real run

- Recipe: \`corpus/recipes/$RECIPE\`
- Programs: $PROGRAMS
- Result:${CODES:- see the log}
- Replaced: the host runs under the invented name gpu-node-17 (UTS namespace); paths of the interpreter and of its
  virtual environment read /usr/local and /opt/venv; the kernel's local version suffix is cut. The rest is as printed.
- Licence: Apache-2.0, made for this project
MD
}
