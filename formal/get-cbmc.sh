#!/bin/sh
# SPDX-License-Identifier: ISC
#
# usage: get-cbmc.sh DIR - cbmc, goto-cc, goto-instrument, cadical and kissat in DIR/bin.
#
# Debian 13 and later: the distribution's packages (needs root).
# Debian 12 has no usable cbmc.  There the trixie packages are fetched from the mirror
# that apt already uses, with apt's own signature checks but private lists and caches,
# unpacked below DIR and started by the loader that came with them.  Nothing outside DIR
# changes.
set -eu
LC_ALL=C
export LC_ALL

version=6.6.0 # the proofs' bounds and times were measured with this one
tools='cbmc goto-cc goto-instrument cadical kissat'
packages='cbmc cadical kissat minisat libc6 libgcc-s1 libstdc++6 zlib1g'

fail() {
	echo "get-cbmc: $*" >&2
	exit 1
}

installed() {
	[ -x "$dir/bin/kissat" ] && [ "$("$dir/bin/cbmc" --version 2>/dev/null | cut -d' ' -f1)" = "$version" ]
}

[ $# -eq 1 ] || fail "usage: get-cbmc.sh DIR"
mkdir -p "$1/bin"
dir=$(cd "$1" && pwd)
installed && exit 0
# shellcheck disable=SC1091
. /etc/os-release

if [ "${VERSION_ID:-0}" -ge 13 ]; then
	apt-get install -y --no-install-recommends cbmc cadical kissat >/dev/null || fail 'apt-get install cbmc failed'
	for tool in $tools; do
		ln -sf "/usr/bin/$tool" "$dir/bin/$tool"
	done
	exit 0
fi

private=$dir/apt
mkdir -p "$private/lists/partial" "$private/cache/archives/partial" "$private/none" "$private/debs"
log=$private/log

quiet_apt() {
	apt-get -q -o APT::Sandbox::User=root -o Debug::NoLocking=true -o Acquire::Languages=none \
		-o Acquire::Retries=3 -o Dir::Cache="$private/cache" -o Dir::State::status=/dev/null \
		-o Dir::State::lists="$private/lists" "$@" >>"$log" 2>&1 || {
		tail -n 5 "$log" >&2
		fail 'apt-get failed'
	}
}

# The base of the mirror that serves this machine's own suite.
# shellcheck disable=SC2016
mirror() {
	apt-get "$@" indextargets --format '$(SITE) $(RELEASE) $(COMPONENT) $(CREATED_BY)' |
		awk -v suite="$VERSION_CODENAME" '$2 == suite && $3 == "main" && $4 == "Packages" { print $1; exit }'
}
base=$(mirror)
if [ -z "$base" ]; then
	quiet_apt update
	base=$(mirror -o Dir::State::lists="$private/lists")
fi
[ -n "$base" ] || fail "no apt source serves $VERSION_CODENAME main"
key=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$key" ] || fail "$key is missing (package debian-archive-keyring)"
echo "deb [arch=$(dpkg --print-architecture) signed-by=$key] $base trixie main" >"$private/sources"

trixie() {
	quiet_apt -o Dir::Etc::sourcelist="$private/sources" -o Dir::Etc::sourceparts="$private/none" "$@"
}
trixie update
# shellcheck disable=SC2086
(cd "$private/debs" && trixie download $packages)

rm -rf "$dir/root"
mkdir -p "$dir/root"
for deb in "$private"/debs/*.deb; do
	dpkg-deb -x "$deb" "$dir/root"
done
loader=$(find "$dir/root/usr" -name 'ld-linux*.so.*' -type f | head -n 1)
libraries=$(dirname "$(find "$dir/root/usr/lib" -name libc.so.6 | head -n 1)")
minisat=$(dirname "$(find "$dir/root/usr/lib" -name libminisat.so.2 | head -n 1)")
for tool in $tools; do
	printf '#!/bin/sh\nexec "%s" --library-path "%s:%s" "%s" "$@"\n' \
		"$loader" "$libraries" "$minisat" "$dir/root/usr/bin/$tool" >"$dir/bin/$tool"
	chmod 755 "$dir/bin/$tool"
done
rm -rf "$private" "$dir/root/usr/share"
installed || fail "what was unpacked does not start as version $version"
