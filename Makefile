# The project's vocabulary. Everything is installed into .venv/ and kept in .local/, both ignored by git.
#   make run          the whole thing on this machine: embedded cloud, real deploy, simulator, an example watch
#   make test         all tests that need neither a container engine nor minutes
#   make proof        the queue's protocol, gone through whole: every interleaving, a failure at each write
#   make lint         formatting, style, types, template
#   make model        the queue's protocol, every interleaving in larger spaces than `make proof` goes through
#   make conformance  the store on ministack and on Amazon's DynamoDB Local (npm and Java; says so and skips without)
#   make e2e          deploys for real into the embedded cloud and watches what happens
#   make local-invoke each function once in its container, and the API (says so and skips without a container engine)
#   make bench        all benchmarks (bench-reuse, bench-cost, bench-decode one by one)
#   make secrets      looks for forgotten secrets, in the tree and in all of the history
#   make audit        asks whether weaknesses are known in what is installed (needs the network, says so without: exit 2)
#   make sbom         lists what is in the layers, as CycloneDX, in .local/sbom/
#   make build, deploy    sam build; sam deploy (CONFIG_ENV=default|local|prod)
#   make format       lays out the code and mends what can be mended
#   make requirements pins anew what is installed
#   make clean        removes what was installed and built; the local cloud's state in .local/ stays

SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
export SAM_CLI_TELEMETRY := 0
export AWS_DEFAULT_REGION ?= eu-central-1

DEV := .venv/dev/bin
SAM := PATH="$(CURDIR)/.venv/sam/bin:$$PATH" .venv/sam/bin/sam
PYTHON_FILES := layers functions cli simulator scripts bench tests
TYPED := layers/common/lago cli simulator scripts tests bench
CONFIG_ENV ?= default
PYTEST := $(DEV)/python -m pytest
PYTEST_ARGS ?=
# what `make test` leaves out: e2e deploys for real, conformance starts other databases
TESTS := $(filter-out tests/e2e/ tests/conformance/,$(filter-out tests/__pycache__/,$(wildcard tests/*/)))

.PHONY: help run test proof model conformance lint e2e bench bench-reuse bench-cost bench-decode local-invoke secrets audit sbom build deploy format clean requirements

help:
	@sed -n 's/^#   //p' Makefile

.venv/%/.made: requirements/%.txt requirements/uv.txt scripts/make-venv
	@scripts/make-venv $*
	@touch $@

.venv/dev/.made: pyproject.toml

run: .venv/dev/.made .venv/sam/.made .venv/cloud/.made
	@$(DEV)/python scripts/run.py

test: .venv/dev/.made .venv/sam/.made
	$(PYTEST) -n 2 --dist loadgroup -m "not proof" $(PYTEST_ARGS) $(TESTS)

proof: .venv/dev/.made
	$(PYTEST) -n 2 -m proof $(PYTEST_ARGS) tests/model tests/store

model: .venv/dev/.made
	$(DEV)/python -m tests.model

conformance: .venv/dev/.made .venv/cloud/.made
	@$(DEV)/python scripts/dynamodb_local.py
	$(PYTEST) -n 2 --dist loadgroup $(PYTEST_ARGS) tests/conformance

e2e: .venv/dev/.made .venv/sam/.made .venv/cloud/.made
	AUTH=true $(PYTEST) $(PYTEST_ARGS) tests/e2e # the cloud checks each request against the template's roles

lint: .venv/dev/.made .venv/sam/.made
	$(DEV)/ruff format --check $(wildcard $(PYTHON_FILES))
	$(DEV)/ruff check $(wildcard $(PYTHON_FILES))
	$(DEV)/mypy $(wildcard $(TYPED))
	@for function in $(wildcard functions/*/app.py); do echo "mypy $$function"; $(DEV)/mypy $$function || exit 1; done
	$(DEV)/cfn-lint template.yaml
	$(SAM) validate --lint

format: .venv/dev/.made
	$(DEV)/ruff format $(wildcard $(PYTHON_FILES))
	$(DEV)/ruff check --fix $(wildcard $(PYTHON_FILES))

build: .venv/sam/.made
	$(SAM) build --config-env $(CONFIG_ENV)

deploy: build
	$(SAM) deploy --config-env $(CONFIG_ENV)

local-invoke: .venv/dev/.made .venv/sam/.made .venv/cloud/.made
	@$(DEV)/python scripts/local_invoke.py

secrets: .venv/dev/.made
	@$(DEV)/python scripts/find_secrets.py

audit: .venv/dev/.made .venv/audit/.made
	@$(DEV)/python scripts/audit.py

sbom: .venv/audit/.made
	@mkdir -p .local/sbom
	@for layer in common apprise; do \
	    .venv/audit/bin/cyclonedx-py requirements layers/$$layer/requirements.txt --output-reproducible \
	        --output-format JSON --output-file .local/sbom/$$layer.cdx.json || exit 1; \
	    echo ".local/sbom/$$layer.cdx.json"; done

bench: bench-reuse bench-decode bench-cost

bench-reuse bench-decode bench-cost: bench-%: .venv/dev/.made .venv/cloud/.made
	$(DEV)/python bench/$*.py

requirements: .venv/dev/.made
	@for name in layers/common/requirements requirements/sam requirements/cloud requirements/audit requirements/dev; do \
	    echo "$$name.txt"; \
	    (cd $$(dirname $$name) && "$(CURDIR)/$(DEV)/uv" pip compile --quiet --upgrade --no-emit-index-url --universal \
	        --python-version 3.13 --no-annotate --custom-compile-command "make requirements" \
	        $$(basename $$name).in -o $$(basename $$name).txt) || exit 1; done

clean:
	rm -rf .aws-sam .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(wildcard $(PYTHON_FILES)) -name __pycache__ -type d -prune -exec rm -rf {} +
