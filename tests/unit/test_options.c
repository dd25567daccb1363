/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/options.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WORDS 6

#define ALLOWED \
	(OPTION_BIT(OPTION_CONFIG) | OPTION_BIT(OPTION_JSON) | OPTION_BIT(OPTION_QUIET) | \
	 OPTION_BIT(OPTION_ZERO) | OPTION_BIT(OPTION_MAX_BYTES))

struct line {
	const char *word[WORDS]; /* after the command's name */
	const char *config; /* expected values, NULL: not given */
	const char *json;
	const char *quiet;
	const char *operand;
};

static const struct line GOOD[] = {
	{{NULL}, NULL, NULL, NULL, NULL},
	{{"-c", "f"}, "f", NULL, NULL, NULL},
	{{"-cf"}, "f", NULL, NULL, NULL},
	{{"-c="}, "=", NULL, NULL, NULL},
	{{"--config", "f"}, "f", NULL, NULL, NULL},
	{{"--config=f"}, "f", NULL, NULL, NULL},
	{{"--config="}, "", NULL, NULL, NULL},
	{{"--config=a=b"}, "a=b", NULL, NULL, NULL},
	{{"-c", "-"}, "-", NULL, NULL, NULL},
	{{"-c", "--json"}, "--json", NULL, NULL, NULL},
	{{"-c", "--"}, "--", NULL, NULL, NULL},
	{{"--json", "-q"}, NULL, "", "", NULL},
	{{"--quiet", "x"}, NULL, NULL, "", "x"},
	{{"x", "--quiet"}, NULL, NULL, "", "x"},
	{{"-"}, NULL, NULL, NULL, "-"},
	{{"--", "--json"}, NULL, NULL, NULL, "--json"},
	{{"--", "--"}, NULL, NULL, NULL, "--"},
	{{""}, NULL, NULL, NULL, ""},
};

static const struct {
	const char *word[WORDS];
	const char *complaint;
	const char *at;
} BAD[] = {
	{{"--jso"}, "unknown option", "--jso"},
	{{"--jsonx"}, "unknown option", "--jsonx"},
	{{"--JSON"}, "unknown option", "--JSON"},
	{{"-x"}, "unknown option", "-x"},
	{{"-j"}, "unknown option", "-j"},
	{{"--=x"}, "unknown option", "--=x"},
	{{"---json"}, "unknown option", "---json"},
	{{"--lines"}, "unknown option", "--lines"}, /* known, not allowed here */
	{{"--json=1"}, "takes no value", "--json=1"},
	{{"--json="}, "takes no value", "--json="},
	{{"-q0"}, "takes no value", "-q0"},
	{{"-c"}, "needs a value", "-c"},
	{{"--config"}, "needs a value", "--config"},
	{{"-c", "f", "--config=f"}, "given twice", "--config=f"},
	{{"--json", "--json"}, "given twice", "--json"},
	{{"a", "b"}, "unexpected word", "b"},
	{{"a", "--", "b"}, "unexpected word", "b"},
};

static char storage[WORDS + 1][32];
static char *argv[WORDS + 2];

static int fill(const char *const *word)
{
	int argc = 1;

	argv[0] = storage[0];
	for (int i = 0; i < WORDS && word[i] != NULL; i++) {
		assert_true(strlen(word[i]) < sizeof(storage[0]));
		argv[argc] = strcpy(storage[argc], word[i]);
		argc++;
	}
	argv[argc] = NULL;
	return argc;
}

static void assert_value(const char *value, const char *expected)
{
	if (expected == NULL)
		assert_null(value);
	else
		assert_string_equal(value, expected);
}

static void test_good(void **state)
{
	struct options options;

	(void)state;
	for (size_t i = 0; i < COUNT(GOOD); i++) {
		int argc = fill(GOOD[i].word);

		assert_true(options_read(argc, argv, ALLOWED, 1, &options));
		assert_value(options.value[OPTION_CONFIG], GOOD[i].config);
		assert_value(options.value[OPTION_JSON], GOOD[i].json);
		assert_value(options.value[OPTION_QUIET], GOOD[i].quiet);
		assert_int_equal(options.operand_count, GOOD[i].operand != NULL ? 1 : 0);
		assert_value(options.operand[0], GOOD[i].operand);
		assert_null(options.complaint);
	}
}

static void test_bad(void **state)
{
	struct options options;

	(void)state;
	for (size_t i = 0; i < COUNT(BAD); i++) {
		int argc = fill(BAD[i].word);

		assert_false(options_read(argc, argv, ALLOWED, 1, &options));
		assert_string_equal(options.complaint, BAD[i].complaint);
		assert_string_equal(options.word, BAD[i].at);
	}
}

static void test_no_operands(void **state)
{
	static const char *const one[WORDS] = {"x"};
	struct options options;

	(void)state;
	assert_false(options_read(fill(one), argv, ALLOWED, 0, &options));
	assert_string_equal(options.complaint, "unexpected word");
}

/* A command that asked for more than are kept would not get them. */
static void test_operands_max(void **state)
{
	static const char *const words[WORDS] = {"x", "y"};
	struct options options;

	(void)state;
	assert_false(options_read(fill(words), argv, ALLOWED, OPERANDS_MAX + 1, &options));
	assert_string_equal(options.complaint, "unexpected word");
	assert_string_equal(options.word, "y");
	assert_int_equal(options.operand_count, OPERANDS_MAX);
}

/* Where all is allowed, what is unknown is still not. */
static void test_all_allowed(void **state)
{
	static const char *const words[][WORDS] = {{"--nope"}, {"-x"}, {"--=x"}};
	struct options options;

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		assert_false(options_read(fill(words[i]), argv, ~0U, 0, &options));
		assert_string_equal(options.complaint, "unknown option");
		assert_string_equal(options.word, words[i][0]);
	}
}

/* Every option has a name, and no two have the same. */
static void test_names(void **state)
{
	static const char *const names[OPTION_COUNT] = {
		"--config=x", "--image=x",   "--nonce=x", "--max-bytes=x", "--json", "--dropped",
		"--offline",  "--lines", "--quiet",   "--null",        "--help",
	};
	struct options options;

	(void)state;
	for (unsigned i = 0; i < OPTION_COUNT; i++) {
		const char *const one[WORDS] = {names[i]};

		assert_true(options_read(fill(one), argv, OPTION_BIT(i), 0, &options));
		assert_non_null(options.value[i]);
		assert_false(options_read(fill(one), argv, ~OPTION_BIT(i), 0, &options));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_no_operands),
		cmocka_unit_test(test_operands_max),
		cmocka_unit_test(test_all_allowed),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
