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
	wire_put(&out, 1, 0x12, UINT8_MAX);
	wire_put(&out, 2, 0x1234, UINT16_MAX);
	wire_put(&out, 4, 0x12345678, UINT32_MAX);
	wire_put(&out, 8, 0x0123456789abcdef, UINT64_MAX);
	assert_false(out.bad);
	assert_int_equal(out.len, sizeof wanted);
	assert_int_equal(wire_length(&out), sizeof wanted);
	assert_memory_equal(room, wanted, sizeof wanted);
	assert_int_equal(room[sizeof wanted], GUARD);

	in = reader(wanted, sizeof wanted);
	assert_int_equal(wire_get(&in, 1, UINT8_MAX), 0x12);
	assert_false(wire_end(&in));
	assert_int_equal(wire_get(&in, 2, UINT16_MAX), 0x1234);
	assert_int_equal(wire_get(&in, 4, UINT32_MAX), 0x12345678);
	assert_true(wire_get(&in, 8, UINT64_MAX) == 0x0123456789abcdef);
	assert_true(wire_end(&in));
}

static const unsigned widths[] = {1, 2, 4, 8};

static uint64_t greatest(unsigned width)
{
	return UINT64_MAX >> (64 - 8 * width);
}

static void integers_keep_their_extremes(void **state)
{
	static const uint64_t values[] = {0, 1, 0x7f, 0x80, 0xff, 0x8000, 0xffff, 0x80000000,
	                                  0xffffffff, 0x8000000000000000, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct wire_out out = writer(sizeof room);
		struct wire_in in;

		for (size_t w = 0; w < COUNT_OF(widths); w++)
			wire_put(&out, widths[w], values[i] & greatest(widths[w]), UINT64_MAX);
		assert_int_equal(wire_length(&out), 15);
		in = reader(room, out.len);
		for (size_t w = 0; w < COUNT_OF(widths); w++)
			assert_true(wire_get(&in, widths[w], UINT64_MAX) ==
			            (values[i] & greatest(widths[w])));
		assert_true(wire_end(&in));
	}
}

/* A value at its greatest is written and read, one beyond is neither. */
static void integers_obey_their_maximum(void **state)
{
	static const uint64_t most[] = {0, 1, 5, 254};

	(void)state;
	for (size_t w = 0; w < COUNT_OF(widths); w++) {
		for (size_t i = 0; i < COUNT_OF(most); i++) {
			struct wire_out out = writer(sizeof room);
			struct wire_in in;

			wire_put(&out, widths[w], most[i], most[i]);
			assert_int_equal(wire_length(&out), widths[w]);
			in = reader(room, widths[w]);
			assert_true(wire_get(&in, widths[w], most[i]) == most[i]);
			assert_true(wire_end(&in));

			wire_put(&out, widths[w], most[i] + 1, most[i]);
			assert_true(out.bad);
			assert_int_equal(out.len, widths[w]);
			assert_int_equal(wire_length(&out), 0);

			out = writer(sizeof room);
			wire_put(&out, widths[w], most[i] + 1, UINT64_MAX);
			in = reader(room, widths[w]);
			assert_true(wire_get(&in, widths[w], most[i]) == 0);
			assert_true(in.bad);
			assert_false(wire_end(&in));
		}
	}
}

/* Puts one item of each kind, ALL_BYTES in all. */
static void put_all(struct wire_out *out)
{
	wire_put(out, 1, 1, 1);
	wire_put(out, 2, 2, 2);
	wire_put(out, 4, 3, 3);
	wire_put(out, 8, 4, 4);
	wire_put_string(out, "c", 9);
	wire_put_optional(out, NULL, 9);
	wire_put_optional(out, "", 9);
}

#define ALL_BYTES (1 + 2 + 4 + 8 + 6 + 1 + 6)

static void output_stays_within_its_room(void **state)
{
	(void)state;
	for (size_t cap = 0; cap <= ALL_BYTES + 1; cap++) {
		struct wire_out out = writer(cap);

		put_all(&out);
		assert_int_equal(out.bad, cap < ALL_BYTES);
		assert_int_equal(wire_length(&out), cap < ALL_BYTES ? 0 : ALL_BYTES);
		assert_true(out.len <= cap);
		for (size_t i = out.len; i < sizeof room; i++)
			assert_int_equal(room[i], GUARD);
	}
}

