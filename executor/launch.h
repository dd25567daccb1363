/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_LAUNCH_H
#define COFFERDAM_EXECUTOR_LAUNCH_H

/* One launch, from the caller's options to the exit status: the actions of
 * executor/life.h, and the loop that follows its table. */

enum launch_option {
	OPTION_CONFIG,
	OPTION_TURN,
	OPTION_AUDIT,
	OPTION_STATUS_FD,
	OPTION_NAME,
	OPTION_DOCKER,
	OPTION_STATE_DIR,
	OPTION_JSON,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_COUNT
};

struct launch_options {
	const char *value[OPTION_COUNT]; /* NULL: not given; "" for a flag that is */
	int status_fd; /* -1: none */
};

/* Returns the exit status (cofferdam(1)).  At most once a process. */
int launch_run(const struct launch_options *options);

#endif
