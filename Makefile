# Everything runs in .venv, which is made from requirements.lock. Needed: make and Python 3.11 or newer.
#   make PYTHON=python3.12 setup     chooses the interpreter
#   make test ARGS="-k grr -x"       passes arguments to pytest, or to the benchmarks

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
STAMP := $(VENV)/.installed
PEERS := $(VENV)/peers
AUDITED := $(VENV)/audited
TORCH := $(VENV)/torch
BROWSER := $(VENV)/browser
ENGINES := $(VENV)/engines
DOCS := $(VENV)/docs
UV := $(VENV)/uv/bin/uv
SBOM := $(VENV)/sbom
LOCKED := accounting cluster data opendp report search web dev
JOBS ?= 2
ARGS ?=
MINUTES ?= 5
SEED ?=
BASE ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test test-all test-browser test-engines test-peers test-torch fuzz mutants numbers check format test-oldest test-tutorials docs bench bench-alone bench-compare audits dist lock sbom clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP)  ## make .venv and install everything the other targets need

$(STAMP): requirements.lock pyproject.toml reproduction/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("dpradar needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; choose another: make PYTHON=python3.12 ..." if sys.version_info < (3, 11) else 0)'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --require-hashes --requirement requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable . --editable reproduction
	@touch $@

demo: setup  ## assess a real choice, a health survey, and write the report: risk.html
	$(PY) examples/health_survey.py
	$(PY) -m dpradar run examples/health-survey.toml --report risk.html

# With bytecode, also where the environment forbids to write it: without it every worker rewrites the assertions of all
# tests, and each of the commands that tests start compiles the library again.
test test-all: export PYTHONDONTWRITEBYTECODE :=
# One core for each worker: a second thread of matrix products would wait for the core of another worker, and spin.
test test-all: export OPENBLAS_NUM_THREADS ?= 1

test: setup  ## run the tests and the doctests
	$(PY) -m pytest -n $(JOBS) --dist worksteal -m "not slow and not contract" $(ARGS)

test-all: setup  ## the same with the slow tests and the comparisons with other libraries
	$(PY) -m pytest -n $(JOBS) --dist worksteal --hypothesis-profile=thorough $(ARGS)

mutants: setup  ## change the library in one place at a time and see which tests notice; ARGS="--module bounds/exact --most 50 --seed 1"
	$(PY) -m tests.mutation $(ARGS)

numbers: setup  ## compare some thousand numbers with tests/numbers/corpus.json; ARGS=--accept after naming the changes
	$(PY) -m tests.numbers --jobs $(JOBS) $(ARGS)

fuzz: setup  ## ask random questions for MINUTES=5 and compare with the twin; SEED=.. repeats a run; tests of findings go to build/fuzz
	$(PY) -m tests.fuzz --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(ARGS)

check: setup  ## lint, format, types, import layers
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'

format: setup  ## format the code and apply safe fixes
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

docs: $(DOCS)/.installed  ## build the documentation into docs/_build/html
	@if command -v chromium > /dev/null; then $(PY) docs/pictures.py; else echo "no chromium: the pictures stay as they are"; fi
	PYTHONPATH="$(CURDIR)/$(DOCS)" $(PY) -m sphinx --quiet --fail-on-warning --keep-going --doctree-dir docs/_build/doctrees docs docs/_build/html
	PYTHONPATH="$(CURDIR)/$(DOCS)" $(PY) -m pytest tests/docs $(ARGS)

bench: $(PEERS)/.installed $(AUDITED)/.installed $(TORCH)/.installed  ## measure speed, beside other software in the same run
	PYTHONPATH="$(CURDIR)/$(PEERS):$(CURDIR)/$(AUDITED):$(CURDIR)/$(TORCH)" $(PY) -m benchmarks $(ARGS)

bench-alone: setup  ## the same without installing other software
	$(PY) -m benchmarks $(ARGS)

bench-compare: setup  ## measure another commit and this tree in turn, and fail where this one is slower: BASE=8ed54a5
	@set -eu; test -n "$(BASE)" || { echo "name the commit: make bench-compare BASE=8ed54a5" >&2; exit 2; }; \
	other=$$(mktemp -d); trap 'rm -rf "$$other"' EXIT; git archive "$(BASE)" src benchmarks | tar -x -C "$$other"; \
	$(PY) -m benchmarks --quick --against "$$other" $(ARGS)

audits: $(AUDITED)/.installed  ## audit diffprivlib, OpenDP, pure-ldp and multi-freq-ldpy, unchanged
	PYTHONPATH="$(CURDIR)/$(AUDITED)" $(PY) examples/audits/diffprivlib_noise.py $(ARGS)
	PYTHONPATH="$(CURDIR)/$(AUDITED)" $(PY) examples/audits/opendp_measurements.py $(ARGS)
	PYTHONPATH="$(CURDIR)/$(AUDITED)" $(PY) examples/audits/low_bits.py
	PYTHONPATH="$(CURDIR)/$(AUDITED)" $(PY) examples/audits/multi_freq_ldpy_clients.py $(ARGS)
	PYTHONPATH="$(CURDIR)/$(AUDITED)" $(PY) examples/audits/pure_ldp_clients.py $(ARGS)
	PYTHONPATH="$(CURDIR)/$(AUDITED)/older:$(CURDIR)/$(AUDITED)" $(PY) examples/audits/pure_ldp_clients.py --only SUE,OUE

