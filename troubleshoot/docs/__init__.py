"""Pages about the program and its rules: a static site, and the reference, both made from the code and the rules.

build_site(pack, folder)          a page per rule, indexes, the reference, a search that needs no server
python -m troubleshoot.docs       renews the reference pages in `pages/`, which a test holds to the code
"""
