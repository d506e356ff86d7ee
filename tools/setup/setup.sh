#!/usr/bin/env bash
# Installs on Debian or Ubuntu what tests use beside Go, and only what is missing: internal/needs/programs.txt lists it.
# Run as root, or with sudo at hand. --list prints the packages and installs nothing.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Debian keeps PostgreSQL's programs out of the PATH, in a folder for each version.
installed() {
	command -v "$1" >/dev/null || compgen -G "${SETUP_POSTGRES:-/usr/lib/postgresql}/*/bin/$1" >/dev/null
}

packages=()
while read -r program names; do
	if [[ -n "$program" && "$program" != "#"* ]] && ! installed "$program"; then
		for name in $names; do
			[[ " ${packages[*]-} " == *" $name "* ]] || packages+=("$name")
		done
	fi
done <internal/needs/programs.txt

if [ "${1-}" = --list ]; then
	names=$(printf '%s\n' "${packages[@]-}" | sort)
	echo ${names//$'\n'/ }
	exit
fi
if [ ${#packages[@]} = 0 ]; then
	echo "tools/setup: nothing is missing"
	exit
fi
echo "tools/setup: install ${packages[*]}"
as_root apt-get update -q
as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${packages[@]}"