test-torch: $(TORCH)/.installed  ## the tests that need PyTorch and Opacus
	PYTHONPATH="$(CURDIR)/$(TORCH)" $(PY) -m pytest tests/pytorch tests/contract/test_opacus.py reproduction/tests/pytorch $(ARGS)

test-browser: $(BROWSER)/.installed  ## the explorer in a real browser; screenshots go to build/screenshots
	PYTHONPATH="$(CURDIR)/$(BROWSER)" $(PY) -m pytest tests/browser reproduction/tests/browser $(ARGS)

test-engines: $(ENGINES)/.installed  ## the same numbers from DuckDB, PostgreSQL and Spark
	PYTHONPATH="$(CURDIR)/$(ENGINES)" $(PY) -m pytest tests/engines $(ARGS)

test-peers: $(AUDITED)/.installed  ## compare with OpenDP, pure-ldp and multi-freq-ldpy
	PYTHONPATH="$(CURDIR)/$(AUDITED)" $(PY) -m pytest -m contract tests/contract tests/granularity/test_lint.py $(ARGS)

test-oldest: $(UV)  ## the core and each extra with the lowest versions that are declared, in clean environments
	$(PY) -m tests.environments oldest --uv $(UV) $(ARGS)

test-tutorials: $(UV)  ## each tutorial in a clean environment with exactly the extras it names
	$(PY) -m tests.environments tutorials --uv $(UV) $(ARGS)

# Beside .venv, so that `make test` need not wait for them. 120 MB.
$(DOCS)/.installed: $(STAMP) docs/requirements.lock
	$(PIP) install --quiet --no-deps --require-hashes --upgrade --target $(DOCS) --requirement docs/requirements.lock
	@touch $@

# Beside .venv and not in it, because they are no dependencies; and without theirs, which requirements.lock has: all
# compute with the same numpy, scipy and dp-accounting. libqif exists for some systems only.
$(PEERS)/.installed: | $(STAMP)
	$(PIP) install --quiet --no-deps --upgrade --target $(PEERS) riskcal==1.5.1
	$(PIP) install --quiet --no-deps --upgrade --target $(PEERS) --only-binary qif qif==1.6.0 || echo "no libqif for this system"
	@touch $@

# Beside .venv like the peers: playwright without its browsers, and axe-core. The browser is the chromium of the system,
# installed where there is none.
$(BROWSER)/.installed: | $(STAMP)
	$(PIP) install --quiet --no-deps --upgrade --target $(BROWSER) playwright==1.65.0 greenlet==3.5.6 pyee==13.0.1 pypdf==7.0.1
	npm install --silent --no-save --no-audit --no-fund --prefix $(BROWSER) axe-core@4.14.0
	command -v chromium || command -v chromium-browser || command -v google-chrome || \
	{ apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends chromium; }
	@touch $@

# Beside .venv like the peers: drivers, and Spark in the newest version that ibis takes. The server of PostgreSQL and Java
# are those of the system, installed where there are none. 480 MB.
$(ENGINES)/.installed: | $(STAMP)
	$(PIP) install --quiet --no-deps --upgrade --target $(ENGINES) psycopg==3.3.8 psycopg-binary==3.3.8 pyspark==4.0.5 py4j==0.10.9.9
	{ command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; } > /dev/null 2>&1 || \
	{ apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends postgresql; }
	command -v java > /dev/null || { apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends default-jre-headless; }
	@touch $@

# Beside .venv like the peers. PyTorch first and by its exact version, so that no CUDA packages come. The wheel of Opacus
# brings folders "examples" and "benchmarks" of its own, which would hide ours. 880 MB.
$(TORCH)/.installed: | $(STAMP)
	$(PIP) install --quiet --no-deps --upgrade --target $(TORCH) torch==2.13.0
	$(PIP) install --quiet --no-deps --upgrade --target $(TORCH) filelock==4.2.10 fsspec==2026.9.0 jinja2==3.1.6 MarkupSafe==3.0.4 sympy==1.14.0
	$(PIP) install --quiet --no-deps --upgrade --target $(TORCH) opacus==1.6.0 opt_einsum==3.4.0
	rm -rf $(TORCH)/examples $(TORCH)/benchmarks
	@touch $@

