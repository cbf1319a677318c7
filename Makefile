# The front door: `make run` shows foretrain at work on this machine, `make test` proves it.

BUILD := build
CONFIGURE := cmake -G Ninja -Wno-dev -DCMAKE_INSTALL_PREFIX=$(or $(PREFIX),/usr/local)

.PHONY: help build run planning cluster-demo test test-trixie lint format bench accuracy install clean

help:
	@echo 'make run      install what is missing, build, and forecast examples/quickstart on this machine (4 min)'
	@echo 'make planning plan with 200 mixed cards: order, mini-batches, which to rent, and reports (examples/planning, a minute)'
	@echo 'make cluster-demo   as root: make a real cluster of 4 hosts here, forecast it over ssh, then train all of it (5 min)'
	@echo 'make test     install what tests need, build and run them all'
	@echo "make test-trixie   as root: the worker's tests with Debian 13's PyTorch 2.6, in a system made for it (1.5 GB, 10 min)"
	@echo 'make build    build only: $(BUILD)/gcc/foretrain'
	@echo 'make install  install under PREFIX (default /usr/local)'
	@echo 'make bench    measure speed, as ratios'
	@echo 'make accuracy forecasts against truth on 17 clusters, for docs/accuracy.md; measures what is not kept (4 min each, as root, nothing else running)'
	@echo 'make lint     format, clang-tidy, cppcheck, man pages'
	@echo 'make format   format the C code'
	@echo 'make clean    remove $(BUILD)/'

build:
	@scripts/install-deps run
	@$(CONFIGURE) -S . -B $(BUILD)/gcc -DFORETRAIN_TESTS=OFF >/dev/null
	@echo "Building $(BUILD)/gcc ..."
	@cmake --build $(BUILD)/gcc -- --quiet

run: build
	@scripts/quickstart $(BUILD)/gcc/foretrain

planning: build
	@examples/planning/run $(BUILD)/gcc/foretrain $(BUILD)/planning

cluster-demo: build
	@scripts/install-deps cluster
	@scripts/cluster-demo $(BUILD)/gcc/foretrain $(BUILD)/cluster-demo

test:
	@scripts/install-deps test
	@scripts/test $(BUILD)

test-trixie: build
	@scripts/test-trixie $(BUILD)

lint:
	@scripts/install-deps test
	@$(CONFIGURE) -S . -B $(BUILD)/clang -DCMAKE_C_COMPILER=clang -DFORETRAIN_FUZZ=ON -DFORETRAIN_VARIANT=clang >/dev/null
	@scripts/lint $(BUILD)/clang

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

bench: build
	@cmake --build $(BUILD)/gcc --target benches
	@bench/run $(BUILD)/gcc

accuracy: build
	@scripts/install-deps cluster
	@bench/accuracy/accuracy $(BUILD)/gcc/foretrain $(BUILD)/accuracy --report docs/accuracy.md
	@bench/accuracy/scaling.py $(BUILD)/gcc/foretrain "$${FORETRAIN_SHARED:-../shared}" --report docs/accuracy.md || [ $$? -eq 77 ]

install: build
	@cmake --install $(BUILD)/gcc

clean:
	@rm -rf $(BUILD)
