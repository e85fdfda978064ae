"""From a line as given to the text that a program printed: wrappers, timestamps, ranks, damage of transport."""

from troubleshoot.normalise.peel import LineNormaliser
from troubleshoot.normalise.timestamps import Clock, parse_stamp

__all__ = ["Clock", "LineNormaliser", "parse_stamp"]
