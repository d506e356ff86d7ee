#!/usr/bin/env bash
# Copies the scripts that the pages load (and axe-core and speedscope, which only tests load) out of their npm packages:
#
#   tools/vendor-assets/vendor.sh
#
# Each file is taken byte for byte and stands with its licence in VERSIONS.json, by package, version, digest of the
# package (sha512, npm's "integrity") and digest of the file (sha256). A package whose digest differs from the recorded
# one of the same version is refused and nothing is written. The copies are committed: building and running heapdrift
# needs neither npm nor node. To upgrade, change the version below, run this, and read the difference.
set -euo pipefail
cd "$(dirname "$0")/../.."

# folder | package | version | licence | bundled in | file in the package = name here ...
table='
web/assets/vendor | htmx.org       | 2.0.11 | 0BSD         |               | dist/htmx.min.js=htmx.min.js LICENSE=htmx.LICENSE.txt
web/assets/vendor | htmx-ext-sse   | 2.2.4  | 0BSD         |               | dist/sse.js=sse.js LICENSE=sse.LICENSE.txt
web/assets/vendor | tus-js-client  | 4.3.1  | MIT          |               | dist/tus.min.js=tus.min.js LICENSE=tus.LICENSE.txt
web/assets/vendor | base64-js      | 1.5.1  | MIT          | tus-js-client | LICENSE=tus.base64-js.LICENSE.txt
web/assets/vendor | buffer         | 5.7.1  | MIT          | tus-js-client | LICENSE=tus.buffer.LICENSE.txt
web/assets/vendor | ieee754        | 1.2.1  | BSD-3-Clause | tus-js-client | LICENSE=tus.ieee754.LICENSE.txt
web/assets/vendor | js-base64      | 3.7.7  | BSD-3-Clause | tus-js-client | LICENSE.md=tus.js-base64.LICENSE.txt
web/assets/vendor | querystringify | 2.2.0  | MIT          | tus-js-client | LICENSE=tus.querystringify.LICENSE.txt
web/assets/vendor | requires-port  | 1.0.0  | MIT          | tus-js-client | LICENSE=tus.requires-port.LICENSE.txt
web/assets/vendor | url-parse      | 1.5.10 | MIT          | tus-js-client | LICENSE=tus.url-parse.LICENSE.txt
web/testdata      | axe-core       | 4.14.1 | MPL-2.0      |               | axe.min.js=axe.min.js LICENSE=axe.LICENSE.txt LICENSE-3RD-PARTY.txt=axe.LICENSE-3RD-PARTY.txt
web/testdata/speedscope | speedscope | 1.25.0 | MIT    |               | dist/release/index.html=index.html dist/release/speedscope-GHPHNKXC.css=speedscope-GHPHNKXC.css dist/release/speedscope-Y2522XSH.js=speedscope-Y2522XSH.js LICENSE=LICENSE.txt
'

command -v npm >/dev/null || { echo "vendor.sh: npm is not installed" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# recorded FOLDER PACKAGE VERSION prints the package's recorded digest, or nothing.
recorded() {
	[ -f "$1/VERSIONS.json" ] || return 0
	node -e '
		const [file, name, version] = process.argv.slice(1)
		const records = JSON.parse(require("fs").readFileSync(file))
		console.log(records.find(r => r.name === name && r.version === version)?.integrity ?? "")
	' "$1/VERSIONS.json" "$2" "$3"
}

while IFS='|' read -r folder name version licence bundler files; do
	[ -n "$folder" ] || continue
	read -r folder <<<"$folder"; read -r name <<<"$name"; read -r version <<<"$version"
	read -r licence <<<"$licence"; read -r bundler <<<"$bundler" || true

	mkdir "$work/package-of-$name"
	tarball=$(npm pack --silent --pack-destination "$work/package-of-$name" "$name@$version" 2>/dev/null) ||
		{ echo "vendor.sh: npm pack $name@$version failed" >&2; exit 1; }
	tarball=$work/package-of-$name/$tarball
	integrity=sha512-$(openssl dgst -sha512 -binary "$tarball" | base64 -w0)
	want=$(recorded "$folder" "$name" "$version")
	if [ -n "$want" ] && [ "$want" != "$integrity" ]; then
		echo "vendor.sh: $name@$version is not the package that was recorded" >&2
		echo "  recorded $want" >&2
		echo "  received $integrity" >&2
		exit 1
	fi
	tar -xzf "$tarball" -C "$work/package-of-$name" --strip-components=1 --no-same-owner

	mkdir -p "$work/new/$folder"
	for pair in $files; do
		from=$work/package-of-$name/${pair%%=*} file=${pair#*=}
		[ -f "$from" ] || { echo "vendor.sh: $name@$version holds no ${pair%%=*}" >&2; exit 1; }
		install -m 644 "$from" "$work/new/$folder/$file"
		sha256=$(sha256sum "$from" | cut -d' ' -f1)
		printf '  {"name": "%s", "version": "%s", "license": "%s", "bundled_in": "%s", "file": "%s",\n   "sha256": "%s",\n   "integrity": "%s"},\n' \
			"$name" "$version" "$licence" "$bundler" "$file" "$sha256" "$integrity" >>"$work/new/$folder/records"
	done
	echo "$name@$version"
done <<<"$table"

cd "$work/new"
find . -name records | while read -r records; do
	{ echo '['; sed '$ s/},$/}/' "$records"; echo ']'; } >"${records%records}VERSIONS.json"
	rm "$records"
done
cd - >/dev/null
rm -rf web/assets/vendor # the script's own folder; web/testdata has other owners
cp -R "$work/new/." .
