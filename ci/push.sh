#!/bin/sh
# Plain curl: push.sh PROJECT BUILD SCENARIO FILE… with HEAPDRIFT_URL and HEAPDRIFT_TOKEN in the environment. Exit codes are those of heapdrift push.
set -eu
[ $# -ge 4 ] || { echo "usage: push.sh PROJECT BUILD SCENARIO FILE…" >&2; exit 2; }
project=$1 build=$2 scenario=$3
shift 3
# The token goes to curl by its standard input: other users can read command lines. printf is a part of the shell.
ask() { printf 'header = "Authorization: Bearer %s"\n' "${HEAPDRIFT_TOKEN:-}" | curl -K - --fail-with-body -sS --retry 8 --retry-connrefused "$@"; }
# Each byte as %61: curl before 7.87 encodes no query of an upload.
encoded() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g'; }
for file in "$@"; do
	answer=$(ask -T "$file" "$HEAPDRIFT_URL/api/v1/evidence?project=$(encoded "$project")&build=$(encoded "$build")&scenario=$(encoded "$scenario")&name=$(encoded "${file##*/}")") || { echo "$file: $answer" >&2; exit 3; }
	echo "$answer" >&2
done
run=$(printf %s "$answer" | sed -n 's/.*"run":\([0-9]*\).*/\1/p')
ask -X POST "$HEAPDRIFT_URL/api/v1/runs/$run/complete" >/dev/null || exit 3
n=0
while :; do
	verdict=$(ask "$HEAPDRIFT_URL/api/v1/runs/$run/verdict?wait=50s&fail_on=new,grown") || exit 3
	gate=$(printf %s "$verdict" | sed -n 's/.*"gate":"\([a-z]*\)".*/\1/p')
	n=$((n + 1))
	if [ "$gate" != pending ] || [ $n -ge 6 ]; then break; fi
done
printf '%s\n%s\n' "$verdict" "$HEAPDRIFT_URL/runs/$run"
case $gate in passed) exit 0 ;; failed) exit 1 ;; inconclusive | pending) exit 4 ;; *) exit 3 ;; esac
