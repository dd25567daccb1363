/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_DATA_CONTAINERS_H
#define COFFERDAM_TESTS_DATA_CONTAINERS_H

#include <stdbool.h>
#include <string.h>

#include "../../ipc/frame_policy.h"

/*
 * What `docker container inspect --format '{{json .}}'` says of two containers
 * that were made with the argv of executor/gate.h, from an image that has an
 * Env, Labels, ExposedPorts, a StopSignal and a HEALTHCHECK of its own.  Paths
 * are shortened and GraphDriver is emptied; all else is as it came.
 */

/* CLI and engine 20.10.24; a turn, created and not yet started. */
static const char container_old[] =
	"{\"Id\":\"af7f763ba48cf32a597e34960369328c5251e92a7e4d9a6a4b18d6e13ada1cd2\","
	"\"Created\":\"2026-11-29T19:20:00.0Z\",\"Path\":\"/bin/sh\",\"Args\":[\"-c\","
	"\"id; cat\"],\"State\":{\"Status\":\"created\",\"Running\":false,\"Paused\":false,"
	"\"Restarting\":false,\"OOMKilled\":false,\"Dead\":false,\"Pid\":0,\"ExitCode\":0,"
	"\"Error\":\"\",\"StartedAt\":\"0001-01-01T00:00:00Z\","
	"\"FinishedAt\":\"0001-01-01T00:00:00Z\"},"
	"\"Image\":\"sha256:415cd9a2d3ded6f6aef12263a59b15e18ebff8eda1c417b61b7dbe939b498db3"
	"\",\"ResolvConfPath\":\"\",\"HostnamePath\":\"\",\"HostsPath\":\"\","
	"\"LogPath\":\"\",\"Name\":\"/cofferdam-1\",\"RestartCount\":0,\"Driver\":\"overlay2\","
	"\"Platform\":\"linux\",\"MountLabel\":\"\",\"ProcessLabel\":\"\","
	"\"AppArmorProfile\":\"\",\"ExecIDs\":null,\"HostConfig\":{\"Binds\":null,"
	"\"ContainerIDFile\":\"\",\"LogConfig\":{\"Type\":\"none\",\"Config\":{}},"
	"\"NetworkMode\":\"none\",\"PortBindings\":{},\"RestartPolicy\":{\"Name\":\"no\","
	"\"MaximumRetryCount\":0},\"AutoRemove\":false,\"VolumeDriver\":\"\","
	"\"VolumesFrom\":null,\"CapAdd\":null,\"CapDrop\":[\"ALL\"],"
	"\"CgroupnsMode\":\"private\",\"Dns\":[],\"DnsOptions\":[],\"DnsSearch\":[],"
	"\"ExtraHosts\":null,\"GroupAdd\":null,\"IpcMode\":\"private\",\"Cgroup\":\"\","
	"\"Links\":null,\"OomScoreAdj\":0,\"PidMode\":\"\",\"Privileged\":false,"
	"\"PublishAllPorts\":false,\"ReadonlyRootfs\":true,"
	"\"SecurityOpt\":[\"no-new-privileges:true\"],\"Tmpfs\":{\"/tmp\":\"rw,noexec,nosuid,"
	"nodev,size=67108864,mode=1777\"},\"UTSMode\":\"\",\"UsernsMode\":\"\","
	"\"ShmSize\":67108864,\"Runtime\":\"runc\",\"ConsoleSize\":[0,0],\"Isolation\":\"\","
	"\"CpuShares\":0,\"Memory\":536870912,\"NanoCpus\":1000000000,\"CgroupParent\":\"\","
	"\"BlkioWeight\":0,\"BlkioWeightDevice\":[],\"BlkioDeviceReadBps\":null,"
	"\"BlkioDeviceWriteBps\":null,\"BlkioDeviceReadIOps\":null,"
	"\"BlkioDeviceWriteIOps\":null,\"CpuPeriod\":0,\"CpuQuota\":0,"
	"\"CpuRealtimePeriod\":0,\"CpuRealtimeRuntime\":0,\"CpusetCpus\":\"\","
	"\"CpusetMems\":\"\",\"Devices\":[],\"DeviceCgroupRules\":null,"
	"\"DeviceRequests\":null,\"KernelMemory\":0,\"KernelMemoryTCP\":0,"
	"\"MemoryReservation\":0,\"MemorySwap\":536870912,\"MemorySwappiness\":null,"
	"\"OomKillDisable\":false,\"PidsLimit\":64,\"Ulimits\":[{\"Name\":\"fsize\","
	"\"Hard\":1048576,\"Soft\":1048576},{\"Name\":\"nofile\",\"Hard\":256,\"Soft\":256}],"
	"\"CpuCount\":0,\"CpuPercent\":0,\"IOMaximumIOps\":0,\"IOMaximumBandwidth\":0,"
	"\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/srv/broker\",\"Target\":\"/broker\","
	"\"ReadOnly\":true,\"BindOptions\":{\"Propagation\":\"rprivate\"}},"
	"{\"Type\":\"bind\",\"Source\":\"/srv/work\",\"Target\":\"/workspace\","
	"\"BindOptions\":{\"Propagation\":\"rprivate\"}}],\"MaskedPaths\":[\"/proc/asound\","
	"\"/proc/acpi\",\"/proc/kcore\",\"/proc/keys\",\"/proc/latency_stats\","
	"\"/proc/timer_list\",\"/proc/timer_stats\",\"/proc/sched_debug\",\"/proc/scsi\","
	"\"/sys/firmware\"],\"ReadonlyPaths\":[\"/proc/bus\",\"/proc/fs\",\"/proc/irq\","
	"\"/proc/sys\",\"/proc/sysrq-trigger\"],\"Init\":false},"
	"\"GraphDriver\":{\"Data\":null,\"Name\":\"overlay2\"},"
	"\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/srv/broker\","
	"\"Destination\":\"/broker\",\"Mode\":\"\",\"RW\":false,"
	"\"Propagation\":\"rprivate\"},{\"Type\":\"bind\",\"Source\":\"/srv/work\","
	"\"Destination\":\"/workspace\",\"Mode\":\"\",\"RW\":true,"
	"\"Propagation\":\"rprivate\"}],\"Config\":{\"Hostname\":\"af7f763ba48c\","
	"\"Domainname\":\"\",\"User\":\"1000:1000\",\"AttachStdin\":true,"
	"\"AttachStdout\":true,\"AttachStderr\":true,\"ExposedPorts\":{\"80/tcp\":{}},"
	"\"Tty\":false,\"OpenStdin\":true,\"StdinOnce\":true,\"Env\":[\"HOME=/tmp/home\","
	"\"A=b\",\"PATH=/bin:/usr/bin\",\"LANG=C\",\"NOEQ\"],\"Cmd\":[\"-c\",\"id; cat\"],"
	"\"Healthcheck\":{\"Test\":[\"NONE\"],\"Interval\":5000000000,\"Retries\":7},"
	"\"Image\":\"sha256:415cd9a2d3ded6f6aef12263a59b15e18ebff8eda1c417b61b7dbe939b498db3"
	"\",\"Volumes\":null,\"WorkingDir\":\"/workspace\",\"Entrypoint\":[\"/bin/sh\"],"
	"\"OnBuild\":null,\"Labels\":{\"a=b\":\"c\",\"dev.cofferdam.mode\":\"turn\","
	"\"dev.cofferdam.revision\":\"0\","
	"\"dev.cofferdam.roots\":\"[{\\\"path\\\":\\\"/srv/broker\\\","
	"\\\"mode\\\":\\\"ro\\\"},{\\\"path\\\":\\\"/srv/work\\\","
	"\\\"mode\\\":\\\"rw\\\"}]\","
	"\"dev.cofferdam.run\":\"00112233445566778899aabbccddeeff\","
	"\"dev.cofferdam.session\":\"\","
	"\"dev.cofferdam.state\":\"0123456789abcdef0123456789abcdef\","
	"\"org.x\":\"y\\n\\\"z\"},\"StopSignal\":\"SIGINT\"},"
	"\"NetworkSettings\":{\"Bridge\":\"\",\"SandboxID\":\"\",\"HairpinMode\":false,"
	"\"LinkLocalIPv6Address\":\"\",\"LinkLocalIPv6PrefixLen\":0,\"Ports\":{},"
	"\"SandboxKey\":\"\",\"SecondaryIPAddresses\":null,\"SecondaryIPv6Addresses\":null,"
	"\"EndpointID\":\"\",\"Gateway\":\"\",\"GlobalIPv6Address\":\"\","
	"\"GlobalIPv6PrefixLen\":0,\"IPAddress\":\"\",\"IPPrefixLen\":0,\"IPv6Gateway\":\"\","
	"\"MacAddress\":\"\",\"Networks\":{\"none\":{\"IPAMConfig\":null,\"Links\":null,"
	"\"Aliases\":null,\"NetworkID\":\"\",\"EndpointID\":\"\",\"Gateway\":\"\","
	"\"IPAddress\":\"\",\"IPPrefixLen\":0,\"IPv6Gateway\":\"\","
	"\"GlobalIPv6Address\":\"\",\"GlobalIPv6PrefixLen\":0,\"MacAddress\":\"\","
	"\"DriverOpts\":null}}}}";

