# Every target makes the virtual environment it needs: Python 3.11 or newer and make are enough.
# Another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
VENV   := .venv
# Windows keeps the commands of an environment elsewhere.
IN     := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN    := $(VENV)/$(IN)
PIP    := $(BIN)/python -m pip --disable-pip-version-check

# Two test workers with one BLAS thread each use two cores; more threads only wait for each other.
PYTEST_IN = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
	$(1)/$(IN)/python -m pytest -n auto --maxprocesses 2
PYTEST := $(call PYTEST_IN,$(VENV))
COVER  := --cov=viewhop --cov-report=term-missing:skip-covered

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: demo test coverage test-all test-omics test-machine fuzz fuzz-quick test-lowest test-latest audit mutants lint bench bench-small bench-peers bench-quality bench-quality-quick bench-joint-rules bench-fusions bench-citeseq reproduce figures map wheel release-check clean help

help:
	@echo "make demo         compare methods on six views of handwritten digits: table, embedding and picture in viewhop-demo/"
	@echo "make test         run the test suite, ten minutes on two cores"
	@echo "make coverage     run it with branch coverage, a quarter longer: below 95 % is an error"
	@echo "make test-all     run the slow tests too, with branch coverage"
	@echo "make test-omics   run the tests with MuData, scanpy and muon, in a separate environment: it needs pandas 2"
	@echo "make test-lowest  run the tests with the lowest versions that pyproject.toml allows, in a separate environment"
	@echo "make test-latest  run them with the newest versions, pre-releases included, in a separate environment"
	@echo "make audit        look up known vulnerabilities of what is installed for the tests, over the network"
	@echo "make test-machine run the estimators as state machines for long, and print the counts of steps"
	@echo "make fuzz         run every reader of files on 20,000 mutants of its corpus, about ten minutes"
	@echo "make fuzz-quick   run them for five seconds each"
	@echo "make mutants      run the tests on 300 mutants of each of four packages, about an hour: table and survivors in mutants/"
	@echo "make lint         run ruff, mypy and the check of the import layers"
	@echo "make bench        run the benchmarks, an hour or more: tables in benchmark-results/"
	@echo "make bench-small  run them at small sizes, two minutes: counts and memory, no times"
	@echo "make bench-peers  time other packages beside viewhop, each in an environment of its own: that part of make bench alone"
	@echo "make bench-quality        score embeddings on fourteen real sets, with other packages, about an hour; FULL=1 for more:"
	@echo "                  a page in quality-results/, taken up again where it was interrupted. Sets: VIEWHOP_DATA"
	@echo "make bench-quality-quick  score them on the bundled and the synthetic sets, half a minute"
	@echo "make bench-joint-rules    compare the two linear ranges of Algorithm 1, eight minutes: docs/joint-rules.md"
	@echo "make bench-fusions        compare all fusions on the same sets, ten minutes: docs/fusions.md. Sets: VIEWHOP_DATA"
	@echo "make bench-citeseq        compare graphs of simulated cells with weighted nearest neighbours, ten minutes: docs/citeseq.md"
	@echo "make reproduce    run the paper's experiments, under two hours: pictures, numbers and a page in viewhop-reproduce/"
	@echo "make figures      regenerate every picture and number quoted in README.md and docs/"
	@echo "make map          regenerate docs/architecture.md, the map of the code"
	@echo "make wheel        build the wheel, in dist/"
	@echo "make release-check  check sdist, wheel, types and every extra alone, ten minutes"
	@echo "make clean        remove what the other targets made"

demo: $(VENV)/.ready-demo
	$(BIN)/viewhop demo

test: $(VENV)/.ready-test
	$(PYTEST) -m "not slow"

coverage: $(VENV)/.ready-test
	$(PYTEST) $(COVER) -m "not slow"

test-all: $(VENV)/.ready-test
	$(PYTEST) $(COVER)

test-omics: $(VENV)-omics/.ready
	$(VENV)-omics/$(IN)/python -m pytest -q tests/views/test_alignment.py tests/tables/test_anndata.py
	$(VENV)-omics/$(IN)/python -m pytest -q -k mudata tests/estimators/test_incomplete.py
	$(VENV)-omics/$(IN)/python -m pytest -q -k not_yielded tests/estimators/test_sklearn.py
	$(VENV)-omics/$(IN)/python -m pytest -q tests/scverse
	$(VENV)-omics/$(IN)/python -m pytest -q -k scverse tests/test_docstrings.py

# Old packages raise deprecation warnings of newer ones beside them; every other warning is an error.
test-lowest: $(VENV)-lowest/.ready
	$(call PYTEST_IN,$(VENV)-lowest) -m "not slow" \
		-W ignore::DeprecationWarning -W ignore::pytest.PytestDeprecationWarning

