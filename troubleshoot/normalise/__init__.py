"""From a line as given to the text that a program printed: wrappers, timestamps, ranks, damage of transport."""

from troubleshoot.normalise.chat import cut_marks
from troubleshoot.normalise.documents import Documents, find_documents, may_hold_documents, whole_document
from troubleshoot.normalise.encoding import detect_encoding, is_wide, read_wide_blocks
from troubleshoot.normalise.mend import Look, Mender, look_at
from troubleshoot.normalise.origins import text_as_given
from troubleshoot.normalise.peel import PUT_BEFORE, LineNormaliser
from troubleshoot.normalise.timestamps import Clock, parse_stamp
from troubleshoot.normalise.turned import may_run_backwards, turn_text
from troubleshoot.normalise.wrapped import join_wrapped

__all__ = [
    "PUT_BEFORE",
    "Clock",
    "Documents",
    "LineNormaliser",
    "Look",
    "Mender",
    "cut_marks",
    "detect_encoding",
    "find_documents",
    "is_wide",
    "join_wrapped",
    "look_at",
    "may_hold_documents",
    "may_run_backwards",
    "parse_stamp",
    "read_wide_blocks",
    "text_as_given",
    "turn_text",
    "whole_document",
]
