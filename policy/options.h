/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_OPTIONS_H
#define COFFERDAM_POLICY_OPTIONS_H

#include <stdbool.h>

/*
 * The command line of cofferdam-policy.  Pure; getopt_long(3) is not used
 * because it prints by itself, through stdio.
 *
 * --name VALUE and --name=VALUE, -x VALUE and -xVALUE, operands among them;
 * "--" ends the options, and "-" is an operand or a value.  Nothing is
 * abbreviated and nothing is given twice.
 */

enum option {
	OPTION_CONFIG, /* -c, --config FILE */
	OPTION_IMAGE, /* --image FILE */
	OPTION_NONCE, /* --nonce HEX */
	OPTION_MAX_BYTES, /* --max-bytes N */
	OPTION_JSON, /* --json */
	OPTION_DROPPED, /* --dropped */
	OPTION_OFFLINE, /* --offline */
	OPTION_LINES, /* --lines */
	OPTION_QUIET, /* -q, --quiet */
	OPTION_ZERO, /* -0, --null */
	OPTION_HELP, /* -h, --help */
	OPTION_COUNT
};

#define OPTION_BIT(option) (1U << (option))

#define OPERANDS_MAX 1

struct options {
	const char *value[OPTION_COUNT]; /* NULL: not given; "" for a flag that is */
	unsigned operand_count;
	const char *operand[OPERANDS_MAX];
	/* What is wrong, and with which word, when options_read said no. */
	const char *complaint;
	const char *word;
};

/* Reads argv[1] on; allowed is a set of OPTION_BITs, operands their number. */
__attribute__((warn_unused_result)) bool options_read(int argc, char **argv, unsigned allowed,
                                                      unsigned operands, struct options *out);

#endif
