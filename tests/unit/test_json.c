/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../policy/json.h"

/* A literal with its length: it may hold NULs. */
#define T(literal) (literal), sizeof(literal) - 1
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct json_limits strict = {1 << 24, JSON_POOL, false};
static const struct json_limits lone = {1 << 24, JSON_POOL, true};

/* A copy with nothing readable behind it: who reads on is ended by a signal. */
static const char *fenced(const char *text, size_t len)
{
	static char *fence;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (fence == NULL) {
		fence = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		             -1, 0);
		assert_true(fence != MAP_FAILED);
		fence += page;
		assert_int_equal(mprotect(fence, page, PROT_NONE), 0);
	}
	assert_true(len <= page);
	return memcpy(fence - len, text, len);
}

/* What a parse made of a text; a document is dropped again at once. */
struct verdict {
	enum reason reason; /* REASON_NONE: accepted */
	struct json_error error;
};

static struct verdict judge(const char *text, size_t len, const struct json_limits *limits)
{
	struct verdict verdict = {REASON_NONE, {REASON_NONE, 0, 0, 0}};
	struct json doc;

	if (json_parse(&doc, text, len, limits, &verdict.error))
		json_drop(&doc);
	else
		verdict.reason = verdict.error.reason;
	return verdict;
}

static void fail_text(const char *what, const char *text, size_t len)
{
	print_error("%s: ", what);
	for (size_t i = 0; i < len && i < 200; i++)
		print_error(text[i] >= 0x20 && text[i] < 0x7f ? "%c" : "\\x%02x",
		            (unsigned char)text[i]);
	print_error("\n");
	fail();
}

static void expect(const char *text, size_t len, const struct json_limits *limits,
                   enum reason reason, size_t offset)
{
	struct verdict verdict = judge(text, len, limits);

	if (verdict.reason != reason || (reason != REASON_NONE && verdict.error.offset != offset)) {
		print_error("got %s at %zu, expected %s at %zu\n", reason_name(verdict.reason),
		            verdict.error.offset, reason_name(reason), offset);
		fail_text("wrong verdict", text, len);
	}
}

/* ---- texts ---- */

struct valid {
	const char *text;
	size_t len;
};

