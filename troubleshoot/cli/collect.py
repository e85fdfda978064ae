"""`troubleshoot collect`: prints the script that gathers evidence where the job runs."""

from __future__ import annotations

import click

from troubleshoot.collect import collect_script, parts


@click.command("collect")
@click.option("--list", "list_parts", is_flag=True, help="Name the parts of the script.")
def collect_command(list_parts: bool) -> None:
    """Print a shell script that gathers evidence on the machine, pod or container of a job.

    \b
    troubleshoot collect > collect.sh
    kubectl exec -i POD -- sh -s < collect.sh > collect.txt
    troubleshoot collect.txt job.log

    The script needs no tools, changes nothing, and leaves out values that look like secrets.
    """
    click.echo("\n".join(parts()) if list_parts else collect_script(), nl=list_parts)
