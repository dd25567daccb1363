/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_UNIT_FAKE_DOCKER_H
#define COFFERDAM_TESTS_UNIT_FAKE_DOCKER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../executor/docker.h"
#include "scratch.h"

/*
 * A docker client that does as it is told.  It lies in a directory of its own,
 * which is its HOME; each call appends its words to `log` there and then does,
 * as a line of sh, what the next line of the file `ls` or `rm` says.  Calls
 * beyond the last line do as that says.
 */

#define FAKE_STATE "0123456789abcdef0123456789abcdef"
#define FAKE_HOST "unix:///run/e.sock"
#define FAKE_16 "0123456789abcdef"
#define FAKE_ID FAKE_16 FAKE_16 FAKE_16 FAKE_16

/* The words of the two commands that are used here. */
#define FAKE_LS(nonce) \
	"--host " FAKE_HOST " container ls --all --quiet --no-trunc --filter " \
	"label=dev.cofferdam.state=" FAKE_STATE " --filter label=dev.cofferdam.run=" nonce "\n"
#define FAKE_RM "--host " FAKE_HOST " container rm --force --volumes " FAKE_ID "\n"

static char fake_dir[64];

static void fake_file(const char *name, const char *text, mode_t mode)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/docker/%s", fake_dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
}

/* What it was called with since it was last told what to do. */
static const char *fake_log(void)
{
	static char text[16384];
	char path[128];
	size_t len = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/docker/log", fake_dir);
	file = fopen(path, "r");
	if (file != NULL) {
		len = fread(text, 1, sizeof(text) - 1, file);
		assert_int_equal(fclose(file), 0);
	}
	text[len] = '\0';
	return text;
}

static void fake_does(const char *ls, const char *rm)
{
	fake_file("ls", ls, 0600);
	fake_file("rm", rm, 0600);
	fake_file("ls.calls", "0\n", 0600);
	fake_file("rm.calls", "0\n", 0600);
	fake_file("log", "", 0600);
}

/* A new directory with the client in it, and the executor's view of it. */
static void fake_make(struct docker *docker)
{
	char path[128];

	strcpy(fake_dir, "/tmp/test_fake.XXXXXX");
	assert_non_null(mkdtemp(fake_dir));
	snprintf(path, sizeof(path), "%s/docker", fake_dir);
	assert_int_equal(mkdir(path, 0700), 0);
	fake_file("docker",
	          "#!/bin/sh\n"
	          "echo \"$*\" >>\"$HOME/log\"\n"
	          "what=$HOME/ls\n"
	          "case $* in *' rm '*) what=$HOME/rm ;; esac\n"
	          "read -r calls <\"$what.calls\"\n"
	          "calls=$((calls + 1))\n"
	          "echo $calls >\"$what.calls\"\n"
	          "while [ $calls -gt 0 ] && read -r line; do\n"
	          "\tlast=$line calls=$((calls - 1))\n"
	          "done <\"$what\"\n"
	          "eval \"$last\"\n",
	          0700);
	*docker = (struct docker){.endpoint = FAKE_HOST};
	snprintf(docker->path, sizeof(docker->path), "%s/docker", path);
	docker_environment(docker, fake_dir, FAKE_STATE);
}

static int fake_remove(void)
{
	return scratch_remove(fake_dir);
}

#endif