static const struct valid valid_texts[] = {
        /* bare values, with and without blanks */
        {T("1")},
        {T("0")},
        {T("-0")},
        {T("null")},
        {T("true")},
        {T("false")},
        {T("\"\"")},
        {T("\"x\"")},
        {T(" 1")},
        {T("1 ")},
        {T("1\n")},
        {T("\t\n\r -1.5e+3\r\n\t ")},
        {T(" null ")},
        {T("\n\"x\"\n")},
        /* containers */
        {T("{}")},
        {T("[]")},
        {T("{ }")},
        {T("[ ]")},
        {T("[\n]")},
        {T("[[]]")},
        {T("[{}]")},
        {T("{\"\":{}}")},
        {T("{\"\":\"\"}")},
        {T("[[],[]]")},
        {T("[[],{},[[]],1]")},
        {T("{\"a\":{\"b\":{\"c\":[{\"d\":[]}]}}}")},
        {T("{\"a\":1,\"b\":2,\"c\":[],\"d\":{}}")},
        {T("{\"a\":{},\"b\":1}")},
        {T("[1,2,3]")},
        {T("[ 1 , 2 , 3 ]")},
        {T("{ \"a\" : 1 , \"b\" : [ true , false , null ] }")},
        {T("[\"a\",\"b\"]")},
        {T("[null,null]")},
        {T("{\"a\":\"a\",\"b\":\"a\"}")},
        {T("[{\"a\":1},{\"a\":1}]")},
        {T("{\"a\":{\"a\":{\"a\":1}}}")},
        /* numbers */
        {T("[0]")},
        {T("[-0]")},
        {T("[0.0]")},
        {T("[-0.0e-0]")},
        {T("[10]")},
        {T("[1.0]")},
        {T("[1.000001]")},
        {T("[1e2]")},
        {T("[1E2]")},
        {T("[1e+2]")},
        {T("[1E-2]")},
        {T("[1e00]")},
        {T("[0e1]")},
        {T("[0.5e1]")},
        {T("[1e999999]")},
        {T("[123456789012345678901234567890]")},
        {T("[18446744073709551616]")},
        {T("[0.1234567890123456789012345678901234567890]")},
        /* strings */
        {T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")},
        {T("\"\\u0000\"")},
        {T("\"\\u0041\\u00e9\\u20AC\\uFFFF\"")},
        {T("\"\\ud83d\\ude00\"")},
        {T("\"\\uDBFF\\uDFFF\"")},
        {T("\"\\ud800\\udc00\"")},
        {T("\"\\uD7FF\\uE000\\uFFFE\"")},
        {T("\"/\"")},
        {T("\" \"")},
        {T("\"\x7f\"")},
        {T("\"\xc2\x80\xc3\xa9\xdf\xbf\"")},
        {T("\"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\"")},
        {T("\"\xf0\x90\x80\x80\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\"")},
        {T("\"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae\"")},
        {T("\"\xef\xbb\xbf\"")},
        {T("\"{}[]:,'\"")},
        {T("\"\\\\\"")},
        {T("\"\\\\u0041\"")},
        {T("\"\\\\\\\"\"")},
        {T("\"//\"")},
        {T("{\"\\u0000\":1,\"\":2}")},
        {T("{\"a\":1,\"A\":2,\"a \":3}")},
        {T("{\"a\":1,\"a\\\"\":2,\"a\\\":1\":3}")},
        {T("{\"\xc3\xa9\":1,\"e\xcc\x81\":2}")},
};

struct invalid {
	const char *text;
	size_t len;
	enum reason reason;
	size_t offset;
};

static const struct invalid invalid_texts[] = {
        /* nothing, or not enough */
        {T(""), REASON_JSON_EMPTY, 0},
        {T(" "), REASON_JSON_EMPTY, 1},
        {T(" \t\r\n"), REASON_JSON_EMPTY, 4},
        {T("{"), REASON_JSON_TRUNCATED, 1},
        {T("["), REASON_JSON_TRUNCATED, 1},
        {T("[ "), REASON_JSON_TRUNCATED, 2},
        {T("\""), REASON_JSON_TRUNCATED, 1},
        {T("\"abc"), REASON_JSON_TRUNCATED, 4},
        {T("\"\\"), REASON_JSON_TRUNCATED, 2},
        {T("\"\\\""), REASON_JSON_TRUNCATED, 3},
        {T("\"\\u"), REASON_JSON_TRUNCATED, 3},
        {T("\"\\u004"), REASON_JSON_TRUNCATED, 6},
        {T("\"\\ud800"), REASON_JSON_TRUNCATED, 7},
        {T("\"\\ud800\\"), REASON_JSON_TRUNCATED, 8},
        {T("\"\\ud800\\u"), REASON_JSON_TRUNCATED, 9},
        {T("\"\\ud800\\udc0"), REASON_JSON_TRUNCATED, 12},
        {T("-"), REASON_JSON_TRUNCATED, 1},
        {T("1."), REASON_JSON_TRUNCATED, 2},
        {T("1e"), REASON_JSON_TRUNCATED, 2},
        {T("1e+"), REASON_JSON_TRUNCATED, 3},
        {T("nul"), REASON_JSON_TRUNCATED, 3},
        {T("t"), REASON_JSON_TRUNCATED, 1},
        {T("[1"), REASON_JSON_TRUNCATED, 2},
        {T("[1,"), REASON_JSON_TRUNCATED, 3},
        {T("{\"a\""), REASON_JSON_TRUNCATED, 4},
        {T("{\"a\":"), REASON_JSON_TRUNCATED, 5},
        {T("{\"a\":1"), REASON_JSON_TRUNCATED, 6},
        {T("{\"a\":1,"), REASON_JSON_TRUNCATED, 7},
        {T("{\"a\":{}"), REASON_JSON_TRUNCATED, 7},
        {T("[[[[]]]"), REASON_JSON_TRUNCATED, 7},
        /* commas and colons */
        {T("[1,]"), REASON_JSON_SYNTAX, 3},
        {T("[,1]"), REASON_JSON_SYNTAX, 1},
        {T("[,]"), REASON_JSON_SYNTAX, 1},
        {T("[1,,2]"), REASON_JSON_SYNTAX, 3},
        {T("[1 2]"), REASON_JSON_SYNTAX, 3},
        {T("[1:2]"), REASON_JSON_SYNTAX, 2},
        {T("[\"a\" \"b\"]"), REASON_JSON_SYNTAX, 5},
        {T("[\"a\":1]"), REASON_JSON_SYNTAX, 4},
        {T("[[]:[]:[]]"), REASON_JSON_SYNTAX, 3},
        {T("[[][]]"), REASON_JSON_SYNTAX, 3},
        {T("[{}{}]"), REASON_JSON_SYNTAX, 3},
        {T("[;1]"), REASON_JSON_SYNTAX, 1},
        {T("{\"a\":1,}"), REASON_JSON_SYNTAX, 7},
        {T("{,}"), REASON_JSON_SYNTAX, 1},
        {T("{,\"a\":1}"), REASON_JSON_SYNTAX, 1},
        {T("{\"a\":1,,\"b\":2}"), REASON_JSON_SYNTAX, 7},
        {T("{\"a\" \"b\"}"), REASON_JSON_SYNTAX, 5},
        {T("{\"a\":1 \"b\":2}"), REASON_JSON_SYNTAX, 7},
        {T("{\"a\",\"b\"}"), REASON_JSON_SYNTAX, 4},
        {T("{\"a\"}"), REASON_JSON_SYNTAX, 4},
        {T("{\"a\":}"), REASON_JSON_SYNTAX, 5},
        {T("{\"a\"::1}"), REASON_JSON_SYNTAX, 5},
        {T("{\"a\":1:2}"), REASON_JSON_SYNTAX, 6},
        {T("{:1}"), REASON_JSON_SYNTAX, 1},
        {T("{\"a\":,}"), REASON_JSON_SYNTAX, 5},
        {T("{\"a\"=1}"), REASON_JSON_SYNTAX, 4},
        {T(","), REASON_JSON_SYNTAX, 0},
        {T(":"), REASON_JSON_SYNTAX, 0},
        /* keys that are none */
        {T("{a:1}"), REASON_JSON_SYNTAX, 1},
        {T("{'a':1}"), REASON_JSON_SYNTAX, 1},
        {T("{1:1}"), REASON_JSON_SYNTAX, 1},
        {T("{null:1}"), REASON_JSON_SYNTAX, 1},
        {T("{true:1}"), REASON_JSON_SYNTAX, 1},
        {T("{[]:1}"), REASON_JSON_SYNTAX, 1},
        {T("{{}:1}"), REASON_JSON_SYNTAX, 1},
        {T("{[1]}"), REASON_JSON_SYNTAX, 1},
        {T("{\"a\":1,2:3}"), REASON_JSON_SYNTAX, 7},
        {T("{1}"), REASON_JSON_SYNTAX, 1},
        /* brackets */
        {T("]"), REASON_JSON_SYNTAX, 0},
        {T("}"), REASON_JSON_SYNTAX, 0},
        {T("[}"), REASON_JSON_SYNTAX, 1},
        {T("{]"), REASON_JSON_SYNTAX, 1},
        {T("[1}"), REASON_JSON_SYNTAX, 2},
        {T("{\"a\":1]"), REASON_JSON_SYNTAX, 6},
        {T("[{\"a\":[}]}"), REASON_JSON_SYNTAX, 7},
        {T("({})"), REASON_JSON_SYNTAX, 0},
        {T("<a>"), REASON_JSON_SYNTAX, 0},
        /* text after the document */
        {T("{}{}"), REASON_JSON_TRAILING, 2},
        {T("{} {}"), REASON_JSON_TRAILING, 3},
        {T("{},"), REASON_JSON_TRAILING, 2},
        {T("{}}"), REASON_JSON_TRAILING, 2},
        {T("[]]"), REASON_JSON_TRAILING, 2},
        {T("1 2"), REASON_JSON_TRAILING, 2},
        {T("1,2"), REASON_JSON_TRAILING, 1},
        {T("\"a\"\"b\""), REASON_JSON_TRAILING, 3},
        {T("\"a\":1"), REASON_JSON_TRAILING, 3},
        {T("\"a\" x"), REASON_JSON_TRAILING, 4},
        {T("null null"), REASON_JSON_TRAILING, 5},
        {T("{}#"), REASON_JSON_TRAILING, 2},
        {T("{}//"), REASON_JSON_TRAILING, 2},
        {T("[] \xc3\xa9"), REASON_JSON_TRAILING, 3},
        {T("{\"a\":1}\0{\"b\":2}"), REASON_JSON_CONTROL, 7},
        {T("{}\0"), REASON_JSON_CONTROL, 2},
        {T("1\0"), REASON_JSON_CONTROL, 1},
        {T("[]\x0c"), REASON_JSON_CONTROL, 2},
        {T("[] \xff"), REASON_JSON_UTF8, 3},
        /* comments */
        {T("/**/{}"), REASON_JSON_SYNTAX, 0},
        {T("[1,//\n2]"), REASON_JSON_SYNTAX, 3},
        {T("{/* a */\"a\":1}"), REASON_JSON_SYNTAX, 1},
        {T("#\n1"), REASON_JSON_SYNTAX, 0},
        /* literals */
        {T("[trueX]"), REASON_JSON_SYNTAX, 5},
        {T("[truez]"), REASON_JSON_SYNTAX, 5},
        {T("{\"a\":trueX}"), REASON_JSON_SYNTAX, 9},
        {T("{\"a\":nul}"), REASON_JSON_SYNTAX, 8},
        {T("[tru]"), REASON_JSON_SYNTAX, 4},
        {T("[True]"), REASON_JSON_SYNTAX, 1},
        {T("[TRUE]"), REASON_JSON_SYNTAX, 1},
        {T("[fals]"), REASON_JSON_SYNTAX, 5},
        {T("[falsee]"), REASON_JSON_SYNTAX, 6},
        {T("[nulll]"), REASON_JSON_SYNTAX, 5},
        {T("[nan]"), REASON_JSON_SYNTAX, 2},
        {T("[NaN]"), REASON_JSON_SYNTAX, 1},
        {T("[Infinity]"), REASON_JSON_SYNTAX, 1},
        {T("[undefined]"), REASON_JSON_SYNTAX, 1},
        {T("[true1]"), REASON_JSON_SYNTAX, 5},
        {T("[true-1]"), REASON_JSON_SYNTAX, 5},
        {T("[truefalse]"), REASON_JSON_SYNTAX, 5},
        {T("nullx"), REASON_JSON_SYNTAX, 4},
        {T("true.5"), REASON_JSON_SYNTAX, 4},
        {T("[tr\xc3\xa9"), REASON_JSON_SYNTAX, 3},
        {T("[a"), REASON_JSON_SYNTAX, 1},
        {T("['a']"), REASON_JSON_SYNTAX, 1},
        {T("[`a`]"), REASON_JSON_SYNTAX, 1},
        {T("[\x7f]"), REASON_JSON_SYNTAX, 1},
        /* numbers */
        {T("[-]"), REASON_JSON_NUMBER, 2},
        {T("{\"a\":-}"), REASON_JSON_NUMBER, 6},
        {T("[0x1F]"), REASON_JSON_NUMBER, 2},
        {T("{\"a\":0x1F}"), REASON_JSON_NUMBER, 6},
        {T("[01]"), REASON_JSON_NUMBER, 2},
        {T("[-01]"), REASON_JSON_NUMBER, 3},
        {T("[00]"), REASON_JSON_NUMBER, 2},
        {T("01"), REASON_JSON_NUMBER, 1},
        {T("[+1]"), REASON_JSON_NUMBER, 1},
        {T("+1"), REASON_JSON_NUMBER, 0},
        {T("[++1]"), REASON_JSON_NUMBER, 1},
        {T("[.5]"), REASON_JSON_NUMBER, 1},
        {T("{\"a\":.5}"), REASON_JSON_NUMBER, 5},
        {T("[-.5]"), REASON_JSON_NUMBER, 2},
        {T("[1.]"), REASON_JSON_NUMBER, 3},
        {T("[1.e1]"), REASON_JSON_NUMBER, 3},
        {T("[1.2.3]"), REASON_JSON_NUMBER, 4},
        {T("[1e]"), REASON_JSON_NUMBER, 3},
        {T("[1e+]"), REASON_JSON_NUMBER, 4},
        {T("[1e1.5]"), REASON_JSON_NUMBER, 4},
        {T("[1e1e1]"), REASON_JSON_NUMBER, 4},
        {T("[1ee1]"), REASON_JSON_NUMBER, 3},
        {T("[1e+-1]"), REASON_JSON_NUMBER, 4},
        {T("[--1]"), REASON_JSON_NUMBER, 2},
        {T("[- 1]"), REASON_JSON_NUMBER, 2},
        {T("[-Infinity]"), REASON_JSON_NUMBER, 2},
        {T("[-NaN]"), REASON_JSON_NUMBER, 2},
        {T("[1+1]"), REASON_JSON_NUMBER, 2},
        {T("[1-1]"), REASON_JSON_NUMBER, 2},
        {T("[1x]"), REASON_JSON_NUMBER, 2},
        {T("[1true]"), REASON_JSON_NUMBER, 2},
        {T("[1a]"), REASON_JSON_NUMBER, 2},
        {T("[1z]"), REASON_JSON_NUMBER, 2},
        {T("[1A]"), REASON_JSON_NUMBER, 2},
        {T("[1Z]"), REASON_JSON_NUMBER, 2},
        {T("[0e]"), REASON_JSON_NUMBER, 3},
        {T("[1_000]"), REASON_JSON_SYNTAX, 2},
        {T("[1 000]"), REASON_JSON_SYNTAX, 3},
        {T("1a"), REASON_JSON_NUMBER, 1},
        {T("[-\xff]"), REASON_JSON_UTF8, 2},
        {T("[1.\x01]"), REASON_JSON_CONTROL, 3},
        {T("[\xef\xbc\x91]"), REASON_JSON_SYNTAX, 1},
        /* raw control bytes */
        {T("\0"), REASON_JSON_CONTROL, 0},
        {T("[\0]"), REASON_JSON_CONTROL, 1},
        {T("\"a\0b\""), REASON_JSON_CONTROL, 2},
        {T("\"a\nb\""), REASON_JSON_CONTROL, 2},
        {T("\"a\tb\""), REASON_JSON_CONTROL, 2},
        {T("\"\x1f\""), REASON_JSON_CONTROL, 1},
        {T("\"\r\""), REASON_JSON_CONTROL, 1},
        {T("{\"a\nb\":1}"), REASON_JSON_CONTROL, 3},
        {T("[\x0b]"), REASON_JSON_CONTROL, 1},
        {T("[\x0c]"), REASON_JSON_CONTROL, 1},
        {T("[1\x1e]"), REASON_JSON_CONTROL, 2},
        {T("tr\0e"), REASON_JSON_CONTROL, 2},
        {T("\"\\\n\""), REASON_JSON_CONTROL, 2},
        {T("\"\\u00\0a\""), REASON_JSON_CONTROL, 5},
        {T("[\x08]"), REASON_JSON_CONTROL, 1},
        /* escapes */
        {T("\"\\x41\""), REASON_JSON_ESCAPE, 2},
        {T("\"\\'\""), REASON_JSON_ESCAPE, 2},
        {T("\"\\0\""), REASON_JSON_ESCAPE, 2},
        {T("\"\\a\""), REASON_JSON_ESCAPE, 2},
        {T("\"\\v\""), REASON_JSON_ESCAPE, 2},
        {T("\"\\ \""), REASON_JSON_ESCAPE, 2},
        {T("\"\\N\""), REASON_JSON_ESCAPE, 2},
        {T("\"\\U0041\""), REASON_JSON_ESCAPE, 2},
        {T("\"\\u\""), REASON_JSON_ESCAPE, 3},
        {T("\"\\u1\""), REASON_JSON_ESCAPE, 4},
        {T("\"\\u12\""), REASON_JSON_ESCAPE, 5},
        {T("\"\\u123\""), REASON_JSON_ESCAPE, 6},
        {T("\"\\u12G4\""), REASON_JSON_ESCAPE, 5},
        {T("\"\\u+123\""), REASON_JSON_ESCAPE, 3},
        {T("\"\\u 123\""), REASON_JSON_ESCAPE, 3},
        {T("\"\\u0x41\""), REASON_JSON_ESCAPE, 4},
        {T("\"\\u004:\""), REASON_JSON_ESCAPE, 6},
        {T("\"\\u004@\""), REASON_JSON_ESCAPE, 6},
        {T("\"\\u004g\""), REASON_JSON_ESCAPE, 6},
        {T("\"\\u004`\""), REASON_JSON_ESCAPE, 6},
        {T("\"\\u004/\""), REASON_JSON_ESCAPE, 6},
        {T("{\"\\q\":1}"), REASON_JSON_ESCAPE, 3},
        {T("[\\n]"), REASON_JSON_SYNTAX, 1},
        {T("[\\u0031]"), REASON_JSON_SYNTAX, 1},
        {T("\"\\\xc3\xa9\""), REASON_JSON_ESCAPE, 2},
        {T("\"\\\xff\""), REASON_JSON_UTF8, 2},
        /* lone surrogates, where they are refused */
        {T("\"\\ud800\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\udbff\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\udc00\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\udfff\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\uDFFF\""), REASON_JSON_SURROGATE, 1},
        {T("\"ab\\ud800x\""), REASON_JSON_SURROGATE, 3},
        {T("\"\\ud800\\n\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\ud800\\u0041\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\ud800\\ud800\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\ud800\\ud800\\udc00\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\ud800\\udbff\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\ud800\\ue000\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\ud83d\\ude00\\ude00\""), REASON_JSON_SURROGATE, 13},
        {T("\"\\udc00\\ud800\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\ud800\\x\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\ud800\\x"), REASON_JSON_SURROGATE, 1},
        {T("\"\\ud800abcdefgh\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\ud800\\\\bcdefgh\""), REASON_JSON_SURROGATE, 1},
        {T("\"\\ud800x"), REASON_JSON_SURROGATE, 1},
        {T("\"\\ud800\\udcg0\""), REASON_JSON_ESCAPE, 11},
        {T("{\"\\ud800\":1}"), REASON_JSON_SURROGATE, 2},
        /* UTF-8 */
        {T("\"\x80\""), REASON_JSON_UTF8, 1},
        {T("\"\xff\""), REASON_JSON_UTF8, 1},
        {T("\"\xfe\""), REASON_JSON_UTF8, 1},
        {T("\"\xff\xfe\""), REASON_JSON_UTF8, 1},
        {T("\"\xc3\""), REASON_JSON_UTF8, 1},
        {T("\"\xc3(\""), REASON_JSON_UTF8, 1},
        {T("\"a\xe2\x82\""), REASON_JSON_UTF8, 2},
        {T("\"\xf0\x9f\x98\""), REASON_JSON_UTF8, 1},
        {T("\"\xc0\x80\""), REASON_JSON_UTF8, 1},
        {T("\"\xc0\xaf\""), REASON_JSON_UTF8, 1},
        {T("\"\xc1\xbf\""), REASON_JSON_UTF8, 1},
        {T("\"\xe0\x80\xaf\""), REASON_JSON_UTF8, 1},
        {T("\"\xe0\x9f\xbf\""), REASON_JSON_UTF8, 1},
        {T("\"\xf0\x80\x80\xaf\""), REASON_JSON_UTF8, 1},
        {T("\"\xf0\x8f\xbf\xbf\""), REASON_JSON_UTF8, 1},
        {T("\"\xed\xa0\x80\""), REASON_JSON_UTF8, 1},
        {T("\"\xed\xbf\xbf\""), REASON_JSON_UTF8, 1},
        {T("\"\xf4\x90\x80\x80\""), REASON_JSON_UTF8, 1},
        {T("\"\xf5\x80\x80\x80\""), REASON_JSON_UTF8, 1},
        {T("\"\xf8\x88\x80\x80\x80\""), REASON_JSON_UTF8, 1},
        {T("\"\xc3\xa9\xa9\""), REASON_JSON_UTF8, 3},
        {T("{\"\xff\":1}"), REASON_JSON_UTF8, 2},
        {T("\"\xc3"), REASON_JSON_UTF8, 1},
        {T("[\xff]"), REASON_JSON_UTF8, 1},
        {T("[\xc3\xa9]"), REASON_JSON_SYNTAX, 1},
        {T("\xc2\xa0{}"), REASON_JSON_SYNTAX, 0},
        {T("[\xe2\x80\xa8]"), REASON_JSON_SYNTAX, 1},
        {T("[\xe2\x81\xa0]"), REASON_JSON_SYNTAX, 1},
        /* byte order marks and other encodings */
        {T("\xef\xbb\xbf"), REASON_JSON_BOM, 0},
        {T("\xef\xbb\xbf{}"), REASON_JSON_BOM, 0},
        {T("\xef\xbb\xbf\xef\xbb\xbf{}"), REASON_JSON_BOM, 0},
        {T("\xef\xbb{}"), REASON_JSON_UTF8, 0},
        {"\xef\xbb\xbf", 2, REASON_JSON_UTF8, 0},
        {"\xef\xbb\xbf", 1, REASON_JSON_UTF8, 0},
        {T(" \xef\xbb\xbf{}"), REASON_JSON_SYNTAX, 1},
        {T("{\xef\xbb\xbf}"), REASON_JSON_SYNTAX, 1},
        {T("{}\xef\xbb\xbf"), REASON_JSON_TRAILING, 2},
        {T("\xff\xfe[\0]\0"), REASON_JSON_UTF8, 0},
        {T("\xfe\xff\0[\0]"), REASON_JSON_UTF8, 0},
        {T("[\0]\0"), REASON_JSON_CONTROL, 1},
        {T("\0[\0]"), REASON_JSON_CONTROL, 0},
        /* duplicate keys: the second one's quote */
        {T("{\"a\":1,\"a\":2}"), REASON_JSON_DUPLICATE_KEY, 7},
        {T("{\"a\":1,\"a\":1}"), REASON_JSON_DUPLICATE_KEY, 7},
        {T("{\"\":1,\"\":2}"), REASON_JSON_DUPLICATE_KEY, 6},
        {T("{\"a\":1,\"\\u0061\":2}"), REASON_JSON_DUPLICATE_KEY, 7},
        {T("{\"image\":1,\"im\\u0061ge\":2}"), REASON_JSON_DUPLICATE_KEY, 11},
        {T("{\"\\/\":1,\"/\":2}"), REASON_JSON_DUPLICATE_KEY, 8},
        {T("{\"\\n\":1,\"\\u000A\":2}"), REASON_JSON_DUPLICATE_KEY, 8},
        {T("{\"\xc3\xa9\":1,\"\\u00E9\":2}"), REASON_JSON_DUPLICATE_KEY, 8},
        {T("{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\uDE00\":2}"), REASON_JSON_DUPLICATE_KEY, 10},
        {T("{\"\\u0000\":1,\"\\u0000\":2}"), REASON_JSON_DUPLICATE_KEY, 12},
        {T("{\"a\":1,\"b\":2,\"b\":3,\"a\":4}"), REASON_JSON_DUPLICATE_KEY, 13},
        {T("{\"a\":1,\"b\":2,\"a\":3,\"b\":4}"), REASON_JSON_DUPLICATE_KEY, 13},
        {T("{\"a\":1,\"a\":2,\"a\":3}"), REASON_JSON_DUPLICATE_KEY, 7},
        {T("[[{\"x\":{\"a\":1,\"a\":2}}]]"), REASON_JSON_DUPLICATE_KEY, 14},
        {T("{\"a\":{\"b\":1,\"b\":2},\"a\":3}"), REASON_JSON_DUPLICATE_KEY, 12},
        {T("{\"a\":{\"b\":1},\"a\":{\"b\":1,\"b\":2}}"), REASON_JSON_DUPLICATE_KEY, 13},
        {T("{\"a\":{},\"a\":[]}"), REASON_JSON_DUPLICATE_KEY, 8},
        /* an error of the text comes before a duplicate key */
        {T("{\"a\":1,\"a\":2,}"), REASON_JSON_SYNTAX, 13},
        /* the earliest error is the one that is named */
        {T("[1 \"\xff\"]"), REASON_JSON_SYNTAX, 3},
        {T("[\"\\q\", \x01]"), REASON_JSON_ESCAPE, 3},
        {T("[\x01, \"\\q\"]"), REASON_JSON_CONTROL, 1},
};

static void test_valid(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(valid_texts); i++) {
		expect(valid_texts[i].text, valid_texts[i].len, &strict, REASON_NONE, 0);
		expect(valid_texts[i].text, valid_texts[i].len, &lone, REASON_NONE, 0);
	}
	print_message("%zu valid texts\n", COUNT(valid_texts));
}

