#!/bin/sh
# SPDX-License-Identifier: ISC
#
# One real turn, shown: the decision, the argv, the reply, and that nothing is
# left.  Uses the machine's Docker engine, or a private one for as long as this
# takes.

# shellcheck source=tests/engine.sh
. "$(dirname "$0")/engine.sh"

engine_as_root "$0" "$@"
cd "$(dirname "$0")/.." || exit 1
engine_traps

# The README's user for the worker; cofferdam itself runs as another.
WORKER=61000
CALLER=1

title()
{
	printf '\n--- %s\n' "$*"
}

# Two programs and two directories, where any user can reach them.
prepare()
{
	dir=$ENGINE_SCRATCH
	mkdir -m 755 "$dir/bin" "$dir/broker" "$dir/keys"
	mkdir -m 700 "$dir/workspace" "$dir/state"
	cp cofferdam cofferdam-policy "$dir/bin/"
	chmod 755 "$dir/bin/cofferdam" "$dir/bin/cofferdam-policy"
	chown $WORKER:$WORKER "$dir/workspace"
	chown $((61000 + CALLER)):$((61000 + CALLER)) "$dir/state"
	echo 'what the operator hands to the worker' >"$dir/broker/note"
	cat >"$dir/config.json" <<END
{
  "version": 1,
  "mode": "turn",
  "image": "$ENGINE_IMAGE",
  "user": {"uid": $WORKER, "gid": $WORKER},
  "mounts": [
    {"host": "$dir/broker", "guest": "/broker", "mode": "ro"},
    {"host": "$dir/workspace", "guest": "/workspace", "mode": "rw"}
  ],
  "limits": {"memoryBytes": 536870912, "cpus": 1, "pids": 64, "turnSeconds": 120},
  "privatePaths": ["$dir/keys"],
  "docker": {"host": "unix://$ENGINE_SOCKET"}
}
END
	cat >"$dir/turn.json" <<'END'
{"text": "What do you see?", "speaker": {"id": "u1", "name": "Ada"}, "model": "m",
 "prompt": "be brief", "timeZone": "UTC", "tools": [], "mcp": []}
END
	chmod 644 "$dir/config.json" "$dir/turn.json" "$dir/broker/note"
}

policy()
{
	engine_user $CALLER "$dir/bin/cofferdam-policy" "$@" -c "$dir/config.json"
}

managed()
{
	engine_docker container ls --all --quiet --no-trunc --filter label=dev.cofferdam.state \
		--filter "ancestor=$ENGINE_IMAGE"
}

# One line a member of the record.
as_members()
{
	python3 -c 'import json, sys
for name, value in json.load(sys.stdin).items():
    print("    %s: %s" % (name, json.dumps(value)))'
}

# Words two by two where they are a flag and its value.
as_lines()
{
	tr '\0' '\n' | awk '
		NR == 1 { line = $0; next }
		/^-/ || !flag { print "    " line; line = $0; flag = /^--[a-z-]*$/; next }
		{ line = line " " $0; flag = 0 }
		END { print "    " line }'
}

# Processes of the two users, but for those that were there before.
processes()
{
	ps -o pid=,args= -u "$WORKER" -u "$((61000 + CALLER))" | while read -r pid args; do
		case " $before " in *" $pid "*) ;; *) echo "$pid $args" ;; esac
	done
}

engine_start || exit 1
before=$(ps -o pid= -u "$WORKER" -u "$((61000 + CALLER))" | tr -s ' \n' ' ')
prepare

title "The decision (cofferdam-policy check; no engine is asked, no root is needed)"
policy check >"$dir/record.json" || exit 1
as_members <"$dir/record.json"

title "The docker command that it would freeze (cofferdam-policy argv)"
policy argv -0 | as_lines

title "The turn, as user $((61000 + CALLER)): cofferdam run < turn.json"
engine_user $CALLER "$dir/bin/cofferdam" run -c "$dir/config.json" --state-dir "$dir/state" \
	<"$dir/turn.json" >"$dir/reply.json"
status=$?
echo "exit status $status"
[ $status -eq 0 ] || exit 1

title "The reply, of which these two members and nothing else leave the container"
sed 's/\\n/\n    /g' "$dir/reply.json"

title "What is left: managed containers, claims, processes of the two users"
left=$(managed)
claims=$(find "$dir/state/claims" -type f)
processes=$(processes)
echo "containers: ${left:-none}"
echo "claims:     ${claims:-none}"
echo "processes:  ${processes:-none}"
[ -z "$left$claims$processes" ] || exit 1

title "A refusal: the workspace inside the broker's directory"
sed "s|\"$dir/workspace\"|\"$dir/broker\"|" "$dir/config.json" >"$dir/bad.json"
engine_user $CALLER "$dir/bin/cofferdam" run -c "$dir/bad.json" --state-dir "$dir/state" \
	<"$dir/turn.json"
status=$?
echo "exit status $status"
[ $status -eq 77 ] || exit 1

printf '\nThe demo is done; its directory, its image and its engine, if it had one of its own, go now.\n'
