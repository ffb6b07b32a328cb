# Every target works on a fresh machine: the virtual environment is made when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo generated test lint format bench conformance sameness crash soak incidents pictures deploy-check image-check dashboards-check dashboards-preview clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check "pip>=25.1"
	$(BIN)/pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $(READY)

# Validators of deploy/, pinned, apart from the project's own packages.
TOOLS := .deploy-tools
$(TOOLS)/.ready: .ci/deploy-tools.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check --requirement .ci/deploy-tools.txt
	touch $(TOOLS)/.ready

demo: $(READY)           ## a simulated vLLM lives through an incident; the alerts print here
	$(BIN)/vllm-monitor demo

lint: $(READY)
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy

# Three workers also on two processors: half of the suite waits for real time to pass.
test: lint               ## what CI runs
	$(BIN)/pytest --quiet --numprocesses 3 --dist worksteal

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generated: $(READY)      ## all that is written by a program: rules, dashboards, what of deploy/ follows from them
	$(BIN)/vllm-monitor rules build
	$(BIN)/python -m dashboards.build
	$(BIN)/python -m deploy.build

bench: $(READY)
	$(BIN)/python -m tests.bench $(PARTS)

conformance: $(READY)   ## PromQL and rules against Prometheus' cases, and random ones beside the real programs
	VLLM_MONITOR_EXPRESSIONS=3000 VLLM_MONITOR_RULES=500 $(BIN)/pytest --quiet -s \
		tests/conformance tests/differential tests/compliance tests/rules/test_alert_life.py
	$(MAKE) sameness

sameness: $(READY)      ## the same rules over the same series in every engine there is, and in real time; takes twenty minutes
	$(BIN)/python -m tests.sameness

crash: $(READY)         ## kills the daemon a thousand times: nothing lost, nothing told twice
	$(BIN)/python -m tests.crash
	$(BIN)/python -m tests.crash.relief

soak: crash             ## and lets it live through a simulated week, and its Slack bot through a thousand schedules of faults
	$(BIN)/python -m tests.soak
	$(BIN)/python -m tests.notify.slack.schedules 1000

incidents: $(READY)     ## everything that is known to go wrong, and healthy days, told to the rules; RULES="a.yaml b.yaml" beside others
	$(BIN)/python -m tests.incidents $(if $(RULES),--rules $(RULES))

pictures: $(READY)       ## docs/demo.svg, from the demo itself; docs/images, from the Slack messages, by Chromium
	$(BIN)/python -m docs.pictures

dashboards-check: $(READY)       ## the dashboards against Grafana's schema, units and reducers, and the preview's own tests; takes npm
	.ci/dashboard-tools browser
	$(BIN)/python -m dashboards.check --browser
	dashboards/check/npm/node_modules/.bin/tsc --project dashboards/preview/page
	$(BIN)/pytest --quiet tests/dashboards/preview tests/dashboards/test_schema.py

dashboards-preview: $(READY)     ## docs/images/dashboard-*.png: what the dashboards show of a recorded overload; takes npm
	.ci/dashboard-tools browser
	$(BIN)/python -m dashboards.preview.gallery

deploy-check: $(READY) $(TOOLS)/.ready  ## everything in deploy/, by the validators of those it is meant for
	CI=true VLLM_MONITOR_INSTALL=true $(BIN)/pytest --quiet tests/deploy tests/deploy/stack.py tests/test_supervisor.py

image-check:            ## builds the image with buildah on a base from debootstrap, and runs it; takes root and Debian
	.ci/image-check

clean:
	rm -rf dashboards/*/*/node_modules $(VENV) $(TOOLS) .image .engines .mypy_cache .pytest_cache .ruff_cache .hypothesis
