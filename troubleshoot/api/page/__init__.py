"""What the pages are made of: templates filled here (`render`), and static files that are served as they are."""
