#!/bin/bash
# A build with one helper broken on purpose (csum_diff is one too large) must differ from the kernel: exit 1.
. "$(dirname "$0")/lib.sh"
object=$TEST_OBJECTS/checksum.bpf.o web=$SOURCE/examples/web.pcap
if ! is_root; then skip "a broken helper is noticed" "needs root for the kernel's bpf(2)"; finish; fi
exits 0 "the sound build agrees with the kernel" "$SKEP" run "$object" --in "$web" --against kernel
has "$out" 'equal, 0 different' "on every packet"
exits 1 "the broken build does not" "$BROKEN" run "$object" --in "$web" --against kernel
has "$out" ' [1-9][0-9]* different' "and counts the differences"
has "$out" '^packet [0-9]+: verdict: user 1, kernel 2' "and shows the first ones"
finish
