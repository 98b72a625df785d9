# `make demo` shows what the library does, `make test` checks everything; both set up .venv themselves.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint types unit slow bench bench-gpu stubs docs clean

demo: .venv/.installed
	$(BIN)/python -m closedform.interfaces.demo build/demo

test: lint types unit

lint: .venv/.tested
	$(BIN)/ruff check src tests benchmarks examples tools

types: .venv/.tested
	$(BIN)/mypy

unit: .venv/.tested
	$(BIN)/pytest -n 2 -m "not slow"

SEED ?= $(shell $(PYTHON) -c 'import secrets; print(secrets.randbelow(10**9))')
TREES ?= 2000

slow: .venv/.tested
	$(BIN)/pytest -n 2 -m slow
	@echo "laws on $(TREES) random trees each, seed $(SEED) (again: make slow SEED=$(SEED))"
	$(BIN)/pytest -n 2 tests/laws --trees $(TREES) --hypothesis-seed=$(SEED)
	$(BIN)/python tools/oldest_versions.py

# on a machine with an NVIDIA GPU; PyTorch and JAX with CUDA in the environment, and peers if wanted
bench-gpu: .venv/.installed
	$(BIN)/python benchmarks/cuda.py --write docs/benchmarks-gpu.md
	$(BIN)/python benchmarks/cuda_peers.py --append docs/benchmarks-gpu.md

bench: .venv/.benched
	$(BIN)/python benchmarks/run.py $(BENCH)
	$(BIN)/python benchmarks/deep.py
	$(BIN)/python benchmarks/threads.py
	$(BIN)/python benchmarks/closed_loops.py
	$(BIN)/python benchmarks/redundancy.py
	$(BIN)/python benchmarks/flexible.py
	$(BIN)/python benchmarks/elastic.py
	$(BIN)/python benchmarks/export.py
	$(BIN)/python benchmarks/logs.py
	$(BIN)/python benchmarks/identification.py
	$(BIN)/python benchmarks/streams.py
	$(BIN)/python benchmarks/excitation.py
	$(BIN)/python benchmarks/cluster.py
	$(BIN)/python benchmarks/jax_operator.py
	$(BIN)/python benchmarks/torch_operator.py
	$(BIN)/python benchmarks/casadi_operator.py
	$(BIN)/python examples/12_jax.py --full
	$(BIN)/python examples/13_torch.py 1024
	$(BIN)/python examples/14_casadi.py 50

stubs: .venv/.installed
	$(BIN)/python tools/stubs.py

docs: .venv/.documented
	$(BIN)/sphinx-build -W -b html docs docs/_build

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "closedform needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv

.venv/.installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/.tested: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

.venv/.benched: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@

.venv/.documented: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

clean:
	rm -rf .venv build dist docs/_build src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
