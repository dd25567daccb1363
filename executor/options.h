/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_OPTIONS_H
#define COFFERDAM_EXECUTOR_OPTIONS_H

/* What the command line said, as executor/main.c read it. */

enum option {
	OPTION_CONFIG,
	OPTION_TURN,
	OPTION_AUDIT,
	OPTION_WORKER_STDERR,
	OPTION_STATUS_FD,
	OPTION_NAME,
	OPTION_HOST,
	OPTION_SESSION,
	OPTION_IMAGE,
	OPTION_DOCKER,
	OPTION_STATE_DIR,
	OPTION_JSON,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_COUNT
};

struct options {
	const char *value[OPTION_COUNT]; /* NULL: not given; "" for a flag that is */
	int status_fd; /* -1: none */
	char **operand; /* of those commands that take any */
	int operands;
};

#endif
