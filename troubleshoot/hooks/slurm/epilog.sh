#!/bin/sh
# Slurm Epilog: notes that a job has ended, for spool.sh to look at. In slurm.conf:
#
#     Epilog=/etc/slurm/epilog.d/90-troubleshoot.sh
#
# Slurm runs it as root on every node of the job and drains a node whose epilog fails or is slow. So it only drops a note
# into a spool that all nodes share, calls nothing of Slurm's, and always ends with 0.
SPOOL="${TROUBLESHOOT_SPOOL:-/var/spool/troubleshoot}"

note() {
    [ -n "${SLURM_JOB_ID:-}" ] && [ -d "$SPOOL" ] && [ -w "$SPOOL" ] || return 0
    # The first node to get here writes the note; the others find it there. noclobber makes that one step.
    (
        set -C
        {
            echo "job=$SLURM_JOB_ID"
            echo "user=${SLURM_JOB_USER:-}"
            echo "workdir=${SLURM_JOB_WORK_DIR:-}"
            echo "exit=${SLURM_JOB_EXIT_CODE2:-}"
        } >"$SPOOL/$SLURM_JOB_ID.job"
    ) 2>/dev/null
    return 0
}

note
exit 0
