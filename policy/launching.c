/* SPDX-License-Identifier: ISC */
#include "launching.h"

#include <fcntl.h>
#include <sha2.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../ipc/channel.h"
#include "../ipc/frame_policy.h"
#include "endpoint.h"
#include "io.h"
#include "judging.h"
#include "resolve.h"
#include "tell.h"

static struct judging judging;
static uint8_t facts_frame[FRAME_MAX]; /* the facts' strings point into it */
static uint8_t frame[FRAME_MAX];
static char config_text[CONFIG_BYTES_MAX + 1];
static char answer[ANSWER_MAX + 1];
static char record_text[JUDGING_RECORD];
static int mountinfo = -1;
static bool as_json;

/* The executor broke the protocol: nothing may follow. */
static void protocol_broken(const char *what)
{
	_exit(tell_reason(REASON_PROTOCOL_FRAME, what, as_json));
}

/* Out of the way of the numbers above: the audit file may be missing. */
int launching_prepare(const struct options *options)
{
	int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	(void)options;
	if (fd < 0)
		return 0;
	mountinfo = fcntl(fd, F_DUPFD_CLOEXEC, LAUNCHING_TURN + 1);
	(void)close(fd);
	return 0;
}

static void send_frame(size_t len)
{
	if (len == 0 || channel_send(LAUNCHING_SOCKET, frame, len) != 0)
		_exit(tell_reason(REASON_OUTPUT_WRITE, "the executor's socket", as_json));
}

static size_t receive_frame(uint8_t *to, size_t cap)
{
	ssize_t len = channel_receive(LAUNCHING_SOCKET, to, cap, 0);

	if (len <= 0)
		protocol_broken("no frame came");
	return (size_t)len;
}

/* Docker's whole answer, which is read before the executor says how docker
 * ended: the pipe could not take all of it.  A longer one is cut off, so that
 * docker ends.  The exit status; *len is SIZE_MAX, more than any limit, when the
 * text is of no use. */
static unsigned take_answer(enum frame_kind question, int fd, size_t *len)
{
	struct answered answered;
	size_t frame_len;

	if (io_read_all(fd, answer, ANSWER_MAX, len) != IO_OK)
		*len = SIZE_MAX;
	(void)close(fd);
	frame_len = receive_frame(frame, sizeof(frame));
	if (frame_get_answered(frame, frame_len, &answered) != FRAME_OK ||
	    answered.question != question)
		protocol_broken("ANSWERED");
	return answered.status;
}

static void docker_failed(struct report *report, enum reason reason, const char *command,
                          unsigned status)
{
	struct report_detail detail = report_open(report, reason, "");

	text_string(&detail.text, command);
	text_string(&detail.text, ": exit status ");
	text_u64(&detail.text, status);
	report_close(&detail);
}

/* A refused launch asks nothing: docker need not hear of it. */
static const char *ask_context(void *context, struct text *arena, struct report *report)
{
	const struct json_limits limits = { .bytes = ANSWER_MAX, .values = 16 };
	struct json_error error;
	struct json doc;
	const char *host;
	unsigned status;
	size_t len;

	(void)context;
	if (!report_empty(report))
		return NULL;
	send_frame(frame_put_ask_context(frame, sizeof(frame)));
	status = take_answer(FRAME_ASK_CONTEXT, LAUNCHING_CONTEXT, &len);
	if (status != 0) {
		docker_failed(report, REASON_CONTEXT_ANSWER, "docker context inspect", status);
		return NULL;
	}
	if (!json_parse(&doc, answer, len, &limits, &error)) {
		report_add(report, REASON_CONTEXT_ANSWER, "");
		return NULL;
	}
	host = endpoint_context(&doc, arena, report);
	json_drop(&doc);
	return host;
}

static bool ask_image(void *context, const char *endpoint, const char *reference,
                      struct text *arena, struct image *out, struct report *report)
{
	const struct ask_image ask = { .endpoint = endpoint, .reference = reference };
	unsigned status;
	size_t len;

