"""What the logs of one job tell together: who failed first, who only echoes, what happened when.

    scan results, findings -> build_job -> Job

Signs (what launchers and schedulers state) and marks (records of a failure, as rules know them) are put to ranks and
hosts; then each question has a module of its own. Nothing here reads a source but `progress`, which watches its end.
"""
