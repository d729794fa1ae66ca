#!/bin/bash
# No privilege and no kernel BPF: as nobody, under a filter that kills on bpf(2), and with strace watching.
. "$(dirname "$0")/lib.sh"
web=$SOURCE/examples/web.pcap flow=$OBJECTS/flow.bpf.o
cp "$SKEP" "$scratch/skep"; cp "$flow" "$OBJECTS/filter.bpf.o" "$web" "$SOURCE/examples/block.txt" "$FORBID" "$scratch/"
chmod -R a+rX "$scratch"
forbid=$scratch/$(basename "$FORBID")
cd "$scratch" || exit 1
# flows of a JSON document on standard input, in an order of their own: a hash's order is another in each process
flows() { cat > flows.json; python3 "$SOURCE/tests/e2e/flows.py" --json flows.json; }
want=$(python3 "$SOURCE/tests/e2e/flows.py" "$web")

if command -v strace > /dev/null && [ -z "${SANITIZED:-}" ]; then
	exits 0 "runs under strace" strace -f -qq -e trace=bpf -e signal=none -o trace "$SKEP" run "$flow" --in "$web"
	is "$(cat trace)" "" "no bpf(2) call on the user floor"
else
	skip "no bpf(2) call on the user floor" "$([ -n "${SANITIZED:-}" ] && echo LeakSanitizer does not work under strace || echo strace is not installed)"
fi
exits 0 "runs where bpf(2) kills" "$forbid" ./skep run flow.bpf.o --in web.pcap -j
is "$(printf '%s\n' "$out" | flows)" "$want" "with the same result"
if is_root; then
	exits 0 "runs as nobody where bpf(2) kills" as_nobody "$forbid" ./skep run flow.bpf.o --in web.pcap -j
	is "$(printf '%s\n' "$out" | flows)" "$want" "with the same result"
	exits 0 "the filter as nobody" as_nobody "$forbid" ./skep run filter.bpf.o --in web.pcap --map blocked=block.txt
	exits 0 "dump as nobody" as_nobody "$forbid" ./skep dump flow.bpf.o
	as_nobody ./skep run flow.bpf.o --in web.pcap --floor kernel > out 2> err
	is "$?" 1 "the kernel floor refuses nobody"
	has "$(cat err)" 'Operation not permitted' "and says why"
else
	skip "as nobody" "needs root to become nobody"
fi
( "$forbid" ./skep run flow.bpf.o --in web.pcap --floor kernel; exit $? ) > out 2> err
[ $? -ge 128 ]; ok $? "the filter does kill: the kernel floor dies under it"
finish
