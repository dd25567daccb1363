# SPDX-License-Identifier: ISC
#
# usage: awk -f life2pml.awk executor/life.h executor/life.c
#
# The executor's lifecycle table as Promela, so that model and program are one table.
# Anything that does not look as expected ends it with status 1.

function fail(why) {
	print "life2pml: " why > "/dev/stderr"
	failed = 1
	exit 1
}

/^enum life_(event|action|state) \{/ { counting = 1; value = 0; next }
/^\};?$/ { counting = 0 }
counting && match($0, /^\t[ASE]_[A-Z_]+/) {
	name = substr($0, RSTART + 1, RLENGTH - 1)
	number[name] = value++
	order[++names] = name
}

/^\[S_[A-Z_]+\]/ {
	row = $0
	gsub(/[][{}=,;]/, " ", row)
	if (split(row, word, " ") != 7)
		fail("a row has not three pairs: " $0)
	for (i = 1; i <= 7; i++)
		if (!(word[i] in number))
			fail("unknown name " word[i])
	for (i = 0; i < 3; i++)
		rule[++rules] = sprintf("\t:: state == %s && event == %s -> action = %s; state = %s", \
			word[1], order[1 + i], word[2 + 2 * i], word[3 + 2 * i])
}

END {
	if (failed)
		exit 1
	if (order[1] != "E_OK" || order[2] != "E_FAIL" || order[3] != "E_UNSURE")
		fail("the events are not what the table's head says")
	if (rules == 0 || rules != 3 * number["S_COUNT"])
		fail("not one row a state")
	for (i = 1; i <= names; i++)
		printf "#define %s %d\n", order[i], number[order[i]]
	print "\ninline life_next(state, event, action)\n{\n\td_step {\n\tif"
	for (i = 1; i <= rules; i++)
		print rule[i]
	print "\tfi\n\t}\n}"
}
