# SPDX-License-Identifier: Apache-2.0
# The front door; CMake does the work. See README.md.
#   make            build into build/ (the command is build/gpurace); neither nvcc nor what only tests need is asked for
#   make check      build and run the quick tests, in minutes
#   make test       all tests but the longest      make soak   those too, for hours
#   make soak PART=3/18   the third of eighteen parts of the longest tests, which take about the same time each
#   make test-gpu   the tests that need an NVIDIA GPU; writes docs/gpu.md's table. SOAK=1: those that take longer, too
#   make demo       find a race, see it repaired   make bench  measure, and name what is slower than the
#                   figures stored for this processor; STORE=yes: store these, and write docs/performance.md's tables. BENCH: words for bench/run.py
#   make bench-gpu  measure the collider on an NVIDIA GPU; writes docs/gpu.md's tables
#   make sanitize   the unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   make package    a .deb and a .tar.gz in build/packages
#   make install PREFIX=/usr/local
# WERROR=ON turns warnings into errors.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
# One test more than there are processors, for tests that wait and for the ends of tests that have several processes.
CTEST = ctest --test-dir build -j$$(($(JOBS) + 1)) --output-on-failure

.PHONY: all build setup check test test-gpu soak demo bench bench-gpu sanitize package install format clean
all: build

build: ; @tools/setup.sh build
	@$(MAKE) --no-print-directory compile

# What tests start with.
setup: ; @tools/setup.sh test
	@$(MAKE) --no-print-directory compile WITH="-DBUILD_TESTING=ON -DGPURACE_BENCHMARKS=ON"

# A new build folder has no tests unless they are asked for. A folder that has them keeps them.
.PHONY: compile
compile: WITH ?= $(if $(wildcard build/CMakeCache.txt),,-DBUILD_TESTING=OFF)
compile:
	@mkdir -p build
	@cmake --preset release $(WITH) $(if $(WERROR),-DGPURACE_WERROR=$(WERROR)) -DCMAKE_INSTALL_PREFIX=$(PREFIX) > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build build -j$(JOBS)

# Labels: tests/README.md.
check: setup
	$(CTEST) -LE 'slow|soak'

test: setup
	$(CTEST) -LE soak

soak: setup
	@tools/setup.sh soak
	$(if $(PART),tools/run-tests.py --jobs $(JOBS) --part $(PART) --result build/soak-$(subst /,-of-,$(PART)).json build -L '^soak$$',$(CTEST))

test-gpu:
	@tools/test-gpu.sh $(if $(SOAK),soak)

demo:
	@tools/setup.sh demo
	@$(MAKE) --no-print-directory compile
	@tools/demo.sh

bench:
	@tools/setup.sh bench
	@$(MAKE) --no-print-directory compile WITH="-DBUILD_TESTING=ON -DGPURACE_BENCHMARKS=ON"
	@cmake --build build --target bench-built
	@python3 bench/run.py build build/bench.json $(if $(STORE),--store --update-docs docs/performance.md) $(BENCH)
	@python3 bench/programs.py build --json build/bench-programs.json $(if $(STORE),--update-docs docs/performance.md)

bench-gpu:
	@tools/bench-gpu.sh

sanitize:
	@tools/setup.sh test
	@tools/check-sanitizers.sh

package: build
	cmake --build build --target package

install: build
	cmake --install build --prefix $(PREFIX)

format:
	git ls-files '*.c' '*.h' | xargs clang-format-14 -i
	python3 tools/wrap-comments.py | xargs -r clang-format-14 -i

clean:
	rm -rf build-dev build-asan build-asan-levels build-tsan
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name cuda ! -name cuda12 ! -name python -exec rm -rf {} +; fi
