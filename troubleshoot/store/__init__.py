"""Reports kept for later: permalinks, history, counts, feedback, faults that come back unknown.

Only redacted text gets in. `Store` is the whole of it; SQLAlchemy and Alembic load when one is opened.
"""