static void test_invalid(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(invalid_texts); i++) {
		const struct invalid *row = &invalid_texts[i];

		expect(row->text, row->len, &strict, row->reason, row->offset);
		if (row->reason != REASON_JSON_SURROGATE)
			continue;
		/* The other kind of caller takes them, unless something else is wrong. */
		if (strstr(row->text, "\\x") == NULL && row->text[row->len - 1] != 'x')
			expect(row->text, row->len, &lone, REASON_NONE, 0);
	}
	print_message("%zu invalid texts\n", COUNT(invalid_texts));
}

/* No read beyond the length. */
static void test_exact_blocks(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(invalid_texts); i++) {
		const struct invalid *row = &invalid_texts[i];

		expect(fenced(row->text, row->len), row->len, &strict, row->reason, row->offset);
	}
	for (size_t i = 0; i < COUNT(valid_texts); i++) {
		const struct valid *row = &valid_texts[i];

		expect(fenced(row->text, row->len), row->len, &lone, REASON_NONE, 0);
	}
}

/* Every proper prefix of a document is a document, or ends too early exactly at
 * its end. */
static void test_prefixes(void **state)
{
	size_t cases = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(valid_texts); i++) {
		for (size_t len = 0; len < valid_texts[i].len; len++) {
			struct verdict verdict = judge(valid_texts[i].text, len, &lone);

			cases++;
			if (verdict.reason == REASON_NONE || verdict.reason == REASON_JSON_UTF8)
				continue;
			if ((verdict.reason != REASON_JSON_TRUNCATED &&
			     verdict.reason != REASON_JSON_EMPTY) ||
			    verdict.error.offset != len)
				fail_text("prefix", valid_texts[i].text, len);
		}
	}
	print_message("%zu prefixes\n", cases);
}

