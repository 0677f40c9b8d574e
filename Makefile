.PHONY: all setup setup-test build quickstart test test-long test-night test-release test-cluster test-combinations test-numbers test-asan test-tsan test-portable fuzz cuda-check bench docs site atlas licences format lint clean
.NOTPARALLEL:
# The share of the build that is done, the seconds that it took and, from Ninja 1.12 on, the time that is left.
ninja = $(or $(shell sed -n 's/^CMAKE_MAKE_PROGRAM:[^=]*=//p' build/CMakeCache.txt 2>/dev/null),ninja)
ninja_left = $(shell printf '1.12\n%s\n' "$$($(ninja) --version 2>/dev/null || echo 0)" | sort -VC && echo ', %W left')
export NINJA_STATUS = [%p %es$(ninja_left)] $(keep_this_space)
all: build

setup:
	@cmake/setup.sh

# What tests and bench read besides, such as a browser.
setup-test:
	@cmake/setup.sh test

# WERROR=ON makes errors of warnings, as CI does, and build/ remembers it.
build: setup
	@cmake --preset release $(if $(WERROR),-DABLATE_WERROR=$(WERROR)) >build.log 2>&1 || { cat build.log; exit 1; }
	@[ -x build/ablate ] || python3 cmake/build_time.py
	cmake --build --preset release --target ablate

# A first answer.
quickstart: build
	build/ablate run experiments/studies/quickstart.yaml --output runs

ZENSICAL = build-site/tools/bin/zensical
# Repeats the first failures at the end, since readers of a long log look there.
test: setup-test build $(ZENSICAL)
	cmake --build --preset release
	ctest --test-dir build --output-on-failure --parallel 3 || { \
	  echo; echo 'First failures:'; \
	  grep -hE -A4 ': Failure$$|^(FAIL|ERROR): |^[A-Za-z.]+Error: ' build/Testing/Temporary/LastTest.log | head -24; exit 8; }

test-long: setup-test build
	cmake --build --preset release --target long_test
	ctest --test-dir build -C Long -L '^Long$$' --verbose

# Kills, failing disks, losses of power and damaged files: about two hours, and the many more that a release is held to.
test-night: build
	python3 tests/faults/faults_test.py build/ablate --figures night

test-release: build
	python3 tests/faults/faults_test.py build/ablate --figures release --copies

# Studies on a Slurm of four toy nodes, with all the faults that may befall them; needs root.
test-cluster: setup-test build
	ctest --test-dir build -C Cluster -R '^cluster' --verbose

# Random studies of tiny models, whose numbers are recomputed by PyTorch or from the files of the runs; a seed names a study.
test-combinations: setup-test build
	@rm -rf build/combinations
	.venv/bin/python -B tests/combinations/combinations.py build/ablate build/combinations 1 $(or $(STUDIES),100)

# Metrics, tests and intervals beside sacrebleu, rouge-score, jiwer, SciPy and statsmodels, on thousands of random inputs.
test-numbers: build
	@cmake/setup.sh numbers
	cmake --build --preset release --target answer_numbers
	.venv/bin/python tests/numbers/compare.py build/answer_numbers
	.venv/bin/python tests/numbers/calibrate.py build/answer_numbers
	.venv/bin/python tests/numbers/first_seeds.py
	.venv/bin/python tests/numbers/search.py
	.venv/bin/python tests/numbers/looks.py build/answer_numbers

test-asan: setup-test
	cmake --preset asan && cmake --build --preset asan
	ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.supp ctest --test-dir build-asan --output-on-failure --parallel 3

# What has threads of its own, under ThreadSanitizer.
test-tsan: setup-test
	cmake --preset tsan && cmake --build --preset tsan
	TSAN_OPTIONS=die_after_fork=0:suppressions=$(CURDIR)/tests/tsan.supp ctest --test-dir build-tsan -R '^(data|process|training)_test$$' --output-on-failure

# The program without CPU kernels of its own; CXX=clang++ builds it with clang.
test-portable: setup-test
	cmake --preset portable -DABLATE_WERROR=ON && cmake --build --preset portable
	ctest --test-dir build-portable --output-on-failure --parallel 3

