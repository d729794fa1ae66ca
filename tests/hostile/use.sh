#!/bin/bash
# The command used as it should not be: odd files, absurd numbers, missing descriptors, a full disk, no temporary directory, two at
# once. It must end by itself with a documented status, and say why when it fails.
. "$(dirname "$0")/../e2e/lib.sh"
flow=$OBJECTS/flow.bpf.o web=$SOURCE/examples/web.pcap
tests=$(cd "$(dirname "$0")" && pwd)
cd "$scratch" || exit 1
mkdir tmp; chmod 1777 tmp; export TMPDIR=$scratch/tmp
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all /usr/bin/env)
head -c 4000 "$web" > few.pcap # breaks off in a packet

# ends STATUS WHAT COMMAND...: STATUS is an extended regular expression; a failure says something
ends() {
	local want=$1 what=$2 got; shift 2
	timeout -k 1 "${LIMIT:-60}" "$@" > out 2> err < "${INPUT:-/dev/null}"; got=$?
	[[ $got =~ ^($want)$ ]] && { [ "$got" = 0 ] || [ -s err ]; }
	ok $? "$what"
	[[ $got =~ ^($want)$ ]] || { echo "# status $got, want $want"; head -c 500 err | sed 's/^/# /'; }
}

# What is no object, and what is no capture
: > empty; head -c 100000 /dev/urandom > noise; mkdir folder; mkfifo pipe
printf '\177ELF' > four; ln -s loop loop
for file in empty noise folder four loop missing "$web" /dev/zero /dev/null; do
	ends 3 "object: ${file##*/}" "$SKEP" run "$file" --in "$web"
	ends 3 "object to dump: ${file##*/}" "$SKEP" dump "$file"
done
for file in empty noise folder four loop missing "$flow" /dev/zero /dev/null few.pcap; do
	ends 3 "capture: ${file##*/}" "$SKEP" run "$flow" --in "$file"
done
{ printf '\177ELF'; cat /dev/zero; } > pipe 2> /dev/null & ends 3 "object without end" "$SKEP" dump pipe; wait
{ printf '\037\213'; cat /dev/zero; } > pipe 2> /dev/null & ends 3 "compressed nothing without end" "$SKEP" run "$flow" --in pipe; wait
cat "$flow" > pipe & ends 0 "an object from a pipe" "$SKEP" run pipe --in "$web" -c 5; wait
cat "$web" > pipe & ends 0 "a capture from a pipe" "$SKEP" run "$flow" --in pipe -c 5; wait
head -c 100000000 /dev/zero | gzip -9 > zeros.gz
ends 3 "a compressed file of zeros" "$SKEP" run "$flow" --in zeros.gz
gzip -c "$web" > a.gz; cat a.gz noise > tail.gz
ends 3 "a compressed capture with noise behind it" "$SKEP" run "$flow" --in tail.gz
printf 'int x = ;\n' > wrong.c; ends 3 "C that does not compile" "$SKEP" run wrong.c --in "$web"
printf '#include "/dev/zero"\n' > zero.c; LIMIT=20 ends "0|3|124" "C that includes /dev/zero" "$SKEP" dump zero.c

# Numbers
for number in 0 -1 18446744073709551616 99999999999999999999999 1e9 0x '' ' 1' 1x; do
	ends 2 "-c '$number'" "$SKEP" run "$flow" --in "$web" -c "$number"
	ends 2 "--repeat '$number'" "$SKEP" run "$flow" --in "$web" --repeat "$number"
