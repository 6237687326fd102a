# Two commands on a fresh machine with Python 3.11, pip and make: `make run` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
# the links that `demo` prints must lead to the port that `serve` listens on
export CALIPERS_BASE_URL ?= http://127.0.0.1:$(PORT)

# without it Python reads every test anew in each process
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install install-run run test slow heard check bench faults fuzz screenshots lock

install: $(VENV)/.installed

install-run: $(VENV)/.runs

# uv of the lock, from pip: it installs in a third of pip's time. pip does it all where uv cannot be had or cannot fetch
UV = $(firstword $(wildcard $(abspath $(BIN))/uv) uv)
PIP = $(BIN)/python -m pip install -q --disable-pip-version-check
ifdef PIP_INDEX_URL  # uv reads none of pip's settings
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
UV_PIP = VIRTUAL_ENV=$(VENV) $(UV) pip install -q

$(VENV)/.uv: requirements-uv.lock
	$(PYTHON) -m venv $(VENV)
	@$(PIP) --require-hashes --only-binary :all: -r requirements-uv.lock || echo "no uv from pip: pip installs all"
	@touch $@

# What running needs; tests and checks need the other lock too
$(VENV)/.runs: $(VENV)/.uv requirements.lock pyproject.toml
	@$(UV_PIP) --require-hashes -r requirements.lock || $(PIP) --require-hashes -r requirements.lock
	@$(UV_PIP) --no-deps --no-build-isolation --no-index -e . || $(PIP) --no-deps --no-build-isolation --no-index -e .
	@touch $@

$(VENV)/.installed: $(VENV)/.runs requirements-test.lock
	@$(UV_PIP) --require-hashes -r requirements-test.lock || $(PIP) --require-hashes -r requirements-test.lock
	@touch $@

run: install-run
	$(BIN)/calipers demo
	$(BIN)/calipers serve --port $(PORT)

# What failed beside others runs once more by itself, on a free machine; what fails twice fails the run. A test that takes
# its process with it, as one that waits for ever may, is given one other: with more xdist waits for ever. Where that is
# lost too, tests are left that never began, and the run has failed (exit 2).
TESTS = $(BIN)/pytest -n 2 --dist loadscope --max-worker-restart 1 $(1) \
	|| { [ $$? = 1 ] && echo "== once more, one by one ==" && $(BIN)/pytest --last-failed --last-failed-no-failures none; }
OTHERS = --ignore=tests/faults -m

test: install
	$(call TESTS,$(OTHERS) "not slow")

# Walks over every page in a browser, published studies from their files to their tables, simulations
slow: install
	$(call TESTS,$(OTHERS) "slow and not orca")

# What a screen reader says of a pair, by itself: it takes the keyboard, and does not bear other browsers beside it
heard: install
	$(BIN)/pytest tests/browser/test_screen_reader.py

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m tests.security.audit

# Every promise of speed and coverage: an hour, or some of them with ONLY="load scale"; results in benchmarks/results.md
bench: install
	$(BIN)/python -m benchmarks $(ONLY)

# Processes killed, disks filled, networks cut, machines under load: ten minutes. Each test has servers, databases and
# disks of its own. The seed is printed, and the same where a test runs once more; CALIPERS_FAULT_SEED repeats it
faults: export CALIPERS_FAULT_SEED ?= $(shell od -An -N4 -tx4 /dev/urandom | tr -d ' ')
faults: install
	$(call TESTS,tests/faults -q)

# A thousand requests a route and a thousand files an import; `make slow` makes a few dozen of each
fuzz: install
	CALIPERS_FUZZ=1000 $(BIN)/pytest tests/fuzz -q -n 2

screenshots: install
	$(BIN)/python docs/screenshots.py

# Refresh the locks; releases younger than seven days are left out on purpose. The whole first, then its parts.
COMPILE = uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	--no-emit-find-links --exclude-newer "$$(date -u -d '7 days ago' +%Y-%m-%d)"
lock:
	$(COMPILE) pyproject.toml --all-extras -o requirements-test.lock
	$(COMPILE) pyproject.toml --extra build --extra oidc --constraints requirements-test.lock -o requirements.lock
	echo uv | $(COMPILE) - --upgrade -o requirements-uv.lock
	sed -i '/# *-c requirements-test.lock$$/d' requirements.lock