static void test_line_and_column(void **state)
{
	static const struct {
		const char *text;
		size_t offset;
		uint32_t line, column;
	} rows[] = {
	        {"x", 0, 1, 1},
	        {" x", 1, 1, 2},
	        {"\nx", 1, 2, 1},
	        {"\r\n\r\n x", 5, 3, 2},
	        {"\r\rx", 2, 1, 3},
	        {"{\n  \"a\": 1,\n  \"a\": 2\n}", 14, 3, 3},
	        {"[\"\xc3\xa9\" x", 6, 1, 7},
	        {"[1,\n", 4, 2, 1},
	        {"", 0, 1, 1},
	        {"\n", 1, 2, 1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct verdict verdict = judge(rows[i].text, strlen(rows[i].text), &strict);

		assert_int_not_equal(verdict.reason, REASON_NONE);
		assert_int_equal(verdict.error.offset, rows[i].offset);
		assert_int_equal(verdict.error.line, rows[i].line);
		assert_int_equal(verdict.error.column, rows[i].column);
	}
}

static void test_outputs_untouched(void **state)
{
	struct json doc;
	struct json kept;
	struct json_error error;
	struct json_error kept_error;

	(void)state;
	memset(&doc, 0xa5, sizeof(doc));
	memset(&error, 0x5a, sizeof(error));
	kept = doc;
	kept_error = error;
	assert_false(json_parse(&doc, T("{\"a\":1,\"a\":2}"), &strict, &error));
	assert_memory_equal(&doc, &kept, sizeof(doc));
	assert_int_equal(error.reason, REASON_JSON_DUPLICATE_KEY);

	memset(&error, 0x5a, sizeof(error));
	assert_true(json_parse(&doc, T("{\"a\":1}"), &strict, &error));
	assert_memory_equal(&error, &kept_error, sizeof(error));
	json_drop(&doc);
	assert_int_equal(doc.count, 0);
}

/* ---- limits ---- */

static char big[4 << 20];

static size_t nested(uint32_t depth, bool objects)
{
	const char *open = objects ? "{\"a\":" : "[";
	size_t len = 0;

	for (uint32_t i = 0; i < depth; i++) {
		memcpy(big + len, open, strlen(open));
		len += strlen(open);
	}
	big[len++] = '1';
	memset(big + len, objects ? '}' : ']', depth);
	return len + depth;
}

static void test_depth(void **state)
{
	(void)state;
	assert_int_equal(JSON_DEPTH_MAX, 256);
	expect(big, nested(255, false), &strict, REASON_NONE, 0);
	expect(big, nested(256, false), &strict, REASON_NONE, 0);
	expect(big, nested(257, false), &strict, REASON_JSON_TOO_DEEP, 256);
	expect(big, nested(256, true), &strict, REASON_NONE, 0);
	expect(big, nested(257, true), &strict, REASON_JSON_TOO_DEEP, 256 * 5);
	memset(big, '[', 100000);
	expect(big, 100000, &strict, REASON_JSON_TOO_DEEP, 256);
	/* Depth is what is open, not what was. */
	big[0] = '[';
	for (size_t i = 0; i < 1000; i++)
		memcpy(big + 1 + 3 * i, "[],", 3);
	big[3000] = ']';
	expect(big, 3001, &strict, REASON_NONE, 0);
}

static void test_bytes_limit(void **state)
{
	struct json_limits limits = {8, 100, false};

	(void)state;
	expect(T("[123456]"), &limits, REASON_NONE, 0);
	expect(T("[1234567]"), &limits, REASON_JSON_TOO_LARGE, 8);
	expect(T("[]       "), &limits, REASON_JSON_TOO_LARGE, 8);
	limits.bytes = 0;
	expect(T(""), &limits, REASON_JSON_EMPTY, 0);
	expect(T("1"), &limits, REASON_JSON_TOO_LARGE, 0);
	limits.bytes = SIZE_MAX;
	expect(T("1"), &limits, REASON_NONE, 0);
}

/* No caller may allow more than JSON_BYTES. */
static void test_bytes_bound(void **state)
{
	static const struct {
		size_t limit, len;
		enum reason reason;
		size_t offset;
	} rows[] = {
	        {JSON_BYTES - 1, JSON_BYTES - 1, REASON_JSON_EMPTY, JSON_BYTES - 1},
	        {JSON_BYTES - 1, JSON_BYTES, REASON_JSON_TOO_LARGE, JSON_BYTES - 1},
	        {JSON_BYTES, JSON_BYTES, REASON_JSON_EMPTY, JSON_BYTES},
	        {JSON_BYTES, JSON_BYTES + 1, REASON_JSON_TOO_LARGE, JSON_BYTES},
	        {JSON_BYTES + 1, JSON_BYTES + 1, REASON_JSON_TOO_LARGE, JSON_BYTES},
	        {SIZE_MAX, JSON_BYTES, REASON_JSON_EMPTY, JSON_BYTES},
	        {SIZE_MAX, JSON_BYTES + 1, REASON_JSON_TOO_LARGE, JSON_BYTES},
	};
	char *blanks = malloc(JSON_BYTES + 1);

	(void)state;
	assert_non_null(blanks);
	memset(blanks, ' ', JSON_BYTES + 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct json_limits limits = {rows[i].limit, 1, false};

		expect(blanks, rows[i].len, &limits, rows[i].reason, rows[i].offset);
	}
	free(blanks);
}

static void test_values_limit(void **state)
{
	struct json_limits limits = {1000, 5, false};

	(void)state;
	expect(T("[1,2,3,4]"), &limits, REASON_NONE, 0);
	expect(T("[1,2,3,4,5]"), &limits, REASON_JSON_TOO_MANY, 9);
	expect(T("{\"a\":1,\"b\":2}"), &limits, REASON_NONE, 0);
	expect(T("{\"a\":1,\"b\":[2]}"), &limits, REASON_JSON_TOO_MANY, 12);
	expect(T("{\"a\":1,\"b\":2,\"c\":3}"), &limits, REASON_JSON_TOO_MANY, 13);
	expect(T("[[[[[]]]]]"), &limits, REASON_NONE, 0);
	expect(T("[[[[[{}]]]]]"), &limits, REASON_JSON_TOO_MANY, 5);
	limits.values = 1;
	expect(T("1"), &limits, REASON_NONE, 0);
	limits.values = 0;
	expect(T(" 1"), &limits, REASON_JSON_TOO_MANY, 1);
}

/* An array of zeros with `values` values, its own among them. */
static size_t zeros(uint32_t values)
{
	size_t len = 0;

	big[len++] = '[';
	for (uint32_t i = 1; i < values; i++) {
		big[len++] = '0';
		big[len++] = ',';
	}
	big[len - 1] = ']';
	return len;
}

static void test_pool(void **state)
{
	struct json first;
	struct json second;
	struct json_error error;
	size_t len = zeros(JSON_POOL);

	(void)state;
	expect(big, len, &strict, REASON_NONE, 0);
	expect(big, zeros(JSON_POOL + 1), &strict, REASON_JSON_TOO_MANY, len);

	/* One document leaves the rest of the pool to the next. */
	assert_true(json_parse(&first, T("[\"first\",{\"k\":1}]"), &strict, &error));
	expect(big, zeros(JSON_POOL), &strict, REASON_JSON_TOO_MANY, len - 10);
	len = zeros(JSON_POOL - 5);
	assert_true(json_parse(&second, big, len, &strict, &error));
	expect(T("1"), &strict, REASON_JSON_TOO_MANY, 0);
	assert_int_equal(json_count(&second, 0), JSON_POOL - 6);
	assert_true(json_equals(&first, 1, "first"));
	assert_int_equal(json_get(&first, 2, "k"), 4);
	json_drop(&second);
	expect(T("1"), &strict, REASON_NONE, 0);
	json_drop(&second); /* empty already: nothing */
	assert_true(json_equals(&first, 1, "first"));
	expect(big, zeros(JSON_POOL), &strict, REASON_JSON_TOO_MANY, len);
	json_drop(&first);
	expect(big, zeros(JSON_POOL), &strict, REASON_NONE, 0);
}

/* ---- duplicate keys ---- */

/* An object of `count` members in a scattered order, member `second` with the
 * key of member `first`; *offset is where it stands. */
static size_t members(unsigned count, unsigned first, unsigned second, size_t *offset)
{
	size_t len = 0;

	big[len++] = '{';
	for (unsigned i = 0; i < count; i++) {
		unsigned key = (i == second ? first : i) * 7919 % 10007;

		if (i == second)
			*offset = len;
		len += (size_t)sprintf(big + len, i % 2 ? "\"k%u\":[%u]," : "\"\\u006b%u\":%u,",
		                       key, i);
	}
	big[len - 1] = '}';
	return len;
}

static void test_duplicates(void **state)
{
	size_t cases = 0;
	size_t offset = 0;
	size_t len;

	(void)state;
	for (unsigned count = 2; count <= 34; count++) {
		expect(big, members(count, 0, count, &offset), &strict, REASON_NONE, 0);
		for (unsigned second = 1; second < count; second++) {
			for (unsigned first = 0; first < second; first++, cases++) {
				len = members(count, first, second, &offset);
				expect(big, len, &strict, REASON_JSON_DUPLICATE_KEY, offset);
			}
		}
	}
	len = members(5000, 17, 4999, &offset);
	expect(big, len, &strict, REASON_JSON_DUPLICATE_KEY, offset);
	len = members(5000, 0, 1, &offset);
	expect(big, len, &strict, REASON_JSON_DUPLICATE_KEY, offset);
	len = members(5000, 0, 5000, &offset);
	expect(big, len, &strict, REASON_NONE, 0);
	print_message("%zu objects with one repeated key\n", cases);
	/* Two halves of a lone pair are keys of their own. */
	expect(T("{\"\\ud800\":1,\"\\udc00\":2}"), &lone, REASON_NONE, 0);
	expect(T("{\"\\ud800\":1,\"\\uD800\":2}"), &lone, REASON_JSON_DUPLICATE_KEY, 12);
	expect(T("{\"\\ud800\":1,\"\\ud800\\u0041\":2}"), &lone, REASON_NONE, 0);
}

/* Four keys, each written in any of these ways: the place of the first that was
 * there before. */
static void test_four_keys(void **state)
{
	/* Where one key ends, others go on with what is less, or as much, as a quote. */
	static const struct {
		const char *written, *meant;
	} keys[] = {
	        {"", ""},           {" ", " "},          {"!", "!"},
	        {"\\u0021", "!"},   {"\\\"", "\""},      {"\\u0022", "\""},
	        {"!\\\"", "!\""},   {"!\\u0022", "!\""}, {"a", "a"},
	        {"\\u0061", "a"},   {"!a", "!a"},        {"\\u0021a", "!a"},
	        {"\xc3\xa9", "\xe9"}, {"\\u00e9", "\xe9"},
	};
	const unsigned kinds = COUNT(keys);
	size_t repeated = 0;

	(void)state;
	for (unsigned n = 0; n < kinds * kinds * kinds * kinds; n++) {
		const unsigned kind[] = {n % kinds, n / kinds % kinds,
		                         n / kinds / kinds % kinds, n / kinds / kinds / kinds};
		enum reason reason = REASON_NONE;
		size_t offset = 0;
		char text[64];
		size_t len = 0;

		for (unsigned i = 0; i < 4; i++) {
			const char *written = keys[kind[i]].written;

			text[len++] = i == 0 ? '{' : ',';
			for (unsigned k = 0; k < i && reason == REASON_NONE; k++) {
				if (strcmp(keys[kind[k]].meant, keys[kind[i]].meant) != 0)
					continue;
				reason = REASON_JSON_DUPLICATE_KEY;
				offset = len;
				repeated++;
			}
			text[len++] = '"';
			memcpy(text + len, written, strlen(written));
			len += strlen(written);
			memcpy(text + len, "\":0", 3);
			len += 3;
		}
		text[len++] = '}';
		expect(text, len, &strict, reason, offset);
	}
	print_message("%u objects of four keys, %zu with a repeated one\n",
	              kinds * kinds * kinds * kinds, repeated);
}

/* ---- an independent recogniser ---- */

/*
 * It works the other way round from the code under test: the text is cut into
 * one letter a lexeme (s string, v other value, and the six signs), and then
 * the first closing bracket and its contents are replaced by a v until none is
 * left.  ASCII only.
 */

static size_t cut_string(const char *text, size_t len, size_t at)
{
	for (size_t i = at + 1; i < len; i++) {
		if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x80)
			return 0;
		if (text[i] == '"')
			return i + 1 - at;
		if (text[i] != '\\')
			continue;
		i++;
		if (i < len && text[i] == 'u') {
			if (i + 4 >= len || strspn(text + i + 1, "0123456789abcdefABCDEF") < 4)
				return 0;
			i += 4;
		} else if (i >= len || text[i] == '\0' || strchr("\"\\/bfnrt", text[i]) == NULL) {
			return 0;
		}
	}
	return 0;
}

