# Two commands on a fresh machine with Python 3.11, pip and make: `make run` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
# the links that `demo` prints must lead to the port that `serve` listens on
export CALIPERS_BASE_URL ?= http://127.0.0.1:$(PORT)

# without it Python reads every test anew in each process
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install run test slow check bench faults fuzz screenshots lock

install: $(VENV)/.installed

$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	@if command -v uv >/dev/null 2>&1; \
	then VIRTUAL_ENV=$(VENV) uv pip install -q --require-hashes -r requirements.lock; \
	else $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock; fi
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@touch $@

run: install
	$(BIN)/calipers demo
	$(BIN)/calipers serve --port $(PORT)

# What failed beside others runs once more by itself, on a free machine; what fails twice fails the run.
TESTS = $(BIN)/pytest -n 2 --dist loadscope --ignore=tests/faults -m $(1) \
	|| { echo "== once more, one by one =="; $(BIN)/pytest --last-failed --last-failed-no-failures none; }

test: install
	$(call TESTS,"not slow")

# Walks over every page in a browser, published studies from their files to their tables, simulations
slow: install
	$(call TESTS,slow)

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m tests.security.audit

# Every promise of speed and coverage: an hour, or some of them with ONLY="load scale"; results in benchmarks/results.md
bench: install
	$(BIN)/python -m benchmarks $(ONLY)

# Processes killed, disks filled, networks cut, machines under load: ten minutes. Each test has servers, databases and
# disks of its own. The seed is printed; CALIPERS_FAULT_SEED repeats it
faults: install
	$(BIN)/pytest tests/faults -q -n 2 --dist loadscope

# A thousand requests a route and a thousand files an import; `make slow` makes a few dozen of each
fuzz: install
	CALIPERS_FUZZ=1000 $(BIN)/pytest tests/fuzz -q -n 2

screenshots: install
	$(BIN)/python docs/screenshots.py

# Refresh the lock; releases younger than seven days are left out on purpose.
lock:
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-emit-index-url --no-emit-find-links --exclude-newer "$$(date -u -d '7 days ago' +%Y-%m-%d)" -o requirements.lock
