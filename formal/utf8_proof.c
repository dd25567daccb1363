/* SPDX-License-Identifier: ISC */
#include "../policy/utf8.h"

#include "nondet.h"
#include "spec.h"

/* Every sequence of at most four bytes: no code point is longer, and nothing
 * behind it is read. */
PROOF(utf8_decode_exact)
{
	char bytes[FORMAL_N];
	size_t len = any_text(bytes, FORMAL_N);
	bool surrogates = any_bool();
	uint32_t point = 7, expected = 7;
	unsigned width = utf8_decode(bytes, len, surrogates, &point);

	PROVE(width == spec_utf8(bytes, len, 0, surrogates, &expected), "width");
	PROVE(point == (width > 0 ? expected : 7), "code point, untouched when ill-formed");
}

PROOF(utf8_span_exact)
{
	char bytes[FORMAL_N];
	size_t len = any_text(bytes, FORMAL_N);
	size_t span = utf8_span(bytes, len);
	uint32_t point;

	PROVE(span <= len, "inside");
	PROVE(spec_utf8_valid(bytes, span), "what stands before the span's end is UTF-8");
	for (size_t i = 0; i < len; i++)
		PROVE(i != span || spec_utf8(bytes, len, i, false, &point) == 0,
		      "what stands there is not");
}

/* Every code point, and every value that is none. */
PROOF(utf8_round_trip)
{
#ifdef CBMC
	uint32_t point = nondet_uint32();
#else
	uint32_t point = (uint32_t)any_up_to(0x110100);
#endif
	char bytes[4] = {0};
	uint32_t back = 0;
	unsigned width = utf8_encode(point, bytes);

	PROVE((width == 0) == (point > 0x10ffff), "encodes each code point and nothing else");
	PROVE(width == 0 || (utf8_decode(bytes, width, true, &back) == width && back == point),
	      "decodes to what was encoded");
}

/*
 * The Encoding Standard's "UTF-8 decoder" as it is written there: a byte a
 * step, with a lower and an upper boundary for the next one.
 */
struct decoder {
	uint32_t point;
	unsigned seen, needed;
	int lower, upper;
};

static const struct decoder fresh = {0, 0, 0, 0x80, 0xbf};

static void begin(struct decoder *decoder, int byte)
{
	*decoder = fresh;
	if (byte >= 0xc2 && byte <= 0xdf) {
		decoder->needed = 1;
	} else if (byte >= 0xe0 && byte <= 0xef) {
		decoder->lower = byte == 0xe0 ? 0xa0 : 0x80;
		decoder->upper = byte == 0xed ? 0x9f : 0xbf;
		decoder->needed = 2;
	} else if (byte >= 0xf0 && byte <= 0xf4) {
		decoder->lower = byte == 0xf0 ? 0x90 : 0x80;
		decoder->upper = byte == 0xf4 ? 0x8f : 0xbf;
		decoder->needed = 3;
	}
	decoder->point = (uint32_t)byte;
}

struct output {
	char at[3 * FORMAL_N + 3];
	size_t len;
};

static void emit(struct output *out, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		out->at[out->len + i] = bytes[i];
	out->len += len;
}

static void specified_repair(struct output *out, const char *bytes, size_t len)
{
	struct decoder decoder = fresh;
	size_t first = 0; /* of the sequence that is being read */
	bool again = false;

	for (size_t i = len >= 3 && (unsigned char)bytes[0] == 0xef &&
	                                (unsigned char)bytes[1] == 0xbb &&
	                                (unsigned char)bytes[2] == 0xbf
	                        ? 3
	                        : 0;
	     i < len; i += again ? 0 : 1) {
		int byte = (unsigned char)bytes[i];

		again = false;
		if (decoder.needed == 0) {
			begin(&decoder, byte);
			first = i;
			if (byte < 0x80)
				emit(out, bytes + i, 1);
			else if (decoder.needed == 0)
				emit(out, "\xef\xbf\xbd", 3);
		} else if (byte < decoder.lower || byte > decoder.upper) {
			decoder = fresh;
			emit(out, "\xef\xbf\xbd", 3);
			again = true;
		} else {
			decoder.lower = 0x80;
			decoder.upper = 0xbf;
			if (++decoder.seen == decoder.needed) {
				emit(out, bytes + first, i + 1 - first);
				decoder = fresh;
			}
		}
	}
	if (decoder.needed != 0)
		emit(out, "\xef\xbf\xbd", 3);
}

PROOF(utf8_repair_exact)
{
	char bytes[FORMAL_N], to[3 * FORMAL_N];
	struct output expected = {.len = 0};
	size_t len = any_text(bytes, FORMAL_N);
	size_t cap = any_up_to(3 * FORMAL_N);
	size_t written = utf8_repair(bytes, len, to, cap);

	specified_repair(&expected, bytes, len);
	PROVE((written == SIZE_MAX) == (expected.len > cap), "does not fit exactly then");
	if (written == SIZE_MAX)
		return;
	PROVE(written == expected.len && written <= 3 * len, "length");
	for (size_t i = 0; i < 3 * FORMAL_N; i++)
		PROVE(i >= written || to[i] == expected.at[i], "bytes");
	PROVE(utf8_span(to, written) == written, "what is written is UTF-8");
}
