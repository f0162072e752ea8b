# make run    opens the program        make test   all gates and all tests
#
# Both make .venv when it is missing and install what pyproject.toml says; a second time they
# find that done and start at once.

.DEFAULT_GOAL := run
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: run test gates check-system

PYTHON := $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null \
	&& echo $$python && break; done)
VENV_PYTHON := .venv/bin/python
NO_QT_PYTHON := .venv-noqt/bin/python
PIP_INSTALL := -m pip install --disable-pip-version-check

# pytest-qt brings the qt_ options, so without it they are unknown; what needs the starter model or
# the export tools was tested with Qt and would only repeat the same minutes.
PYTEST_NO_QT := -m pytest -o addopts="-ra --strict-markers" -W ignore::pytest.PytestConfigWarning \
	-m "not starter and not export and not perf and not frozen"

run: check-system .venv/.run-installed
	@$(VENV_PYTHON) -m dflash_desktop starter install || test $$? -ne 130
	@$(VENV_PYTHON) -m dflash_desktop

test: export QT_QPA_PLATFORM ?= offscreen
test: check-system gates .venv-noqt/.installed
	$(VENV_PYTHON) -m pytest -m "not perf" --durations=10
	$(NO_QT_PYTHON) $(PYTEST_NO_QT)

gates: .venv/.dev-installed
	.venv/bin/ruff format --check
	.venv/bin/ruff check
	.venv/bin/mypy
	.venv/bin/lint-imports

check-system: $(VENV_PYTHON)
	@$(VENV_PYTHON) packaging/check_system.py

$(VENV_PYTHON):
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed and was not found." >&2; \
		echo "On Debian and Ubuntu: sudo apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c "import ensurepip, venv" 2>/dev/null || { \
		echo "Python's venv module is missing. Install it, then try again:" >&2; \
		echo "  sudo apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear .venv

.venv/.run-installed: pyproject.toml $(VENV_PYTHON)
	@echo "Installing what the program needs (about 170 MB the first time)"
	$(VENV_PYTHON) $(PIP_INSTALL) --quiet --upgrade "pip>=25.1"
	$(VENV_PYTHON) $(PIP_INSTALL) --editable .
	@touch $@

.venv/.dev-installed: pyproject.toml $(VENV_PYTHON)
	$(VENV_PYTHON) $(PIP_INSTALL) --quiet --upgrade "pip>=25.1"
	$(VENV_PYTHON) $(PIP_INSTALL) --editable ".[dev,package]"
	@touch .venv/.run-installed $@

# A copy of .venv by hard links, so in seconds and with the very same versions, less Qt.
.venv-noqt/.installed: .venv/.dev-installed
	$(VENV_PYTHON) -m venv --clear --without-pip .venv-noqt
	cp -al .venv/lib .venv-noqt/
	cp -al .venv/bin/uv .venv-noqt/bin/
	$(NO_QT_PYTHON) -m pip uninstall --quiet --yes PySide6-Essentials shiboken6 qasync pytest-qt
	@touch $@
