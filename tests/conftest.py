"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# An example that takes long says that the machine is busy: time is measured in benchmarks/, never in a test.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
