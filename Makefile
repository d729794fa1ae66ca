# Two commands do everything: `make demo` and `make check`. The build itself is meson's (meson.build).
BUILD ?= build
MESON_FLAGS ?=

.PHONY: all demo check bench differ fuzz setup clean install
all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

setup:
	tools/setup

$(BUILD)/build.ninja: | setup
	meson setup $(BUILD) $(MESON_FLAGS)

# The main job on real input: the flow counter over the repo's capture, compared with the kernel where that can be done.
demo: all
	tools/demo $(BUILD)

check: all
	meson test -C $(BUILD) --print-errorlogs -t 6
	tools/count-tests $(BUILD)

# Figures beside the kernel's (as root), and docs/performance.md. SELFTESTS=DIR: compiled selftests of the kernel, for the verifier.
bench: all
	ninja -C $(BUILD) bench-all
	$(BUILD)/bench/bench --objects $(BUILD)/bench --examples $(BUILD)/examples --capture examples/web.pcap \
		--selftests "$(SELFTESTS)" --write docs/performance.md \
		--command "make bench$(if $(SELFTESTS), SELFTESTS=DIR)" $(BENCH_FLAGS)

# N random programs of each kind on the kernel (as root) and on skep, and skep against itself: docs/fuzzing.md.
N ?= 1000000
DIFFER_FLAGS ?=
differ: all
	for type in xdp tc socket; do $(BUILD)/tests/differ/differ --type $$type --count $(N) $(DIFFER_FLAGS) || exit 1; done

# N inputs for each fuzz target (or TARGETS="btf capture"). Do they notice bugs? tools/fuzz-campaign plant.
fuzz: setup
	tools/fuzz-campaign run $(N) $(TARGETS)

install: all
	meson install -C $(BUILD)

clean:
	rm -rf $(BUILD)
