#!/bin/bash
# skep run on real input, as a user types it: verdicts, flows, events, maps, errors and exit statuses.
. "$(dirname "$0")/lib.sh"
web=$SOURCE/examples/web.pcap flow=$OBJECTS/flow.bpf.o filter=$OBJECTS/filter.bpf.o
flows() { python3 "$SOURCE/tests/e2e/flows.py" "$@"; }

exits 0 "the flow counter runs" "$SKEP" run "$flow" --in "$web"
has "$out" '^ +XDP_PASS +[0-9]+$' "prints verdict counts"
has "$out" '^events: \{\.number = 1, \.first_size = [0-9]+, \.key = ' "prints events typed by BTF"
has "$out" '^map flows \((percpu_hash), max 16384\): [0-9]+ entries' "prints the maps"
has "$out" '^  seen = [0-9]+' "prints globals by name"

exits 0 "as JSON" "$SKEP" run "$flow" --in "$web" -j
printf '%s\n' "$out" > "$scratch/run.json"
is "$(flows --json "$scratch/run.json" 2>&1)" "$(flows "$web")" "every flow's packets and bytes are those of an independent count"
is "$(python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(d["packets"], len([o for o in d["output"] if "event" in o]), len(d["maps"][0]["entries"]) if d["maps"][0]["name"]=="flows" else -1)' "$scratch/run.json" | tr -d '\n')" \
	"$(python3 -c "
import sys; sys.path.insert(0, '$SOURCE/tests/e2e'); import flows, struct
f = flows.from_capture('$web'); d = open('$web', 'rb').read(); at, n = 24, 0
while at < len(d): at += 16 + struct.unpack('<I', d[at + 8:at + 12])[0]; n += 1
print(n, len(f), len(f), end='')")" "packets, events and flows agree in number"

exits 0 "a .c file is an object" "$SKEP" run "$SOURCE/examples/flow.bpf.c" --in "$web" -c 5
has "$out" '^5 packets' "-c stops after so many packets"
exits 0 "--set" "$SKEP" run "$flow" --in "$web" --set only_proto=17 --set announce=false
has "$out" '^map flows .*: 22 entries' "--set only_proto=17 leaves the UDP flows"
is "$(printf '%s\n' "$out" | grep -c '^events:')" 0 "--set announce=false: no events"
exits 0 "standard input" bash -c '"$0" run "$1" --in - < "$2"' "$SKEP" "$flow" "$web"
exits 0 "--data" "$SKEP" run "$flow" --data 0200000000010200000000020806000108000604000102000000000200000000000000000000c0000201
has "$out" '^1 packets, 42 bytes' "one packet of 42 bytes"
exits 0 "--repeat" "$SKEP" run "$flow" --in "$web" --repeat 3 -c 10
has "$out" '^  seen = 30' "each packet ran 3 times"

exits 0 "the filter with a block list" "$SKEP" run "$filter" --in "$web" --map "blocked=$SOURCE/examples/block.txt" --out "$scratch/passed.pcap"
dropped=$(printf '%s\n' "$out" | sed -nE 's/^ +XDP_DROP +([0-9]+)$/\1/p') passed=$(printf '%s\n' "$out" | sed -nE 's/^ +XDP_PASS +([0-9]+)$/\1/p')
read -r total blocked < <(python3 - "$web" <<'P'
import struct, sys
d = open(sys.argv[1], 'rb').read(); at, n, b = 24, 0, 0
while at < len(d):
    size = struct.unpack('<I', d[at + 8:at + 12])[0]; p = d[at + 16:at + 16 + size]; at += 16 + size; n += 1
    b += p[12:14] == b'\x08\0' and p[26:30] == bytes([192, 0, 2, 11]) or p[12:14] == b'\x86\xdd' and p[22:38] == bytes.fromhex('20010db8000000000000000000000012')
print(n, b)
P
)
is "$dropped $passed" "$blocked $((total - blocked))" "drops what the list blocks, and nothing else"
exits 0 "what passed is a capture again" "$SKEP" run "$flow" --in "$scratch/passed.pcap"
has "$out" "^$passed packets" "of as many packets"
exits 0 "and as pcapng" "$SKEP" run "$filter" --in "$web" --out "$scratch/passed.pcapng"
exits 0 "which skep reads" "$SKEP" run "$flow" --in "$scratch/passed.pcapng"
has "$out" "^$total packets" "of all packets"

# less, more, and otherwise
exits 0 "--filter" "$SKEP" run "$flow" --in "$web" --filter 'udp port 53'
has "$out" '^  not run: [1-9][0-9]* that the filter left out' "tells how many it left out"
exits 2 "--filter that is no expression" "$SKEP" run "$flow" --in "$web" --filter 'udp prot'
has "$err" 'filter "udp prot": ' "with libpcap's words"
exits 0 "--stats" "$SKEP" run "$flow" --in "$web" --stats
has "$out" 'instructions per packet: p50 [0-9]+, p99 [0-9]+, most [0-9]+' "counts instructions"
gzip -c "$web" > "$scratch/web.pcap.gz"
exits 0 "a gzip capture" "$SKEP" run "$flow" --in "$scratch/web.pcap.gz"
has "$out" "^$total packets" "has all packets"
head -c 20000 "$scratch/web.pcap.gz" > "$scratch/cut.pcap.gz"
exits 3 "a gzip capture that breaks off" "$SKEP" run "$flow" --in "$scratch/cut.pcap.gz"
exits 0 "--repeat --reset" "$SKEP" run "$OBJECTS/mark.bpf.o" --in "$web" -c 3 --repeat 2 --reset
exits 0 "--ctx" "$SKEP" run "$OBJECTS/mark.bpf.o" --in "$web" -c 1 --ctx mark=7,priority=3
has "$out" '^context: .*\.mark = 7,.*\.priority = 3' "the context comes back"
exits 1 "--ctx with an unknown field" "$SKEP" run "$flow" --in "$web" --ctx nosuch=1
has "$err" 'struct xdp_md has no member nosuch' "says so"
exits 0 "dump --stage object" "$SKEP" dump "$flow" --stage object --only programs
has "$out" 'R_BPF_64_64 +flows$' "dump --stage object: relocations"
exits 0 "dump --stage lowered" "$SKEP" dump "$flow" --stage lowered --only programs
has "$out" 'r[0-9] = \*\(u64 \*\)\(r1 \+0\)$' "dump --stage lowered: a 32-bit context field became a pointer"