static bool word_is_number(const char *word)
{
	word += *word == '-';
	if (*word == '0')
		word++;
	else if (strspn(word, "0123456789") > 0)
		word += strspn(word, "0123456789");
	else
		return false;
	if (*word == '.') {
		if (strspn(word + 1, "0123456789") == 0)
			return false;
		word += 1 + strspn(word + 1, "0123456789");
	}
	if (*word == 'e' || *word == 'E') {
		word++;
		word += *word == '+' || *word == '-';
		if (strspn(word, "0123456789") == 0)
			return false;
		word += strspn(word, "0123456789");
	}
	return *word == '\0';
}

static size_t cut_word(const char *text, size_t at)
{
	size_t len = strspn(text + at, "0123456789+-.abcdefghijklmnopqrstuvwxyz"
	                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	char word[256];

	if (len == 0 || len >= sizeof(word))
		return 0;
	memcpy(word, text + at, len);
	word[len] = '\0';
	if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0 || strcmp(word, "null") == 0)
		return len;
	return word_is_number(word) ? len : 0;
}

/* One letter a lexeme; false when there is something that is none. */
static bool letters(const char *text, size_t len, char *out)
{
	for (size_t at = 0; at < len;) {
		size_t width = 1;

		if (text[at] == '\0')
			return false;
		if (strchr(" \t\r\n", text[at]) != NULL) {
			at++;
			continue;
		}
		if (strchr("{}[]:,", text[at]) != NULL) {
			*out++ = text[at];
		} else if (text[at] == '"') {
			width = cut_string(text, len, at);
			*out++ = 's';
		} else {
			width = cut_word(text, at);
			*out++ = 'v';
		}
		if (width == 0)
			return false;
		at += width;
	}
	*out = '\0';
	return true;
}

/* The inside of a container: nothing, or members with a comma between. */
static bool inside(const char *at, const char *end, bool object)
{
	if (at == end)
		return true;
	for (;; at++) {
		if (object) {
			if (end - at < 3 || at[0] != 's' || at[1] != ':')
				return false;
			at += 2;
		}
		if (at == end || (*at != 's' && *at != 'v'))
			return false;
		at++;
		if (at == end)
			return true;
		if (*at != ',')
			return false;
	}
}

/* text must be NUL-terminated behind len. */
static bool oracle(const char *text, size_t len)
{
	char word[1024];
	char *close;

	assert_true(len < sizeof(word) && text[len] == '\0');
	if (!letters(text, len, word))
		return false;
	while ((close = strpbrk(word, "]}")) != NULL) {
		char *open = close;
		char mine = *close == '}' ? '{' : '[';

		while (open > word && *open != '[' && *open != '{')
			open--;
		if (*open != mine || !inside(open + 1, close, mine == '{'))
			return false;
		*open = 'v';
		memmove(open + 1, close + 1, strlen(close + 1) + 1);
	}
	return strcmp(word, "s") == 0 || strcmp(word, "v") == 0;
}

/* The canonical text of an accepted text is stable. */
static void check_canonical(const struct json *doc)
{
	char once[1024], twice[1024];
	struct text a, b;
	struct json again;
	struct json_error error;

	text_init(&a, once, sizeof(once));
	json_write(doc, 0, &a);
	assert_false(a.full);
	if (!json_parse(&again, once, a.len, &lone, &error))
		fail_text("canonical text refused", once, a.len);
	assert_int_equal(again.count, doc->count);
	text_init(&b, twice, sizeof(twice));
	json_write(&again, 0, &b);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(once, twice, a.len);
	json_drop(&again);
}

/* The text before a blamed byte can still become a document; with the byte it
 * is refused for the same reason at the same place. */
static void check_earliest(const char *text, const struct json_error *error)
{
	struct verdict before = judge(text, error->offset, &lone);
	struct verdict with;

	if (before.reason != REASON_NONE && before.reason != REASON_JSON_TRUNCATED &&
	    before.reason != REASON_JSON_EMPTY)
		fail_text("not the earliest error", text, error->offset);
	if (error->reason == REASON_JSON_TRUNCATED || error->reason == REASON_JSON_EMPTY)
		return;
	with = judge(text, error->offset + 1, &lone);
	if (with.reason != error->reason || with.error.offset != error->offset)
		fail_text("error depends on what follows", text, error->offset + 1);
}

/* Compares one NUL-terminated text; true iff it was accepted. */
static bool compare(const char *text, size_t len)
{
	struct json doc;
	struct json_error error;
	bool expected = oracle(text, len);
	bool accepted = json_parse(&doc, text, len, &lone, &error);

	if (accepted) {
		check_canonical(&doc);
		json_drop(&doc);
	} else if (error.reason == REASON_JSON_DUPLICATE_KEY) {
		accepted = true; /* the oracle does not look at keys */
	} else {
		check_earliest(text, &error);
	}
	if (accepted != expected)
		fail_text(expected ? "refused" : "accepted", text, len);
	return accepted;
}

/* All texts of `width` characters of an alphabet of 16, between two others. */
static void all_texts(const char *head, const char *alphabet, unsigned width, const char *tail,
                      size_t *cases, size_t *accepted)
{
	char text[64];
	size_t at = strlen(head);
	size_t len = at + width + strlen(tail);

	assert_true(len < sizeof(text));
	memcpy(text, head, at);
	memcpy(text + at + width, tail, strlen(tail) + 1);
	for (uint32_t n = 0; n < (uint32_t)1 << (4 * width); n++) {
		for (unsigned i = 0; i < width; i++)
			text[at + i] = alphabet[n >> (4 * i) & 15];
		*accepted += compare(text, len);
		++*cases;
	}
}

#define WIDTH 5

