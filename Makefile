# Everything that is built or checked here goes through this file; `make` lists it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
MODULES  = $(shell go list -m -f '{{.Dir}}')
PACKAGES = $(shell go list -m -f '{{.Dir}}/...')
PLUGINS  = $(notdir $(wildcard plugins/*))
BUILD    = go build -ldflags "-s -w -X main.version=$(VERSION)"
LINTER   = bin/tools/golangci-lint

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' Makefile

build: ## the core and every plugin, into bin/
	@mkdir -p bin
	$(BUILD) -o bin/anarchon ./cmd/anarchon
	@for p in $(PLUGINS); do \
	  echo "$(BUILD) -o bin/anarchon-plugin-$$p ./plugins/$$p/cmd/anarchon-plugin-$$p"; \
	  $(BUILD) -o bin/anarchon-plugin-$$p ./plugins/$$p/cmd/anarchon-plugin-$$p; done

demo: build ## three instances on examples/quickstart: who ran what, one of them killed
	@scripts/demo

test: needs ## all tests of all modules, with the race detector
	ANARCHON_TEST_REQUIRE=1 go test -race -timeout 20m $(PACKAGES)

race: test ## the same: tests always run with the race detector

E2E = ANARCHON_TEST_REQUIRE=1 go test -tags e2e -count=1 -parallel 32

e2e: faulty ## the built binaries under faults: kill -9, SIGSTOP, full disk, crash windows
	$(E2E) -timeout 30m ./e2e/...

e2e-long: faulty ## the same with every fault tried more often and every load held for longer
	ANARCHON_E2E_LONG=1 $(E2E) -v -timeout 4h ./e2e/...

faulty: needs build
	@mkdir -p bin/faultpoints
	go build -tags faultpoints -o bin/faultpoints/anarchon ./cmd/anarchon
	@for p in $(PLUGINS); do \
	  go build -tags faultpoints -o bin/faultpoints/anarchon-plugin-$$p ./plugins/$$p/cmd/anarchon-plugin-$$p; done

lint: $(LINTER) ## golangci-lint with .golangci.yml over all modules, and formatting
	$(LINTER) run --config .golangci.yml $(PACKAGES)
	$(LINTER) fmt --config .golangci.yml --diff $(MODULES)
	go run ./core/internal/protogen -check

# Built from a module of its own: the linter's dependencies never reach ours.
$(LINTER): tools/go.sum
	@mkdir -p $(@D)
	cd tools && GOWORK=off go build -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@

gen: ## the code generated from the .proto files
	go run ./core/internal/protogen

bench: ## the figures of the README and of the plugins' READMEs
	go test -run '^$$' -bench . -benchmem -timeout 60m ./bench/...

FUZZTIME ?= 30s
fuzz: ## every fuzz target for FUZZTIME (30s)
	@for target in $$(grep -rl --include='*_test.go' '^func Fuzz' $(MODULES) | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -h '^func Fuzz' $$target/*_test.go | sed 's/func \(Fuzz[A-Za-z0-9_]*\).*/\1/'); do \
	    echo "$$target $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$target; done; done

needs: ## what the tests need on this machine: installed on Debian as root, else named
	@scripts/needs

clean: ## remove what was built
	rm -rf bin

.PHONY: help build demo test race e2e lint gen bench fuzz needs clean
