# SPDX-License-Identifier: Apache-2.0
# The front door; CMake does the work. See README.md.
#   make            build into build/ (the command is build/gpurace)
#   make test       build and run the tests        make soak   the long ones too
#   make demo       find a race, see it repaired   make bench  measure; writes build/bench.json
#   make sanitize   the unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   make install PREFIX=/usr/local
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
CTEST = ctest --test-dir build -j$(JOBS) --output-on-failure

.PHONY: all setup build test soak demo bench sanitize install format clean
all: build

build: ; @tools/setup.sh build
	@$(MAKE) --no-print-directory compile

# What everything but `make` itself starts with: the toolkit's compilers are needed too.
setup: ; @tools/setup.sh test
	@$(MAKE) --no-print-directory compile

.PHONY: compile
compile:
	@cmake --preset release $(if $(WERROR),-DGPURACE_WERROR=$(WERROR)) -DCMAKE_INSTALL_PREFIX=$(PREFIX) > build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }
	@rm -f build.log
	@cmake --build build -j$(JOBS)

# Labels: slow takes minutes, soak takes hours.
test: setup
	$(CTEST) -LE soak

soak: setup
	$(CTEST)

demo: setup
	@tools/demo.sh

bench:
	@tools/setup.sh bench
	@$(MAKE) --no-print-directory compile
	@cmake --build build --target bench

sanitize:
	@tools/setup.sh test
	@tools/check-sanitizers.sh

install: build
	cmake --install build --prefix $(PREFIX)

format:
	git ls-files '*.c' '*.h' | xargs clang-format-14 -i

clean:
	rm -rf build-dev build-asan build-asan-levels
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name cuda ! -name cuda12 -exec rm -rf {} +; fi
