#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Runs a mutant's test where it can harm nothing: in namespaces that mutate.py
# has made, all file systems read-only but for a few in memory.
#
#   tests/mutants/sandbox.sh DIR COMMAND...     240: the place could not be made

dir=$1
shift
mount --make-rprivate / && mount --bind "$dir" /mnt && cd /mnt || exit 240
mount -o remount,bind,ro / && mount -o remount,bind,ro /mnt || exit 240
for at in /tmp /var/tmp /var/lib /run /root; do
	mount -t tmpfs -o size=64m,mode=1777 none "$at" || exit 240
done
"$@"
