# One recipe per intention; `make` lists them.
#
# Everything is built with `--release` into one shared target folder outside the clone: the C++ of the solver takes
# minutes to compile, so it is compiled once for demo, tests and lints, and once for all clones on a machine.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Set CARGO_TARGET_DIR to build elsewhere; otherwise the folder's name changes when what is compiled for all clones changes.
ifndef CARGO_TARGET_DIR
export CARGO_TARGET_DIR := $(shell tools/target-dir.sh)
endif

.PHONY: help
help: ## List what can be made, one sentence each
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | while IFS=$$'\t' read -r name what; do printf '  make %-14s %s\n' "$$name" "$$what"; done

.PHONY: demo
demo: prerequisites ## Build stagger, then plan a realistic day in the terminal and as an HTML page
	cargo build --release --bin stagger
	cargo run --release --quiet --bin stagger -- demo

# Tests on a cluster all begin at once and wait for a control plane and their turn (tests/cluster/shared.rs).
CLUSTER_THREADS ?= 99

# Without Python the tests that ask CP-SAT for a second opinion say that they were skipped.
.PHONY: second-opinion
second-opinion: ## Make the virtual environment of the second opinion (CP-SAT), once
	@tools/venv.sh >/dev/null || [ $$? -eq 3 ]

# Pods of the tests run the binary that cargo builds for them, with its libraries; with STAGGER_IMAGE_BINARY another one,
# such as what `make release` builds.
.PHONY: test
test: prerequisites second-opinion node-prerequisites check-pure control-plane ## Run every test, with a real API server, Kueue and, as root, a node on this machine
	cargo test --release --no-run
	cargo test --release --test it
	RUST_TEST_THREADS=$(CLUSTER_THREADS) cargo test --release --test cluster

.PHONY: test-next
test-next: export STAGGER_TEST_KUBERNETES = next
test-next: prerequisites control-plane ## Run the tests of admission on the API server of the next Kubernetes, which it compiles first
	RUST_TEST_THREADS=$(CLUSTER_THREADS) cargo test --release --test cluster admission::

.PHONY: control-plane
control-plane: ## Compile etcd, Kubernetes, Kueue, KWOK and cert-manager for the cluster tests, where they are missing
	@tools/control-plane.sh >/dev/null

.PHONY: node-prerequisites
node-prerequisites: ## Check for what a node with real pods needs; install it where that is possible, else those tests are skipped
	@tools/node-prerequisites.sh

.PHONY: cluster
cluster: prerequisites control-plane ## Run that control plane for a person, with four gated jobs loaded, until Ctrl-C
	cargo run --release --quiet --example cluster

.PHONY: check-pure
check-pure: ## Check that the build without any C++ compiles
	cargo check --release --no-default-features --features solver-microlp

.PHONY: lint
lint: prerequisites ## Check formatting, clippy (warnings are errors) and, where cargo-deny is installed, licences and bans
	cargo fmt --check
	cargo clippy --release --all-targets -- -D warnings
	if command -v cargo-deny >/dev/null; then cargo deny check bans licenses sources; else echo "cargo-deny is not installed: licences and bans were not checked (cargo install cargo-deny)" >&2; fi

.PHONY: bench
bench: prerequisites ## Measure the planner beside CP-SAT and list scheduling (takes most of an hour)
	tools/bench.sh

.PHONY: bench-admission
bench-admission: prerequisites control-plane ## Measure the webhook beside a bare echo and Kueue's own webhook (six minutes)
	cargo bench --bench admission

.PHONY: bench-controller
bench-controller: prerequisites control-plane ## Measure the controller with 5,000 Workloads in 50 queues, beside Kueue on its own (six minutes)
	cargo bench --bench controller
	cargo bench --bench controller -- pods

# Whoever has found something leaves it in fuzz/artifacts, and its bytes become a test.
FUZZ_SECONDS ?= 300
.PHONY: fuzz
fuzz: ## Try any bytes on what reads reviews and manifests, five minutes each (needs a nightly toolchain and `cargo install cargo-fuzz`)
	mkdir -p fuzz/corpus/review fuzz/corpus/manifests
	cargo +nightly fuzz run review fuzz/corpus/review fuzz/seeds/review -- -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -timeout=10
	cargo +nightly fuzz run manifests fuzz/corpus/manifests scenarios -- -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -timeout=10

.PHONY: generate
generate: prerequisites ## Rewrite the generated files (expected texts, reference pages) from the code
	UPDATE=1 UPDATE_EXPECT=1 cargo test --release --test it
	git status --short

.PHONY: build
build: prerequisites ## Build the stagger binary and say where it is
	cargo build --release --bins
	@echo "$(CARGO_TARGET_DIR)/release/stagger"

# Only the last crate gets `crt-static`: as RUSTFLAGS it would compile the C++ again for every user of the folder.
.PHONY: release
release: prerequisites ## Build the binary that is shipped: optimised across crates, stripped and fully static
	cargo rustc --profile dist --bin stagger -- -C target-feature=+crt-static
	file "$(CARGO_TARGET_DIR)/dist/stagger"
	if ldd "$(CARGO_TARGET_DIR)/dist/stagger" 2>&1 | grep -qvE 'statically linked|not a dynamic executable'; then echo "error: the binary is not static" >&2; exit 1; fi

# In a folder of its own, so that the build context is the binary alone.
.PHONY: image
image: release ## Build the container image `stagger` of the shipped binary, with buildah
	rm -rf "$(CARGO_TARGET_DIR)/image" && mkdir -p "$(CARGO_TARGET_DIR)/image"
	cp "$(CARGO_TARGET_DIR)/dist/stagger" "$(CARGO_TARGET_DIR)/image/"
	buildah --storage-driver vfs bud --isolation chroot --tag stagger --file Containerfile "$(CARGO_TARGET_DIR)/image"

.PHONY: prerequisites
prerequisites: ## Check for cmake, a C++ compiler and libclang; install them where that is possible
	@tools/prerequisites.sh

.PHONY: clean
clean: ## Remove the shared target folder
	cargo clean
