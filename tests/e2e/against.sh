#!/bin/bash
# The examples on both floors over the repo's capture and, where they are, the shared ones: 0 different, few not comparable.
. "$(dirname "$0")/lib.sh"
numbers() { # numbers JSON...: equal different not_comparable maps_different, summed; then the reasons
	python3 - "$@" <<'P'
import json, sys
t = [0] * 4; reasons = {}
for f in sys.argv[1:]:
    a = json.load(open(f))['against_kernel']
    for i, k in enumerate(('equal', 'different', 'not_comparable', 'maps_different')): t[i] += a[k]
    for k, v in a['reasons'].items(): reasons[k] = reasons.get(k, 0) + v
print(*t); print(reasons, file=sys.stderr)
P
}
if ! is_root; then skip "against the kernel" "needs root for the kernel's bpf(2)"; finish; fi
# Name of a run, object, and what else the command gets; in `args`.
examples="flow filter mark protocols router police rewrite"
arguments() {
	object=$OBJECTS/$1.bpf.o; args=()
	case $1 in
	filter) args=(--map "blocked=$SOURCE/examples/block.txt") ;;
	mark) args=(--map "ports=$SOURCE/examples/ports.txt") ;;
	router) args=(--prog router) ;;
	police|rewrite) object=$OBJECTS/share.bpf.o; args=(--prog "$1") ;;
	esac
}
for example in $examples; do
	arguments "$example"
	exits 0 "$example against the kernel on the repo's capture" "$SKEP" run "$object" --in "$SOURCE/examples/web.pcap" "${args[@]}" --against kernel -j
	printf '%s\n' "$out" > "$scratch/$example.json"
	total=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["packets"])' "$scratch/$example.json")
	is "$(numbers "$scratch/$example.json" 2> "$scratch/why")" "$total 0 0 0" "$example: all $total packets equal"
	sed 's/^/# /' "$scratch/why"
done
captures=$SOURCE/../shared/captures
if [ ! -d "$captures" ]; then skip "shared captures" "../shared/captures is not there"; finish; fi
for example in $examples; do
	arguments "$example"
	files=()
	for c in "$captures"/*.pcap "$captures"/*.pcapng; do
		"$SKEP" run "$object" --in "$c" "${args[@]}" --against kernel -j > "$scratch/x.json" 2> "$scratch/err"
		case $? in
		0) cp "$scratch/x.json" "$scratch/$example.$(basename "$c").json"; files+=("$scratch/$example.$(basename "$c").json") ;;
		3|4) echo "# $(basename "$c"): $(head -1 "$scratch/err")" ;; # no capture of Ethernet frames: refused by name
		*) is "exit $?" "exit 0" "$example on $(basename "$c")"; sed 's/^/# /' "$scratch/err" | head -5; grep -A3 differences "$scratch/x.json" | head -5 | sed 's/^/# /' ;;
		esac
	done
	read -r equal different not maps < <(numbers "${files[@]}" 2> "$scratch/why")
	echo "# $example: ${#files[@]} captures, $equal equal, $different different, $not not comparable $(cat "$scratch/why")"
	is "$different $maps" "0 0" "$example: nothing differs over ${#files[@]} captures"
	[ "$equal" -gt 1000 ]; ok $? "$example: more than 1000 packets were compared ($equal)"
	[ "$((not * 100))" -le "$(((equal + not) * 5))" ]; ok $? "$example: at most 5 % not comparable ($not)"
done
finish
