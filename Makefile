# `make demo` and `make test` do all set-up by themselves: Python 3.11+, make and a network to a package index suffice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Tests of one file share one worker, and so what they start once: a browser, a studio, a paper's results.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
KERNELS := $(shell find src/vertebra/mechanics -name '*.py') src/vertebra/papers/hu2023/literal.py
STARTED := $(shell date +%s)

.PHONY: demo test test-torch check bench soak docs wheel generated format clean

demo: $(VENV)/runtime
	@mkdir -p build
	@echo "Predicting the shapes of the robots that Hu 2023 built and measured ..."
	$(BIN)/vertebra papers hu2023 --experiments --out build/demo.html
	@echo "Done in $$(( $$(date +%s) - $(STARTED) )) s. Open build/demo.html in a browser to turn the predicted shapes."

test: $(VENV)/dev $(VENV)/kernels $(VENV)/browser
	$(PYTEST)

# Not part of `make test`: on some systems PyTorch is several GB.
test-torch: $(VENV)/dev $(VENV)/kernels
	$(PIP) install --constraint constraints.txt --editable '.[dev,torch]'
	$(BIN)/python -m pytest tests/derivatives/test_torch.py

check: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/dev $(VENV)/kernels
	$(BIN)/python -m benchmarks

soak: $(VENV)/dev $(VENV)/kernels $(VENV)/browser
	VERTEBRA_SOAK=1 $(PYTEST)

docs: $(VENV)/dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir build/site
	@echo "Open build/site/index.html in a browser."

# With the kernels compiled: the first answer after installing it does not wait.
wheel: $(VENV)/dev
	$(BIN)/python -m tools.wheel dist

generated: $(VENV)/dev $(VENV)/kernels
	$(BIN)/python -m tools.generate

format: $(VENV)/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Vertebra needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The demo's page needs the extra `pages` and no other.
$(VENV)/runtime: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing Vertebra and what the demo needs into $(VENV) ..."
	$(PIP) install --constraint constraints.txt --editable '.[pages]'
	@touch $@

$(VENV)/dev: $(VENV)/runtime
	@echo "Installing the tools for tests and checks into $(VENV) ..."
	$(PIP) install --constraint constraints.txt --editable '.[dev]'
	@touch $@

# The tests that look at pages need one; they say so when there is none.
$(VENV)/browser: $(VENV)/dev tests/browsers.py
	$(BIN)/python -m tests.browsers
	@touch $@

# Only to spare the tests the wait: whoever calls a kernel first compiles it.
$(VENV)/kernels: $(VENV)/runtime $(KERNELS)
	@echo "Compiling all kernels ..."
	$(BIN)/vertebra warmup
	@touch $@
