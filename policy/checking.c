/* SPDX-License-Identifier: ISC */
#include "checking.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "facts.h"
#include "io.h"
#include "judging.h"
#include "resolve.h"
#include "tell.h"

#define LINES_REFUSED 77 /* --lines: some document was refused */

static struct judging judging;
static struct facts facts;
static struct report early; /* what went wrong before confinement */
static char config_text[CONFIG_BYTES_MAX + 1];
static char answer[ANSWER_MAX + 1];
static size_t answer_len;
static char output[JUDGING_RECORD];
static int config_fd = -1;
static int image_fd = -1;
static int mountinfo_fd = -1;

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_nonce(const char *hex, uint8_t nonce[NONCE_BYTES])
{
	bool good = strlen(hex) == ID_HEX;

	for (size_t i = 0; good && i < NONCE_BYTES; i++) {
		int high = hex_value(hex[2 * i]);
		int low = hex_value(hex[2 * i + 1]);

		good = high >= 0 && low >= 0;
		if (good)
			nonce[i] = (uint8_t)(high * 16 + low);
	}
	return good;
}

int checking_prepare(const struct options *options)
{
	const char *nonce = options->value[OPTION_NONCE];
	const char *image = options->value[OPTION_IMAGE];
	bool lines = options->value[OPTION_LINES] != NULL;

	facts_gather(&facts);
	if (nonce != NULL && !read_nonce(nonce, facts.nonce))
		return tell_usage("--nonce takes 32 lower-case hex digits", nonce);
	if (lines && options->value[OPTION_CONFIG] != NULL)
		return tell_usage("--lines reads standard input, not --config", NULL);
	report_init(&early, CODE_CONFIG, 78);
	if (!lines)
		config_fd = facts_open_config(options->value[OPTION_CONFIG], &facts, &early);
	if (image != NULL)
		image_fd = facts_open(image, &early);
	if (options->value[OPTION_OFFLINE] != NULL)
		return 0;
	mountinfo_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (mountinfo_fd < 0)
		report_add(&early, REASON_MOUNT_INFO, "");
	return 0;
}

/* The rest of what must be there before any document is judged. */
static void read_surroundings(const struct options *options)
{
	if (mountinfo_fd >= 0 && !resolve_mountinfo(mountinfo_fd))
		report_add(&early, REASON_MOUNT_INFO, "");
	if (image_fd >= 0 && io_read_all(image_fd, answer, ANSWER_MAX, &answer_len) != IO_OK)
		report_add_text(&early, REASON_IMAGE_ANSWER, "", "file",
		                options->value[OPTION_IMAGE],
		                strlen(options->value[OPTION_IMAGE]));
}

static bool given_image(void *context, const char *endpoint, const char *reference,
                        struct text *arena, struct image *out, struct report *report)
{
	(void)context;
	(void)endpoint;
	(void)reference;
	return judging_image(answer, answer_len, arena, out, report);
}

static void judge(const struct options *options, const char *text, size_t len)
{
	const struct judging_how how = {
		.offline = options->value[OPTION_OFFLINE] != NULL,
		.by_hand = true,
	};
	const struct decide_asker asker = { .image = image_fd >= 0 ? given_image : NULL };

	judging_config(&judging, text, len, &facts, &how, &asker);
}

static void begin(enum confine_result confined)
{
	judging_begin(&judging, confined);
	memcpy(judging.decision.launch.nonce, facts.nonce, sizeof(facts.nonce));
	judging.report = early;
}

/* The one document of -c, judged into `judging`. */
static void judge_config_file(const struct options *options, enum confine_result confined)
{
	enum io_result result;
	size_t len;

	read_surroundings(options);
	begin(confined);
	if (config_fd < 0)
		return;
	result = io_read_all(config_fd, config_text, CONFIG_BYTES_MAX, &len);
	if (result == IO_OK)
		judge(options, config_text, len);
	else
		report_add(&judging.report,
		           result == IO_TOO_LARGE ? REASON_JSON_TOO_LARGE : REASON_INPUT_READ, "");
}

static bool write_record(uint64_t seq)
{
	struct timespec now;
	struct text text;

	text_init(&text, output, sizeof(output));
	if (clock_gettime(CLOCK_REALTIME, &now) != 0)
		memset(&now, 0, sizeof(now));
	judging_record(&judging, now, seq, true, &text);
	return !text.full && io_write_all(STDOUT_FILENO, text.at, text.len);
}

static int check_lines(const struct options *options, enum confine_result confined)
{
	struct io_lines lines;
	enum io_result result;
	const char *line;
	int status = 0;
	size_t len;

	read_surroundings(options);
	io_lines_init(&lines, STDIN_FILENO, config_text, sizeof(config_text));
	result = io_next_line(&lines, &line, &len);
	for (uint64_t seq = 1; result == IO_OK || result == IO_TOO_LARGE; seq++) {
		begin(confined);
		if (result == IO_TOO_LARGE)
			report_add(&judging.report, REASON_JSON_TOO_LARGE, "");
		else
			judge(options, line, len);
		if (!report_empty(&judging.report))
			status = LINES_REFUSED;
		if (!write_record(seq))
			return tell_reason(REASON_OUTPUT_WRITE, NULL, false);
		result = io_next_line(&lines, &line, &len);
	}
	return result == IO_END ? status : tell_reason(REASON_INPUT_READ, NULL, false);
}

int checking_run(const struct options *options, enum confine_result confined)
{
	if (options->value[OPTION_LINES] != NULL)
		return check_lines(options, confined);
	judge_config_file(options, confined);
	if (!write_record(1))
		return tell_reason(REASON_OUTPUT_WRITE, NULL, false);
	if (options->value[OPTION_QUIET] == NULL)
		tell_all(&judging.report, options->value[OPTION_JSON] != NULL);
	return report_status(&judging.report);
}

static void put_words(const struct argv *argv, bool zero, struct text *out)
{
	for (uint16_t i = 0; i < argv->count; i++) {
		size_t len = strlen(argv->at[i]);

		if (zero) {
			text_bytes(out, argv->at[i], len + 1);
			continue;
		}
		text_string(out, i == 0 ? "[" : ",");
		text_json(out, argv->at[i], len);
	}
	if (!zero)
		text_string(out, "]\n");
}

int checking_argv(const struct options *options, enum confine_result confined)
{
	struct text text;

	judge_config_file(options, confined);
	if (!report_empty(&judging.report)) {
		if (options->value[OPTION_QUIET] == NULL)
			tell_all(&judging.report, options->value[OPTION_JSON] != NULL);
		return report_status(&judging.report);
	}
	text_init(&text, output, sizeof(output));
	put_words(&judging.decision.launch.argv, options->value[OPTION_ZERO] != NULL, &text);
	if (text.full || !io_write_all(STDOUT_FILENO, text.at, text.len))
		return tell_reason(REASON_OUTPUT_WRITE, NULL, false);
	return 0;
}
