# Every target sets up what it needs in .venv; a second call reuses it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The first interpreter that is new enough; PYTHON=... names another.
CANDIDATES := $(PYTHON) python3.12 python3.13 python3.14 python3 python
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 12))
FOUND := $(shell for p in $(CANDIDATES); do \
	if "$$p" -c '$(NEW_ENOUGH)' >/dev/null 2>&1; then echo "$$p"; break; fi; done)

PIP := .venv/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
STAMP := .venv/.installed
TEST_STAMP := .venv/.installed-test

.PHONY: help install demo test lint bench clean

help:
	@echo "make demo      install and run the main job on bundled counts"
	@echo "make test      install, then lint, types, doctests and tests"
	@echo "make install   the environment in .venv, and no more"
	@echo "make lint      style and types"
	@echo "make bench     speed and memory, measured here"
	@echo "make clean     remove the environment"

install: $(STAMP)

.venv/bin/python:
ifeq ($(strip $(FOUND)),)
	@echo "Python 3.12 or newer is needed and was not found: pyenv install 3.12, or uv python install 3.12, or your system's package python3.12; then call make again (PYTHON=/path/to/python names one)." >&2; exit 1
else
	@echo "Creating .venv with $$("$(FOUND)" --version)"
	@"$(FOUND)" -m venv .venv
endif

$(STAMP): pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing bayes-passk into .venv"
	@$(PIP) --editable .
	@touch $@

$(TEST_STAMP): $(STAMP)
	@echo "Installing what the tests need into .venv"
	@$(PIP) --editable '.[test]'
	@touch $@

demo: $(STAMP)
	@.venv/bin/bayes-passk demo

lint: $(TEST_STAMP)
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy

test: lint
	@.venv/bin/python -m pytest

bench: $(TEST_STAMP)
	@.venv/bin/python benchmarks/speed.py

clean:
	@rm -rf .venv
