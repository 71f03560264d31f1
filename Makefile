# Everything happens in .venv, made here on first use: nothing else on your machine changes.
#
#   PYTHON=python3.12     which Python makes .venv (3.11 to 3.13; by default the first that fits)
#   PIP_FLAGS=...         passed on to pip. On Linux without a GPU, save several GB of CUDA packages in one line:
#                         make app PIP_FLAGS="--extra-index-url <the CPU index that PyTorch's 'Get Started' page shows>"
#   PORT= HOST= DEVICE=   for `make app`, as the options of `convviz serve`
#   PYTEST_FLAGS=...      for all that runs tests, such as PYTEST_FLAGS="-k spec -x"
#   WORKERS=2             how many test files run at the same time; 0 runs them one after the other, to debug

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do $$p -c \
	'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null && echo $$p && break; done)

WORKERS ?= 2
BIN := .venv/bin
STAMP := .venv/.installed
# The template is copied into .venv, as the rest of an editable install is not: install again when it changes.
SOURCES := pyproject.toml constraints.txt $(shell find convviz/share/voila -type f 2>/dev/null)

# In what a function is given: a comma as it is would end it.
COMMA := ,
# Run quietly what takes minutes, with a dot every few seconds, and end as it ended.
dots = { $(1) & job=$$!; while kill -0 $$job 2>/dev/null; do printf .; sleep 2; done; echo; wait $$job; }

# Python keeps what it has compiled, also where a container's image says not to: else every process of the tests
# compiles anew what it imports, and each worker rewrites the asserts of all test files.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help app board check docs test test-all test-js lint-js test-py lint lint-py bench clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

# HOST counts only when given to make itself: conda and csh export one of their own, which is no address.
SERVE_FLAGS = $(strip $(if $(PORT),--port $(PORT)) $(if $(DEVICE),--device $(DEVICE)) \
	$(if $(findstring command,$(origin HOST)),--host $(HOST)))
app: $(STAMP)-app ## open convviz as a dashboard (PORT=, HOST=, DEVICE=)
	$(BIN)/convviz serve $(SERVE_FLAGS)

# What needs programs of others: notebooks, a hub, proxies, Firefox, graders, a wheel of its own, the built docs.
ENVIRONMENTS := tests/environments
test: $(STAMP)-test ## lint, types, JavaScript tests and all tests of convviz itself, in a real browser too
	@$(MAKE) --no-print-directory -j 2 lint test-js # each by itself keeps one core busy
	@$(MAKE) --no-print-directory test-py ONLY="--ignore $(ENVIRONMENTS)"

test-all: $(STAMP)-test ## the same, and where else convviz runs: notebooks, a hub, proxies, Firefox, a wheel, the docs
	@$(MAKE) --no-print-directory -j 2 lint test-js
	@$(MAKE) --no-print-directory test-py

# In the order of tests/conftest.py, else the files with few tests, which may take long, would be the last.
SPREAD := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# Of every layer the file that holds most for its seconds, up to the page whose rules stand a second time in JavaScript.
CHECKED := $(addprefix tests/,$(addsuffix .py,test_layers test_environment test_conftest geometry/test_taps \
	geometry/test_spec ops/test_stages_mutations ops/test_operators_mutations ops/test_which_backend ops/test_stages \
	ops/test_transposed nn/test_nn settings/test_link features/matrix/test_matrices views/test_views web/test_bundle \
	app/test_app app/test_page_requests app/test_share docs/test_docs browser/test_grid_reuse browser/test_page_model_matches_python))
check: lint test-js ## two minutes for what catches most; `make test` before you hand it in
	$(BIN)/python -m pytest $(SPREAD) $(CHECKED) $(PYTEST_FLAGS)

# What the board can do, however it is composed: digits and bands at first sight, also on phones and in low windows; links
# across, sums, pins; stepping; lessons with their marks, tray and whys; hands, broken steps, predictions, the arrival;
# keys, tables, print, lecture, menus; losses, pickers, the remainder, Learn; undo and what controls may do; entries.
BOARD := $(addprefix tests/browser/test_,$(addsuffix .py,first_screen screen_layout linked_cells grid_reuse true_sentences \
	stepper lesson lesson_path open_links drag break_it predict mistakes_match_python intro_animation keyboard \
	number_tables printing lecture panel_zoom_dialog forward_band transposed remainder output_padding_sentences \
	gradient_descent_panel page_model page_model_matches_python rules tabs colour_meanings))
