"""Tools for coding agents over the Model Context Protocol: scan a log, explain or search rules. Extra `mcp`."""
