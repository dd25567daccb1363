/* SPDX-License-Identifier: ISC */
#include "audit.h"

#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "child.h"

#define WRITE_MS 5000 /* a FIFO that nobody reads is given up */

bool audit_wait(const struct audit *audit)
{
	return audit->fd < 0 ||
	       child_wait(NULL, 0, audit->fd, POLLOUT, child_now() + WRITE_MS) == CHILD_READY;
}

bool audit_say(struct audit *audit, enum audit_event event, const char *run,
               const char *container, int code, bool oom)
{
	static const char *const names[] = {"launch", "exit", "removed", "residual", "reaped"};
	struct timespec now;
	struct tm utc;
	char line[512];
	int len;

	if (audit->fd < 0)
		return true;
	if (clock_gettime(CLOCK_REALTIME, &now) != 0 || gmtime_r(&now.tv_sec, &utc) == NULL)
		return false;
	len = snprintf(line, sizeof(line),
	               "{\"schema_version\":1,\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ\","
	               "\"seq\":%lu,\"event\":\"%s\",\"run\":\"%s\",\"container\":\"%s\","
	               "\"exit\":%d,\"oom\":%s}\n",
	               utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
	               utc.tm_sec, now.tv_nsec / 1000, ++audit->seq, names[event], run, container,
	               code, oom ? "true" : "false");
	/* a negative one is a great one, too */
	return (size_t)len < sizeof(line) && audit_wait(audit) &&
	       write(audit->fd, line, (size_t)len) == len;
}