board: $(STAMP)-test ## what the board can do, in a real browser: run it when you change what the screen looks like
	$(BIN)/python -m pytest $(SPREAD) $(BOARD) $(PYTEST_FLAGS)

test-py: $(STAMP)-test
	@echo "Browsers for the tests: $$($(BIN)/python -m tests.chromium), $$($(BIN)/python -m tests.environments.firefox)"
	$(BIN)/python -m pytest $(SPREAD) $(ONLY) $(PYTEST_FLAGS)

NPM := tests/js/node_modules/.bin
lint-js: # rules, format and types of the JavaScript; what checks them comes from npm, once
	@if ! node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null; then \
		echo "JavaScript's format and types SKIPPED: their check needs node 18 or newer, which is not installed."; test "$$CI" != true; \
	elif ! node -e 'for (const [name, version] of Object.entries(require("./tests/js/package.json").devDependencies)) \
		if (require(`./tests/js/node_modules/$${name}/package.json`).version !== version) process.exit(1)' 2>/dev/null && \
		! (cd tests/js && npm install --no-save --no-package-lock --no-audit --no-fund); then \
		echo "JavaScript's format and types SKIPPED: their check needs what tests/js names, which npm could not install."; \
		test "$$CI" != true; \
	else $(NPM)/biome check --error-on-warnings && $(NPM)/tsc -p tests/js && $(NPM)/tsc -p tests/js/tsconfig.strict.json; fi

test-js: lint-js
	@tests=$$(find tests -name '*.test.*js' -not -path '*/node_modules/*' 2>/dev/null); \
	if ! node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null; then \
		echo "JavaScript tests SKIPPED: they need node 18 or newer, which is not installed."; test "$$CI" != true; \
	elif [ -z "$$tests" ]; then echo "tests has no *.test.js or *.test.mjs: nothing would be tested."; exit 1; \
	else node --import ./tests/js/read_folders.mjs --test $$tests; fi

lint: lint-py lint-js ## ruff and mypy; where node is, Biome and tsc for the JavaScript

lint-py: $(STAMP)-test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(STAMP)-test ## measure what README promises: start, size, slider to paint (BEFORE=path of an older tree, beside it)
	$(BIN)/python -m benchmarks $(if $(BEFORE),--before $(BEFORE))

docs: $(STAMP)-docs ## build the documentation into build/docs: offline, each warning an error
	$(BIN)/sphinx-build -E -a -q -W --keep-going docs build/docs
	@echo "Read it: $(BIN)/python -m http.server -d build/docs (from a file its boards would not start)"

clean: ## remove .venv, caches and build outputs
	rm -rf .venv build dist tests/js/node_modules .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage htmlcov docs/*/lessons
	find docs/lessons -name '*.md' -not -name index.md -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# pip comes last into a new environment: where it is, the environment is whole.
$(BIN)/pip:
	@if ! command -v "$(PYTHON)" >/dev/null; then \
		echo "convviz needs Python 3.11, 3.12 or 3.13; $(if $(PYTHON),there is no $(PYTHON).,none is on PATH.)"; \
		echo "Install one, or name it: make PYTHON=/path/to/python3.12"; exit 1; fi
	@$(PYTHON) -c 'import sys; v = sys.version_info; (3, 11) <= v[:2] < (3, 14) or sys.exit( \
		f"convviz needs Python 3.11, 3.12 or 3.13; $(PYTHON) is {v[0]}.{v[1]}. Name another: make PYTHON=python3.12")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments: a part of it is missing."; \
		echo "On Debian and Ubuntu: sudo apt-get install python3-venv"; exit 1; }
	@echo "Making .venv with $$($(PYTHON) --version), a few seconds."
	@$(PYTHON) -m venv --clear .venv

$(STAMP)-app: $(SOURCES) | $(BIN)/pip
	@echo "Installing convviz and what it runs on (torch is the large part): 1 to 5 minutes the first time."
	@$(call dots,$(BIN)/pip install -q --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt -e ".[checkout]")
	@touch $@

$(STAMP)-docs: $(SOURCES) | $(BIN)/pip
	@echo "Installing convviz, what it runs on and what builds its documentation: 1 to 5 minutes the first time."
	@$(call dots,$(BIN)/pip install -q --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt -e ".[checkout$(COMMA)docs]")
	@touch $@ $(STAMP)-app

$(STAMP)-test: $(SOURCES) | $(BIN)/pip
	@echo "Installing convviz, what it runs on and its test tools: 1 to 6 minutes the first time."
	@$(call dots,$(BIN)/pip install -q --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt -e ".[test]")
	@touch $@ $(STAMP)-app $(STAMP)-docs
