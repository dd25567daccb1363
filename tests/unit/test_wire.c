/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../ipc/wire.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define GUARD 0xa5

static uint8_t room[256];

static struct wire_out writer(size_t cap)
{
	memset(room, GUARD, sizeof room);
	return (struct wire_out){.at = room, .cap = cap};
}

static struct wire_in reader(const void *bytes, size_t len)
{
	return (struct wire_in){.at = bytes, .len = len};
}

/* One value through each integer width, as the bytes on the wire. */
static void integers_are_big_endian(void **state)
{
	static const uint8_t wanted[] = {0x12, 0x12, 0x34, 0x12, 0x34, 0x56, 0x78, 0x01,
	                                 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
	struct wire_out out = writer(sizeof room);
	struct wire_in in;

	(void)state;
	wire_put_u8(&out, 0x12);
	wire_put_u16(&out, 0x1234);
	wire_put_u32(&out, 0x12345678);
	wire_put_u64(&out, 0x0123456789abcdef);
	assert_false(out.bad);
	assert_int_equal(out.len, sizeof wanted);
	assert_memory_equal(room, wanted, sizeof wanted);
	assert_int_equal(room[sizeof wanted], GUARD);

	in = reader(wanted, sizeof wanted);
	assert_int_equal(wire_get_u8(&in), 0x12);
	assert_false(wire_end(&in));
	assert_int_equal(wire_get_u16(&in), 0x1234);
	assert_int_equal(wire_get_u32(&in), 0x12345678);
	assert_true(wire_get_u64(&in) == 0x0123456789abcdef);
	assert_true(wire_end(&in));
}

static void integers_keep_their_extremes(void **state)
{
	static const uint64_t values[] = {0, 1, 0x7f, 0x80, 0xff, 0x8000, 0xffff, 0x80000000,
	                                  0xffffffff, 0x8000000000000000, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct wire_out out = writer(sizeof room);
		struct wire_in in;

		wire_put_u8(&out, (uint8_t)values[i]);
		wire_put_u16(&out, (uint16_t)values[i]);
		wire_put_u32(&out, (uint32_t)values[i]);
		wire_put_u64(&out, values[i]);
		in = reader(room, out.len);
		assert_int_equal(wire_get_u8(&in), (uint8_t)values[i]);
		assert_int_equal(wire_get_u16(&in), (uint16_t)values[i]);
		assert_int_equal(wire_get_u32(&in), (uint32_t)values[i]);
		assert_true(wire_get_u64(&in) == values[i]);
		assert_true(wire_end(&in));
	}
}

/* Puts one item of each kind, ALL_BYTES in all. */
static void put_all(struct wire_out *out)
{
	wire_put_u8(out, 1);
	wire_put_u16(out, 2);
	wire_put_u32(out, 3);
	wire_put_u64(out, 4);
	wire_put_bytes(out, (const uint8_t *)"ab", 2);
	wire_put_string(out, "c");
	wire_put_optional(out, NULL);
	wire_put_optional(out, "");
}

#define ALL_BYTES (1 + 2 + 4 + 8 + 2 + 6 + 1 + 6)

static void output_stays_within_its_room(void **state)
{
	(void)state;
	for (size_t cap = 0; cap <= ALL_BYTES + 1; cap++) {
		struct wire_out out = writer(cap);

		put_all(&out);
		assert_int_equal(out.bad, cap < ALL_BYTES);
		assert_true(out.len <= cap);
		for (size_t i = out.len; i < sizeof room; i++)
			assert_int_equal(room[i], GUARD);
	}
}

/* Each integer fits exactly, and not into one byte less. */
static void integers_need_their_width(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 4; kind++) {
		const size_t width = (size_t)1 << kind;

		for (size_t short_by = 0; short_by < 2; short_by++) {
			struct wire_out out = writer(width - short_by);

			if (kind == 0)
				wire_put_u8(&out, 1);
			else if (kind == 1)
				wire_put_u16(&out, 1);
			else if (kind == 2)
				wire_put_u32(&out, 1);
			else
				wire_put_u64(&out, 1);
			assert_int_equal(out.bad, short_by == 1);
			assert_int_equal(out.len, short_by == 1 ? 0 : width);
		}
	}
}

/* Once bad, a small item that would fit is not written either. */
static void output_badness_sticks(void **state)
{
	struct wire_out out = writer(3);

	(void)state;
	wire_put_u8(&out, 7);
	wire_put_u32(&out, 7);
	assert_true(out.bad);
	wire_put_u8(&out, 7);
	wire_put_bytes(&out, (const uint8_t *)"a", 1);
	wire_put_string(&out, "");
	wire_put_optional(&out, NULL);
	assert_true(out.bad);
	assert_int_equal(out.len, 1);
}

static void strings_carry_count_and_nul(void **state)
{
	static const uint8_t wanted[] = {0, 0, 0, 2, 'h', 'i', 0, 0, 1, 0, 0, 0, 0, 0};
	struct wire_out out = writer(sizeof room);
	struct wire_in in;

	(void)state;
	wire_put_string(&out, "hi");
	wire_put_optional(&out, NULL);
	wire_put_optional(&out, "");
	assert_int_equal(out.len, sizeof wanted);
	assert_memory_equal(room, wanted, sizeof wanted);

	in = reader(wanted, sizeof wanted);
	assert_string_equal(wire_get_string(&in, 2), "hi");
	assert_null(wire_get_optional(&in, 9));
	assert_string_equal(wire_get_optional(&in, 0), "");
	assert_true(wire_end(&in));
}

