#!/bin/sh
# SPDX-License-Identifier: ISC
#
# The Debian packages (12 and 13) that a make target needs.
#
#   tests/deps.sh [GROUP...]     groups: build engine test lint fuzz mcdc; default: the first four
#
# Installs what is missing, as root or through sudo, and says what it installs.
# With DEPS=no it installs nothing, names what is missing and exits 1.  When
# nothing is missing it says nothing.

set -eu

packages_build='gcc libc6-dev make libjsmn-dev libbsd-dev libmd-dev libseccomp-dev'
packages_engine='busybox-static tar util-linux procps python3'
packages_test='libcmocka-dev python3 python3-jsonschema strace util-linux'
packages_fuzz='clang afl++'
packages_mcdc='clang-19 llvm-19 libclang-rt-19-dev'
packages_lint='clang clang-tidy clang-tools cppcheck mandoc shellcheck python3 binutils'

die()
{
	echo "deps.sh: $*" >&2
	exit 1
}

have()
{
	command -v "$1" >/dev/null 2>&1
}

# An engine is at hand when one answers, or when dockerd could be started.
engine_at_hand()
{
	PATH=$PATH:/usr/sbin:/sbin
	have docker || return 1
	have dockerd && return 0
	docker --host unix:///var/run/docker.sock version >/dev/null 2>&1
}

# Debian 13 moved the command line client into a package of its own.
engine_packages()
{
	release=$(cut -d. -f1 /etc/debian_version 2>/dev/null || echo 12)
	echo docker.io
	case $release in
	12 | bookworm*) ;;
	*) echo docker-cli ;;
	esac
}

# Without its recommendations, clang comes without libFuzzer and the sanitizers.
fuzz_packages()
{
	case $(cut -d. -f1 /etc/debian_version 2>/dev/null || echo 12) in
	12 | bookworm*) echo libclang-rt-14-dev ;;
	*) echo libclang-rt-19-dev ;;
	esac
}

wanted()
{
	for group; do
		case $group in
		build) echo "$packages_build" ;;
		engine)
			echo "$packages_engine"
			engine_at_hand || engine_packages
			;;
		test) echo "$packages_test" ;;
		lint) echo "$packages_lint" ;;
		mcdc) echo "$packages_mcdc" ;;
		fuzz)
			echo "$packages_fuzz"
			fuzz_packages
			;;
		*) die "no such group: $group (build engine test lint fuzz mcdc)" ;;
		esac
	done
}

# The names, of those given, that are not installed.
missing()
{
	# shellcheck disable=SC2016  # the format is dpkg-query's, not the shell's
	dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null |
		awk 'BEGIN { for (i = 1; i < ARGC; i++) want[ARGV[i]] = i; ARGC = 1 }
		     $1 ~ /^.i/ { delete want[$2] }
		     END { for (name in want) print name }' "$@" | sort
}

as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		env DEBIAN_FRONTEND=noninteractive "$@"
	else
		have sudo || die 'not root, and there is no sudo: run this as root'
		sudo env DEBIAN_FRONTEND=noninteractive "$@"
	fi
}

install()
{
	echo "deps.sh: installing $*"
	set -- apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends "$@"
	as_root "$@" </dev/null && return
	echo 'deps.sh: once more, with fresh package lists'
	as_root apt-get -q update </dev/null || die 'apt-get update failed'
	as_root "$@" </dev/null || die 'apt-get install failed'
}

[ $# -gt 0 ] || set -- build engine test lint
names=$(wanted "$@") || exit 1
have dpkg-query || die "this is not Debian: install the equivalents of: $(echo "$names" | tr '\n' ' ')"
# shellcheck disable=SC2086  # package names, one a word
lacking=$(missing $names | tr '\n' ' ')
[ -n "$lacking" ] || exit 0
if [ "${DEPS:-yes}" = no ]; then
	echo "deps.sh: missing: $lacking" >&2
	exit 1
fi
# shellcheck disable=SC2086
install $lacking
# shellcheck disable=SC2086
lacking=$(missing $names | tr '\n' ' ')
[ -z "$lacking" ] || die "still missing: $lacking"
