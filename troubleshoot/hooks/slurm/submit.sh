#!/bin/sh
# Submits a job, and a small second one that reports on it if it fails:
#
#     submit.sh train.sbatch [arguments of the script]
#
# Put nothing else in front: options belong into the script's #SBATCH lines. Prints the id of the job.
set -eu
[ $# -ge 1 ] || { echo "usage: $0 SCRIPT [ARGUMENT]..." >&2; exit 2; }

job=$(sbatch --parsable "$@")
job=${job%%;*}
folder=${TROUBLESHOOT_FOLDER:-$PWD}

# afternotok: only after a failure. kill-on-invalid-dep: a job that ends well takes the waiting one away.
sbatch --quiet --dependency="afternotok:$job" --kill-on-invalid-dep=yes --job-name="postmortem-$job" \
    --nodes=1 --ntasks=1 --cpus-per-task=2 --mem=1G --time="${TROUBLESHOOT_TIME:-00:10:00}" --output="$folder/postmortem-$job.txt" \
    --wrap "troubleshoot postmortem '$folder'/*'$job'* --job '$job' --on slurm --quiet &&
            troubleshoot postmortem '$folder'/*'$job'* --job '$job' --on slurm --quiet \
                --format html --output '$folder/postmortem-$job.html'" >/dev/null

echo "$job"
