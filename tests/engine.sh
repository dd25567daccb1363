#!/bin/sh
# SPDX-License-Identifier: ISC
#
# A Docker engine for the tests: the machine's own when it answers, otherwise a
# private one that leaves no process, mount or file behind.
#
#   tests/engine.sh COMMAND [ARG...]   run COMMAND, as root, with an engine
#   . tests/engine.sh                  then engine_start DIR ... engine_stop
#
# COMMAND, or the sourcing script after engine_start, finds in its environment:
#
#   ENGINE_SOCKET   the engine's socket
#   ENGINE_GID      the group that may use it
#   ENGINE_IMAGE    the test worker's image (tests/image), imported
#   ENGINE_SCRATCH  an empty directory of root's, everybody may enter it
#   ENGINE_AGAIN    with ENGINE_PRIVATE=yes, which never takes the machine's own engine: dockerd
#                   may be ended in any way, and a line written to this FIFO starts it again
#
# The private engine makes no bridge and no firewall rule.  It runs in mount and
# process namespaces of its own: the places that dockerd and containerd write
# outside their data directories are covered there by empty file systems, and
# nothing of it outlives its first process.

ENGINE_LOCAL=/var/run/docker.sock
# shellcheck disable=SC2034  # for the scripts that source this one
ENGINE_COVERED='/etc/docker /opt/containerd /run/containerd /run/docker'

engine_say()
{
	echo "engine.sh: $*" >&2
}

engine_docker()
{
	env -i PATH="$PATH" HOME=/nonexistent docker --host "unix://$ENGINE_SOCKET" "$@"
}

engine_answers()
{
	timeout 20 env -i PATH="$PATH" HOME=/nonexistent \
		docker --host "unix://$1" version >/dev/null 2>&1
}

# dockerd, and dockerd again after every line that comes; the namespace stays, and with it what
# dockerd left running.
engine_again()
{
	trap 'kill -TERM "$engine"; wait "$engine"; exit 0' TERM
	while :; do
		"$@" &
		engine=$!
		wait "$engine"
		read -r _ <"$ENGINE_AGAIN"
	done
}

# The command that dockerd starts from: covers, then becomes dockerd.
engine_inside()
{
	for covered; do
		[ "$covered" != -- ] || break
		mount -t tmpfs -o mode=755 cofferdam-test "$covered" || return 1
		shift
	done
	shift
	[ -z "${ENGINE_AGAIN:-}" ] || engine_again "$@"
	exec "$@"
}

engine_launch()
{
	base=$ENGINE_DIR/engine
	mkdir -m 711 "$base"
	echo '{}' >"$base/daemon.json"
	ENGINE_AGAIN=
	if [ "${ENGINE_PRIVATE:-}" = yes ]; then
		ENGINE_AGAIN=$base/again
		mkfifo -m 600 "$ENGINE_AGAIN" || return 1
	fi
	engine_made=
	for covered in $ENGINE_COVERED; do
		[ -d "$covered" ] && continue
		mkdir -m 755 "$covered" || return 1
		engine_made="$engine_made $covered"
	done
	# A session of its own: Ctrl-C must not reach it before engine_stop.
	# shellcheck disable=SC2086
	setsid unshare --mount --propagation slave --pid --fork --kill-child --mount-proc -- \
		sh "$ENGINE_SELF" --inside $ENGINE_COVERED -- \
		dockerd --config-file "$base/daemon.json" --iptables=false --ip6tables=false \
		--ip-forward=false --ip-masq=false --userland-proxy=false --bridge=none \
		--data-root "$base/data" --exec-root "$base/exec" --pidfile "$base/pid" \
		--exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$ENGINE_CGROUP" \
		--group "$ENGINE_GID" --host "unix://$ENGINE_SOCKET" \
		>"$base/log" 2>&1 </dev/null &
	engine_pid=$!
	tries=0
	until engine_answers "$ENGINE_SOCKET"; do
		tries=$((tries + 1))
		if [ $tries -gt 240 ] || ! kill -0 "$engine_pid" 2>/dev/null; then
			engine_say 'the private engine does not answer; the end of its log:'
			tail -n 20 "$base/log" >&2
			return 1
		fi
		sleep 0.25
	done
}

# A worker image from Debian's static busybox; no network, no registry.
engine_import()
{
	here=$(dirname "$ENGINE_SELF")
	engine_busybox=$(command -v busybox) || return 1
	root=$ENGINE_DIR/image
	mkdir -m 755 "$root"
	for name in bin dev etc proc sys broker workspace; do
		mkdir -m 755 "$root/$name"
	done
	# runc gives a tmpfs the mode that its mount point has in the image.
	mkdir -m 1777 "$root/tmp"
	cp "$engine_busybox" "$root/bin/busybox"
	for name in sh awk cat cut date dd env grep head id ip kill ls mkdir od printf ps sed \
		sha256sum sleep sort stat tail touch tr true wc; do
		ln -s busybox "$root/bin/$name"
	done
	cp "$here/image/worker.sh" "$root/worker"
	chmod 755 "$root/worker" "$root/bin/busybox"
	tar -C "$root" --owner=0 --group=0 --numeric-owner -cf "$ENGINE_DIR/image.tar" .
	engine_docker import --change 'ENTRYPOINT ["/worker"]' --change 'WORKDIR /' \
		--change 'ENV COFFERDAM_TEST_IMAGE=1' --change 'LABEL cofferdam.test=1' \
		"$ENGINE_DIR/image.tar" "$ENGINE_IMAGE" >/dev/null || return 1
	engine_imported=yes
	rm -rf "$root" "$ENGINE_DIR/image.tar"
}