# a classifier in the manner of the man pages: no BTF, return -1, by clang and by llc
clang-19 -O2 -target bpf -idirafter "/usr/include/$(gcc -print-multiarch)" -c "$SOURCE/tests/objs/manpage.c" -o "$scratch/man1.o"
clang-19 -O2 -target bpf -idirafter "/usr/include/$(gcc -print-multiarch)" -emit-llvm -c "$SOURCE/tests/objs/manpage.c" -o - | llc-19 -march=bpf -filetype=obj -o "$scratch/man2.o"
for o in man1 man2; do
	exits 0 "a classifier without BTF ($o)" "$SKEP" run "$scratch/$o.o" --in "$web"
	has "$out" "^  TC_ACT_UNSPEC +$total" "$o: returns -1 for all packets"
done

# errors: what, where and why, and the exit status says the class
exits 2 "no arguments" "$SKEP"
exits 2 "unknown command" "$SKEP" frobnicate
exits 2 "no packets named" "$SKEP" run "$flow"
exits 2 "unknown option" "$SKEP" run "$flow" --frobnicate
exits 2 "a count that is no number" "$SKEP" run "$flow" --in "$web" -c 5x
has "$err" '--count 5x: needs a whole number' "says which"
exits 2 "--floor on an unknown floor" "$SKEP" run "$flow" --in "$web" --floor cellar
exits 3 "no such object" "$SKEP" run "$scratch/none.bpf.o" --in "$web"
has "$err" 'none.bpf.o: No such file' "says which"
exits 3 "an object that is none" "$SKEP" run "$web" --in "$web"
has "$err" 'is not a BPF object' "says why"
exits 3 "a directory" "$SKEP" run "$scratch" --in "$web"
exits 3 "no such capture" "$SKEP" run "$flow" --in "$scratch/none.pcap"
exits 3 "a capture that is none" "$SKEP" run "$flow" --in "$flow"
has "$err" 'an ELF object, not a capture' "says what it is"
head -c 100000 "$web" > "$scratch/short.pcap"
exits 3 "a capture that breaks off" "$SKEP" run "$flow" --in "$scratch/short.pcap"
has "$err" 'breaks off inside a packet record at offset [0-9]+' "says where"
has "$out" '^[1-9][0-9]* packets' "and what came before it was run"
exits 2 "--data that is no hex" "$SKEP" run "$flow" --data 12xy
exits 1 "--set of an unknown variable" "$SKEP" run "$flow" --in "$web" --set nosuch=1
has "$err" 'no such global variable' "says so"
exits 1 "--set of a value that does not fit" "$SKEP" run "$flow" --in "$web" --set only_proto=300
printf '{.bits = 200' > "$scratch/bad.txt"
exits 1 "--map with a bad line" "$SKEP" run "$filter" --in "$web" --map "blocked=$scratch/bad.txt"
has "$err" 'bad.txt:1: map blocked' "says file and line"
exits 3 "--map with a missing file" "$SKEP" run "$filter" --in "$web" --map "blocked=$scratch/none.txt"
echo 'int x(' > "$scratch/bad.bpf.c"
exits 3 "a .c file that does not compile" "$SKEP" run "$scratch/bad.bpf.c" --in "$web"
has "$err" 'bad.bpf.c:1:' "with the compiler's words"
cat > "$scratch/rejected.bpf.c" <<'C'
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
SEC("xdp") int peek(struct xdp_md *ctx) { return *(unsigned char *)(long)ctx->data ? XDP_DROP : XDP_PASS; }
char LICENSE[] SEC("license") = "GPL";
C
exits 1 "a program that the verifier refuses" "$SKEP" run "$scratch/rejected.bpf.c" --in "$web"
has "$err" 'invalid access to packet, off=0 size=1' "with the verifier's words"
exits 1 "writing to a full disk" "$SKEP" run "$flow" --in "$web" --out /dev/full
for size in 0 1 16 63 64 500 1000 3000; do
	head -c "$size" "$flow" > "$scratch/cut.bpf.o"
	"$SKEP" run "$scratch/cut.bpf.o" --in "$web" > /dev/null 2> "$scratch/err"
	is "$?" 3 "an object cut to $size bytes can't be read"
done
exits 0 "help" "$SKEP" help
exits 0 "help run" "$SKEP" help run
for option in in data out count repeat floor against set map json; do has "$out" "--$option" "help run tells --$option"; done
exits 0 "--version" "$SKEP" --version
exits 0 "dump" "$SKEP" dump "$flow"
has "$out" '^struct flow_key \{' "dump: BTF as C"
has "$out" 'call bpf_map_lookup_elem#1' "dump: helpers by name"
has "$out" '^; .* @ .*flow.bpf.c:[0-9]+' "dump: source lines"
has "$out" '^map flows \(percpu_hash\): key 40 bytes, value 16 bytes' "dump: maps"
finish
