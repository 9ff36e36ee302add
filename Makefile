PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help run test test-neo4j lint goldens bench clean

help: ## List the targets.
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(VENV)/installed: requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/installed-dev: requirements-dev.txt $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

run: $(VENV)/installed ## Install into .venv and start the app.
	$(BIN)/python -m streamlit run app.py

test: $(VENV)/installed-dev lint ## Install the development set and run every test.
	@failed=0; \
	$(BIN)/python -m pytest -m "not alone" -n 2 || failed=1; \
	$(BIN)/python -m pytest -m alone || failed=1; \
	exit $$failed

test-neo4j: $(VENV)/installed-dev lint ## Start both versions of Neo4j and run every test with them.
	$(BIN)/python -m tests.neo4j.server run -- $(MAKE) test

lint: $(VENV)/installed-dev ## Check style and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

goldens: $(VENV)/installed-dev ## Rewrite the golden queries.
	$(BIN)/python -m pytest tests/contract --update-goldens

bench: $(VENV)/installed-dev ## Print speed on seeded synthetic graphs.
	$(BIN)/python -m kgcore bench

clean: ## Remove what was made here.
	rm -rf $(VENV) .neo4j .mypy_cache .ruff_cache .pytest_cache .hypothesis