	(void)context;
	if (!report_empty(report))
		return false;
	send_frame(frame_put_ask_image(frame, sizeof(frame), &ask));
	status = take_answer(FRAME_ASK_IMAGE, LAUNCHING_IMAGE, &len);
	if (len == SIZE_MAX) { /* first: docker fails when it is cut off */
		report_add(report, REASON_IMAGE_ANSWER, "");
		return false;
	}
	if (status != 0) {
		docker_failed(report, REASON_IMAGE_ABSENT, "docker image inspect", status);
		return false;
	}
	return judging_image(answer, len, arena, out, report);
}

static void get_facts(struct facts *facts)
{
	size_t len = receive_frame(facts_frame, sizeof(facts_frame));

	if (frame_get_facts(facts_frame, len, facts) != FRAME_OK)
		protocol_broken("FACTS");
}

static bool read_config(size_t *len)
{
	enum io_result result = io_pread_all(LAUNCHING_CONFIG, config_text, CONFIG_BYTES_MAX, len);

	if (result == IO_OK)
		return true;
	report_add(&judging.report,
	           result == IO_TOO_LARGE ? REASON_JSON_TOO_LARGE : REASON_INPUT_READ, "");
	return false;
}

/* The turn is bytes here: they are hashed for the record and never looked at. */
static void hash_turn(void)
{
	SHA2_CTX context;
	off_t at = 0;
	ssize_t n;

	SHA256Init(&context);
	while ((n = pread(LAUNCHING_TURN, answer, ANSWER_MAX, at)) > 0) {
		SHA256Update(&context, (const uint8_t *)answer, (size_t)n);
		at += n;
	}
	SHA256Final(judging.turn_sha256, &context);
	judging.turn_hashed = n == 0;
}

/* The decision record, before the launch that it allows.  A write that fails
 * is a refusal, and only a warning when the config says that it may fail. */
static void audit(const struct facts *facts)
{
	struct report *report = &judging.report;
	struct timespec now;
	struct text text;

	if (facts->audit == NULL)
		return;
	text_init(&text, record_text, sizeof(record_text));
	if (clock_gettime(CLOCK_REALTIME, &now) != 0)
		memset(&now, 0, sizeof(now));
	judging_record(&judging, now, 1, false, &text);
	if (!text.full && io_write_once(LAUNCHING_AUDIT, text.at, text.len))
		return;
	if (!judging.config.audit_optional)
		report_add(report, REASON_AUDIT_WRITE, "/audit/required");
	else
		(void)tell_reason(REASON_AUDIT_WRITE, NULL, as_json);
}

/* Encodes the launch, so that one too large is refused and recorded as such. */
static size_t encode(void)
{
	size_t len;

	if (!report_empty(&judging.report))
		return 0;
	len = frame_put_launch(frame, sizeof(frame), &judging.decision.launch);
	if (len == 0)
		report_add(&judging.report, REASON_PLAN_TOO_LARGE, "");
	return len;
}

int launching_run(const struct options *options, enum confine_result confined)
{
	static const struct decide_asker asker = { .endpoint = ask_context, .image = ask_image };
	static const struct judging_how how;
	static struct facts facts;
	size_t len;

	as_json = options->value[OPTION_JSON] != NULL;
	judging_begin(&judging, confined);
	if (mountinfo < 0 || !resolve_mountinfo(mountinfo))
		report_add(&judging.report, REASON_MOUNT_INFO, "");
	get_facts(&facts);
	if (facts.mode == MODE_TURN)
		hash_turn();
	if (report_empty(&judging.report) && read_config(&len))
		judging_config(&judging, config_text, len, &facts, &how, &asker);
	len = encode();
	audit(&facts);
	if (!report_empty(&judging.report))
		return tell_refusal(&judging.report, as_json);
	send_frame(len);
	return 0;
}
