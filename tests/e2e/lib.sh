# What the shell tests share: TAP, and a scratch folder that goes away. Source it; end with `finish`.
# The environment gives: SKEP (the command), OBJECTS (folder of the examples' objects), SOURCE (the source tree).
set -u
n=0 bad=0
scratch=$(mktemp -d)
chmod 755 "$scratch"
trap 'rm -rf "$scratch"; [ -n "${finished:-}" ] || echo "not ok $((n + 1)) - ended early"' EXIT

ok() { # ok STATUS WHAT
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else bad=1; echo "not ok $n - $2"; fi
}
is() { # is GOT WANT WHAT
	n=$((n + 1))
	if [ "$1" = "$2" ]; then echo "ok $n - $3"; else
		bad=1; echo "not ok $n - $3"; printf 'got "%s", want "%s"\n' "$1" "$2" | sed 's/^/# /' | head -c 1500
	fi
}
has() { # has TEXT PATTERN WHAT: an extended regular expression matches a line
	n=$((n + 1))
	if printf '%s\n' "$1" | grep -Eq -- "$2"; then echo "ok $n - $3"; else
		bad=1; echo "not ok $n - $3"; printf '%s\n' "$1" | head -20 | sed 's/^/# /'
	fi
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
# exits STATUS WHAT COMMAND...: runs it; $out and $err keep what it said
exits() {
	local want=$1 what=$2 got; shift 2
	"$@" > "$scratch/out" 2> "$scratch/err"; got=$?
	out=$(cat "$scratch/out") err=$(cat "$scratch/err")
	is "$got" "$want" "$what"
	[ "$got" = "$want" ] || head -c 2000 "$scratch/err" | sed 's/^/# /'
}
is_root() { [ "$(id -u)" = 0 ]; }
# as_nobody COMMAND...: without any privilege
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all /usr/bin/env "$@"; }
finish() { finished=1; echo "1..$n"; exit "$bad"; }