static void decoded_strings_lie_in_the_frame(void **state)
{
	static const uint8_t bytes[] = {0, 0, 0, 1, 'x', 0};
	struct wire_in in = reader(bytes, sizeof bytes);

	(void)state;
	assert_ptr_equal(wire_get_string(&in, 1), bytes + 4);
}

static void strings_obey_their_maximum(void **state)
{
	static const uint8_t bytes[] = {0, 0, 0, 3, 'a', 'b', 'c', 0};

	(void)state;
	for (size_t max = 0; max < 6; max++) {
		struct wire_in in = reader(bytes, sizeof bytes);

		assert_string_equal(wire_get_string(&in, max), max < 3 ? "" : "abc");
		assert_int_equal(in.bad, max < 3);
		assert_int_equal(wire_end(&in), max >= 3);
	}
}

static const struct {
	const char *name;
	uint8_t bytes[9];
	size_t len;
} bad_strings[] = {
	{"no count", {0, 0, 0}, 3},
	{"count only", {0, 0, 0, 0}, 4},
	{"one byte short", {0, 0, 0, 2, 'a', 'b'}, 6},
	{"no NUL at the end", {0, 0, 0, 2, 'a', 'b', 'c'}, 7},
	{"NUL too early", {0, 0, 0, 2, 'a', 0, 0}, 7},
	{"NUL at the front", {0, 0, 0, 2, 0, 'b', 0}, 7},
	{"NUL one later", {0, 0, 0, 1, 'a', 'b', 0}, 7},
	{"empty without NUL", {0, 0, 0, 0, 'a'}, 5},
	{"count of all", {0xff, 0xff, 0xff, 0xff, 'a', 0}, 6},
	{"count beyond the frame", {0, 0, 0, 5, 'a', 'b', 'c', 'd', 0}, 9},
};

static void bad_strings_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad_strings); i++) {
		struct wire_in in = reader(bad_strings[i].bytes, bad_strings[i].len);

		assert_string_equal(wire_get_string(&in, UINT32_MAX), "");
		if (!in.bad)
			fail_msg("taken: %s", bad_strings[i].name);
		assert_false(wire_end(&in));
		assert_true(in.pos <= in.len);
	}
}

static void presence_is_zero_or_one(void **state)
{
	(void)state;
	for (unsigned flag = 0; flag < 256; flag++) {
		const uint8_t bytes[] = {(uint8_t)flag, 0, 0, 0, 1, 'z', 0};
		struct wire_in in = reader(bytes, sizeof bytes);
		const char *got = wire_get_optional(&in, 9);

		if (flag == 1)
			assert_string_equal(got, "z");
		else
			assert_null(got);
		assert_int_equal(in.bad, flag > 1);
		assert_int_equal(wire_end(&in), flag == 1);
	}
}

/* Every prefix of every kind of item fails, and reads nothing beyond it. */
static void truncated_input_is_refused(void **state)
{
	struct wire_out out = writer(sizeof room);

	(void)state;
	put_all(&out);
	for (size_t len = 0; len <= out.len; len++) {
		struct wire_in in = reader(room, len);
		uint8_t two[2] = {GUARD, GUARD};

		(void)wire_get_u8(&in);
		(void)wire_get_u16(&in);
		(void)wire_get_u32(&in);
		(void)wire_get_u64(&in);
		wire_get_bytes(&in, two, sizeof two);
		assert_memory_equal(two, len < 17 ? "\0\0" : "ab", 2);
		(void)wire_get_string(&in, 9);
		(void)wire_get_optional(&in, 9);
		(void)wire_get_optional(&in, 9);
		assert_int_equal(wire_end(&in), len == out.len);
		assert_true(in.pos <= len);
	}
}

static void input_badness_sticks(void **state)
{
	static const uint8_t bytes[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct wire_in in = {.at = bytes, .len = sizeof bytes, .bad = true};
	uint8_t got[2] = {GUARD, GUARD};

	(void)state;
	assert_int_equal(wire_get_u8(&in), 0);
	assert_int_equal(wire_get_u16(&in), 0);
	assert_int_equal(wire_get_u32(&in), 0);
	assert_true(wire_get_u64(&in) == 0);
	wire_get_bytes(&in, got, sizeof got);
	assert_memory_equal(got, "\0\0", 2);
	assert_string_equal(wire_get_string(&in, 9), "");
	assert_null(wire_get_optional(&in, 9));
	assert_int_equal(in.pos, 0);
	assert_false(wire_end(&in));
}

static void the_end_is_the_last_byte(void **state)
{
	static const uint8_t bytes[] = {5, 6};
	struct wire_in in = reader(bytes, sizeof bytes);

	(void)state;
	(void)wire_get_u8(&in);
	assert_false(wire_end(&in));
	(void)wire_get_u8(&in);
	assert_true(wire_end(&in));
	(void)wire_get_u8(&in);
	assert_false(wire_end(&in));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_big_endian),
		cmocka_unit_test(integers_keep_their_extremes),
		cmocka_unit_test(output_stays_within_its_room),
		cmocka_unit_test(integers_need_their_width),
		cmocka_unit_test(output_badness_sticks),
		cmocka_unit_test(strings_carry_count_and_nul),
		cmocka_unit_test(decoded_strings_lie_in_the_frame),
		cmocka_unit_test(strings_obey_their_maximum),
		cmocka_unit_test(bad_strings_are_refused),
		cmocka_unit_test(presence_is_zero_or_one),
		cmocka_unit_test(truncated_input_is_refused),
		cmocka_unit_test(input_badness_sticks),
		cmocka_unit_test(the_end_is_the_last_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