static void test_exhaustive(void **state)
{
	static const char *const alphabets[] = {"{}[]:,\"\\01-.e+ \x01", "truefalsn[],\"1 \x80"};
	static const char *const frames[][2] = {
	        {"[", "]"},     {"{\"a\":", "}"},  {"{\"a\"", "}"},
	        {"\"", "\""}, {"\"\\u00", "\""}, {"[1", "]"},
	};
	size_t cases = 0;
	size_t accepted = 0;

	(void)state;
	for (size_t a = 0; a < COUNT(alphabets); a++) {
		assert_int_equal(strlen(alphabets[a]), 16);
		for (unsigned width = 0; width <= WIDTH; width++)
			all_texts("", alphabets[a], width, "", &cases, &accepted);
		for (size_t f = 0; f < COUNT(frames); f++)
			all_texts(frames[f][0], alphabets[a], 4, frames[f][1], &cases, &accepted);
	}
	print_message("%zu texts compared, %zu of them documents\n", cases, accepted);
	assert_true(accepted > 1000);
}

/* Every byte value in place of, and before, every byte of a document. */
static void test_every_byte(void **state)
{
	static const char base[] = "{\"a\":[1,-0.5e+1,\"\\u0041\\n\",true,false,null,{}],"
	                           "\"b\":\"\"} ";
	size_t len = sizeof(base) - 1;
	size_t cases = 0;
	size_t accepted = 0;
	char text[sizeof(base) + 1];

	(void)state;
	for (size_t at = 0; at < len; at++) {
		for (unsigned byte = 0; byte < 256; byte++, cases += 2) {
			memcpy(text, base, sizeof(base));
			text[at] = (char)byte;
			accepted += compare(text, len);
			memcpy(text + at + 1, base + at, sizeof(base) - at);
			accepted += compare(text, len + 1);
		}
		memcpy(text, base, at);
		memcpy(text + at, base + at + 1, sizeof(base) - at - 1);
		accepted += compare(text, len - 1);
		cases++;
	}
	print_message("%zu mutated texts, %zu of them documents\n", cases, accepted);
}

/* All sequences of three escapes or bytes out of those around the surrogates:
 * accepted iff every surrogate has its other half. */
static void test_surrogates(void **state)
{
	static const char *const parts[] = {"\\ud7ff", "\\ud800", "\\uDBFF", "\\udc00",
	                                    "\\uDFFF", "\\ue000", "x",       "\\n"};
	static const char kinds[] = ".hhll..."; /* high, low, neither */
	char text[32];

	(void)state;
	for (unsigned n = 0; n < 512; n++) {
		unsigned part[3] = {n & 7, n >> 3 & 7, n >> 6 & 7};
		size_t wrong = SIZE_MAX; /* which part stands alone first */
		size_t offset = 1;
		int len = sprintf(text, "\"%s%s%s\"", parts[part[0]], parts[part[1]],
		                  parts[part[2]]);

		for (size_t i = 0; i < 3 && wrong == SIZE_MAX; i++) {
			if (kinds[part[i]] == 'h' && i < 2 && kinds[part[i + 1]] == 'l')
				i++;
			else if (kinds[part[i]] != '.')
				wrong = i;
		}
		for (size_t i = 0; i < 3 && i < wrong; i++)
			offset += strlen(parts[part[i]]);
		expect(text, (size_t)len, &strict,
		       wrong == SIZE_MAX ? REASON_NONE : REASON_JSON_SURROGATE, offset);
		expect(text, (size_t)len, &lone, REASON_NONE, 0);
	}
	print_message("512 sequences of surrogates\n");
}

/* ---- reading a document ---- */

static struct json open_doc(const char *text, size_t len)
{
	struct json doc;
	struct json_error error;

	if (!json_parse(&doc, text, len, &lone, &error))
		fail_text("refused", text, len);
	return doc;
}

static void test_types_and_spans(void **state)
{
	static const char text[] = " { \"a\" : [ 1 , -2.5e3, true,false , null ,\"s\" ] , "
	                           "\"b\":{ } }";
	static const struct {
		enum json_type type;
		const char *span;
		uint32_t count;
	} rows[] = {
	        {JSON_OBJECT, text + 1, 2},
	        {JSON_STRING, "\"a\"", 0},
	        {JSON_ARRAY, "[ 1 , -2.5e3, true,false , null ,\"s\" ]", 6},
	        {JSON_NUMBER, "1", 0},
	        {JSON_NUMBER, "-2.5e3", 0},
	        {JSON_TRUE, "true", 0},
	        {JSON_FALSE, "false", 0},
	        {JSON_NULL, "null", 0},
	        {JSON_STRING, "\"s\"", 0},
	        {JSON_STRING, "\"b\"", 0},
	        {JSON_OBJECT, "{ }", 0},
	};
	struct json doc = open_doc(T(text));

	(void)state;
	assert_int_equal(doc.count, COUNT(rows));
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		size_t len;
		const char *span = json_span(&doc, i, &len);

		assert_int_equal(json_type(&doc, i), rows[i].type);
		assert_int_equal(json_count(&doc, i), rows[i].count);
		assert_int_equal(len, strlen(rows[i].span));
		assert_memory_equal(span, rows[i].span, len);
	}
	json_drop(&doc);
}

static void test_bare_values(void **state)
{
	static const struct {
		const char *text;
		enum json_type type;
		const char *written;
	} rows[] = {
	        {"1", JSON_NUMBER, "1"},         {" -0.0 ", JSON_NUMBER, "-0.0"},
	        {"null", JSON_NULL, "null"},     {"\ttrue", JSON_TRUE, "true"},
	        {"false\n", JSON_FALSE, "false"}, {"\"x\"", JSON_STRING, "\"x\""},
	        {" \"\" ", JSON_STRING, "\"\""},
	};
	char buffer[16];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct json doc = open_doc(rows[i].text, strlen(rows[i].text));
		struct text out;

		text_init(&out, buffer, sizeof(buffer));
		assert_int_equal(doc.count, 1);
		assert_int_equal(json_type(&doc, 0), rows[i].type);
		assert_int_equal(json_next(&doc, 0), JSON_NONE);
		json_write(&doc, 0, &out);
		json_pointer(&doc, 0, &out);
		assert_int_equal(out.len, strlen(rows[i].written));
		assert_memory_equal(buffer, rows[i].written, out.len);
		json_drop(&doc);
	}
}

static void test_walk(void **state)
{
	/*                        0 1    2 3    4  5 6    7 8    9    10  11 */
	struct json doc = open_doc(T("{\"a\":[1,[\"\"],{\"x\":{}}],\"b\":null,\"c\":0}"));
	uint32_t array = json_get(&doc, 0, "a");
	uint32_t item = json_first(&doc, array);

	(void)state;
	assert_int_equal(array, 2);
	assert_int_equal(item, 3);
	item = json_next(&doc, item);
	assert_int_equal(json_type(&doc, item), JSON_ARRAY);
	assert_int_equal(json_next(&doc, json_first(&doc, item)), JSON_NONE);
	item = json_next(&doc, item);
	assert_int_equal(json_type(&doc, item), JSON_OBJECT);
	assert_int_equal(json_type(&doc, json_get(&doc, item, "x")), JSON_OBJECT);
	assert_int_equal(json_first(&doc, json_get(&doc, item, "x")), JSON_NONE);
	assert_int_equal(json_next(&doc, item), JSON_NONE);

	item = json_first(&doc, 0);
	assert_true(json_equals(&doc, item, "a"));
	assert_int_equal(json_value(&doc, item), array);
	assert_int_equal(json_next(&doc, array), JSON_NONE); /* a value is no key */
	assert_int_equal(json_value(&doc, array), JSON_NONE);
	item = json_next(&doc, item);
	assert_true(json_equals(&doc, item, "b"));
	item = json_next(&doc, item);
	assert_true(json_equals(&doc, item, "c"));
	assert_int_equal(json_type(&doc, json_value(&doc, item)), JSON_NUMBER);
	assert_int_equal(json_next(&doc, item), JSON_NONE);
	assert_int_equal(json_next(&doc, 0), JSON_NONE);
	assert_int_equal(json_get(&doc, 0, "d"), JSON_NONE);
	assert_int_equal(json_get(&doc, 0, "x"), JSON_NONE); /* deeper */
	assert_int_equal(json_get(&doc, array, "x"), JSON_NONE);
	json_drop(&doc);
}

/* JSON_NONE and anything else out of range is a null of nothing. */
static void check_nothing(const struct json *doc, uint32_t node)
{
	char buffer[8];
	struct text out;
	struct json_error place;
	size_t len = 1;

	text_init(&out, buffer, sizeof(buffer));
	assert_int_equal(json_type(doc, node), JSON_NULL);
	assert_string_equal(json_span(doc, node, &len), "");
	assert_int_equal(len, 0);
	assert_int_equal(json_count(doc, node), 0);
	assert_int_equal(json_first(doc, node), JSON_NONE);
	assert_int_equal(json_next(doc, node), JSON_NONE);
	assert_int_equal(json_value(doc, node), JSON_NONE);
	assert_int_equal(json_get(doc, node, ""), JSON_NONE);
	assert_false(json_equals(doc, node, ""));
	assert_int_equal(json_units(doc, node), 0);
	assert_null(json_keep(doc, node, &out));
	json_decode(doc, node, &out);
	json_write(doc, node, &out);
	json_pointer(doc, node, &out);
	json_place(doc, node, &place);
	assert_int_equal(out.len, 0);
	assert_false(out.full);
	assert_int_equal(place.offset, 0);
	assert_int_equal(place.reason, REASON_NONE);
}

static void test_nothing(void **state)
{
	struct json doc = open_doc(T("[1,\"a\"]"));

	(void)state;
	check_nothing(&doc, JSON_NONE);
	check_nothing(&doc, 3);
	assert_false(json_equals(&doc, 0, ""));
	assert_false(json_equals(&doc, 1, "1"));
	assert_int_equal(json_units(&doc, 1), 0);
	json_drop(&doc);
	check_nothing(&doc, 0);
}