# Every reader of bytes under clang's libFuzzer, on RUNS inputs each, or for SECONDS each.
RUNS ?= 1000000
fuzz:
	@cmake/setup.sh fuzz
	cmake --preset fuzz && cmake --build --preset fuzz
	tests/fuzz/fuzz.sh build-fuzz $(if $(SECONDS),-max_total_time=$(SECONDS),-runs=$(RUNS))

# The program with LibTorch for CUDA, as far as a machine without a GPU can prove it.
cuda-check: build
	@cmake/setup.sh cuda
	cmake --preset cuda -DABLATE_WERROR=ON && cmake --build --preset cuda --target ablate
	@cmake/cuda_check.sh build/ablate build-cuda/ablate

# On a machine with a GPU and a LibTorch for CUDA: the tests of the device, and the speed of training beside PyTorch's. Both end in a
# report to paste, which build/cuda-test.txt and build/cuda-bench.txt keep.
.PHONY: cuda-test cuda-bench
cuda-test: setup-test build
	cmake --build --preset release --target device_test
	@cmake/cuda_report.sh cuda-test build/device_test --gtest_brief=1

cuda-bench: setup-test build
	@cmake/cuda_report.sh cuda-bench $(or $(TORCH),.venv/bin/python) bench/compare.py --device cuda

bench: setup-test build
	.venv/bin/python bench/compare.py

# The documents that are generated, into docs: every key, every command, the schema of studies, the atlas of claims.
docs: setup-test build
	@python3 cmake/docs.py build/ablate

# The same and all other documents as a site that needs no network: build-site/site/index.html, which opens from a disk, too. Needs Python 3.11.
$(ZENSICAL): cmake/wheels/site.txt
	@python3 -m venv build-site/tools
	@build-site/tools/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement $< && touch -c $@ || \
	  echo 'site: its tools could not be installed, so its test is skipped'

site: setup-test build $(ZENSICAL)
	@[ -x $(ZENSICAL) ] || { echo 'site: needs Zensical, and that Python 3.11'; exit 2; }
	@/usr/bin/python3 cmake/site/site.py build/ablate $(ZENSICAL) build-site

# The atlas of claims: PART=NAME runs one of its studies with the texts below DATA, or with AGAIN=1 its second look, and takes its results over;
# without PART the studies are listed with the time that they take on two cores.
ATLAS = build/ablate run experiments/atlas/$(if $(AGAIN),again/)$(PART).yaml --output runs/$(if $(AGAIN),second_looks,atlas) --data
atlas: setup-test $(if $(PART),build)
ifdef PART
	@[ -z "$$(git diff --name-only HEAD; git status --porcelain -- experiments/atlas)" ] || { echo 'atlas: commit all changes first, or else nobody can repeat the record'; exit 2; }
	@$(ATLAS) $(or $(DATA),data) || [ $$? = 1 ]
	@python3 experiments/atlas/records.py docs/results/atlas/$(PART)$(if $(AGAIN),.again).json runs/$(if $(AGAIN),second_looks,atlas)/$(PART)/results.json $$(git rev-parse --short=10 HEAD) $(ATLAS) DIR
else
	@grep -H '^time: ' experiments/atlas/*.yaml | sed 's|.*/\(.*\)\.yaml:time:|\1:|'
endif

# What the program is made of, also as build/bill_of_materials.json.
licences: build
	@python3 cmake/licences.py build/ablate --json build/bill_of_materials.json

# What the newest g++ or clang++ that this system packages says of all sources, or CXX=g++-14, and with QUICK=1 of those without LibTorch;
# nothing is built.
.PHONY: syntax
syntax: setup-test
	@cmake/setup.sh syntax
	python3 cmake/syntax.py . $(if $(QUICK),--quick) $(if $(filter-out default,$(origin CXX)),$(CXX))

# Everything that a release is held to, or PARTS="asan fuzz", but for what has passed on this tree; docs/results/release_check.md keeps the
# results. Some hours.
.PHONY: release-check
release-check:
	@python3 cmake/release_check.py $(PARTS)

format:
	clang-format -i $$(git ls-files '*.h' '*.cpp')

# The size of each room beside its budget, and clang-tidy, with the checks of .clang-tidy, on the sources without LibTorch.
lint: setup-test
	@python3 tests/budget.py .
	@cmake --preset release >build.log 2>&1 || { cat build.log; exit 1; }
	python3 cmake/lint.py build

