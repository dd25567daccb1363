/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_FORMAL_NONDET_H
#define COFFERDAM_FORMAL_NONDET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where a proof's inputs come from.  A harness says what it takes (any_*), what
 * it takes for granted (ASSUME) and what must then hold (PROVE); the same text
 * is compiled three times:
 *
 *   by CBMC         every value at once, as a formula
 *   natively        every value one after the other, in a small scope (FORMAL_N,
 *                   ALPHABET), with the number of cases printed
 *   with -DFUZZING  values from libFuzzer's bytes
 *
 * The two native forms say that the formula is about the compiled code and that
 * no ASSUME left it empty.
 */

#ifndef FORMAL_N
#define FORMAL_N 6
#endif
/* The bytes of a native run's texts. */
#ifndef ALPHABET
#define ALPHABET "/.ab"
#endif

#ifdef CBMC

bool nondet_bool(void);
char nondet_char(void);
size_t nondet_size(void);
uint32_t nondet_uint32(void);
uint64_t nondet_uint64(void);

#define ASSUME(condition) __CPROVER_assume(condition)
#ifdef COVER /* where a claim that holds would fail is never reached: no place of it counts */
#define PROVE(condition, claim) __CPROVER_assert(true, claim)
#else
#define PROVE(condition, claim) __CPROVER_assert(condition, claim)
#endif
#define PROOF(name) \
	void name(void); \
	void name(void)

static inline bool any_bool(void)
{
	return nondet_bool();
}

static inline char any_byte(void)
{
	return nondet_char();
}

/* 0..max */
static inline size_t any_up_to(size_t max)
{
	size_t value = nondet_size();

	ASSUME(value <= max);
	return value;
}

static inline uint64_t any_u64(void)
{
	return nondet_uint64();
}

/* The length of a text in to[0..max): CBMC's arrays begin with any bytes. */
static inline size_t any_text(char *to, size_t max)
{
	(void)to;
	return any_up_to(max);
}

#else /* native */

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define CHOICES_MAX 64

/* One run's choices. */
static uint64_t choice[CHOICES_MAX];
static unsigned choices;
static jmp_buf next_case;

#define ASSUME(condition) \
	do { \
		if (!(condition)) \
			longjmp(next_case, 1); \
	} while (0)
#define PROVE(condition, claim) \
	do { \
		if (!(condition)) \
			refuted(claim, __LINE__); \
	} while (0)
#define PROOF(name) \
	void name(void); \
	void name(void)

static void refuted(const char *claim, int line)
{
	fprintf(stderr, "refuted, line %d: %s\nchoices:", line, claim);
	for (unsigned i = 0; i < choices; i++)
		fprintf(stderr, " %llu", (unsigned long long)choice[i]);
	fputc('\n', stderr);
	abort();
}

#ifdef FUZZING

static const uint8_t *fuzz_at;
static size_t fuzz_left;

static uint64_t pick(uint64_t of)
{
	uint64_t value = 0;

	for (uint64_t reach = 1; reach < of && fuzz_left > 0; fuzz_left--) {
		value = value << 8 | *fuzz_at++;
		reach = reach > UINT64_MAX >> 8 ? UINT64_MAX : reach << 8;
	}
	value = of > 0 ? value % of : value;
	if (choices < CHOICES_MAX)
		choice[choices++] = value;
	return value;
}

static inline char any_byte(void)
{
	return (char)pick(256);
}

static inline uint64_t any_u64(void)
{
	return pick(0) ^ pick(UINT64_MAX);
}

void ENTRY(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_at = data;
	fuzz_left = size;
	choices = 0;
	if (setjmp(next_case) == 0)
		ENTRY();
	return 0;
}

#else /* enumeration */

/* choice[i] is one of radix[i]. */
static uint64_t radix[CHOICES_MAX];

/* 0..of-1, all of them in turn: choices are the digits of a counter, whose last
 * digit runs fastest. */
static uint64_t pick(uint64_t of)
{
	if (choices >= CHOICES_MAX)
		abort();
	if (radix[choices] == 0)
		choice[choices] = 0;
	radix[choices] = of;
	return choice[choices++];
}

static bool advance(void)
{
	for (unsigned i = choices; i < CHOICES_MAX && radix[i] != 0; i++)
		radix[i] = 0;
	for (unsigned i = choices; i > 0; i--) {
		if (++choice[i - 1] < radix[i - 1])
			return true;
		radix[i - 1] = 0;
	}
	return false;
}

static inline char any_byte(void)
{
	static const char bytes[] = ALPHABET;

	if (sizeof(bytes) == 1) /* none named: all */
		return (char)pick(256);
	return bytes[pick(sizeof(bytes) - 1)];
}

/* The values at which 64-bit decimal code can go wrong. */
static inline uint64_t any_u64(void)
{
	static const uint64_t values[] = {
	        0,         1,          9,
	        10,        11,         99,
	        100,       999999999,  1000000000,
	        1000000001, UINT32_MAX, (uint64_t)UINT32_MAX + 1,
	        UINT64_MAX / 10 - 1,   UINT64_MAX / 10, UINT64_MAX / 10 + 1,
	        UINT64_MAX - 1,        UINT64_MAX,
	};

	return values[pick(sizeof(values) / sizeof(values[0]))];
}

void ENTRY(void);

int main(int argc, char **argv)
{
	static unsigned long long cases, checked;

	(void)argc;
	do {
		cases++;
		choices = 0;
		if (setjmp(next_case) == 0) {
			ENTRY();
			checked++;
		}
	} while (advance());
	printf("%s: %llu cases, %llu within the assumptions\n", argv[0], cases, checked);
	return checked == 0;
}

#endif

static inline bool any_bool(void)
{
	return pick(2) == 1;
}

static inline size_t any_up_to(size_t max)
{
	return (size_t)pick((uint64_t)max + 1);
}

static inline size_t any_text(char *to, size_t max)
{
	size_t len = any_up_to(max);

	for (size_t i = 0; i < max; i++)
		to[i] = i < len ? any_byte() : '~';
	return len;
}

#endif
#endif
