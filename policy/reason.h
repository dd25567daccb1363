/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_REASON_H
#define COFFERDAM_POLICY_REASON_H

/*
 * Every reason that cofferdam-policy can give, one row each:
 * X(enum, code, "reason", exit status, "sentence", "hint").
 *
 * A reason is a stable name: rows are added, never renamed or renumbered.  A
 * row of CODE_DOCUMENT takes code and exit status from the document that it
 * was found in (policy/report.h).  sentence: what is wrong, no final stop.
 * hint: the way out, an imperative.  The executor's own rows stand in
 * executor/reason.h; `cofferdam-policy explain` knows both.
 */

enum code {
	CODE_NONE = 0,
	CODE_CONFIG,
	CODE_TURN,
	CODE_REPLY,
	CODE_POLICY,
	CODE_MOUNT_OVERLAP,
	CODE_MOUNT_IDENTITY,
	CODE_ENDPOINT,
	CODE_LIMIT,
	CODE_UNAVAILABLE,
	CODE_BUSY,
	CODE_WORKER,
	CODE_TIMEOUT,
	CODE_ABORTED,
	CODE_PROTOCOL,
	CODE_REVOKE_INCOMPLETE,
	CODE_DOCUMENT, /* the document's own code */
	CODE_COUNT
};

/* clang-format off */
#define POLICY_REASONS(X) \
X(JSON_EMPTY, CODE_DOCUMENT, "json.empty", 0, "the document is empty", "send one JSON value") \
X(JSON_TOO_LARGE, CODE_DOCUMENT, "json.too_large", 0, "the document has more bytes than the limit", "send a smaller document, or raise the limit") \
X(JSON_TOO_DEEP, CODE_DOCUMENT, "json.too_deep", 0, "the document is nested more than 256 levels deep", "flatten it") \
X(JSON_TOO_MANY, CODE_DOCUMENT, "json.too_many_values", 0, "the document has more values than the limit", "send a smaller document") \
X(JSON_BOM, CODE_DOCUMENT, "json.bom", 0, "the document begins with a byte order mark", "save it as UTF-8 without a BOM") \
X(JSON_UTF8, CODE_DOCUMENT, "json.utf8", 0, "a byte sequence is not valid UTF-8", "encode the document as UTF-8") \
X(JSON_CONTROL, CODE_DOCUMENT, "json.control", 0, "a raw control character stands where RFC 8259 allows none", "write it as an escape inside a string") \
X(JSON_SYNTAX, CODE_DOCUMENT, "json.syntax", 0, "the text is not JSON here", "mend it as RFC 8259 says") \
X(JSON_NUMBER, CODE_DOCUMENT, "json.number", 0, "a number is not written as RFC 8259 says", "use no leading zero, plus sign or bare point") \
X(JSON_ESCAPE, CODE_DOCUMENT, "json.escape", 0, "an escape in a string is not one of RFC 8259's", "use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and four hex digits") \
X(JSON_SURROGATE, CODE_DOCUMENT, "json.surrogate", 0, "an escaped surrogate stands alone", "write both halves of the pair") \
X(JSON_TRAILING, CODE_DOCUMENT, "json.trailing", 0, "text follows the end of the document", "send one document only") \
X(JSON_TRUNCATED, CODE_DOCUMENT, "json.truncated", 0, "the document ends too early", "send the whole document") \
X(JSON_DUPLICATE_KEY, CODE_DOCUMENT, "json.duplicate_key", 0, "an object has the same key twice", "keep one of the two") \
X(SHAPE_TYPE, CODE_DOCUMENT, "shape.type", 0, "a value has the wrong type", "see `cofferdam-policy schema`") \
X(SHAPE_MISSING, CODE_DOCUMENT, "shape.missing", 0, "a required key is missing", "add it; see `cofferdam-policy schema`") \
X(SHAPE_UNKNOWN_KEY, CODE_DOCUMENT, "shape.unknown_key", 0, "a key is not known here", "remove it, or mend its spelling") \
X(SHAPE_VALUE, CODE_DOCUMENT, "shape.value", 0, "a value is not one of those allowed here", "see `cofferdam-policy schema`") \
X(SHAPE_COUNT, CODE_DOCUMENT, "shape.count", 0, "an array has too many or too few items", "see `cofferdam-policy schema`") \
X(SHAPE_LENGTH, CODE_DOCUMENT, "shape.length", 0, "a text is too long or too short", "see `cofferdam-policy schema`") \
X(SHAPE_NAME, CODE_DOCUMENT, "shape.name", 0, "a name does not fit its grammar", "see `cofferdam-policy schema`") \
X(SHAPE_NUL, CODE_DOCUMENT, "shape.nul", 0, "a text holds a NUL character, which no path or argument can", "remove it") \
X(SHAPE_DUPLICATE, CODE_DOCUMENT, "shape.duplicate", 0, "two items have the same name", "rename one") \
X(SCHEMA_REMOTE, CODE_DOCUMENT, "schema.remote", 0, "a tool's schema refers to something outside itself", "use a reference that begins with #") \
X(CONFIG_VERSION, CODE_CONFIG, "config.version", 78, "this version of the config is not known", "write \"version\": 1") \
X(CONFIG_MODE, CODE_CONFIG, "config.mode", 78, "the config's mode is not the command's", "use `cofferdam run` for \"turn\", `cofferdam session` for \"session\"") \
X(CONFIG_FILE, CODE_CONFIG, "config.file", 78, "the config file cannot be used", "make it a regular file of root's or yours that nobody else may write") \
X(LIMIT_RANGE, CODE_LIMIT, "limit.range", 77, "a limit is outside its bounds", "choose a value inside them") \
X(LIMIT_NUMBER, CODE_LIMIT, "limit.number", 77, "a limit is not a plain decimal number", "write digits only (cpus may have a fraction)") \
X(USER_ROOT, CODE_POLICY, "user.root", 77, "the worker would run as root", "name a uid and a gid of 1 to 2147483647, or run as another user") \
X(USER_RANGE, CODE_POLICY, "user.range", 77, "a uid or gid is outside 1 to 2147483647", "choose one inside") \
X(NAME_GRAMMAR, CODE_POLICY, "name.grammar", 77, "the container's name does not fit its grammar", "use [a-z0-9][a-z0-9_.-]{0,90}") \
X(SESSION_KEY, CODE_POLICY, "session.key", 77, "the session key does not fit its grammar", "use 1 to 128 printable ASCII characters other than comma, quote and backslash") \
X(ENVIRONMENT_NAME, CODE_POLICY, "environment.name", 77, "an environment name does not fit its grammar", "use [A-Za-z_][A-Za-z0-9_]*, and not HOME") \
X(ENVIRONMENT_VALUE, CODE_POLICY, "environment.value", 77, "an environment value holds a control character", "remove it") \
X(COMMAND_WORD, CODE_POLICY, "command.word", 77, "an entrypoint or command word cannot be used", "use a text without control characters; the entrypoint may not be empty or begin with -") \
X(WORKDIR_PATH, CODE_POLICY, "workdir.path", 77, "the working directory is not a plain absolute path outside /proc, /sys and /dev", "set \"workdir\"") \
X(RUNTIME_NAME, CODE_POLICY, "runtime.name", 77, "the runtime's name does not fit its grammar", "use [a-z0-9][a-z0-9_.-]{0,63}") \
X(IMAGE_GRAMMAR, CODE_POLICY, "image.grammar", 77, "the image reference does not fit the grammar of Docker's references", "use name[:tag][@digest], or sha256: and 64 hex digits") \
X(IMAGE_ABSENT, CODE_UNAVAILABLE, "image.absent", 69, "docker does not have this image", "pull or load it first; cofferdam never pulls") \
X(IMAGE_ANSWER, CODE_UNAVAILABLE, "image.answer", 69, "docker's description of the image cannot be used", "check that docker image inspect works for it") \
X(IMAGE_ID, CODE_POLICY, "image.id", 77, "the image is not the one that imageId pins", "pull the pinned image, or update imageId") \
X(IMAGE_OS, CODE_POLICY, "image.os", 77, "the image is not a Linux image", "use a Linux image") \
X(IMAGE_VOLUME, CODE_POLICY, "image.volume", 77, "the image declares a VOLUME, which would be writable and without a limit", "build the image without VOLUME") \
X(IMAGE_COMMAND, CODE_POLICY, "image.command", 77, "neither the config nor the image says what to run", "set \"entrypoint\"") \
X(MOUNT_RELATIVE, CODE_POLICY, "mount.relative", 77, "a mount's host path is not absolute", "begin it with /") \
X(MOUNT_CHARACTER, CODE_POLICY, "mount.character", 77, "a path holds a control byte, a comma, a double quote or invalid UTF-8", "rename the directory") \
X(MOUNT_TOO_LONG, CODE_POLICY, "mount.too_long", 77, "a path is too long", "use a shorter one") \
X(MOUNT_ROOT, CODE_POLICY, "mount.root", 77, "the root directory cannot be mounted", "mount a dedicated directory") \
X(MOUNT_MISSING, CODE_POLICY, "mount.missing", 77, "a mount's host path does not exist or cannot be examined", "create it, or mend its permissions") \
X(MOUNT_TYPE, CODE_POLICY, "mount.type", 77, "a mount's host path is not a directory", "name a directory") \
X(MOUNT_GUEST, CODE_POLICY, "mount.guest", 77, "a mount's guest path is not one of those that this mode allows", "turn: /broker ro and /workspace rw; session: /workspace and /grants/<64 hex digits>") \
X(MOUNT_GUEST_TWICE, CODE_POLICY, "mount.guest_twice", 77, "two mounts have the same guest path", "remove one") \
X(MOUNT_MODE, CODE_POLICY, "mount.mode", 77, "a mount's mode is not the one that this guest path must have", "turn: /broker is ro, /workspace is rw") \
X(MOUNT_ANCESTOR, CODE_POLICY, "mount.ancestor", 77, "another user could replace a directory on the way to a path", "let root or you own every directory above it, and nobody else write there unless it is sticky") \
X(MOUNT_SYSTEM, CODE_POLICY, "mount.system", 77, "a mount holds or lies in a system directory", "mount a dedicated directory") \
X(MOUNT_OVERLAP, CODE_MOUNT_OVERLAP, "mount.overlap", 77, "two mounts are the same directory or one lies inside the other", "use separate directories") \
X(MOUNT_ALIAS, CODE_MOUNT_OVERLAP, "mount.alias", 77, "two mounts reach the same part of one file system by different paths", "use separate directories") \
X(MOUNT_PROTECTED, CODE_MOUNT_OVERLAP, "mount.protected", 77, "a mount holds or lies in a path that must stay outside", "mount a dedicated directory") \
X(MOUNT_SUBMOUNT, CODE_POLICY, "mount.submount", 77, "a mount's source has another file system mounted inside it", "unmount it, or name another directory") \
X(MOUNT_INFO, CODE_POLICY, "mount.mountinfo", 77, "the mount table cannot be read", "make /proc/self/mountinfo readable") \
X(PRIVATE_EXAMINE, CODE_POLICY, "private.examine", 77, "a private path cannot be examined, so nothing can be said of it", "mend its permissions, or name a path that you may examine") \
X(PRIVATE_PATH, CODE_POLICY, "private.path", 77, "a private path is not an absolute path", "begin it with /") \
X(BUNDLE_FILE, CODE_POLICY, "bundle.file", 77, "the bundle is not a regular file with one link", "name a regular file that has no other hard link") \
X(BUNDLE_GUEST, CODE_POLICY, "bundle.guest", 77, "the bundle's guest path is not allowed", "use an absolute path outside /proc, /sys, /dev, /tmp and every mount") \
X(MOUNT_CHANGED, CODE_MOUNT_IDENTITY, "mount.changed", 77, "a mount's source is no longer the directory that was checked", "find out who replaced it, then try again") \
X(MOUNT_IN_USE, CODE_BUSY, "mount.in_use", 75, "another managed container holds one of the mounts", "wait for it to end, or stop it") \
X(MANAGED_OVERLAP, CODE_MOUNT_OVERLAP, "managed.overlap", 77, "a mount holds or lies in a mount of another managed container", "use separate directories") \
X(MANAGED_UNKNOWN, CODE_UNAVAILABLE, "managed.unknown", 69, "a managed container's description cannot be understood", "inspect it, and remove it if it is not needed") \
X(LIVE_LIMIT, CODE_BUSY, "live.limit", 75, "as many managed containers exist as limits.live allows", "wait for one to end, or raise the limit") \
X(ENDPOINT_SCHEME, CODE_ENDPOINT, "endpoint.scheme", 77, "the docker endpoint is not unix:// and an absolute path", "use a local socket, as in unix:///var/run/docker.sock") \
X(ENDPOINT_PATH, CODE_ENDPOINT, "endpoint.path", 77, "the docker endpoint's path cannot be used", "use a plain absolute path of at most 107 bytes") \
X(ENDPOINT_SOCKET, CODE_UNAVAILABLE, "endpoint.socket", 69, "there is no socket at the docker endpoint", "start the docker engine, or name its socket in docker.host") \
X(ENDPOINT_OWNER, CODE_ENDPOINT, "endpoint.owner", 77, "the docker socket is not root's or yours, or everybody may write to it", "mend the socket's owner and mode") \
X(ENDPOINT_ANCESTOR, CODE_ENDPOINT, "endpoint.ancestor", 77, "another user could replace the docker socket or a directory on the way to it", "let root or you own every directory above it, and nobody else write there unless it is sticky") \
X(ENDPOINT_INSIDE, CODE_ENDPOINT, "endpoint.inside", 77, "the docker socket lies inside a mount", "mount another directory") \
X(ENDPOINT_DESKTOP, CODE_ENDPOINT, "endpoint.desktop", 77, "this is Docker Desktop's or snap's socket, whose engine sees another file system", "use a native docker engine") \
X(CONTEXT_ANSWER, CODE_UNAVAILABLE, "context.answer", 69, "docker's current context cannot be read", "set docker.host in the config") \
X(VERIFY_ANSWER, CODE_UNAVAILABLE, "verify.answer", 69, "docker's description of the container cannot be used", "check that docker container inspect works") \
X(VERIFY_DIFFERS, CODE_POLICY, "verify.differs", 77, "docker made something else than it was asked for", "see the member named; the engine's own settings may override it") \
X(PLAN_TOO_LARGE, CODE_LIMIT, "plan.too_large", 77, "the whole launch does not fit into its frame", "use fewer or shorter mounts, environment entries and command words") \
X(AUDIT_WRITE, CODE_POLICY, "audit.write", 77, "the audit record cannot be written", "mend the audit file, or set audit.required to false") \
X(AUDIT_ABSENT, CODE_POLICY, "audit.absent", 77, "the config requires an audit record, and no audit file was given", "give --audit FILE") \
X(CONFINE_LANDLOCK, CODE_UNAVAILABLE, "confine.landlock", 69, "the kernel has no Landlock, and the config requires it", "boot with Landlock, or set confinement to \"best-effort\"") \
X(CONFINE_FAILED, CODE_PROTOCOL, "confine.failed", 70, "the process could not confine itself", "run `cofferdam doctor`") \
X(CONFINE_SYSCALL, CODE_PROTOCOL, "confine.syscall", 70, "a system call outside the allow-list was made", "report it with the number") \
X(PROTOCOL_FRAME, CODE_PROTOCOL, "protocol.frame", 70, "a message of the executor cannot be understood", "use both programs of one build") \
X(INPUT_READ, CODE_DOCUMENT, "input.read", 66, "the input cannot be read", "check what it is connected to") \
X(OUTPUT_WRITE, CODE_PROTOCOL, "output.write", 70, "the output cannot be written", "check what it is connected to")
/* clang-format on */

enum reason {
	REASON_NONE = 0,
#define X(name, code, text, status, sentence, hint) REASON_##name,
	POLICY_REASONS(X)
#undef X
	        REASON_COUNT
};

/* Fixed texts; "" for a value outside the enum. */
const char *code_name(enum code code); /* "SANDBOX_CONFIG" */
enum code reason_code(enum reason reason);
const char *reason_name(enum reason reason); /* "mount.relative" */
const char *reason_sentence(enum reason reason);
const char *reason_hint(enum reason reason);
int reason_status(enum reason reason); /* exit status, 0 for CODE_DOCUMENT rows */

#endif