clean:
	rm -rf build build-site build-dev build-asan build-portable build-fuzz build-cuda build-syntax build-wheel build.log

# Fills the vendor folder with everything a build needs besides LibTorch, and packs it for machines without a network: unpack the archive
# in .deps/vendor there, or anywhere and set ABLATE_VENDOR to the folder.
.PHONY: vendor torch-check
VENDOR = $(or $(ABLATE_VENDOR),.deps/vendor)
vendor:
	@cmake/vendor.sh $(VENDOR)
	@tar -cf ablate-vendor.tar -C $(VENDOR) $$(awk '!/^#/ { print $$5 }' cmake/vendor.txt)
	@echo "vendor: $$(du -m ablate-vendor.tar | cut -f1) MB in ablate-vendor.tar"

# Compiles against the oldest, the default and the newest LibTorch, or VERSIONS="2.11.0 ...", and runs the quickstart and the core tests.
torch-check: setup-test
	@cmake/torch_check.sh $(VERSIONS)

# Wheels and archives for other machines, in build-wheel/dist: docs/python.md. The wheel runs with the minor version of LibTorch that it
# is built with, and with the glibc of this machine or a later one.
.PHONY: wheel sdist tarball image release test-python test-install test-fresh
PACKAGE = build-wheel/tools/bin
$(PACKAGE)/auditwheel: cmake/wheels/package.txt
	python3 -m venv build-wheel/tools
	$(PACKAGE)/pip install --quiet --disable-pip-version-check --require-hashes --requirement $<

wheel: setup $(PACKAGE)/auditwheel
	rm -rf build-wheel/dist
	$(PACKAGE)/pip wheel . --no-deps --wheel-dir build-wheel/raw
	PATH=$(CURDIR)/$(PACKAGE):$$PATH cmake/wheels/repair.sh build-wheel/raw/*.whl build-wheel/dist
	rm -r build-wheel/raw

tarball: wheel
	cmake/wheels/tarball.sh build-wheel/dist/*.whl build-wheel/dist

# As root, with debootstrap, umoci and skopeo.
image: tarball
	cmake/wheels/image.sh build-wheel/dist/*.tar.gz build-wheel/dist

# Everything that a release has, with its digests.
release: image
	cd build-wheel/dist && sha256sum *.whl *.tar.gz *.oci.tar >SHA256SUMS

# The Python package, from the wheel in a fresh environment.
test-python: wheel
	tests/python/test.sh build-wheel/dist/*.whl

# The wheel in a Debian 11, 12 and 13, as far as their glibc is new enough, or in SUITES=bookworm; with SOURCE=1 after it has been built there.
# As root, with debootstrap.
test-install: $(if $(SOURCE),vendor sdist,wheel)
	python3 tests/install/install_test.py --work build-wheel/debian $(if $(SOURCE),--sdist build-wheel/sdist/*.tar.gz,--wheel build-wheel/dist/*.whl) $(SUITES)

# `make` and `make test` of a clone in a fresh Debian 13 and Ubuntu 24.04, or in SUITES=noble, with their own compiler and CMake, without a
# warning. As root, with debootstrap.
test-fresh:
	python3 tests/install/fresh_test.py --work build-wheel/debian $(SUITES)

sdist: $(PACKAGE)/auditwheel
	rm -rf build-wheel/sdist
	$(PACKAGE)/python -m build --sdist --outdir build-wheel/sdist .

# What `ablate export --format huggingface` writes, in Transformers, tokenizers and CTranslate2 themselves, and a checkpoint of theirs
# here, which takes 83 MB, with the torch of .venv, which has to be there and of Python 3.11.
.PHONY: test-exchange
EXCHANGE = tests/experiments/exchange/huggingface
test-exchange: build
	.venv/bin/python -m venv build/exchange
	realpath .venv/lib/python3*/site-packages >$$(echo build/exchange/lib/python3*/site-packages)/torch.pth
	build/exchange/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 --requirement $(EXCHANGE)/requirements.txt
	build/exchange/bin/python $(EXCHANGE)/transformers_check.py build/ablate
	build/exchange/bin/python $(EXCHANGE)/fields_check.py
	build/exchange/bin/python $(EXCHANGE)/tokenizers_check.py build/ablate
	build/exchange/bin/python $(EXCHANGE)/minilm_check.py build/ablate build/exchange/cache
