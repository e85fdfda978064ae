"""In which language a reader is spoken to: tags and how one is chosen, and the program's own words in each.

    shipped("zh") -> "zh-CN"        with speaking("zh-CN"): say("Evidence") -> "证据"

English is what the code says; another language is a catalogue `<tag>.json` of English texts and theirs. What a
catalogue does not hold stays English. Texts of rules are no words of the program: they stand beside the rules.
"""

from troubleshoot.language.tags import ENGLISH, LANGUAGES, accepted, canonical, shipped
from troubleshoot.language.words import say, say_sentence, speaking, spoken

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "accepted",
    "canonical",
    "say",
    "say_sentence",
    "shipped",
    "speaking",
    "spoken",
]
