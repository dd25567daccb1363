# SPDX-License-Identifier: ISC
#
# usage: awk -v tokens=N -f jsmn_loops.awk
#
# The loop contracts of jsmn, for an array of N tokens (CBMC has no "for all" that is
# of use here, so the tokens' invariant is written out N times).

function token(k) {
	t = "tokens[" k "]"
	return " && (parser->toknext <= " k " || (" \
		t ".parent >= -1 && " t ".parent < " k " && " \
		t ".start >= 0 && " t ".start <= (int)parser->pos && " \
		t ".size >= 0 && " t ".size <= (int)parser->pos && " \
		"(" t ".end == -1 || (" t ".end >= " t ".start && " t ".end <= (int)len))))"
}

# names: the variables of the loop, local ones with their scope.
function loop(id, assigns, invariant, decreases, names, scope, list, map, i, n) {
	n = split(names, list, " ")
	map = ""
	for (i = 1; i <= n; i++) {
		short = list[i]
		sub(/.*::/, "", short)
		map = map (i > 1 ? ";" : "") short "," scope "::" list[i]
	}
	return sprintf("{\"loop_id\": \"%s\", \"assigns\": \"%s\", \"invariants\": \"%s\", \"decreases\": \"%s\", \"symbol_map\": \"%s\"}", \
		id, assigns, invariant, decreases, map)
}

BEGIN {
	left = "len - parser->pos"
	inside = "start >= 0 && parser->pos <= len && parser->pos "
	whole = "parser->pos <= len && parser->toknext <= num_tokens && count == (int)parser->toknext" \
		" && parser->toksuper >= -1 && parser->toksuper < (int)parser->toknext"
	for (k = 0; k < tokens; k++)
		whole = whole token(k)

	printf "{\"functions\": [{\"jsmn_parse_primitive\": [%s]},\n", \
		loop(0, "parser->pos", inside ">= (unsigned)start", left, "parser len 1::start", "jsmn_parse_primitive")
	printf "{\"jsmn_parse_string\": [%s,\n%s]},\n", \
		loop(1, "parser->pos", inside "> (unsigned)start", left, "parser len 1::start", "jsmn_parse_string"), \
		loop(0, "parser->pos, i", inside "> (unsigned)start + 1 && i >= 0 && i <= 4" \
			" && parser->pos >= __CPROVER_loop_entry(parser->pos)", "4 - i", \
			"parser len 1::start 1::1::1::2::i", "jsmn_parse_string")
	printf "{\"jsmn_parse\": [%s]}]}\n", \
		loop(0, "parser->pos, parser->toknext, parser->toksuper, count, r, i, token, __CPROVER_object_whole(tokens)", \
			whole, left, "parser len num_tokens tokens 1::count 1::r 1::i 1::token", "jsmn_parse")
}
