/* SPDX-License-Identifier: ISC */
#include "options.h"

#include <stddef.h>
#include <string.h>

struct row {
	const char *name;
	char letter; /* '\0': none */
	bool value;
};

static const struct row ROWS[OPTION_COUNT] = {
	[OPTION_CONFIG] = {"config", 'c', true},
	[OPTION_IMAGE] = {"image", '\0', true},
	[OPTION_NONCE] = {"nonce", '\0', true},
	[OPTION_MAX_BYTES] = {"max-bytes", '\0', true},
	[OPTION_JSON] = {"json", '\0', false},
	[OPTION_DROPPED] = {"dropped", '\0', false},
	[OPTION_OFFLINE] = {"offline", '\0', false},
	[OPTION_LINES] = {"lines", '\0', false},
	[OPTION_QUIET] = {"quiet", 'q', false},
	[OPTION_ZERO] = {"null", '0', false},
	[OPTION_HELP] = {"help", 'h', false},
};

static bool complain(struct options *out, const char *complaint, const char *word)
{
	out->complaint = complaint;
	out->word = word;
	return false;
}

static int by_name(const char *name, size_t len)
{
	for (int i = 0; i < OPTION_COUNT; i++)
		if (strlen(ROWS[i].name) == len && memcmp(ROWS[i].name, name, len) == 0)
			return i;
	return OPTION_COUNT;
}

static int by_letter(char letter)
{
	for (int i = 0; i < OPTION_COUNT; i++)
		if (ROWS[i].letter != '\0' && ROWS[i].letter == letter)
			return i;
	return OPTION_COUNT;
}

/* Reads the option argv[*at]; *at is then the next word's index. */
static bool read_one(int argc, char **argv, int *at, unsigned allowed, struct options *out)
{
	const char *word = argv[*at];
	bool is_long = word[1] == '-';
	size_t len = is_long ? strcspn(word + 2, "=") : 0;
	int option = is_long ? by_name(word + 2, len) : by_letter(word[1]);
	const char *value;

	if (option == OPTION_COUNT || (allowed & OPTION_BIT(option)) == 0)
		return complain(out, "unknown option", word);
	if (out->value[option] != NULL)
		return complain(out, "given twice", word);
	if (is_long)
		value = word[2 + len] == '=' ? word + 2 + len + 1 : NULL;
	else
		value = word[2] != '\0' ? word + 2 : NULL;
	(*at)++;
	if (!ROWS[option].value) {
		if (value != NULL)
			return complain(out, "takes no value", word);
		value = "";
	} else if (value == NULL) {
		if (*at >= argc)
			return complain(out, "needs a value", word);
		value = argv[(*at)++];
	}
	out->value[option] = value;
	return true;
}

static bool add_operand(const char *word, unsigned operands, struct options *out)
{
	if (out->operand_count >= operands || out->operand_count >= OPERANDS_MAX)
		return complain(out, "unexpected word", word);
	out->operand[out->operand_count++] = word;
	return true;
}

bool options_read(int argc, char **argv, unsigned allowed, unsigned operands, struct options *out)
{
	bool ended = false; /* "--" was seen */
	bool good = true;
	int at = 1;

	memset(out, 0, sizeof(*out));
	while (at < argc && good) {
		const char *word = argv[at];

		if (ended || word[0] != '-' || word[1] == '\0') {
			good = add_operand(word, operands, out);
			at++;
		} else if (strcmp(word, "--") == 0) {
			ended = true;
			at++;
		} else {
			good = read_one(argc, argv, &at, allowed, out);
		}
	}
	return good;
}
