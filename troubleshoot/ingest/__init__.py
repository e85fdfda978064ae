"""From paths, streams and text to sources that are read as blocks."""

from troubleshoot.ingest.sources import OpenSource, open_file, open_sources, open_stream, open_text, open_upload

__all__ = ["OpenSource", "open_file", "open_sources", "open_stream", "open_text", "open_upload"]
