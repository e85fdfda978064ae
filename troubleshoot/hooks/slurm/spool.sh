#!/bin/sh
# Works off the notes of epilog.sh, on one host that sees the jobs' folders, from cron or a systemd timer:
#
#     * * * * *  root  /usr/local/sbin/troubleshoot-spool
#
# For each job that did not end well it writes a page and the JSON next to the job's own output, as the job's user.
# Asks accounting (sacct), or, where there is none, the controller while it still remembers the job (MinJobAge). Set TROUBLESHOOT_NOTIFY_URL to have the report posted too.
set -u
SPOOL="${TROUBLESHOOT_SPOOL:-/var/spool/troubleshoot}"
SETTLE_S="${TROUBLESHOOT_SETTLE_S:-60}" # file systems need a while until all nodes' last lines are there

value() { sed -n "s/^$2=//p" "$1" | head -n 1; }

for note in "$SPOOL"/*.job; do
    [ -e "$note" ] || continue
    age=$(($(date +%s) - $(date -r "$note" +%s)))
    [ "$age" -ge "$SETTLE_S" ] || continue
    mv "$note" "$note.now" 2>/dev/null || continue # another one works on it
    job=$(value "$note.now" job) user=$(value "$note.now" user)
    shown=$(scontrol show job "$job" 2>/dev/null)
    state=$(sacct -X -n -P -o State -j "$job" 2>/dev/null | head -n 1)
    [ -n "$state" ] || state=$(printf '%s\n' "$shown" | sed -n 's/^ *JobState=\([A-Z_]*\).*/\1/p' | head -n 1)
    out=$(printf '%s\n' "$shown" | sed -n 's/^ *StdOut=//p' | head -n 1)
    workdir=$(value "$note.now" workdir)
    [ -n "$out" ] || out="$workdir/slurm-$job.out"
    case "$state" in
    COMPLETED* | "") ;;
    *)
        folder=$(dirname "$out")
        set -- "$folder"/*"$job"*
        [ -e "$1" ] && ${user:+runuser -u "$user" --} troubleshoot postmortem "$@" --job "$job" --on slurm --quiet \
            --format html --output "$folder/postmortem-$job.html" \
            ${TROUBLESHOOT_NOTIFY_URL:+--notify "$TROUBLESHOOT_NOTIFY_URL"}
        ;;
    esac
    rm -f "$note.now"
done
exit 0
