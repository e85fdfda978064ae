# Shortcuts; each is one of the scripts in .ci/, which need no make.
.PHONY: demo test check bench
demo:
	.ci/demo
test:
	.ci/test
check:
	.ci/setup dev
	.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy
bench:
	.ci/setup dev
	.venv/bin/python benchmarks/run.py --full
