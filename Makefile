# Every target stands alone: it builds .venv first where that is needed.
PORT ?= 8501
ADDRESS ?= localhost
PYTEST_ARGS ?=
MUTANTS ?=
FUZZ_SECONDS ?= 180
ROWS ?= 10000000
SETS ?= 400
PEOPLE ?= 100
RUNS ?= 10
SERVERS ?= 1
IDLE ?= 2000
EXPORTS ?=
STUDY ?= full
DICES ?=

VENV_PYTHON := .venv/bin/python
# Else each start would parse all packages anew: seconds, in every process.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run test check mutants test-long test-lowest coverage test-lm test-connectors lint bench bench-clickers bench-loading bench-plan bench-power bench-raft bench-attacks bench-idle bench-scaling bench-sessions bench-tail paper study fuzz exports settings-table codes-table digests sbom lock clean

help: ## list these targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24
	@echo
	@echo "  make run PORT=8600           another port"
	@echo "  make run ADDRESS=0.0.0.0     reachable from other machines"
	@echo "  make run PYTHON=python3.12   build .venv with this Python (after: make clean)"
	@echo "  make test PYTEST_ARGS='-k name'"
	@echo "  make exports EXPORTS='doccano potato'"

setup: ## build .venv with all that running and testing need
	@tools/setup.sh test
	@$(VENV_PYTHON) -m grasp_core warm

run: ## serve the dashboard at http://localhost:8501
	@tools/setup.sh app
	@exec $(VENV_PYTHON) -m streamlit run app.py --server.port $(PORT) --server.address $(ADDRESS)

test: ## lint, types and all tests, with a real browser, PostgreSQL and proxy
	@tools/setup.sh test
	@tools/tests.sh all $(PYTEST_ARGS)

check: ## lint, types and the tests that need neither browser nor server: 3 minutes on two cores
	@tools/setup.sh test
	@tools/tests.sh check $(PYTEST_ARGS)

mutants: ## whether the tests notice forty mistakes, made one at a time in a copy (some of them: make mutants MUTANTS=links)
	@tools/setup.sh test
	@$(VENV_PYTHON) -m tests.mutants $(MUTANTS)

test-long: ## property tests on many more examples, other ones each time, and what takes long to simulate or compile
	@tools/setup.sh test
	GRASP_EXAMPLES=long $(VENV_PYTHON) -m pytest --numprocesses auto --maxprocesses 4 -m '(hypothesis or long) and not browser' $(PYTEST_ARGS)
	GRASP_CHROMIUM=$$(tools/browser.sh) $(VENV_PYTHON) -m pytest -m 'browser and long' $(PYTEST_ARGS)

test-lowest: ## the library's tests with the oldest packages that it takes, in .venv-lowest (Python 3.11)
	@tools/lowest.sh $(PYTEST_ARGS)

coverage: ## which statements of grasp_core no test reaches
	@tools/setup.sh test
	@$(VENV_PYTHON) -m coverage erase
	@GRASP_POSTGRES=$$(tools/postgres.sh) && export GRASP_POSTGRES && \
		$(VENV_PYTHON) -m coverage run -m pytest -q -m 'not browser' $(PYTEST_ARGS)
	@$(VENV_PYTHON) -m coverage combine --quiet
	@$(VENV_PYTHON) -m coverage report --skip-covered --sort=miss

test-lm: ## build llama.cpp (6 minutes, once) and test the language model baseline on a small real model
	@tools/setup.sh test
	@tools/lm.sh
	$(VENV_PYTHON) -m pytest tests/benchmark/language_models $(PYTEST_ARGS)

test-connectors: ## add the clients of Label Studio, Argilla and Hugging Face to .venv and test fetching with them
	@tools/setup.sh test
	$(VENV_PYTHON) -m pip install --quiet --disable-pip-version-check --requirement requirements-connectors.txt
	$(VENV_PYTHON) -m pytest tests/reading/connectors $(PYTEST_ARGS)

lint: ## formatting, types, direction of imports, Dockerfiles
	@tools/setup.sh test
	$(VENV_PYTHON) -m ruff check
	$(VENV_PYTHON) -m ruff format --check
	$(VENV_PYTHON) -m mypy
	$(VENV_PYTHON) -c 'from importlinter.cli import lint_imports_command as check; check()' --no-logo
	.venv/bin/hadolint Dockerfile deploy/proxy.Dockerfile
	@$(VENV_PYTHON) tools/size.py

