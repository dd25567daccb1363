/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_REASON_H
#define COFFERDAM_EXECUTOR_REASON_H

/*
 * Every reason that the executor itself can give, one row each:
 * X(enum, code, "reason", exit status, "sentence", "hint"), as in
 * policy/reason.h; `cofferdam-policy explain` includes this table too.  Rows
 * are added, never renamed or renumbered.
 */

/* clang-format off */
#define EXECUTOR_REASONS(X) \
X(USAGE, "USAGE", "usage", 64, "the command line is not understood", "see cofferdam --help") \
X(ROOT, "SANDBOX_POLICY", "executor.root", 77, "cofferdam does not run as root", "run it as a user who may use docker") \
X(PRIVILEGED, "SANDBOX_POLICY", "executor.privileged", 77, "cofferdam does not run setuid, setgid or with file capabilities", "run the plain binary") \
X(START, "SANDBOX_PROTOCOL", "executor.start", 70, "the process could not set itself up", "see the errno named") \
X(CONFIG_OPEN, "SANDBOX_CONFIG", "config.open", 66, "the config file cannot be opened", "name it with -c FILE") \
X(CONFIG_UNSAFE, "SANDBOX_CONFIG", "config.unsafe", 78, "the config is not a regular file of root's or yours, or others may write it", "mend its owner and mode") \
X(TURN_OPEN, "SANDBOX_TURN", "turn.open", 66, "the turn file cannot be opened", "name a readable file with -t FILE, or use standard input") \
X(AUDIT_OPEN, "SANDBOX_POLICY", "audit.open", 66, "the audit file cannot be opened for appending, or is not a file of root's or yours alone", "name it without symbolic links, and mend its owner and mode") \
X(AUDIT_EVENT, "SANDBOX_POLICY", "audit.event", 77, "an event cannot be written to the audit file", "mend the audit file, or set audit.required to false") \
X(WORKER_LOG, "SANDBOX_POLICY", "worker_stderr.open", 66, "the file for the worker's standard error cannot be opened for writing, or is not a file of root's or yours alone", "name it without symbolic links, and mend its owner and mode") \
X(DOCKER_UNSAFE, "SANDBOX_POLICY", "docker.unsafe", 77, "somebody other than root could replace the docker program or a directory above it", "install docker in a root-owned directory, and name it with --docker") \
X(DOCKER_MISSING, "SANDBOX_UNAVAILABLE", "docker.missing", 69, "the docker program cannot be found", "install docker.io, or name it with --docker") \
X(ENDPOINT, "SANDBOX_ENDPOINT", "endpoint.grammar", 77, "the docker endpoint is not unix:// and a canonical absolute path of at most 107 bytes", "name it with --host, as in unix:///var/run/docker.sock") \
X(POLICY_UNSAFE, "SANDBOX_POLICY", "policy.unsafe", 77, "cofferdam-policy beside the executor is missing, or somebody other than root or you could replace it", "reinstall cofferdam") \
X(STATE_UNSAFE, "SANDBOX_POLICY", "state.unsafe", 77, "the state directory is not a private directory of yours on a local file system", "name one with --state-dir") \
X(LOCK_HELD, "SANDBOX_BUSY", "lock.held", 75, "another launch holds the lock", "try again, or raise limits.lockSeconds") \
X(LOCK_CHANGED, "SANDBOX_PROTOCOL", "lock.changed", 70, "the lock or claim file was replaced while it was held", "find out who changes the state directory") \
X(CLAIM, "SANDBOX_PROTOCOL", "claim.failed", 70, "the run's claim cannot be written, or claims not be read", "look at the disk and the state directory") \
X(POLICY_CRASHED, "SANDBOX_PROTOCOL", "policy.crashed", 70, "a policy process ended in a way that it never should", "report it with the document that did it") \
X(POLICY_PROTOCOL, "SANDBOX_PROTOCOL", "policy.protocol", 70, "a policy process broke the protocol", "use both programs of one build") \
X(POLICY_DEADLINE, "SANDBOX_TIMEOUT", "policy.deadline", 124, "a policy process did not end in time", "send the whole input at once") \
X(GATE, "SANDBOX_PROTOCOL", "gate.refused", 70, "the frozen argv is not one that isolates", "report it: policy and executor disagree") \
X(TURN_SIZE, "SANDBOX_TURN", "turn.size", 65, "the canonical turn is larger than limits.turnBytes", "send a smaller turn, or raise the limit") \
X(DOCKER_CREATE, "SANDBOX_UNAVAILABLE", "docker.create", 69, "docker did not create the container", "read what docker says") \
X(DOCKER_WARNING, "SANDBOX_POLICY", "docker.warning", 77, "docker created the container with a warning", "mend what docker warns of: a limit may not hold") \
X(DOCKER_FAILED, "SANDBOX_UNAVAILABLE", "docker.failed", 69, "a docker command failed", "read what docker says, and check the engine") \
X(DOCKER_DEADLINE, "SANDBOX_UNAVAILABLE", "docker.deadline", 69, "docker did not answer in time", "check the engine, or raise limits.controlSeconds") \
X(IDENTITY, "SANDBOX_MOUNT_IDENTITY", "mount.changed", 77, "a mount's source is no longer the directory that was checked", "find out who replaced it, then try again") \
X(TURN_DEADLINE, "SANDBOX_TIMEOUT", "turn.deadline", 124, "the worker did not end within limits.turnSeconds", "raise the limit, or ask for less") \
X(WORKER_EXIT, "SANDBOX_WORKER", "worker.exit", 1, "the worker failed", "see its exit status") \
X(WORKER_NEVER_RAN, "SANDBOX_UNAVAILABLE", "worker.never_ran", 69, "the worker never ran", "read what docker says: is the entrypoint in the image?") \
X(WORKER_VANISHED, "SANDBOX_WORKER", "worker.vanished", 1, "somebody else removed or restarted the container", "find out who; cofferdam did not") \
X(NO_RUN, "SANDBOX_WORKER", "run.unknown", 1, "this state directory has no container of that run or session", "see cofferdam ps") \
X(WORKER_STDERR, "SANDBOX_WORKER", "worker.stderr", 1, "the worker wrote too much to its standard error", "let it write less") \
X(SIGNALLED, "SANDBOX_ABORTED", "signal", 128, "a signal ended the run", "the container is removed first") \
X(OUTPUT, "SANDBOX_PROTOCOL", "output.write", 70, "what belongs on standard output cannot be written", "check what it is connected to") \
X(LANDLOCK, "SANDBOX_UNAVAILABLE", "confine.landlock", 69, "the kernel has no Landlock, and the config requires it", "boot a kernel of 5.13 or later with Landlock (lsm=landlock,...), or set confinement to \"best-effort\"") \
X(ENDPOINT_SOCKET, "SANDBOX_UNAVAILABLE", "endpoint.socket", 69, "there is no socket at the docker endpoint", "start the docker engine, or name its socket with --host") \
X(ENDPOINT_OWNER, "SANDBOX_ENDPOINT", "endpoint.owner", 77, "the docker socket is not root's or yours, or everybody may write to it", "mend the socket's owner and mode: root, the docker group, 0660") \
X(ENDPOINT_ANCESTOR, "SANDBOX_ENDPOINT", "endpoint.ancestor", 77, "another user could replace the docker socket or a directory on the way to it", "let root or you own every directory above it, and nobody else write there unless it is sticky") \
X(ENDPOINT_FOREIGN, "SANDBOX_ENDPOINT", "endpoint.desktop", 77, "this is Docker Desktop's or snap's engine, which sees another file system", "use a native docker engine: apt install docker.io, or docker-ce") \
X(ENDPOINT_DENIED, "SANDBOX_UNAVAILABLE", "endpoint.denied", 69, "you may not use the docker socket", "have an administrator add you to its group, and log in again") \
X(DOCKER_OLD, "SANDBOX_UNAVAILABLE", "docker.old", 69, "the docker program is older than its engine", "install a docker program that speaks the engine's API version, and name it with --docker") \
X(ENGINE_SECCOMP, "SANDBOX_POLICY", "engine.seccomp", 77, "the engine filters no system calls of its containers", "let the engine use its own seccomp profile: no seccomp-profile in daemon.json, a kernel with CONFIG_SECCOMP_FILTER") \
X(IMAGE_GRAMMAR, "SANDBOX_POLICY", "image.grammar", 77, "the image reference does not fit the grammar of Docker's references", "use name[:tag][@digest], or sha256: and 64 hex digits") \
X(IMAGE_ABSENT, "SANDBOX_UNAVAILABLE", "image.absent", 69, "docker does not have this image", "docker image pull or load it first; cofferdam never pulls") \
X(IMAGE_OS, "SANDBOX_POLICY", "image.os", 77, "the image is not a Linux image", "use a Linux image") \
X(IMAGE_VOLUME, "SANDBOX_POLICY", "image.volume", 77, "the image declares a VOLUME, which would be writable and without a limit", "build the image without VOLUME") \
X(RESIDUAL, "REVOKE_INCOMPLETE", "remove.unconfirmed", 80, "the container could not be confirmed gone", "remove it by hand: docker container rm --force --volumes")
/* clang-format on */

enum executor_reason {
	WHY_NONE = 0,
#define X(name, code, text, status, sentence, hint) WHY_##name,
	EXECUTOR_REASONS(X)
#undef X
	        WHY_COUNT
};

#endif
