#!/bin/bash
# The forms in meson.build, each under `forbid kill`; on the kernel floor as root; and without skep, where it must fail.
. "$(dirname "$0")/../e2e/lib.sh"
unset LD_PRELOAD
export SKEP_FLOOR=user LSAN_OPTIONS=detect_leaks=0

# A sanitized libskep needs its run-time first, in a program that is not sanitized itself.
preload=${SANITIZER:+$SANITIZER:}$LIBSKEP

app() { # app WHAT COMMAND...: the application ends well and says so itself
	local what=$1; shift
	exits 0 "$what" "$@"
	has "$out" '^1\.\.[3-9][0-9]$' "$what: all steps"
	[ -z "$(printf '%s\n' "$out" | grep '^not ok')" ] || printf '%s\n' "$out" | grep -A2 '^not ok' | sed 's/^/# /'
}
fails() { # fails WHAT COMMAND...
	local what=$1; shift
	"$@" > "$scratch/out" 2> "$scratch/err"
	[ $? != 0 ]; ok $? "$what"
}

app "wrapped, with libbpf.a" "$FORBID" kill "$APPS/app-wrap"
app "libskep.so before libc, as pkg-config says" "$FORBID" kill "$APPS/app-so"
app "libskep.a after libbpf.a" "$FORBID" kill "$APPS/app-a"
app "preloaded into an unmodified program" "$FORBID" kill env LD_PRELOAD="$preload" "$APPS/app-plain"
app "bpf(2) answers ENOSYS" "$FORBID" enosys env LD_PRELOAD="$preload" "$APPS/app-plain"
app "without SKEP_FLOOR" "$FORBID" kill env -u SKEP_FLOOR LD_PRELOAD="$preload" "$APPS/app-plain"
if is_root; then
	cp "$APPS/app-plain" "$FORBID" "$scratch" && cp "$LIBSKEP" "$scratch/libskep.so"
	app "preloaded, as nobody" as_nobody "$scratch/$(basename "$FORBID")" kill \
		env LD_PRELOAD="${SANITIZER:+$SANITIZER:}$scratch/libskep.so" "$scratch/app-plain"
else
	skip "preloaded, as nobody" "not root"	# whoever runs this is as good
fi

app "pins and batches, wrapped" "$FORBID" kill "$APPS/pin-wrap"
app "pins and batches, preloaded" "$FORBID" kill env LD_PRELOAD="$preload" "$APPS/pin-plain"
app "pins below another root" "$FORBID" kill env SKEP_BPFFS=/sys/fs/bpf/ LD_PRELOAD="$preload" "$APPS/pin-plain"
fails "pins where SKEP_BPFFS does not say" "$FORBID" kill env SKEP_BPFFS=/run/bpf LD_PRELOAD="$preload" "$APPS/pin-plain"
app "perf_buffer on events of skep's" "$FORBID" kill "$APPS/perf-wrap"

# What pkg-config prints, used by hand.
sed "s|^libdir=.*|libdir=$SHIM|; s|^includedir=.*|includedir=$SOURCE/include|" "$SHIM/skep.pc" > "$scratch/skep.pc"
flags=$(PKG_CONFIG_PATH=$scratch pkg-config --cflags --libs skep)
cat > "$scratch/own.c" <<'END'
#include <skep/skep.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	union bpf_attr a = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1 };

	printf("%s %d %d %d\n", skep_version(), skep_floor(), syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof(a)) >= 0,
	       skep_bpf(BPF_MAP_CREATE, &a, sizeof(a)) >= 0);
	return 0;
}
END
if [ -z "${SANITIZER:-}" ]; then
	exits 0 "a program of one's own compiles with pkg-config's flags" $CC "$scratch/own.c" -o "$scratch/own" $flags
	exits 0 "and runs" "$FORBID" kill env LD_LIBRARY_PATH="$SHIM" "$scratch/own"
	has "$out" '^[0-9.]+ 0 1 1$' "and skep answers"
	sed 's/^#include <skep.*//; /printf/,/skep_bpf/d; s/return 0/return syscall(SYS_bpf, BPF_MAP_CREATE, \&a, sizeof(a)) < 0/' \
		"$scratch/own.c" > "$scratch/unnamed.c"
	has "$(cat "$scratch/unnamed.c")" 'return syscall' "the next program calls bpf(2) and nothing else"
	$CC "$scratch/unnamed.c" -o "$scratch/unnamed" $flags
	exits 0 "a program that names nothing of skep's keeps the library" "$FORBID" kill env LD_LIBRARY_PATH="$SHIM" "$scratch/unnamed"
	$CC -static "$scratch/unnamed.c" -o "$scratch/static" "$SHIM/libskep.a" -pthread 2> "$scratch/err"
	exits 0 "a static program with libskep.a" "$FORBID" kill "$scratch/static"
fi

# Without skep none of this works, or the tests above would show nothing.
fails "no skep, bpf(2) kills" "$FORBID" kill "$APPS/app-plain"
fails "no skep, bpf(2) answers ENOSYS" "$FORBID" enosys "$APPS/app-plain"
fails "SKEP_FLOOR=kernel goes to the kernel" "$FORBID" kill env SKEP_FLOOR=kernel LD_PRELOAD="$preload" "$APPS/app-plain"
fails "SKEP_FLOOR=kernel, wrapped" "$FORBID" kill env SKEP_FLOOR=kernel "$APPS/app-wrap"
fails "SKEP_FLOOR=other is no floor" "$FORBID" enosys env SKEP_FLOOR=other LD_PRELOAD="$preload" "$APPS/app-plain"
has "$(cat "$scratch/err")" 'SKEP_FLOOR is neither' "and is said to be none"

# The same steps on the kernel.
if is_root; then
	app "the kernel itself" "$APPS/app-plain"
	app "the kernel's pins and batches" unshare -m sh -c 'mount -t bpf none /sys/fs/bpf && exec "$1"' sh "$APPS/pin-plain"
	app "the kernel, through the preloaded library" env SKEP_FLOOR=kernel LD_PRELOAD="$preload" "$APPS/app-plain"
else
	skip "the kernel itself" "not root"
fi

# The library exports what it stands in for and its own functions, nothing else; and is linked with libc alone.
exported=$(nm -D --defined-only "$LIBSKEP" | awk '{ print $3 }' | grep -v '^skep_' | LC_ALL=C sort | tr '\n' ' ')
is "$exported" "$(LC_ALL=C sort "$SOURCE/src/shim/names" | tr '\n' ' ')" "libskep.so exports the names in src/shim/names"
[ -n "${SANITIZER:-}" ] || is "$(objdump -p "$LIBSKEP" | awk '/NEEDED/ && $2 !~ /^ld-linux/ { print $2 }' | tr '\n' ' ')" "libc.so.6 " "libskep.so needs libc alone"
is "$(nm -g --defined-only "$SHIM/libskep.a" | awk 'NF == 3 && $3 !~ /^(skep_|___asan_)/ { print $3 }' | LC_ALL=C sort | tr '\n' ' ')" \
	"$(LC_ALL=C sort "$SOURCE/src/shim/names" | tr '\n' ' ')" "libskep.a shows the same"
finish