bench: ## time and peak memory of the main jobs
	@tools/setup.sh app
	$(VENV_PYTHON) -m benchmarks

bench-loading: ## time and peak memory of reading 10 million rows
	@tools/setup.sh app
	$(VENV_PYTHON) -m benchmarks.loading

bench-clickers: ## wrong findings that random clickers make, before and after screening
	@tools/setup.sh app
	$(VENV_PYTHON) -m benchmarks.clickers

bench-power: ## power and size of every test, coverage of intervals, on planted effects (fewer data sets: make bench-power SETS=100)
	@tools/setup.sh app
	$(VENV_PYTHON) -m benchmarks.power --sets $(SETS)

paper: ## print the GRASP paper's Table 5 beside the one computed from the published data (DICES=folder; else they are fetched)
	@tools/setup.sh app
	@$(VENV_PYTHON) -m benchmarks.paper $(if $(DICES),--data '$(DICES)')

study: ## simulate error rates and write docs/validity.md (a look: make study STUDY=quick); goes on where it was interrupted
	@tools/setup.sh app
	$(VENV_PYTHON) -m benchmarks.study --scale $(STUDY)

bench-plan: ## what plans predict from pilots against the truth, on planted effects
	@tools/setup.sh app
	$(VENV_PYTHON) -m benchmarks.planner --sets $(SETS)

bench-tail: ## fitted small p-values against ten million permutations
	@tools/setup.sh app
	$(VENV_PYTHON) -m benchmarks.tail

bench-raft: ## the few-shot benchmark's baselines beside their measured figures
	@tools/setup.sh test
	$(VENV_PYTHON) -m benchmarks.few_shot

bench-scaling: ## time and memory of runs as data grow (up to 100 million: make bench-scaling ROWS=100000000)
	@tools/setup.sh app
	$(VENV_PYTHON) -m benchmarks.scaling --rows $(ROWS)

bench-sessions: ## how fast pages are while 100 people read results and 10 have runs computed (PEOPLE=50 RUNS=5; SERVERS=2 behind the proxy)
	@tools/setup.sh app
	$(VENV_PYTHON) -m benchmarks.sessions --people $(PEOPLE) --runs $(RUNS) --servers $(SERVERS)

bench-idle: ## how pages fare behind the proxy while 2,000 connections say nothing, and 2,000 send headers without end
	@tools/setup.sh app
	$(VENV_PYTHON) -m benchmarks.idle --connections $(IDLE)

bench-attacks: ## how somebody fares while all is done to a server at once that once made it stop
	@tools/setup.sh app
	$(VENV_PYTHON) -m benchmarks.attacks

fuzz: ## feed damaged files to the readers (other than 3 minutes: make fuzz FUZZ_SECONDS=3600)
	@tools/setup.sh fuzz
	$(VENV_PYTHON) -m fuzz.readers --seconds $(FUZZ_SECONDS)

exports: ## run real Label Studio, doccano and Potato, and hold our reading of their exports against what was sent
	@tools/setup.sh app
	@tools/exports.sh
	$(VENV_PYTHON) -m exports $(EXPORTS)

settings-table: ## write docs/deploy.md's table of settings from the code
	@tools/setup.sh app
	@$(VENV_PYTHON) tools/settings_table.py --write

codes-table: ## write docs/codes.csv, all codes with their sentences, from the code
	@tools/setup.sh app
	@$(VENV_PYTHON) tools/codes_table.py --write

digests: ## pin the images of compose.yaml and the Dockerfiles by digest (asks their registries with Docker)
	@tools/setup.sh app
	@$(VENV_PYTHON) tools/digests.py

sbom: ## list the packages of the image in sbom.cdx.json (CycloneDX)
	@tools/setup.sh test
	@$(VENV_PYTHON) tools/sbom.py

lock: ## pin the dependencies of pyproject.toml again (newest: make lock UPGRADE=1)
	@tools/lock.sh $(if $(UPGRADE),--upgrade)

clean: ## remove .venv, .venv-exports, .venv-lowest and all caches
	rm -rf .venv .venv-exports .venv-lowest .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