static void test_strings(void **state)
{
	static const struct {
		const char *text; /* a string document */
		const char *decoded;
		size_t len;
		size_t units;
		const char *written;
	} rows[] = {
	        {"\"\"", T(""), 0, "\"\""},
	        {"\"abc\"", T("abc"), 3, "\"abc\""},
	        {"\"\\u0061\\u0062\"", T("ab"), 2, "\"ab\""},
	        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", T("\"\\/\b\f\n\r\t"), 8,
	         "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
	        {"\"\\u0000\\u0001\\u001F\\u000b\"", T("\0\x01\x1f\x0b"), 4,
	         "\"\\u0000\\u0001\\u001f\\u000b\""},
	        {"\"\\u0008\\u0009\\u000A\\u000C\\u000D\"", T("\b\t\n\f\r"), 5,
	         "\"\\b\\t\\n\\f\\r\""},
	        {"\"\\u0022\\u005C\\u002f\"", T("\"\\/"), 3, "\"\\\"\\\\/\""},
	        {"\"\\u0020\\u0021\"", T(" !"), 2, "\" !\""},
	        {"\"\\u007F\\u0080\"", T("\x7f\xc2\x80"), 2, "\"\x7f\xc2\x80\""},
	        {"\"\xc3\xa9\\u00E9\"", T("\xc3\xa9\xc3\xa9"), 2, "\"\xc3\xa9\xc3\xa9\""},
	        {"\"\\u2028\\u2029\"", T("\xe2\x80\xa8\xe2\x80\xa9"), 2,
	         "\"\xe2\x80\xa8\xe2\x80\xa9\""},
	        {"\"\\uFFFE\\uFFFF\"", T("\xef\xbf\xbe\xef\xbf\xbf"), 2,
	         "\"\xef\xbf\xbe\xef\xbf\xbf\""},
	        {"\"\xf0\x9f\x98\x80\"", T("\xf0\x9f\x98\x80"), 2, "\"\xf0\x9f\x98\x80\""},
	        {"\"\\uD83D\\uDE00\"", T("\xf0\x9f\x98\x80"), 2, "\"\xf0\x9f\x98\x80\""},
	        {"\"\\ud800\\udc00\\udbff\\udfff\"", T("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"), 4,
	         "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""},
	        {"\"\\uD800\"", T("\xed\xa0\x80"), 1, "\"\\ud800\""},
	        {"\"\\uDFFFx\"", T("\xed\xbf\xbfx"), 2, "\"\\udfffx\""},
	        {"\"\\uDE00\\uD83D\"", T("\xed\xb8\x80\xed\xa0\xbd"), 2, "\"\\ude00\\ud83d\""},
	        {"\"\\ud83d\\ud83d\\ude00\"", T("\xed\xa0\xbd\xf0\x9f\x98\x80"), 3,
	         "\"\\ud83d\xf0\x9f\x98\x80\""},
	        {"\"\\ud83d\\n\\ude00\"", T("\xed\xa0\xbd\n\xed\xb8\x80"), 3,
	         "\"\\ud83d\\n\\ude00\""},
	        {"\"\\\\ud800\"", T("\\ud800"), 6, "\"\\\\ud800\""},
	};
	char buffer[64];
	struct text out;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct json doc = open_doc(rows[i].text, strlen(rows[i].text));

		assert_int_equal(json_units(&doc, 0), rows[i].units);
		text_init(&out, buffer, sizeof(buffer));
		json_decode(&doc, 0, &out);
		assert_int_equal(out.len, rows[i].len);
		assert_memory_equal(buffer, rows[i].decoded, out.len);
		text_init(&out, buffer, sizeof(buffer));
		json_write(&doc, 0, &out);
		assert_int_equal(out.len, strlen(rows[i].written));
		assert_memory_equal(buffer, rows[i].written, out.len);
		json_drop(&doc);
	}
}

/* Every code point: escaped, it decodes to its UTF-8 and is written as
 * JSON.stringify writes it. */
static void test_every_code_unit(void **state)
{
	char source[16], buffer[16];
	struct text out;

	(void)state;
	for (unsigned unit = 0; unit <= 0xffff; unit++) {
		int len = sprintf(source, unit % 2 ? "\"\\u%04x\"" : "\"\\u%04X\"", unit);
		struct json doc = open_doc(source, (size_t)len);
		size_t width = unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;

		text_init(&out, buffer, sizeof(buffer));
		json_decode(&doc, 0, &out);
		assert_int_equal(out.len, width);
		assert_int_equal(json_units(&doc, 0), 1);
		text_init(&out, buffer, sizeof(buffer));
		json_write(&doc, 0, &out);
		if (unit < 0x20 && strchr("\b\t\n\f\r", (int)unit) != NULL && unit != 0)
			width = 2;
		else if (unit < 0x20 || (unit >= 0xd800 && unit <= 0xdfff))
			width = 6;
		else if (unit == '"' || unit == '\\')
			width = 2;
		assert_int_equal(out.len, width + 2);
		json_drop(&doc);
	}
	print_message("65536 escapes\n");
}

static void test_equals(void **state)
{
	static const struct {
		const char *text;
		const char *ascii;
		bool equal;
	} rows[] = {
	        {"\"\"", "", true},          {"\"a\"", "a", true},
	        {"\"\\u0061\"", "a", true},  {"\"a\\/\"", "a/", true},
	        {"\"a\"", "", false},        {"\"\"", "a", false},
	        {"\"a\"", "b", false},       {"\"a\"", "A", false},
	        {"\"ab\"", "a", false},      {"\"a\"", "ab", false},
	        {"\"a\\u0000\"", "a", false}, {"\"\\u0000\"", "", false},
	        {"\"a\\u0000b\"", "ab", false}, {"\"\xc3\xa9\"", "e", false},
	        {"\"\\u0161\"", "a", false}, {"1", "1", false},
	        /* a name that does not stand in a string as it reads */
	        {"\"a\\\\b\"", "a\\b", true}, {"\"a\\\\b\"", "a\\", false},
	        {"\"a\\\\b\"", "a\\\\b", false}, {"\"a\\\"b\"", "a\"b", true},
	        {"\"ab\"", "a\\u0062", false},
	        /* a name that goes on with what stands behind the string, or does not end */
	        {"\"a\"", "a\"", false}, {"\"a\"", "a\"b", false},
	        {"\"\"", "\"", false},   {"\"\"", "\"b", false},
	        {"\"\\u0061\"", "a\"b", false},
	        {"\"a\\u0000\"", "a\0", false}, {"\"\\u0000\"", "\0", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t len = strlen(rows[i].text);
		struct json doc = open_doc(fenced(rows[i].text, len), len);

		assert_int_equal(json_equals(&doc, 0, rows[i].ascii), rows[i].equal);
		json_drop(&doc);
	}
}

static void test_keep(void **state)
{
	struct json doc = open_doc(T("[\"a\\u0062\",\"\",\"x\\u0000y\",\"\\u0000\",\"cde\",5]"));
	char buffer[8];
	struct text arena;
	const char *first;

	(void)state;
	text_init(&arena, buffer, sizeof(buffer));
	first = json_keep(&doc, 1, &arena);
	assert_string_equal(first, "ab");
	assert_string_equal(json_keep(&doc, 2, &arena), "");
	assert_int_equal(arena.len, 4);
	assert_null(json_keep(&doc, 3, &arena));
	assert_null(json_keep(&doc, 4, &arena));
	assert_null(json_keep(&doc, 6, &arena));
	assert_false(arena.full);
	assert_int_equal(arena.len, 4);
	assert_string_equal(json_keep(&doc, 5, &arena), "cde"); /* fits exactly */
	assert_false(arena.full);
	assert_int_equal(arena.len, 8);
	assert_null(json_keep(&doc, 2, &arena));
	assert_true(arena.full);
	assert_int_equal(arena.len, 8);
	assert_string_equal(first, "ab");

	text_init(&arena, buffer, 3);
	assert_null(json_keep(&doc, 5, &arena)); /* room for the text, not its NUL */
	assert_true(arena.full);
	assert_int_equal(arena.len, 0);
	json_drop(&doc);
}

static void test_decode_full(void **state)
{
	struct json doc = open_doc(T("\"ab\xc3\xa9\""));
	char buffer[8];
	struct text out;

	(void)state;
	text_init(&out, buffer, 4);
	json_decode(&doc, 0, &out);
	assert_int_equal(out.len, 4);
	assert_false(out.full);
	text_init(&out, buffer, 3);
	json_decode(&doc, 0, &out);
	assert_int_equal(out.len, 0);
	assert_true(out.full);
	json_drop(&doc);
}

static void test_write(void **state)
{
	static const struct {
		const char *text;
		const char *written;
	} rows[] = {
	        {" { } ", "{}"},
	        {"[ ]", "[]"},
	        {"[ 1 , [ ] , { } , [ [ 2 ] ] ]", "[1,[],{},[[2]]]"},
	        {"{ \"b\" : 1 , \"a\" : { \"c\" : [ { } , 1.50E+2 ] } , \"d\" : [ ] }",
	         "{\"b\":1,\"a\":{\"c\":[{},1.50E+2]},\"d\":[]}"},
	        {"{\"\\u0061\":\"\\/\",\"\\ud800\":null}", "{\"a\":\"/\",\"\\ud800\":null}"},
	        {"[[[]],[[],[]],[]]", "[[[]],[[],[]],[]]"},
	        {"{\"a\":{},\"b\":{\"c\":{}},\"d\":true}",
	         "{\"a\":{},\"b\":{\"c\":{}},\"d\":true}"},
	        {"[-0,0.0,1e5,100000000000000000000]", "[-0,0.0,1e5,100000000000000000000]"},
	};
	char buffer[128];
	struct text out;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct json doc = open_doc(rows[i].text, strlen(rows[i].text));

		text_init(&out, buffer, sizeof(buffer));
		json_write(&doc, 0, &out);
		assert_int_equal(out.len, strlen(rows[i].written));
		assert_memory_equal(buffer, rows[i].written, out.len);
		for (size_t cap = 0; cap < strlen(rows[i].written); cap++) {
			text_init(&out, buffer, cap);
			json_write(&doc, 0, &out);
			assert_true(out.full && out.len <= cap);
			assert_memory_equal(buffer, rows[i].written, out.len);
		}
		json_drop(&doc);
	}
}