/* CLI 28.2.2, engine 20.10.24; a session, running. */
static const char container_new[] =
	"{\"Id\":\"1070afbeb2be140563f7a215db30b6f65e61d8e2a399ecd9de44163f82e0e44d\","
	"\"Created\":\"2026-11-29T19:20:00.0Z\",\"Path\":\"/bin/sh\",\"Args\":[\"-c\","
	"\"cat\"],\"State\":{\"Status\":\"running\",\"Running\":true,\"Paused\":false,"
	"\"Restarting\":false,\"OOMKilled\":false,\"Dead\":false,\"Pid\":27718,"
	"\"ExitCode\":0,\"Error\":\"\",\"StartedAt\":\"2026-11-29T19:15:42.866124783Z\","
	"\"FinishedAt\":\"0001-01-01T00:00:00Z\"},"
	"\"Image\":\"sha256:415cd9a2d3ded6f6aef12263a59b15e18ebff8eda1c417b61b7dbe939b498db3"
	"\","
	"\"ResolvConfPath\":\"/var/lib/docker/data/containers/1070afbeb2be140563f7a215db30b6f"
	"65e61d8e2a399ecd9de44163f82e0e44d/resolv.conf\","
	"\"HostnamePath\":\"/var/lib/docker/data/containers/1070afbeb2be140563f7a215db30b6f65"
	"e61d8e2a399ecd9de44163f82e0e44d/hostname\","
	"\"HostsPath\":\"/var/lib/docker/data/containers/1070afbeb2be140563f7a215db30b6f65e61"
	"d8e2a399ecd9de44163f82e0e44d/hosts\",\"LogPath\":\"\",\"Name\":\"/cofferdam-1\","
	"\"RestartCount\":0,\"Driver\":\"overlay2\",\"Platform\":\"linux\","
	"\"MountLabel\":\"\",\"ProcessLabel\":\"\",\"AppArmorProfile\":\"\",\"ExecIDs\":null,"
	"\"HostConfig\":{\"Binds\":null,\"ContainerIDFile\":\"\","
	"\"LogConfig\":{\"Type\":\"none\",\"Config\":{}},\"NetworkMode\":\"none\","
	"\"PortBindings\":{},\"RestartPolicy\":{\"Name\":\"no\",\"MaximumRetryCount\":0},"
	"\"AutoRemove\":false,\"VolumeDriver\":\"\",\"VolumesFrom\":null,\"ConsoleSize\":[0,"
	"0],\"CapAdd\":null,\"CapDrop\":[\"ALL\"],\"CgroupnsMode\":\"private\",\"Dns\":[],"
	"\"DnsOptions\":[],\"DnsSearch\":[],\"ExtraHosts\":null,\"GroupAdd\":null,"
	"\"IpcMode\":\"private\",\"Cgroup\":\"\",\"Links\":null,\"OomScoreAdj\":0,"
	"\"PidMode\":\"\",\"Privileged\":false,\"PublishAllPorts\":false,"
	"\"ReadonlyRootfs\":true,\"SecurityOpt\":[\"no-new-privileges:true\"],"
	"\"Tmpfs\":{\"/tmp\":\"rw,noexec,nosuid,nodev,size=67108864,mode=1777\"},"
	"\"UTSMode\":\"\",\"UsernsMode\":\"\",\"ShmSize\":67108864,\"Runtime\":\"runc\","
	"\"Isolation\":\"\",\"CpuShares\":0,\"Memory\":536870912,\"NanoCpus\":1000000000,"
	"\"CgroupParent\":\"\",\"BlkioWeight\":0,\"BlkioWeightDevice\":[],"
	"\"BlkioDeviceReadBps\":[],\"BlkioDeviceWriteBps\":[],\"BlkioDeviceReadIOps\":[],"
	"\"BlkioDeviceWriteIOps\":[],\"CpuPeriod\":0,\"CpuQuota\":0,\"CpuRealtimePeriod\":0,"
	"\"CpuRealtimeRuntime\":0,\"CpusetCpus\":\"\",\"CpusetMems\":\"\",\"Devices\":[],"
	"\"DeviceCgroupRules\":null,\"DeviceRequests\":null,\"MemoryReservation\":0,"
	"\"MemorySwap\":536870912,\"MemorySwappiness\":null,\"OomKillDisable\":false,"
	"\"PidsLimit\":64,\"Ulimits\":[{\"Name\":\"fsize\",\"Hard\":1048576,"
	"\"Soft\":1048576},{\"Name\":\"nofile\",\"Hard\":256,\"Soft\":256}],\"CpuCount\":0,"
	"\"CpuPercent\":0,\"IOMaximumIOps\":0,\"IOMaximumBandwidth\":0,"
	"\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/srv/broker\",\"Target\":\"/broker\","
	"\"ReadOnly\":true,\"BindOptions\":{\"Propagation\":\"rprivate\"}},"
	"{\"Type\":\"bind\",\"Source\":\"/srv/work\",\"Target\":\"/workspace\","
	"\"BindOptions\":{\"Propagation\":\"rprivate\"}}],\"MaskedPaths\":[\"/proc/asound\","
	"\"/proc/acpi\",\"/proc/kcore\",\"/proc/keys\",\"/proc/latency_stats\","
	"\"/proc/timer_list\",\"/proc/timer_stats\",\"/proc/sched_debug\",\"/proc/scsi\","
	"\"/sys/firmware\"],\"ReadonlyPaths\":[\"/proc/bus\",\"/proc/fs\",\"/proc/irq\","
	"\"/proc/sys\",\"/proc/sysrq-trigger\"],\"Init\":true},"
	"\"GraphDriver\":{\"Data\":null,\"Name\":\"overlay2\"},"
	"\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/srv/broker\","
	"\"Destination\":\"/broker\",\"Mode\":\"\",\"RW\":false,"
	"\"Propagation\":\"rprivate\"},{\"Type\":\"bind\",\"Source\":\"/srv/work\","
	"\"Destination\":\"/workspace\",\"Mode\":\"\",\"RW\":true,"
	"\"Propagation\":\"rprivate\"}],\"Config\":{\"Hostname\":\"1070afbeb2be\","
	"\"Domainname\":\"\",\"User\":\"1000:1000\",\"AttachStdin\":true,"
	"\"AttachStdout\":true,\"AttachStderr\":true,\"ExposedPorts\":{\"80/tcp\":{}},"
	"\"Tty\":false,\"OpenStdin\":true,\"StdinOnce\":true,\"Env\":[\"HOME=/tmp/home\","
	"\"A=b\",\"PATH=/bin:/usr/bin\",\"LANG=C\",\"NOEQ\"],\"Cmd\":[\"-c\",\"cat\"],"
	"\"Healthcheck\":{\"Test\":[\"NONE\"],\"Interval\":5000000000,\"Retries\":7},"
	"\"Image\":\"sha256:415cd9a2d3ded6f6aef12263a59b15e18ebff8eda1c417b61b7dbe939b498db3"
	"\",\"Volumes\":null,\"WorkingDir\":\"/workspace\",\"Entrypoint\":[\"/bin/sh\"],"
	"\"OnBuild\":null,\"Labels\":{\"a=b\":\"c\",\"dev.cofferdam.mode\":\"session\","
	"\"dev.cofferdam.revision\":\"0\","
	"\"dev.cofferdam.roots\":\"[{\\\"path\\\":\\\"/srv/broker\\\","
	"\\\"mode\\\":\\\"ro\\\"},{\\\"path\\\":\\\"/srv/work\\\","
	"\\\"mode\\\":\\\"rw\\\"}]\","
	"\"dev.cofferdam.run\":\"00112233445566778899aabbccddeeff\","
	"\"dev.cofferdam.session\":\"k\","
	"\"dev.cofferdam.state\":\"0123456789abcdef0123456789abcdef\","
	"\"org.x\":\"y\\n\\\"z\"},\"StopSignal\":\"SIGINT\"},"
	"\"NetworkSettings\":{\"Bridge\":\"\","
	"\"SandboxID\":\"16cad7a4e725b29571251c151321581849fbafc25140e6bc7506b8e0ee1d73d3\","
	"\"SandboxKey\":\"/var/lib/docker/exec/netns/16cad7a4e725\",\"Ports\":{},"
	"\"HairpinMode\":false,\"LinkLocalIPv6Address\":\"\",\"LinkLocalIPv6PrefixLen\":0,"
	"\"SecondaryIPAddresses\":null,\"SecondaryIPv6Addresses\":null,\"EndpointID\":\"\","
	"\"Gateway\":\"\",\"GlobalIPv6Address\":\"\",\"GlobalIPv6PrefixLen\":0,"
	"\"IPAddress\":\"\",\"IPPrefixLen\":0,\"IPv6Gateway\":\"\",\"MacAddress\":\"\","
	"\"Networks\":{\"none\":{\"IPAMConfig\":null,\"Links\":null,\"Aliases\":null,"
	"\"MacAddress\":\"\",\"DriverOpts\":null,\"GwPriority\":0,"
	"\"NetworkID\":\"ccfced5fb5107b9bbad96a5c7fe06065265d2724d3113b81f1931c7f5c84395b\","
	"\"EndpointID\":\"d53f8d62d64f74f33aceda85ba43059833d6afaa2b999370f4d53a5146c80c06\","
	"\"Gateway\":\"\",\"IPAddress\":\"\",\"IPPrefixLen\":0,\"IPv6Gateway\":\"\","
	"\"GlobalIPv6Address\":\"\",\"GlobalIPv6PrefixLen\":0,\"DNSNames\":null}}}}";

