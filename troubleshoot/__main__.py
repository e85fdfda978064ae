"""`python -m troubleshoot`."""

from troubleshoot.cli import main

if __name__ == "__main__":
    main()