/* A part of a document is written without what stands around it. */
static void test_write_part(void **state)
{
	struct json doc = open_doc(T("[0,{\"a\":[1,{\"b\":2}],\"c\":3},4]"));
	static const char *const parts[] = {
	        "[0,{\"a\":[1,{\"b\":2}],\"c\":3},4]",
	        "0",
	        "{\"a\":[1,{\"b\":2}],\"c\":3}",
	        "\"a\"",
	        "[1,{\"b\":2}]",
	        "1",
	        "{\"b\":2}",
	        "\"b\"",
	        "2",
	        "\"c\"",
	        "3",
	        "4",
	};
	char buffer[64];
	struct text out;

	(void)state;
	assert_int_equal(doc.count, COUNT(parts));
	for (uint32_t i = 0; i < COUNT(parts); i++) {
		text_init(&out, buffer, sizeof(buffer));
		json_write(&doc, i, &out);
		assert_int_equal(out.len, strlen(parts[i]));
		assert_memory_equal(buffer, parts[i], out.len);
	}
	json_drop(&doc);
}

static void test_write_deep(void **state)
{
	static char buffer[2048];
	size_t len = nested(256, true);
	struct json doc = open_doc(big, len);
	struct text out;

	(void)state;
	text_init(&out, buffer, sizeof(buffer));
	json_write(&doc, 0, &out);
	assert_int_equal(out.len, len);
	assert_memory_equal(buffer, big, len);
	text_init(&out, buffer, sizeof(buffer));
	json_pointer(&doc, doc.count - 1, &out);
	assert_int_equal(out.len, 512);
	assert_memory_equal(buffer, "/a/a/a/a", 8);
	json_drop(&doc);
}

static void test_pointer_and_place(void **state)
{
	static const char text[] = "{\"a\":[10,\n [20, \"x\"]],\n"
	                           "\"~/\":{\"\":null,\"\\u00e9\\ud800\":1},\"m~1n\":[]}";
	static const struct {
		const char *pointer;
		size_t offset;
		uint32_t line, column;
	} rows[] = {
	        {"", 0, 1, 1},
	        {"/a", 1, 1, 2}, /* the key */
	        {"/a", 5, 1, 6},
	        {"/a/0", 6, 1, 7},
	        {"/a/1", 11, 2, 2},
	        {"/a/1/0", 12, 2, 3},
	        {"/a/1/1", 16, 2, 7},
	        {"/~0~1", 23, 3, 1},
	        {"/~0~1", 28, 3, 6},
	        {"/~0~1/", 29, 3, 7},
	        {"/~0~1/", 32, 3, 10},
	        {"/~0~1/\xc3\xa9\xed\xa0\x80", 37, 3, 15},
	        {"/~0~1/\xc3\xa9\xed\xa0\x80", 52, 3, 30},
	        {"/m~01n", 55, 3, 33},
	        {"/m~01n", 62, 3, 40},
	};
	struct json doc = open_doc(T(text));
	char buffer[64];

	(void)state;
	assert_int_equal(doc.count, COUNT(rows));
	/* Backwards as well: the numbering of items must not depend on the order. */
	for (uint32_t n = 0; n < 2 * COUNT(rows); n++) {
		uint32_t i = n < COUNT(rows) ? n : (uint32_t)(2 * COUNT(rows)) - 1 - n;
		struct json_error place;
		struct text out;

		text_init(&out, buffer, sizeof(buffer));
		json_pointer(&doc, i, &out);
		assert_int_equal(out.len, strlen(rows[i].pointer));
		assert_memory_equal(buffer, rows[i].pointer, out.len);
		json_place(&doc, i, &place);
		assert_int_equal(place.reason, REASON_NONE);
		assert_int_equal(place.offset, rows[i].offset);
		assert_int_equal(place.line, rows[i].line);
		assert_int_equal(place.column, rows[i].column);
	}
	json_drop(&doc);
}

/* The numbering remembers the last item of an array, and must forget it with
 * the document. */
static void test_pointer_numbering(void **state)
{
	static const char *const texts[] = {"[[1,2],[3,4,5]]", "[[[1],2],[3,4]]"};
	char buffer[32];

	(void)state;
	for (size_t t = 0; t < COUNT(texts); t++) {
		struct json doc = open_doc(texts[t], strlen(texts[t]));

		for (uint32_t i = 0; i < 64; i++) {
			uint32_t outer = i * 5 % 2;
			uint32_t item = json_first(&doc, 0);
			uint32_t inner = i * 3 % 2;
			struct text out;
			char expected[32];

			item = outer > 0 ? json_next(&doc, item) : item;
			item = json_first(&doc, item);
			item = inner > 0 ? json_next(&doc, item) : item;
			text_init(&out, buffer, sizeof(buffer));
			json_pointer(&doc, item, &out);
			text_bytes(&out, "", 1);
			(void)snprintf(expected, sizeof(expected), "/%u/%u", outer, inner);
			assert_string_equal(buffer, expected);
		}
		json_drop(&doc);
	}
}

/* Whatever was numbered before, in the same document or in another. */
static void test_pointer_any_order(void **state)
{
	/* Of two documents in a row, an array lies as far from their border. */
	static const char *const texts[] = {
	        "[7,[8]]",
	        "{\"a\":[1,[2,3],4],\"b\":[[5],6]}",
	        "[[1,[2,3]],[4,{\"k\":[5,6]}],7]",
	};
	static const struct {
		unsigned doc;
		uint32_t node;
		const char *pointer;
	} rows[] = {
	        {0, 1, "/0"},        {0, 2, "/1"},      {0, 3, "/1/0"},    {1, 3, "/a/0"},
	        {1, 4, "/a/1"},      {1, 5, "/a/1/0"},  {1, 6, "/a/1/1"},  {1, 7, "/a/2"},
	        {1, 10, "/b/0"},     {1, 11, "/b/0/0"}, {1, 12, "/b/1"},   {2, 1, "/0"},
	        {2, 2, "/0/0"},      {2, 3, "/0/1"},    {2, 4, "/0/1/0"},  {2, 5, "/0/1/1"},
	        {2, 6, "/1"},        {2, 7, "/1/0"},    {2, 8, "/1/1"},    {2, 9, "/1/1/k"},
	        {2, 11, "/1/1/k/0"}, {2, 12, "/1/1/k/1"}, {2, 13, "/2"},
	};
	struct json docs[COUNT(texts)];
	char buffer[32];

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		docs[i] = open_doc(texts[i], strlen(texts[i]));
	for (size_t n = 0; n < 2 * COUNT(rows) * COUNT(rows); n++) {
		/* every row behind every row */
		size_t i = n % 2 == 0 ? n / 2 / COUNT(rows) : n / 2 % COUNT(rows);
		struct text out;

		text_init(&out, buffer, sizeof(buffer));
		json_pointer(&docs[rows[i].doc], rows[i].node, &out);
		text_bytes(&out, "", 1);
		assert_string_equal(buffer, rows[i].pointer);
	}
	for (size_t i = COUNT(texts); i > 0; i--)
		json_drop(&docs[i - 1]);
}

/* What was numbered in a document is nothing to the next, whose nodes lie where its own lay. */
static void test_pointer_next_document(void **state)
{
	static const struct {
		const char *text;
		uint32_t node;
		const char *pointer;
	} rows[] = {
	        {"{\"a\":[0,1,2]}", 5, "/a/2"},
	        {"{\"a\":[[0,0],1]}", 6, "/a/1"},
	        {"{\"a\":[0,1,2,3]}", 6, "/a/3"},
	};
	char buffer[16];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct json doc = open_doc(rows[i].text, strlen(rows[i].text));
		struct text out;

		text_init(&out, buffer, sizeof(buffer));
		json_pointer(&doc, rows[i].node, &out);
		text_bytes(&out, "", 1);
		assert_string_equal(buffer, rows[i].pointer);
		json_drop(&doc);
	}
}

static void test_pointer_cut(void **state)
{
	struct json doc = open_doc(T("{\"ab\xc3\xa9\":1}"));
	char buffer[8];
	struct text out;

	(void)state;
	text_init(&out, buffer, 4);
	json_pointer(&doc, 2, &out);
	assert_true(out.full);
	assert_int_equal(out.len, 3);
	assert_memory_equal(buffer, "/ab", 3);
	json_drop(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_valid),
	        cmocka_unit_test(test_invalid),
	        cmocka_unit_test(test_exact_blocks),
	        cmocka_unit_test(test_prefixes),
	        cmocka_unit_test(test_line_and_column),
	        cmocka_unit_test(test_outputs_untouched),
	        cmocka_unit_test(test_depth),
	        cmocka_unit_test(test_bytes_limit),
	        cmocka_unit_test(test_bytes_bound),
	        cmocka_unit_test(test_values_limit),
	        cmocka_unit_test(test_pool),
	        cmocka_unit_test(test_duplicates),
	        cmocka_unit_test(test_four_keys),
	        cmocka_unit_test(test_exhaustive),
	        cmocka_unit_test(test_every_byte),
	        cmocka_unit_test(test_surrogates),
	        cmocka_unit_test(test_types_and_spans),
	        cmocka_unit_test(test_bare_values),
	        cmocka_unit_test(test_walk),
	        cmocka_unit_test(test_nothing),
	        cmocka_unit_test(test_strings),
	        cmocka_unit_test(test_every_code_unit),
	        cmocka_unit_test(test_equals),
	        cmocka_unit_test(test_keep),
	        cmocka_unit_test(test_decode_full),
	        cmocka_unit_test(test_write),
	        cmocka_unit_test(test_write_part),
	        cmocka_unit_test(test_write_deep),
	        cmocka_unit_test(test_pointer_and_place),
	        cmocka_unit_test(test_pointer_numbering),
	        cmocka_unit_test(test_pointer_any_order),
	        cmocka_unit_test(test_pointer_next_document),
	        cmocka_unit_test(test_pointer_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