# Beside .venv like the peers. diffprivlib needs scikit-learn below 1.9, the two LDP libraries xxhash below 4; pure-ldp
# 1.1.2 is there for the mistake that 1.2.0 repaired. 680 MB.
$(AUDITED)/.installed: | $(STAMP)
	$(PIP) install --quiet --no-deps --upgrade --target $(AUDITED) diffprivlib==0.6.6 scikit-learn==1.8.0 opendp==0.16.0 deprecated==1.3.1 wrapt==2.5.2
	$(PIP) install --quiet --no-deps --upgrade --target $(AUDITED) pure-ldp==1.2.0 bitarray==3.12.3 statsmodels==0.15.0 pandas==3.1.1 patsy==1.0.3
	$(PIP) install --quiet --no-deps --upgrade --target $(AUDITED) multi-freq-ldpy==0.2.5 numba==0.68.1 llvmlite==0.50.0 xxhash==3.8.2
	$(PIP) install --quiet --no-deps --upgrade --target $(AUDITED)/older pure-ldp==1.1.2
	@touch $@

# The wheels are tried where nothing of this folder can be seen: a new environment, started from a temporary folder. First
# the library alone, which has to do without the reproduction; then both.
dist: setup  ## build sdists and wheels, then install and run the wheels in a clean environment
	rm -rf dist
	$(PY) -m build --no-isolation --outdir dist .
	$(PY) -m build --no-isolation --outdir dist reproduction
	@! $(PY) -m zipfile --list dist/dpradar-*.whl | grep -i reproduction/
	@set -eu; clean=$$(mktemp -d); trap 'rm -rf "$$clean"' EXIT; wheel=$$(ls "$$PWD"/dist/dpradar-*.whl); reproduction=$$(ls "$$PWD"/dist/dpradar_reproduction-*.whl); \
	$(PYTHON) -m venv "$$clean/venv"; \
	"$$clean/venv/bin/python" -m pip --disable-pip-version-check install --quiet "$$wheel"; \
	cd "$$clean"; \
	"$$clean/venv/bin/dpradar" assess grr --m 100 --epsilon 2 --knowledge everything --json; \
	code=0; "$$clean/venv/bin/dpradar" reproduce rad:fig3 || code=$$?; test $$code -eq 2; \
	"$$clean/venv/bin/python" -m pip --disable-pip-version-check install --quiet "$$reproduction"; \
	"$$clean/venv/bin/dpradar" reproduce rad:fig3

# For every supported Python and system, with the hash of every file, so that nothing else can be installed. The second file
# leaves out what the first one has. Written without the address of any index.
COMPILE := $(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header --python-version 3.11 --upgrade
lock: $(UV)  ## refresh requirements.lock and docs/requirements.lock
	@set -eu; fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	{ echo "# The exact versions and hashes that make installs: the core, its extras but docs and torch, dev, and all they need."; \
	  echo "# Made by 'make lock' (uv pip compile); do not edit by hand."; \
	  $(COMPILE) $(foreach extra,$(LOCKED),--extra $(extra)) pyproject.toml; } > "$$fresh/lock"; \
	{ echo "# The exact versions and hashes that 'make docs' installs beside .venv: what the extra docs needs and requirements.lock does not have."; \
	  echo "# Made by 'make lock' (uv pip compile); do not edit by hand."; \
	  $(COMPILE) $(foreach extra,$(LOCKED) docs,--extra $(extra)) --constraint "$$fresh/lock" \
	    $$(sed -n 's/^\([a-z0-9][a-z0-9._-]*\)==.*/--no-emit-package \1/p' "$$fresh/lock") pyproject.toml; } > "$$fresh/docs"; \
	if grep -n '://' "$$fresh/lock" "$$fresh/docs"; then echo "a requirement with an address" >&2; exit 1; fi; \
	cp "$$fresh/lock" requirements.lock; cp "$$fresh/docs" docs/requirements.lock

$(UV): | $(STAMP)
	$(PIP) install --quiet --no-deps --upgrade --target $(VENV)/uv uv==0.13.8
	@touch $@

# In an environment of its own, so that the list does not name the tools that made it.
sbom: setup $(SBOM)/.installed  ## list every package that make installs, with its licence: build/sbom.json (CycloneDX) and the page of licences
	@mkdir -p build
	$(SBOM)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file build/sbom.json $(PY)
	@{ echo "# Licences"; echo; echo "What \`make setup\` installs, as the packages state it. Nothing of it is part of dpradar's own files. Made by \`make sbom\`."; echo; \
	  $(SBOM)/bin/pip-licenses --python=$(PY) --from=mixed --format=markdown --ignore-packages dpradar dpradar-reproduction; } > docs/reference/licences.md
	@echo "wrote build/sbom.json and docs/reference/licences.md"

$(SBOM)/.installed: | $(STAMP)
	$(PYTHON) -m venv $(SBOM)
	$(SBOM)/bin/python -m pip --disable-pip-version-check install --quiet cyclonedx-bom==7.5.0 pip-licenses==5.5.5
	@touch $@

clean:  ## remove .venv and everything built
	rm -rf $(VENV) dist build docs/_build .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find . -type d -name __pycache__ -prune -exec rm -rf {} +
