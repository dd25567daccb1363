/* SPDX-License-Identifier: ISC */
#include "engine.h"

#include <stdint.h>
#include <string.h>

#include "holes.h"

const char engine_version_format[] =
	"{{.Client.Version}}\n{{.Client.DefaultAPIVersion}}\n"
	"{{with .Server}}{{.Version}}\n{{.APIVersion}}\n"
	"{{range .Components}}{{.Name}} {{end}}{{end}}";
const char engine_info_format[] =
	"{{.OSType}}, {{.OperatingSystem}}\n{{.DockerRootDir}}\n"
	"{{range .SecurityOptions}}{{.}} {{end}}\nversion {{.CgroupVersion}}, {{.CgroupDriver}}\n"
	"MemoryLimit={{.MemoryLimit}}\nSwapLimit={{.SwapLimit}}\n"
	"CpuCfsQuota={{and .CPUCfsQuota .CPUCfsPeriod}}\nPidsLimit={{.PidsLimit}}\n"
	"{{range .Warnings}}{{.}} {{else}}none{{end}}";
const char engine_image_format[] =
	"{{.Id}}\n{{.Os}}\n{{with .Config}}{{if .Volumes}}VOLUME{{end}}{{end}}";

#define MAPPED "mounts must suit the ids that the engine maps a worker's to"
#define DELEGATE "; for a rootless engine, delegate this cgroup controller to its user"

static const struct engine_rule rules[] = {
	{"kind", ENGINE_SYSTEM, false, "linux, ", WHY_ENDPOINT_FOREIGN, "", NULL},
	{"kind", ENGINE_SYSTEM, true, "Docker Desktop", WHY_ENDPOINT_FOREIGN, "", NULL},
	{"kind", ENGINE_ROOT, true, "/snap/", WHY_ENDPOINT_FOREIGN, "", NULL},
	{"kind", ENGINE_PARTS, true, "Podman", WHY_NONE, "podman, not tried: ", "use Docker's engine"},
	{"kind", ENGINE_PARTS, false, "Engine ", WHY_NONE, "not Docker's, not tried: ",
	 "use Docker's engine"},
	{"kind", ENGINE_SECURITY, true, "name=rootless", WHY_NONE,
	 "rootless, not tried: a worker's ids are subordinate ids of the engine's user: ", MAPPED},
	{"kind", ENGINE_SECURITY, true, "name=userns", WHY_NONE,
	 "userns-remap, not tried: a worker's ids are subordinate ids: ", MAPPED},
	{"seccomp", ENGINE_SECURITY, false, "name=seccomp", WHY_ENGINE_SECCOMP, "", NULL},
	{"seccomp", ENGINE_SECURITY, true, ",profile=unconfined ", WHY_ENGINE_SECCOMP, "", NULL},
	{"lsm", ENGINE_SECURITY, true, "name=apparmor", WHY_NONE, "", NULL},
	{"lsm", ENGINE_SECURITY, true, "name=selinux", WHY_NONE, "", NULL},
	{"lsm", ENGINE_SECURITY, true, "", WHY_NONE, "the engine uses neither AppArmor nor SELinux: ",
	 "install apparmor, and boot with it: lsm=...,apparmor"},
	{"cgroup", ENGINE_CGROUP, true, ", none", WHY_DOCKER_WARNING, "",
	 "use cgroup v2 with systemd, and delegate its controllers to the engine's user"},
	{"memory", ENGINE_MEMORY, false, "=true", WHY_DOCKER_WARNING, "",
	 "boot with cgroup_enable=memory" DELEGATE},
	{"swap", ENGINE_SWAP, false, "=true", WHY_DOCKER_WARNING, "",
	 "boot with swapaccount=1" DELEGATE},
	{"cpu", ENGINE_CPU, false, "=true", WHY_DOCKER_WARNING, "",
	 "boot a kernel with CONFIG_CFS_BANDWIDTH" DELEGATE},
	{"pids", ENGINE_PIDS, false, "=true", WHY_DOCKER_WARNING, "",
	 "boot a kernel with CONFIG_CGROUP_PIDS" DELEGATE},
	{"warnings", ENGINE_WARNINGS, true, " ", WHY_NONE, "the engine warns: ", "mend what it names"},
};

const struct engine_rule *engine_judge(const char *check, const char *const *line)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (strcmp(rules[i].check, check) == 0 &&
		    (strstr(line[rules[i].line], rules[i].part) != NULL) == rules[i].has)
			return &rules[i];
	return NULL;
}

bool engine_lines(char *text, const char **line, size_t count)
{
	size_t missing = count - 1, len;

	for (const char *at = text; missing > 0 && (at = strchr(at, '\n')) != NULL; at++)
		missing--;
	if (missing > 0)
		return false;
	for (size_t i = 0; i + 1 < count; i++) {
		line[i] = text;
		text += strcspn(text, "\n");
		*text++ = '\0';
	}
	len = strlen(text);
	if (len > 0 && text[len - 1] == '\n')
		text[len - 1] = '\0';
	line[count - 1] = text;
	return true;
}

static bool read_version(const char *text, uint64_t *out)
{
	struct hole hole = {text, 0, true};
	uint64_t major = holes_number(&hole, 0, 9999), minor;

	holes_byte(&hole, '.');
	minor = holes_number(&hole, 0, 9999);
	*out = major * 10000 + minor;
	return holes_end(&hole);
}

bool engine_compare(const char *client, const char *engine, int *order)
{
	uint64_t mine, its;

	if (!read_version(client, &mine) || !read_version(engine, &its))
		return false;
	*order = (mine > its) - (mine < its);
	return true;
}
