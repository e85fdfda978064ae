"""From a line as given to the text that a program printed: wrappers, timestamps, ranks, damage of transport."""

from troubleshoot.normalise.encoding import detect_encoding, is_wide, read_wide_blocks
from troubleshoot.normalise.mend import Look, Mender, look_at
from troubleshoot.normalise.origins import text_as_given
from troubleshoot.normalise.peel import LineNormaliser
from troubleshoot.normalise.timestamps import Clock, parse_stamp
from troubleshoot.normalise.wrapped import join_wrapped

__all__ = [
    "Clock",
    "LineNormaliser",
    "Look",
    "Mender",
    "detect_encoding",
    "is_wide",
    "join_wrapped",
    "look_at",
    "parse_stamp",
    "read_wide_blocks",
    "text_as_given",
]
