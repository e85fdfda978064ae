"""`python -m troubleshoot.docs`: write the reference pages anew."""

from troubleshoot.docs.reference import PAGES, reference_pages

if __name__ == "__main__":
    for name, text in reference_pages().items():
        (PAGES / f"{name}.md").write_text(text, "utf-8")
