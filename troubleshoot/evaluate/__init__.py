"""Hits become findings: conditions, groups and windows, then evidence, captures and texts."""