/* The plan of container_old, or of container_new. */
static inline void container_plan(struct launch *plan, bool session)
{
	static const uint8_t nonce[NONCE_BYTES] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
	                                           0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

	memset(plan, 0, sizeof(*plan));
	memcpy(plan->nonce, nonce, sizeof(nonce));
	plan->mode = session ? MODE_SESSION : MODE_TURN;
	plan->uid = 1000;
	plan->gid = 1000;
	plan->init = session;
	plan->state_id = "0123456789abcdef0123456789abcdef";
	plan->name = "cofferdam-1";
	plan->endpoint = "unix:///run/docker.sock";
	plan->session = session ? "k" : "";
	plan->image_id = "sha256:415cd9a2d3ded6f6aef12263a59b15e18ebff8eda1c417b61b7dbe939b498db3";
	plan->workdir = "/workspace";
	plan->entrypoint = "/bin/sh";
	plan->roots_label = "[{\"path\":\"/srv/broker\",\"mode\":\"ro\"},"
	                   "{\"path\":\"/srv/work\",\"mode\":\"rw\"}]";
	plan->limits.memory_bytes = 536870912;
	plan->limits.nano_cpus = 1000000000;
	plan->limits.tmpfs_bytes = 67108864;
	plan->limits.shm_bytes = 67108864;
	plan->limits.file_bytes = 1048576;
	plan->limits.pids = 64;
	plan->limits.nofile = 256;
	plan->root_count = 2;
	plan->root[0] = (struct root){ .path = "/srv/broker", .guest = "/broker", .read_only = true };
	plan->root[1] = (struct root){ .path = "/srv/work", .guest = "/workspace" };
	plan->env_count = 2;
	plan->env[0] = "HOME=/tmp/home";
	plan->env[1] = "A=b";
	plan->command.at[0] = "-c";
	plan->command.at[1] = session ? "cat" : "id; cat";
	plan->command.count = 2;
	plan->image_env.at[0] = "PATH=/bin:/usr/bin";
	plan->image_env.at[1] = "LANG=C";
	plan->image_env.at[2] = "NOEQ";
	plan->image_env.count = 3;
	plan->image_labels.at[0] = "a=b=c";
	plan->image_labels.at[1] = "org.x=y\n\"z";
	plan->image_labels.count = 2;
}

#endif
