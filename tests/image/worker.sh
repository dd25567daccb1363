#!/bin/sh
# SPDX-License-Identifier: ISC
#
# The demo worker: the whole content of the test image beside a busybox.
#
# It reads one turn on stdin and writes one reply, {"ok":…,"text":…}, on stdout.
# The turn's text is a command of its own small language, so that a test can
# make it misbehave; any other text gets a description of what the sandbox looks
# like from inside.

PATH=/bin
export PATH
dir=/tmp/turn
mkdir $dir && cat >$dir/in || exit 90

# "text" is the first key of a canonical turn.
text=$(sed -n '1s/^{"text":"\([^"]*\)".*$/\1/p' $dir/in)
verb=${text%% *}
rest=${text#"$verb"}
rest=${rest# }

reply()
{
	# What we print of our own holds no quote, backslash or control character
	# but the newline.
	printf '{"ok":%s,"text":"%s"}\n' "$1" "$(tr -d '"\\\r\t' | sed ':a;N;$!ba;s/\n/\\n/g')"
}

status()
{
	sed -n "s/^$1:[[:space:]]*//p" /proc/self/status
}

writable()
{
	if touch "$1/.probe" 2>/dev/null; then
		rm -f "$1/.probe" 2>/dev/null || busybox rm -f "$1/.probe"
		echo writable
	else
		echo read-only
	fi
}

# The first of the files that exists: cgroup v2, then v1.
cgroup()
{
	for file; do
		[ -r "/sys/fs/cgroup/$file" ] && tr '\n' ' ' <"/sys/fs/cgroup/$file" && return
	done
	printf unknown
}

mounts()
{
	awk '$5 ~ "^/(broker|workspace|tmp|grants)" { split($6, o, ","); print "mount " $5 " " o[1] " " $6 }' \
		/proc/self/mountinfo | sort
}

show()
{
	echo "id: $(id -u):$(id -g) groups $(id -G)"
	for place in / /broker /workspace /tmp /etc /dev; do
		echo "$place: $(writable "$place")"
	done
	echo "interfaces: $(cut -d: -f1 -s /proc/net/dev | tr -d " " | tr "\n" " ")"
	echo "routes: $(tail -n +2 /proc/net/route | wc -l)"
	echo "memory: $(cgroup memory.max memory/memory.limit_in_bytes)"
	echo "swap: $(cgroup memory.swap.max memory/memory.memsw.limit_in_bytes)"
	echo "pids: $(cgroup pids.max pids/pids.max)"
	echo "cpu: $(cgroup cpu.max cpu/cpu.cfs_quota_us)"
	echo "nofile: $(sed -n "s/^Max open files *//p" /proc/self/limits | tr -s " ")"
	echo "fsize: $(sed -n "s/^Max file size *//p" /proc/self/limits | tr -s " ")"
	for name in CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp; do
		echo "$name: $(status $name)"
	done
	echo "descriptors: $(cd /proc/$$/fd && echo *)"
	echo "environment: $(env | cut -d= -f1 | sort | tr '\n' ' ')"
	echo "home: $HOME"
	echo "workdir: $(pwd)"
	mounts
	echo "tmp: $(grep ' /tmp ' /proc/mounts | cut -d' ' -f4)"
	echo "turn: $(wc -c <$dir/in) bytes, sha256 $(sha256sum <$dir/in | cut -d' ' -f1)"
}

# Past every limit but the time.
stubborn()
{
	trap '' TERM INT HUP
	end=$(($(date +%s) + $1))
	while [ "$(date +%s)" -lt "$end" ]; do
		sleep 1
	done
	echo 'slept' | reply true
}

case $verb in
exit) exit "$rest" ;;
garbage) echo 'this is not JSON' ;;
empty) ;;
wrongtype) echo '{"ok":"yes","text":7}' ;;
extra) echo '{"ok":true,"text":"only this","secret":"not this"}' ;;
refuse) echo "$rest" | reply false ;;
say) echo "$rest" | reply true ;;
escape) printf '{"ok":true,"text":"\\u001b[31mred\\u001b[0m"}' ;;
bytes) printf '{"ok":true,"text":"a\377b"}' ;;
flood) head -c "$rest" /dev/zero | tr '\0' 'x' ;;
long) printf '{"ok":true,"text":"%s"}' "$(head -c "$rest" /dev/zero | tr '\0' 'x')" ;;
stderr)
	head -c "$rest" /dev/zero | tr '\0' 'e' >&2
	echo 'wrote to stderr' | reply true
	;;
hostile)
	printf '\033]0;owned\007\033[31mred\033[0m\n' >&2
	exit 3
	;;
sleep) stubborn "$rest" ;;
http)
	printf 'POST /containers/create?name=INJECTED HTTP/1.1\r\nHost: d\r\nContent-Length: 0\r\n\r\n'
	;;
write)
	echo "$rest" >/workspace/written && echo 'written' | reply true
	;;
read) reply true <"/broker/$rest" ;;
memory)
	# A variable holds it: resident, and not in /tmp.
	hog=$(head -c "$rest" /dev/zero | tr '\0' 'm')
	echo "kept ${#hog}" | reply true
	;;
fork)
	n=0
	while [ $n -lt "$rest" ]; do
		sleep 600 &
		n=$((n + 1))
	done
	echo "forked $n" | reply true
	;;
*) show | reply true ;;
esac
