# Everything a person or CI types. A fresh machine needs git, make and Node >= 18 with npm; `make` itself does the rest.
SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# npm must find the machine's own Node (it replaces the one in node_modules); everything else uses the project's.
FUZZ_SECONDS ?= 60
HOST_PATH := $(PATH)
export PATH := $(CURDIR)/node_modules/.bin:$(CURDIR)/.cache/bin:$(PATH)

.PHONY: help setup deps kubectl init cluster-bin test-versions test-clients test-kubelet check unit test demo demo-clean bench bench-cluster chaos rows fault-points mutants fuzz bundle image generate format clean

help: ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: deps ## install everything that the targets below need
	@sh scripts/setup/system.sh compiler docker lab cross
	node scripts/setup/kubectl.ts --helm
	$(MAKE) init

deps:
	@PATH="$(HOST_PATH)" node scripts/setup/dependencies.mjs

kubectl: deps ## put a current kubectl into .cache/bin
	@node scripts/setup/kubectl.ts

init: deps ## build holdfast-init, the small C program beside every sandbox
	@sh scripts/setup/system.sh compiler
	$(MAKE) -C runtime/init

cluster-bin: ## build a real Kubernetes for the tests (needs Go; minutes, once; KUBE_VERSION=v1.34: an older one)
	@sh test/cluster/build $(KUBE_VERSION)

test-versions: deps ## the suites for API servers on each version of Kubernetes (KUBE_VERSION=v1.34: on one)
	@node scripts/setup/kubectl.ts --quiet
	@node scripts/test-versions.ts $(KUBE_VERSION)

check: deps ## format, lint, types, unused code, import direction, generated files, unit tests
	@sh scripts/setup/system.sh compiler
	node scripts/check.ts

unit: deps ## the unit tests: no daemon, no API server of another kind
	@sh scripts/setup/system.sh compiler
	vitest run --project unit

test: setup ## every test, those on real Docker daemons included
	@node scripts/test.ts

test-clients: setup ## helm, client-node, Go and Python programs on the embedded API and a kube-apiserver (minutes)
	vitest run --config vitest.clients.config.ts

test-kubelet: setup ## the image, and the manifests on a real kubelet in a guest beside Docker (root, Go; minutes)
	@sh test/cluster/build >/dev/null
	LAB_MEM=5G vitest run --config vitest.kubelet.config.ts

test-upgrade: setup ## replace controllers and agent by a newer build under load (UPGRADE_FROM=COMMIT: from that one)
	@node test/upgrade/main.ts

demo: deps ## sandboxes from kubectl to the kernel and back (KEEP=1 leaves them running)
	@sh scripts/setup/system.sh compiler docker
	@node scripts/setup/kubectl.ts --quiet
	@$(MAKE) -s init
	@node scripts/demo.ts

demo-clean: deps ## end a demo that was kept
	@node scripts/demo.ts --clean

bench: setup bundle ## measure against raw Docker, side by side; writes bench-out/
	@HOLDFAST_BUNDLE=1 node test/bench/main.ts

bench-cluster: deps ## the controller at a cluster's scale, on a real kube-apiserver; writes bench-out/
	@node test/bench/cluster.ts

chaos: setup ## hours of faults, kills and restarts, checked at the end (CHAOS_SECONDS=600 CHAOS_SEED=1)
	@node test/chaos/main.ts

rows: setup ## run the tests and write docs/rows.md: which requirement is shown by which test
	@node scripts/rows.ts

fault-points: setup ## kill agent, controller and API server at every passing of every step (an hour and more; FAULTS=1/8: a part)
	@node scripts/kill-everywhere.ts $(FAULTS)

mutants: deps ## mutation tests of the pure modules
	@node scripts/mutants.ts

fuzz: ## fuzz what reads the wire in C (FUZZ_SECONDS=60)
	@sh scripts/setup/system.sh compiler fuzz
	@$(MAKE) -s -C runtime/init fuzz SECONDS=$(FUZZ_SECONDS)

bundle: init ## the command without its sources: dist/
	@node scripts/bundle.ts

image: init ## the container image of controller and agent (IMAGE=name, BASE=a base with Node)
	@node scripts/image.ts

generate: deps ## write the generated files (CRDs, reference)
	@node scripts/generate.ts

format: deps ## format the sources
	@biome format --write .

clean: ## remove what was built here (the download cache in ~/.cache/holdfast stays)
	@rm -rf dist coverage reports bench-out .stryker-tmp .cache
	if [ -f runtime/init/Makefile ]; then $(MAKE) -C runtime/init clean; fi
