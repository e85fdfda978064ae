"""`troubleshoot mcp`: the tools for a coding agent, over standard input and output."""

from __future__ import annotations

import click

from troubleshoot.cli.options import common_options, load_engine, pack_options


@click.command()
@pack_options
@common_options
def mcp(rules: tuple[str, ...], default_rules: bool, drafts: bool, color: str, quiet: bool) -> int:
    """Serve a coding agent: scan_log, explain_rule, search_rules over the Model Context Protocol.

    An agent starts it itself; its settings name the command `troubleshoot mcp`. For several agents see `serve --mcp`.
    """
    from troubleshoot.cli.serve import check_mcp

    check_mcp()
    from troubleshoot.mcp.server import serve_stdio

    serve_stdio(load_engine(rules, default_rules, drafts))
    return 0
