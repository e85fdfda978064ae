"""From paths, streams and text to sources that are read as blocks."""

from troubleshoot.ingest.sources import OpenSource, open_sources, open_stream, open_text

__all__ = ["OpenSource", "open_sources", "open_stream", "open_text"]
