/* SPDX-License-Identifier: ISC */
#include "docker.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"

#define WORDS 13 /* of the longest */
#define VARIABLES 8

/* The holes: told by their address, never by what they hold. */
static const char endpoint[] = "ENDPOINT", subject[] = "SUBJECT", state[] = "STATE";

const char docker_list_format[] =
	"[{{json .ID}},{{json (.Label \"dev.cofferdam.state\")}},"
	"{{json (.Label \"dev.cofferdam.run\")}},{{json (.Label \"dev.cofferdam.mode\")}},"
	"{{json (.Label \"dev.cofferdam.roots\")}},{{json .Mounts}}]";
const char docker_ps_format[] =
	"[{{json .ID}},{{json (.Label \"dev.cofferdam.state\")}},"
	"{{json (.Label \"dev.cofferdam.run\")}},{{json (.Label \"dev.cofferdam.mode\")}},"
	"{{json (.Label \"dev.cofferdam.session\")}},"
	"{{json (.Label \"dev.cofferdam.revision\")}},{{json .State}},{{json .Names}},"
	"{{json .CreatedAt}}]";
static const char run_format[] = "{{.ID}} {{.Label \"dev.cofferdam.run\"}}";
static const char result_format[] =
	"{{.State.Status}} {{.State.Running}} {{.State.OOMKilled}} {{.State.ExitCode}} "
	"{{.RestartCount}}";

static const char *const table[DOCKER_COMMANDS][WORDS] = {
	[DOCKER_CONTEXT] = {"docker", "context", "inspect", "--format",
		"{{json .Endpoints.docker.Host}}"},
	[DOCKER_IMAGE] = {"docker", "--host", endpoint, "image", "inspect", "--format",
		"{{json .}}", subject},
	[DOCKER_LIST] = {"docker", "--host", endpoint, "container", "ls", "--all", "--no-trunc",
		"--filter", "label=dev.cofferdam.state", "--format", docker_list_format},
	[DOCKER_INSPECT] = {"docker", "--host", endpoint, "container", "inspect", "--format",
		"{{json .}}", subject},
	[DOCKER_START] = {"docker", "--host", endpoint, "container", "start", "--attach",
		"--interactive", subject},
	[DOCKER_RESULT] = {"docker", "--host", endpoint, "container", "inspect", "--format",
		result_format, subject},
	[DOCKER_REMOVE] = {"docker", "--host", endpoint, "container", "rm", "--force", "--volumes",
		subject},
	[DOCKER_FIND] = {"docker", "--host", endpoint, "container", "ls", "--all", "--quiet",
		"--no-trunc", "--filter", state, "--filter", subject},
	[DOCKER_PS] = {"docker", "--host", endpoint, "container", "ls", "--all", "--no-trunc",
		"--filter", "label=dev.cofferdam.state", "--format", docker_ps_format},
	[DOCKER_OURS] = {"docker", "--host", endpoint, "container", "ls", "--all", "--no-trunc",
		"--filter", state, "--format", run_format},
	[DOCKER_OURS_WITH] = {"docker", "--host", endpoint, "container", "ls", "--all", "--no-trunc",
		"--filter", state, "--filter", subject, "--format", run_format},
	[DOCKER_CLIENT] = {"docker", "--version"},
	[DOCKER_VERSION] = {"docker", "--host", endpoint, "version", "--format",
		engine_version_format},
	[DOCKER_INFO] = {"docker", "--host", endpoint, "info", "--format", engine_info_format},
	[DOCKER_IMAGE_LINES] = {"docker", "--host", endpoint, "image", "inspect", "--format",
		engine_image_format, subject},
};

void docker_environment(struct docker *docker, const char *state_path, const char *state_id)
{
	(void)snprintf(docker->home, sizeof(docker->home), "HOME=%s/docker", state_path);
	(void)snprintf(docker->config, sizeof(docker->config), "DOCKER_CONFIG=%s/docker", state_path);
	(void)snprintf(docker->state, sizeof(docker->state), "label=dev.cofferdam.state=%s",
	               state_id);
}

static const char *fill(const struct docker *docker, const char *word, const char *with)
{
	if (word == endpoint)
		return docker->endpoint;
	if (word == state)
		return docker->state;
	return word == subject ? with : word;
}

/* The variables by which the user chooses a context: for DOCKER_CONTEXT only. */
static int users_own(const char **to)
{
	static const char *const names[] = {"HOME=", "DOCKER_CONFIG=", "DOCKER_CONTEXT="};
	int count = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (char **at = environ; at != NULL && *at != NULL; at++)
			if (strncmp(*at, names[i], strlen(names[i])) == 0) {
				to[count++] = *at;
				break;
			}
	return count;
}

static void start(struct child *child, const struct docker *docker, const char *const *argv,
                  bool own, const int fd[3])
{
	const char *env[VARIABLES] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
	                              docker->home, docker->config};
	struct child_plan plan = {.path = docker->path, .program = -1, .argv = argv, .env = env,
	                          .count = 3, .fd = {fd[0], fd[1], fd[2]}};

	if (own)
		env[2 + users_own(env + 2)] = NULL;
	child_start(child, &plan);
}

static void run(struct child *child, const struct docker *docker, enum docker_command command,
                const char *with, const int fd[3])
{
	const char *argv[WORDS + 1] = {NULL};

	for (int i = 0; i < WORDS; i++)
		argv[i] = fill(docker, table[command][i], with);
	start(child, docker, argv, command == DOCKER_CONTEXT, fd);
}

void docker_start(struct child *child, const struct docker *docker, enum docker_command command,
                  const char *with, int in, int out)
{
	run(child, docker, command, with, (const int[]){in, out, -1});
}

void docker_attach(struct child *child, const struct docker *docker, const char *id, int in,
                   int out, int err)
{
	run(child, docker, DOCKER_START, id, (const int[]){in, out, err});
}

void docker_create(struct child *child, const struct docker *docker, const char *const *argv)
{
	start(child, docker, argv, false, (const int[]){-1, -1, -1});
}
