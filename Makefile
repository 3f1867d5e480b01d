# The two main commands: `make up` starts the whole system, `make test` runs its tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
RATE ?= 10

.PHONY: up test check fresh screenshots soak chaos bench bench-compare size-report lock sizes sbom clean help

help:
	@echo "make up      start everything (Ctrl-C stops it); pass options with ARGS='--port 9000'"
	@echo "make test    install dependencies and run the tests"
	@echo "make check   format, lint, types, import contracts, generated files, names and sizes"
	@echo "make fresh   follow the README in a clean clone with an empty home, and time it"
	@echo "make screenshots   write pictures of the consoles to docs/console"
	@echo "make soak    long runs with many steps, many events and injected faults, about two hours; some with ARGS='hostile export'"
	@echo "make chaos   inject faults for about 40 minutes; pass options with ARGS='--groups kill --seed 7'"
	@echo "make sizes   compute volume sizes for RATE=10 events a second"
	@echo "make sbom    write sbom.cdx.json, the bill of materials of the image"
	@echo "make bench   compare speed with bare Postgres, nginx and a typical FastAPI stack"
	@echo "make size-report   count files, lines, loops, and the files on a booking's way; BASE=REV adds an older commit"
	@echo "make bench-compare BASE=REV   compare with an older commit; fails if a row is more than 5 % worse"

up: $(VENV)/runtime
	@$(BIN)/studioctl up $(ARGS)

test: $(VENV)/development
	@$(BIN)/python -m tests.harness.prepare
	$(BIN)/python -m tests.harness.run_suite $(ARGS)

check: $(VENV)/development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m tests.clients.python
	$(BIN)/lint-imports
	$(BIN)/python -m services.cli.openapi --check
	$(BIN)/python -m clients.generate --check
	$(BIN)/python -m services.cli.settings_table --check
	$(BIN)/python -m tests.openapi
	$(BIN)/python -m tests.conventions
	$(BIN)/python -m tests.deploy

fresh: $(VENV)/development
	$(BIN)/python -m tests.fresh

screenshots: $(VENV)/development
	$(BIN)/python -m tests.screenshots

soak: $(VENV)/development
	@$(BIN)/python -m tests.harness.prepare
	$(BIN)/python -m tests.soak $(ARGS)

chaos: $(VENV)/development
	@$(BIN)/python -m tests.harness.prepare
	$(BIN)/python -m tests.chaos $(ARGS)

bench: $(VENV)/development
	$(BIN)/python -m bench $(ARGS)

bench-compare: $(VENV)/development
	@[ -n "$(BASE)" ] || { echo "Name the commit to compare with: make bench-compare BASE=main~20"; exit 2; }
	$(BIN)/python -m bench.compare --against $(BASE) $(ARGS)

size-report: $(VENV)/development
	@$(BIN)/python -m tests.harness.prepare
	@$(BIN)/python -m tests.size_report $(if $(BASE),--base $(BASE)) $(ARGS)

# CycloneDX from the lock file. Needs no network.
sbom:
	@$(PYTHON) deploy/sbom.py -o sbom.cdx.json && echo "wrote sbom.cdx.json"

sizes:
	@$(PYTHON) deploy/sizing.py $(RATE)

# Versions and hashes only, no registry address.
lock:
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --no-annotate \
		--python-version 3.11 deploy/requirements-install.in -o deploy/requirements-install.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header \
		--python-version 3.11 pyproject.toml -o deploy/requirements.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header \
		--python-version 3.11 --group dev pyproject.toml -o deploy/requirements-dev.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header \
		--python-version 3.11 bench/requirements.in -o bench/requirements.lock

$(VENV)/runtime: deploy/requirements.lock deploy/requirements-install.lock pyproject.toml
	@$(call install,deploy/requirements.lock)
	@touch $@

$(VENV)/development: deploy/requirements-dev.lock deploy/requirements-install.lock pyproject.toml
	@$(call install,deploy/requirements-dev.lock)
	@touch $@ $(VENV)/runtime

define install
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with PYTHON=…"; exit 1; }; \
	$(PYTHON) deploy/install.py $(VENV) $(1)
endef

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