# No stamp: what is newest today may not be tomorrow.
test-latest: $(VENV)/.ready-base
	@test -x $(VENV)-latest/$(IN)/python || $(PYTHON) -m venv $(VENV)-latest
	$(VENV)-latest/$(IN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-latest/$(IN)/python -m pip install --quiet --pre --upgrade --upgrade-strategy eager \
		--editable ".[plot]" --group test
	$(call PYTEST_IN,$(VENV)-latest) -m "not slow"

# Strict: a package that the service does not know has not been audited.
audit: $(VENV)/.ready-test
	@test -x $(VENV)-audit/$(IN)/python || $(PYTHON) -m venv $(VENV)-audit
	$(VENV)-audit/$(IN)/python -m pip install --quiet --upgrade pip-audit
	$(BIN)/python -m pip freeze --exclude-editable >$(VENV)-audit/installed.txt
	$(VENV)-audit/$(IN)/python -m pip_audit --strict --progress-spinner off \
		--disable-pip --no-deps --requirement $(VENV)-audit/installed.txt

test-machine: $(VENV)/.ready-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.properties

fuzz: $(VENV)/.ready-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --count 20000

fuzz-quick: $(VENV)/.ready-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --seconds 5

mutants: $(VENV)-mutants/.ready
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(VENV)-mutants/$(IN)/python -m tests.mutation

lint: $(VENV)/.ready-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.ready-bench
	$(BIN)/python -m benchmarks

bench-small: $(VENV)/.ready-bench-small
	$(BIN)/python -m benchmarks --small --out benchmark-results/small

# What the peers need is installed on demand, in environments under benchmark-results/peers/.
bench-peers: $(VENV)/.ready-bench-small
	$(BIN)/python -m benchmarks --only peers

bench-quality: $(VENV)/.ready-demo $(VENV)-peers/.ready
	@test -n "$$VIEWHOP_DATA" || \
		echo "VIEWHOP_DATA is not set: of the fourteen real sets, only the bundled digits will be run" >&2
	$(BIN)/python -m benchmarks.quality --choices $(if $(FULL),--full)

bench-quality-quick: $(VENV)/.ready-demo
	$(BIN)/python -m benchmarks.quality --quick --out quality-results/quick

bench-joint-rules: $(VENV)/.ready-demo
	$(BIN)/python -m benchmarks.joint_rules --record

bench-fusions: $(VENV)/.ready-demo
	@test -n "$$VIEWHOP_DATA" || \
		{ echo "VIEWHOP_DATA is not set: it names the folder of the real sets" >&2; exit 1; }
	$(BIN)/python -m benchmarks.fusions --record

bench-citeseq: $(VENV)-omics/.ready
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1 \
		$(VENV)-omics/$(IN)/python -m benchmarks.citeseq --record

reproduce: $(VENV)/.ready-reproduce
	$(BIN)/viewhop reproduce

figures: $(VENV)/.ready-docs
	$(BIN)/python docs/figures.py

map: $(VENV)/.ready-base
	$(BIN)/python docs/architecture.py

wheel: $(VENV)/.ready-base
	$(PIP) wheel --no-deps --wheel-dir dist .

release-check: $(VENV)-release/.ready
	.ci/check_release $(VENV)-release/$(IN)/python

clean:
	rm -rf $(VENV) $(VENV)-omics $(VENV)-peers $(VENV)-lowest $(VENV)-latest $(VENV)-audit $(VENV)-mutants $(VENV)-release
	rm -rf fuzz-findings mutants build dist htmlcov viewhop-demo viewhop-reproduce .coverage .coverage.*
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment. A stamp stands for an installation that was finished; a change of pyproject.toml
# makes it anew. Dependency groups need pip 25.1, so pip comes first.

$(VENV)/.ready-base: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "viewhop needs Python 3.11 or newer, and '$(PYTHON)' is not: try make PYTHON=python3.11" >&2; \
		exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
		rm -rf $(VENV); \
		echo "'$(PYTHON) -m venv' failed: install the venv module of your Python (python3-venv)" >&2; \
		exit 1; }
	$(PIP) install --quiet --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.ready-demo: $(VENV)/.ready-base
	$(PIP) install --quiet --editable ".[plot]"
	@touch $@

$(VENV)/.ready-test: $(VENV)/.ready-base
	$(PIP) install --quiet --editable ".[plot]" --group test
	@touch $@

$(VENV)-omics/.ready: $(VENV)/.ready-base
	@test -x $(VENV)-omics/$(IN)/python || $(PYTHON) -m venv $(VENV)-omics
	$(VENV)-omics/$(IN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-omics/$(IN)/python -m pip install --quiet --editable ".[omics]" --group omics
	@touch $@

$(VENV)-lowest/.ready: $(VENV)/.ready-base .ci/lowest_versions.py
	@test -x $(VENV)-lowest/$(IN)/python || $(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/$(IN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(PYTHON) .ci/lowest_versions.py >$(VENV)-lowest/lowest.txt
	$(VENV)-lowest/$(IN)/python -m pip install --quiet --editable . --requirement $(VENV)-lowest/lowest.txt
	@touch $@

$(VENV)-mutants/.ready: $(VENV)/.ready-base
	@test -x $(VENV)-mutants/$(IN)/python || $(PYTHON) -m venv $(VENV)-mutants
	$(VENV)-mutants/$(IN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-mutants/$(IN)/python -m pip install --quiet --editable ".[plot]" --group mutants
	@touch $@

$(VENV)-release/.ready: $(VENV)/.ready-base
	@test -x $(VENV)-release/$(IN)/python || $(PYTHON) -m venv $(VENV)-release
	$(VENV)-release/$(IN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-release/$(IN)/python -m pip install --quiet --group release
	@touch $@

$(VENV)-peers/.ready: $(VENV)/.ready-base
	@test -x $(VENV)-peers/$(IN)/python || $(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/$(IN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-peers/$(IN)/python -m pip install --quiet --group peers
	@touch $@

$(VENV)/.ready-lint: $(VENV)/.ready-base
	$(PIP) install --quiet --editable ".[plot]" --group lint
	@touch $@

$(VENV)/.ready-bench: $(VENV)/.ready-base
	$(PIP) install --quiet --editable ".[ann,report]" --group bench
	@touch $@

$(VENV)/.ready-bench-small: $(VENV)/.ready-base
	$(PIP) install --quiet --editable ".[ann,report]"
	@touch $@

$(VENV)/.ready-reproduce: $(VENV)/.ready-base
	$(PIP) install --quiet --editable ".[plot,vision,dimension]"
	@touch $@

$(VENV)/.ready-docs: $(VENV)/.ready-base
	$(PIP) install --quiet --editable ".[plot,report]" --group docs
	@touch $@
