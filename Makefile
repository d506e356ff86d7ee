# The commands of the project. `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help setup run build check test lint generate bench fuzz chaos mutate mutate-diff mutate-random

# Packages whose tests take longest; those that wait most stand beside those that compute.
LONG := ./web/pages/run,./web/pages/upload,./internal/store,./cmd/heapdrift,./ingest/dump,./tools/chaos,./ingest/ntheap,./web/api,./ingest/umdh,./worker,./ingest/windbg,./internal/queue,./internal/livesnapshot
# Modules with tests: the product, and the tools that keep their dependencies to themselves (docs/adr/0002).
TOOL_MODULES := tools/testsummary tools/deploycheck
GOLANGCI := go tool -modfile=$(CURDIR)/tools/lint/go.mod golangci-lint

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what tests use beside Go (Debian, Ubuntu), as .ci/run does
	tools/setup/setup.sh

run: ## build, then start everything on this machine with a demo project
	go build -o bin/heapdrift ./cmd/heapdrift
	bin/heapdrift up --demo

build: ## write the programs of a release for Linux, Windows and macOS, and their sums, to dist/
	go run ./tools/build

check: ## test and lint what your change touches, without the race detector (BASE=COMMIT; CHECK=-short, -all, -list)
	go run ./tools/check -base '$(BASE)' $(CHECK)

# The race detector lets each program sleep 1 s at its exit, as long as many tests take, and gives its memory beside a
# large allocation back to the system, which faults it in again page by page: this keeps 256 MB. It makes collections of
# garbage dear: they wait for twice as much.
RACE := GOGC=200 GORACE="atexit_sleep_ms=100 clear_shadow_mmap_threshold=268435456 $$GORACE"
AT_A_TIME := $(shell expr $$(nproc 2>/dev/null || echo 2) + 1)

# -count=1: a cached result would not notice another corpus, browser or server, nor files outside a module. The 10 minutes
# that go test gives a package are too few on a machine that is busy. Without what debuggers read (-w) programs are linked in
# half of the time; lint vets. The longest packages begin first, so that none runs alone at the end; one more
# at a time than there are cores uses what the others leave while they wait.
test: ## run every test under the race detector; skips and a count close the output
	@$(RACE) go run tools/testsummary/main.go .:$(LONG) $(TOOL_MODULES) -- -race -p $(AT_A_TIME) -count=1 -timeout 60m -vet=off -ldflags=-w ./...

lint: ## go vet, golangci-lint (the first time builds it, about a minute), templ's formatting, the English of texts, the CI client on other systems
	go vet ./...
	@for system in windows darwin; do (set -x; GOOS=$$system CGO_ENABLED=0 go build -o /dev/null ./cmd/heapdrift) || exit 1; done
	GOOS=windows CGO_ENABLED=0 go build -tags client -o /dev/null ./cmd/heapdrift
	GOOS=windows GOARCH=386 CGO_ENABLED=0 go build -tags client -o /dev/null ./cmd/heapdrift
	$(GOLANGCI) run
	@for module in $(TOOL_MODULES); do (set -x; cd $$module && go vet ./... && $(GOLANGCI) run) || exit 1; done
	go tool templ fmt -fail .
	go run ./tools/words

generate: ## rewrite generated files; they are committed
	go tool templ generate
	go run ./tools/demo
	go run ./tools/formats
	go run ./tools/licenses

bench: ## run every benchmark
	go test -run '^$$' -bench . -benchmem ./...

T := 60s
chaos: ## kill, freeze and starve an installation for T (60s) and compare its reports with those of a calm one
	go run ./tools/chaos -for $(T)

fuzz: ## run every fuzz target for T (60s), one after the other; inputs that fail are kept as seeds
	go run ./tools/fuzz -time $(T)

mutate: ## break the code in each place of tools/mutate/mutations; fails where no test notices (minutes; R=REGEXP chooses)
	go run ./tools/mutate -run '$(R)'

MUTATE_BASE := HEAD^
mutate-diff: ## break whatever changed since MUTATE_BASE (HEAD^), by gremlins; fails where tests find less than 75 % of it
	go run ./tools/mutate -diff $(MUTATE_BASE) -run '$(R)'

N := 60
SEED := 0
mutate-random: ## break N (60) lines drawn from the whole product (SEED repeats a draw); fails where tests find less than 85 % of it
	go run ./tools/mutate -random $(N) -seed $(SEED) -run '$(R)'