/* Each integer fits exactly, and not into one byte less. */
static void integers_need_their_width(void **state)
{
	(void)state;
	for (size_t w = 0; w < COUNT_OF(widths); w++) {
		for (size_t short_by = 0; short_by < 2; short_by++) {
			struct wire_out out = writer(widths[w] - short_by);

			wire_put(&out, widths[w], 1, 1);
			assert_int_equal(out.bad, short_by == 1);
			assert_int_equal(out.len, short_by == 1 ? 0 : widths[w]);
		}
	}
}

/* Once bad, a small item that would fit is not written either. */
static void output_badness_sticks(void **state)
{
	struct wire_out out = writer(3);

	(void)state;
	wire_put(&out, 1, 7, 7);
	wire_put(&out, 4, 7, 7);
	assert_true(out.bad);
	wire_put(&out, 1, 7, 7);
	wire_put_string(&out, "", 9);
	wire_put_optional(&out, NULL, 9);
	assert_true(out.bad);
	assert_int_equal(out.len, 1);
	assert_int_equal(wire_length(&out), 0);
}

static void strings_carry_count_and_nul(void **state)
{
	static const uint8_t wanted[] = {0, 0, 0, 2, 'h', 0xff, 0, 0, 1, 0, 0, 0, 0, 0};
	struct wire_out out = writer(sizeof room);
	struct wire_in in;

	(void)state;
	wire_put_string(&out, "h\xff", 2);
	wire_put_optional(&out, NULL, 9);
	wire_put_optional(&out, "", 0);
	assert_int_equal(wire_length(&out), sizeof wanted);
	assert_memory_equal(room, wanted, sizeof wanted);

	in = reader(wanted, sizeof wanted);
	assert_string_equal(wire_get_string(&in, 2), "h\xff");
	assert_null(wire_get_optional(&in, 9));
	assert_string_equal(wire_get_optional(&in, 0), "");
	assert_true(wire_end(&in));
}

static void missing_strings_are_not_written(void **state)
{
	struct wire_out out = writer(sizeof room);

	(void)state;
	wire_put_string(&out, NULL, UINT32_MAX);
	assert_true(out.bad);
	assert_int_equal(out.len, 0);
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
		struct wire_out out = writer(sizeof room);

		assert_string_equal(wire_get_string(&in, max), max < 3 ? "" : "abc");
		assert_int_equal(in.bad, max < 3);
		assert_int_equal(wire_end(&in), max >= 3);
		wire_put_string(&out, "abc", max);
		assert_int_equal(wire_length(&out), max < 3 ? 0 : sizeof bytes);
		out = writer(sizeof room);
		wire_put_optional(&out, "abc", max);
		assert_int_equal(wire_length(&out), max < 3 ? 0 : 1 + sizeof bytes);
	}
}

/* A count that was refused is none of 0, though no byte and a NUL follow it. */
static void refused_counts_stay_refused(void **state)
{
	static const uint8_t bytes[] = {0, 0, 0, 1, 0, 0};
	struct wire_in in = reader(bytes, sizeof bytes);

	(void)state;
	assert_string_equal(wire_get_string(&in, 0), "");
	assert_true(in.bad);
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

		for (size_t w = 0; w < COUNT_OF(widths); w++)
			(void)wire_get(&in, widths[w], UINT64_MAX);
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

	(void)state;
	for (size_t w = 0; w < COUNT_OF(widths); w++)
		assert_true(wire_get(&in, widths[w], UINT64_MAX) == 0);
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
	(void)wire_get(&in, 1, UINT8_MAX);
	assert_false(wire_end(&in));
	(void)wire_get(&in, 1, UINT8_MAX);
	assert_true(wire_end(&in));
	(void)wire_get(&in, 1, UINT8_MAX);
	assert_false(wire_end(&in));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_big_endian),
		cmocka_unit_test(integers_keep_their_extremes),
		cmocka_unit_test(integers_obey_their_maximum),
		cmocka_unit_test(output_stays_within_its_room),
		cmocka_unit_test(integers_need_their_width),
		cmocka_unit_test(output_badness_sticks),
		cmocka_unit_test(strings_carry_count_and_nul),
		cmocka_unit_test(missing_strings_are_not_written),
		cmocka_unit_test(decoded_strings_lie_in_the_frame),
		cmocka_unit_test(strings_obey_their_maximum),
		cmocka_unit_test(refused_counts_stay_refused),
		cmocka_unit_test(bad_strings_are_refused),
		cmocka_unit_test(presence_is_zero_or_one),
		cmocka_unit_test(truncated_input_is_refused),
		cmocka_unit_test(input_badness_sticks),
		cmocka_unit_test(the_end_is_the_last_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
