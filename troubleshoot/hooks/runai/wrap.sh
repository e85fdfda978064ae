#!/bin/sh
# Runs a workload's command, keeps its output on a volume that all its pods see, and reports there when it failed. The
# exit code is the command's. Lay it on that volume, and put it before the command:
#
#     runai training pytorch submit llama-ft -p team-a -i registry.example/train:latest --workers 3 -g 8 \
#       --existing-pvc claimname=shared,path=/shared --command -- sh /shared/wrap.sh torchrun --nproc-per-node=8 train.py
#
# TROUBLESHOOT_LOGS      folder for the logs of this run; default /shared/logs/<workload>; the page goes beside it
# TROUBLESHOOT_SETTLE_S  seconds to wait for the last lines of the other pods; default 30
# TROUBLESHOOT_NOTIFY    a webhook that gets the report; default none
set -u
workload=${RUNAI_JOB_NAME:-$(hostname | sed 's/-\(master\|worker\|launcher\)-.*//')}
logs=${TROUBLESHOOT_LOGS:-/shared/logs/$workload}
log="$logs/$(hostname).log"
pipe=$(mktemp -u "${TMPDIR:-/tmp}/wrap.XXXXXX")
if ! mkdir -p "$logs" || ! : >> "$log" || ! mkfifo "$pipe"; then
  echo "wrap.sh: cannot write to $logs, no report will be made" >&2
  exec "$@"
fi

tee -a "$log" < "$pipe" &
writer=$!
"$@" > "$pipe" 2>&1 &
child=$!
trap 'kill -TERM "$child" 2> /dev/null' TERM INT
wait "$child"
code=$?
while kill -0 "$child" 2> /dev/null; do # a signal ends a wait early
  wait "$child"
  code=$?
done
wait "$writer"
rm -f "$pipe"

# the first pod that failed reports for all of them
if [ "$code" -ne 0 ] && mkdir "$logs/reporting" 2> /dev/null; then
  if command -v troubleshoot > /dev/null; then
    sleep "${TROUBLESHOOT_SETTLE_S:-30}"
    troubleshoot postmortem "$logs" --on runai-cli --quiet --format html --output "${logs%/}-postmortem.html"
    troubleshoot postmortem "$logs" --on runai-cli --quiet ${TROUBLESHOOT_NOTIFY:+--notify "$TROUBLESHOOT_NOTIFY"}
  else
    echo "wrap.sh: the image has no troubleshoot (pip install troubleshoot); the logs are in $logs" >&2
  fi
  rmdir "$logs/reporting"
fi
exit "$code"