# engine_start: makes ENGINE_SCRATCH, finds or starts the engine, imports.
engine_start()
{
	PATH=$PATH:/usr/sbin:/sbin
	engine_pid='' engine_imported='' engine_made=''
	ENGINE_CGROUP=cofferdam-test-$$
	ENGINE_DIR=$(mktemp -d "${TMPDIR:-/tmp}/cofferdam-test.XXXXXX") || return 1
	chmod 755 "$ENGINE_DIR"
	ENGINE_SCRATCH=$ENGINE_DIR/scratch
	mkdir -m 755 "$ENGINE_SCRATCH"
	ENGINE_IMAGE=cofferdam-test:$$
	ENGINE_SOCKET=$ENGINE_LOCAL
	export ENGINE_SOCKET ENGINE_GID ENGINE_IMAGE ENGINE_SCRATCH ENGINE_AGAIN
	if [ "${ENGINE_PRIVATE:-}" != yes ] && engine_answers "$ENGINE_LOCAL"; then
		ENGINE_GID=$(stat -L -c %g "$ENGINE_LOCAL")
	else
		ENGINE_SOCKET=$ENGINE_DIR/engine/docker.sock
		ENGINE_GID=$(engine_free_id)
		engine_launch || return 1
	fi
	engine_import
}

# A number that is neither a user's nor a group's.
engine_free_id()
{
	id=61100
	while getent passwd $id >/dev/null || getent group $id >/dev/null; do
		id=$((id + 1))
	done
	echo $id
}

# Our containers are the tests' to remove; what a broken test left goes here.
engine_sweep()
{
	left=$(engine_docker container ls --all --quiet --no-trunc \
		--filter "ancestor=$ENGINE_IMAGE" 2>/dev/null)
	# shellcheck disable=SC2086  # ids, one a word
	[ -z "$left" ] || engine_docker container rm --force --volumes $left >/dev/null 2>&1
	engine_docker image rm --force "$ENGINE_IMAGE" >/dev/null 2>&1
}

# dockerd is the only child of unshare, which does not pass signals on.
engine_dockerd()
{
	cat /proc/[0-9]*/stat 2>/dev/null |
		sed -n "s/^\\([0-9]*\\) (.*) [A-Za-z] $engine_pid .*/\\1/p"
}

# The kernel ends everything in the namespace with its first process.
engine_kill()
{
	dockerd=$(engine_dockerd)
	# shellcheck disable=SC2086
	kill -TERM ${dockerd:-$engine_pid} 2>/dev/null
	tries=0
	while kill -0 "$engine_pid" 2>/dev/null; do
		tries=$((tries + 1))
		# shellcheck disable=SC2086
		[ $tries -ne 120 ] || kill -KILL ${dockerd:-} "$engine_pid" 2>/dev/null
		[ $tries -lt 160 ] || break
		sleep 0.25
	done
	wait "$engine_pid" 2>/dev/null
	engine_pid=
}

engine_remove_cgroups()
{
	for root in /sys/fs/cgroup/"$ENGINE_CGROUP" /sys/fs/cgroup/*/"$ENGINE_CGROUP"; do
		[ -d "$root" ] || continue
		find "$root" -depth -type d -exec rmdir {} + 2>/dev/null
	done
}

# engine_stop: harmless when nothing, or only half of it, was started.
engine_stop()
{
	[ -n "${ENGINE_DIR:-}" ] || return 0
	[ -z "${engine_imported:-}" ] || engine_sweep
	if [ -n "${engine_pid:-}" ]; then
		engine_kill
		engine_remove_cgroups
	fi
	for covered in ${engine_made:-}; do
		rmdir "$covered" 2>/dev/null || engine_say "cannot remove $covered"
	done
	rm -rf --one-file-system "$ENGINE_DIR"
	[ ! -e "$ENGINE_DIR" ] || engine_say "cannot remove $ENGINE_DIR"
	ENGINE_DIR=
}

# Runs a command as uid 61000 + $1 with the engine's group: no account, no home,
# no privilege.
engine_user()
{
	number=$((61000 + $1))
	shift
	(cd / && exec setpriv --reuid $number --regid $number --groups "$ENGINE_GID" \
		--inh-caps=-all --bounding-set=-all --no-new-privs \
		env -i PATH=/usr/bin:/bin "$@")
}

# For scripts that need root: become it through sudo, keeping what matters.
engine_as_root()
{
	[ "$(id -u)" -ne 0 ] || return 0
	command -v sudo >/dev/null 2>&1 || {
		engine_say 'not root, and there is no sudo: run this as root'
		exit 1
	}
	exec sudo env CI="${CI:-}" ENGINE="${ENGINE:-}" CRASH="${CRASH:-}" \
		TMPDIR="${TMPDIR:-/tmp}" PATH="$PATH" sh "$@"
}

# Stops the engine on every way out of the calling script.
engine_traps()
{
	trap 'engine_stop' EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 141' PIPE
}

ENGINE_SELF=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/engine.sh
case ${0##*/} in
engine.sh)
	if [ "${1:-}" = --inside ]; then
		shift
		engine_inside "$@"
		exit 1
	fi
	[ $# -gt 0 ] || {
		echo 'usage: tests/engine.sh COMMAND [ARG...]' >&2
		exit 64
	}
	engine_as_root "$0" "$@"
	engine_traps
	engine_start || exit 1
	"$@"
	exit $?
	;;
esac
