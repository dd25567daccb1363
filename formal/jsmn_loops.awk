# SPDX-License-Identifier: ISC
#
# usage: awk -v tokens=N -f jsmn_loops.awk: the loop contracts of jsmn_safe for N tokens.
# The tokens' invariant is spelled out for each of them.
BEGIN {
	all = ""
	for (k = 0; k < tokens; k++)
		all = all sprintf(" && (%d >= parser->toknext || (tokens[%d].parent >= -1 && tokens[%d].parent < %d" \
			" && tokens[%d].start >= 0 && tokens[%d].start <= (int)parser->pos && tokens[%d].size >= 0" \
			" && tokens[%d].size <= (int)parser->pos && tokens[%d].end >= -1 && tokens[%d].end <= (int)len" \
			" && (tokens[%d].end == -1 || tokens[%d].start <= tokens[%d].end)))", \
			k, k, k, k, k, k, k, k, k, k, k, k, k)
	print "{ \"functions\": ["
	print " { \"jsmn_parse_primitive\": [ { \"loop_id\": \"0\", \"assigns\": \"parser->pos\","
	print "   \"invariants\": \"start >= 0 && parser->pos >= (unsigned)start && parser->pos <= len\","
	print "   \"decreases\": \"len - parser->pos\","
	print "   \"symbol_map\": \"parser,jsmn_parse_primitive::parser;len,jsmn_parse_primitive::len;start,jsmn_parse_primitive::1::start\" } ] },"
	print " { \"jsmn_parse_string\": ["
	print "  { \"loop_id\": \"1\", \"assigns\": \"parser->pos\","
	print "    \"invariants\": \"start >= 0 && parser->pos > (unsigned)start && parser->pos <= len\","
	print "    \"decreases\": \"len - parser->pos\","
	print "    \"symbol_map\": \"parser,jsmn_parse_string::parser;len,jsmn_parse_string::len;start,jsmn_parse_string::1::start\" },"
	print "  { \"loop_id\": \"0\", \"assigns\": \"parser->pos, i\","
	print "    \"invariants\": \"i >= 0 && i <= 4 && start >= 0 && parser->pos > (unsigned)start + 1 && parser->pos <= len && parser->pos >= __CPROVER_loop_entry(parser->pos)\","
	print "    \"decreases\": \"4 - i\","
	print "    \"symbol_map\": \"parser,jsmn_parse_string::parser;len,jsmn_parse_string::len;start,jsmn_parse_string::1::start;i,jsmn_parse_string::1::1::1::2::i\" } ] },"
	print " { \"jsmn_parse\": [ { \"loop_id\": \"0\","
	print "   \"assigns\": \"parser->pos, parser->toknext, parser->toksuper, count, r, i, token, __CPROVER_object_whole(tokens)\","
	print "   \"invariants\": \"parser->pos <= len && parser->toknext <= num_tokens && parser->toksuper >= -1 && parser->toksuper < (int)parser->toknext && count == (int)parser->toknext" all "\","
	print "   \"decreases\": \"len - parser->pos\","
	print "   \"symbol_map\": \"parser,jsmn_parse::parser;len,jsmn_parse::len;num_tokens,jsmn_parse::num_tokens;tokens,jsmn_parse::tokens;count,jsmn_parse::1::count;r,jsmn_parse::1::r;i,jsmn_parse::1::i;token,jsmn_parse::1::token\" } ] }"
	print "] }"
}
