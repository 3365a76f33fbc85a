# `make run` starts the product, `make test` runs the whole suite. A machine needs Python 3.11 or later, nothing else.

PYTHON = .venv/bin/python
ARGS =
export IMPORT HOST PORT

.PHONY: help setup run test check lock clean

help:
	@echo 'make run    the whole product in the foreground (PORT=8000 HOST=127.0.0.1 IMPORT=folder)'
	@echo 'make test   the whole suite, checks included (ARGS="tests/… -k …")'
	@echo 'make check  the checks alone: lint, format, types, templates, imports, migrations'
	@echo 'make setup  the environment alone, in .venv'
	@echo 'make lock   requirements.lock made anew from pyproject.toml'
	@echo 'make clean  everything made by the above is removed; the data folder stays'

setup:
	@.ci/setup

run: setup
	@exec $(PYTHON) manage.py up

test: setup
	@exec $(PYTHON) -m pytest -n auto --maxprocesses 4 $(ARGS)

check: setup
	@exec $(PYTHON) -m tests.checks

lock:
	@.ci/lock

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
