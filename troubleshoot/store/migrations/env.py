"""Alembic's entry: runs the migrations on the connection that `database.migrate` hands over."""

from __future__ import annotations

from alembic import context

from troubleshoot.store.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True, transactional_ddl=False)
context.run_migrations()
