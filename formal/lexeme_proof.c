/* SPDX-License-Identifier: ISC */
/* The module itself: its word-wise step has no name outside. */
#include "../policy/lexeme.c"

#include "../policy/text.h"
#include "../policy/utf8.h"
#include "nondet.h"
#include "spec.h"

static bool same(struct scan scan, struct spec_scan expected)
{
	return scan.at == expected.at && (int)scan.reason == expected.why;
}

static bool spec_plain(int byte)
{
	return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* Every word of eight bytes. */
PROOF(lexeme_word_exact)
{
	char bytes[WORD_BYTES];
	unsigned count = 0;

	for (unsigned i = 0; i < WORD_BYTES; i++)
		bytes[i] = any_byte();
	for (unsigned i = 0; i < WORD_BYTES; i++)
		count += count == i && spec_plain((unsigned char)bytes[i]) ? 1U : 0U;
	PROVE(plain_bytes(word_at(bytes)) == count, "the plain bytes in front");
}

PROOF(lexeme_plain_exact)
{
	char text[FORMAL_N];
	size_t len = any_text(text, FORMAL_N);
	size_t at = any_up_to(FORMAL_N);
	size_t behind;

	ASSUME(at <= len);
	behind = lexeme_plain(text, len, at);
	PROVE(behind >= at && behind <= len, "inside");
	for (size_t i = 0; i < len; i++) {
		PROVE(i < at || i >= behind || spec_plain(spec_at(text, len, i)), "all plain");
		PROVE(i != behind || !spec_plain(spec_at(text, len, i)), "as many as there are");
	}
}

PROOF(lexeme_number_exact)
{
	char text[FORMAL_N];
	size_t len = any_text(text, FORMAL_N);

	PROVE(same(lexeme_number(text, len, 0), spec_scan_number(text, len)),
	      "the number, or the byte that spoils it");
}

PROOF(lexeme_literal_exact)
{
	char text[FORMAL_N];
	size_t len = any_text(text, FORMAL_N);

	PROVE(same(lexeme_literal(text, len, 0), spec_scan_literal(text, len)),
	      "the literal, or the byte that spoils it");
}

PROOF(lexeme_string_exact)
{
	char text[FORMAL_N];
	size_t len = any_text(text, FORMAL_N);
	bool lone = any_bool();

	ASSUME(len > 0 && text[0] == '"');
	PROVE(same(lexeme_string(text, len, 0, lone), spec_scan_string(text, len, lone)),
	      "the string, or the byte that spoils it");
}

/* The same of texts that begin with the escape of a surrogate, high or low; only
 * such a one says more than its own six bytes. */
PROOF(lexeme_surrogate_exact)
{
	char text[7 + FORMAL_N] = "\"\\ud800";
	size_t len;
	bool lone = any_bool();

	if (any_bool())
		text[4] = 'c';
	len = 7 + any_text(text + 7, FORMAL_N);
	PROVE(same(lexeme_string(text, len, 0, lone), spec_scan_string(text, len, lone)),
	      "the string, or the byte that spoils it");
}

PROOF(lexeme_blanks_exact)
{
	char text[FORMAL_N];
	size_t len = any_text(text, FORMAL_N);
	size_t at = any_up_to(len);
	size_t behind = lexeme_blanks(text, len, at);

	PROVE(behind >= at && behind <= len, "inside");
	for (size_t i = 0; i < len; i++)
		PROVE(i < at || i >= behind || spec_blank(spec_at(text, len, i)), "only blanks");
	for (size_t i = 0; i < len; i++)
		PROVE(i != behind || !spec_blank(spec_at(text, len, i)), "all of them");
}

/* On any bytes, also those that are no string's body. */
PROOF(lexeme_point_bounds)
{
	char text[FORMAL_N];
	size_t end = any_text(text, FORMAL_N);
	size_t at = any_up_to(FORMAL_N);
	uint32_t point = 0x110000;
	size_t behind;

	ASSUME(at < end);
	behind = lexeme_point(text, end, at, &point);
	PROVE(behind > at && behind <= end, "goes on, and stays inside");
	PROVE(point <= 0x10ffff, "a code point");
}

/* What text_json writes of any bytes, lexeme_string takes whole and lexeme_point
 * reads back.  (Two halves of a pair, each in generalised UTF-8, become one.) */
PROOF(lexeme_round_trip)
{
	char bytes[FORMAL_N], buffer[6 * FORMAL_N + 2];
	size_t len = any_text(bytes, FORMAL_N);
	struct text text;
	struct scan scan;
	size_t at = 1;
	uint32_t half = 0;

	text_init(&text, buffer, sizeof(buffer));
	text_json(&text, bytes, len);
	PROVE(!text.full, "six bytes a byte are enough");
	scan = lexeme_string(buffer, text.len, 0, true);
	PROVE(scan.reason == REASON_NONE && scan.at == text.len, "a string, and nothing behind it");
	for (size_t i = 0; i < len;) {
		uint32_t expected = 0xfffd, point = 0;
		unsigned width = utf8_decode(bytes + i, len - i, true, &expected);

		i += width > 0 ? width : 1;
		if (half != 0 && expected >= 0xdc00 && expected <= 0xdfff) {
			half = 0;
			continue;
		}
		PROVE(at < text.len - 1, "nothing is missing");
		at = lexeme_point(buffer, text.len - 1, at, &point);
		half = point > 0xffff && expected <= 0xffff ? point : 0;
		PROVE(point == expected ||
		              (half != 0 && expected == 0xd800 + ((point - 0x10000) >> 10)),
		      "the same code point");
	}
	PROVE(at == text.len - 1, "nothing is added");
}
