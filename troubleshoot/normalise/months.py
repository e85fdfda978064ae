"""Names of months in the languages in which logs come: `journalctl` and `dmesg -T` write them as the locale says.

In: a short name, `Mär`, `déc.`, `12月`. Out: its number. Source: the `abmon` of the locales of glibc.
"""

from __future__ import annotations

import re

from troubleshoot import late

_NAMES = {
    "en": "jan feb mar apr may jun jul aug sep oct nov dec",
    "de": "jan feb mär apr mai jun jul aug sep okt nov dez",
    "fr": "janv févr mars avril mai juin juil août sept oct nov déc",
    "es": "ene feb mar abr may jun jul ago sept oct nov dic",
    "it": "gen feb mar apr mag giu lug ago set ott nov dic",
    "pt": "jan fev mar abr mai jun jul ago set out nov dez",
    "nl": "jan feb mrt apr mei jun jul aug sep okt nov dec",
    "pl": "sty lut mar kwi maj cze lip sie wrz paź lis gru",
    "ru": "янв фев мар апр май июн июл авг сен окт ноя дек",
    "ru, of a date": "янв февр марта апр мая июня июля авг сент окт нояб дек",
}
MONTHS = {
    form(name): number
    for names in _NAMES.values()
    for number, name in enumerate(names.split(), 1)
    for form in (str, str.capitalize)
}
_EAST = late.compile(r"(\d{1,2})(?:月|월)")

# Names that are not English, for patterns. The longer of two that begin alike comes first.
LOCAL_MONTH = (
    r"(?:\d{1,2}(?:月|월)|(?:"
    + "|".join(sorted((re.escape(name) for name in MONTHS), key=lambda name: (-len(name), name)))
    + r")\.?)"
)
LOCAL_LEADS = "".join(sorted({name[0] for name in MONTHS} | set("0123456789 ")))


def month_of(name: str) -> int:
    """Return the number of a month. Raises KeyError for what is none."""
    if m := _EAST.fullmatch(name):
        number = int(m[1])
        if not 1 <= number <= 12:
            raise KeyError(name)
        return number
    return MONTHS[name.removesuffix(".")]