done
ends 0 "the largest -c" "$SKEP" run "$flow" --in "$web" -c 18446744073709551615
ends 2 "a --repeat too large" "$SKEP" run "$flow" --in "$web" --repeat 1000000001
ends 2 "no digits in --data" "$SKEP" run "$flow" --data zz
head -c 200000 /dev/zero | tr '\0' a > long
ends '0|1|2|3|4|5' "a large packet by --data" "$SKEP" run "$flow" --data "$(head -c 100000 long)"
ends '2|3' "a long path" "$SKEP" run "$(head -c 100000 long)" --in "$web"
ends 2 "a long option" "$SKEP" run "$flow" --in "$web" "--$(head -c 100000 long)"
ends '1|2' "a long --set" "$SKEP" run "$flow" --in "$web" --set "only_proto=$(head -c 100000 long)"
ends 2 "a long --filter" "$SKEP" run "$flow" --in "$web" --filter "$(head -c 100000 long)"
ends 2 "a deep --filter" "$SKEP" run "$flow" --in "$web" --filter "$(head -c 50000 long | tr a '(')"
ends 2 "no command" "$SKEP"
ends 2 "an unknown command" "$SKEP" "$(head -c 100000 long)"
ends 2 "help for an unknown command" "$SKEP" help '%n%n%s%s'
ends '1|2' "a name with percent signs" "$SKEP" run "$flow" --in "$web" --prog '%n%s%n'
for set in = only_proto only_proto= =1 only_proto=99999999999999999999 only_proto={ 'only_proto={1,2' "only_proto='" no_such=1; do
	ends '1|2' "--set '$set'" "$SKEP" run "$flow" --in "$web" --set "$set"
done
for map in = flows flows= flows=missing flows=/dev/zero flows=noise no_such=few.pcap flows=folder; do
	LIMIT=20 ends '[1-5]' "--map '$map'" "$SKEP" run "$flow" --in "$web" --map "$map"
done
for event in = events events= events=no_such_type events=int no_such=int; do
	ends '[0-2]' "--event '$event'" "$SKEP" run "$flow" --in "$web" --event "$event"
done

# Standard descriptors
for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- >&- 2>&-'; do
	for command in "run $flow --in $web -c 9" "dump $flow" "run $flow --in - -c 9" "help" "run $flow --in $web --out passed.pcap"; do
		eval "timeout 60 $SKEP $command > out 2> err $closed"; got=$?
		[ "$got" -le 5 ]; ok $? "$closed ${command%% *} ends with a documented status ($got)"
	done
done
rm -f passed.pcap
# An object of ours must not land on a closed standard descriptor and be written to: the capture written is whole all the same.
"$SKEP" run "$flow" --in "$web" --out passed.pcap > /dev/null 2>&1
"$SKEP" run "$flow" --in "$web" --out closed.pcap <&- >&- 2>&-
cmp -s passed.pcap closed.pcap; ok $? "--out is the same without standard descriptors"
if [ -c /dev/full ]; then
	timeout 60 "$SKEP" run "$flow" --in "$web" > /dev/full 2> err; is $? 1 "standard output on a full disk"
	has "$(cat err)" 'No space left' "and it says so"
	timeout 60 "$SKEP" dump "$flow" > /dev/full 2> err; is $? 1 "a dump on a full disk"
	ends 1 "--out on a full disk" "$SKEP" run "$flow" --in "$web" --out /dev/full
	ends 1 "--out on a full disk, -j" "$SKEP" run "$flow" --in "$web" --out /dev/full -j
	timeout 60 "$SKEP" run missing --in "$web" 2> /dev/full; is $? 3 "standard error on a full disk"
fi
ends '[1-5]' "--out into a folder that is not there" "$SKEP" run "$flow" --in "$web" --out no/such/file.pcap
ends '[1-5]' "--out is a folder" "$SKEP" run "$flow" --in "$web" --out folder
cp "$web" same.pcap
ends 2 "--out is --in" "$SKEP" run "$flow" --in same.pcap --out same.pcap
( timeout 60 "$SKEP" dump "$flow"; echo $? > status ) | head -c 10 > /dev/null
has "$(cat status)" '^(141|0|1)$' "a reader that goes away"

# Surroundings
cp "$SOURCE"/examples/flow.bpf.c "$SOURCE"/examples/flow.h .
for dir in /proc /nonexistent "$scratch/noise"; do
	TMPDIR=$dir ends '0|[1-5]' "TMPDIR=$dir: an object" "$SKEP" run "$flow" --in "$web" -c 9
	TMPDIR=$dir ends '[0-5]' "TMPDIR=$dir: a .c file" "$SKEP" run flow.bpf.c --in "$web" -c 9
done
ends '[3-5]' "no compiler" env PATH=/nonexistent "$SKEP" dump flow.bpf.c
SKEP_FLOOR=nonsense ends '[0-5]' "SKEP_FLOOR=nonsense" "$SKEP" run "$flow" --in "$web" -c 9
env -i "$SKEP" run "$flow" --in "$web" -c 9 > out 2> err; is $? 0 "an empty environment"
( ulimit -n 8; "$SKEP" run "$flow" --in "$web" -c 9 > out 2> err; exit $? ); got=$?
[[ $got =~ ^[1-5]$ ]] && [ -s err ]; ok $? "few descriptors ($got)"
if [ -z "${SANITIZED:-}" ]; then
	for kb in 12000 16000 20000 24000 32000 64000; do
		( ulimit -v $kb; "$SKEP" run "$flow" --in "$web" -c 9 > out 2> err; exit $? ); got=$?
		[[ $got =~ ^([0-5]|127)$ ]]; ok $? "$kb KB of address space ($got)"
		[ "$got" -le 5 ] || head -3 err | sed 's/^/# /'
	done
fi
for i in 1 2 3 4; do "$SKEP" run flow.bpf.c --in "$web" -j > "par$i" 2>&1 & done; wait
for i in 1 2 3 4; do
	python3 -c 'import json,sys; sys.exit(json.load(open(sys.argv[1]))["packets"] == 0)' "par$i" > /dev/null 2>&1
	ok $? "four at once: number $i"
done
if is_root; then
	cp "$SKEP" "$flow" "$web" "$scratch"; chmod a+rx "$scratch" "$scratch/$(basename "$SKEP")"; chmod a+r "$scratch"/{flow.bpf.o,flow.bpf.c,flow.h,web.pcap}
	here=$scratch/$(basename "$SKEP")
	ends 0 "as nobody" "${nobody[@]}" "$here" run "$scratch/flow.bpf.o" --in "$scratch/web.pcap" -c 9
	chmod 600 "$scratch/web.pcap"
	ends 3 "as nobody, a capture of root's" "${nobody[@]}" "$here" run "$scratch/flow.bpf.o" --in "$scratch/web.pcap" -c 9
	ends '[1-5]' "as nobody, --out where nobody may write" "${nobody[@]}" "$here" run "$scratch/flow.bpf.o" --data 00 --out "$scratch/x.pcap"
	TMPDIR=$scratch ends '[3-5]' "as nobody, a temporary folder that is read-only" "${nobody[@]}" "$here" run "$scratch/flow.bpf.c" --data 00
fi
# The library under programs that never heard of it
if [ -z "${SANITIZED:-}" ] && [ -n "${LIBSKEP:-}" ]; then
	for floor in user kernel nonsense ''; do
		SKEP_FLOOR=$floor LD_PRELOAD=$LIBSKEP ends 0 "bash with libskep.so, SKEP_FLOOR='$floor'" bash -c 'exec 3< /dev/null 4<&3; echo $(cat <&4)'
	done
	LD_PRELOAD=$LIBSKEP ends 0 "bpf(2) with garbage" python3 "$tests/garbage.py"
fi
is "$(ls -A "$TMPDIR")" "" "no temporary file stays"
finish
