"""Every operation of the OpenAPI document is tried with generated requests, good and bad: no answer is off schema."""

from __future__ import annotations

from tempfile import TemporaryDirectory

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import negative_data_rejection

from troubleshoot.api.app import create_app
from troubleshoot.api.options import ServiceOptions

# A form's parts are bytes: a `file` that is meant to be of a wrong type is, on the wire, a log like any other. So what
# is wrong in a form is not asked for here; test_scan_route.py does it by hand.
# Small on purpose: enough to walk each route's parameters, and short enough to run with every change.
EXAMPLES = 25

folder = TemporaryDirectory()
options = ServiceOptions(store=f"sqlite:///{folder.name}/store.db", keep_logs=True)
app = create_app(watch=False, max_bytes=100_000, options=options)
schema = schemathesis.openapi.from_asgi("/openapi.json", app)
load_all_checks()


@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_answers_fit_the_schema(case: schemathesis.Case) -> None:
    is_form = case.media_type == "multipart/form-data"
    case.call_and_validate(excluded_checks=[negative_data_rejection] if is_form else None)
