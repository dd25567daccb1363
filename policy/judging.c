/* SPDX-License-Identifier: ISC */
#include "judging.h"

#include <sha2.h>
#include <string.h>

_Static_assert(SHA256_BYTES == SHA256_DIGEST_LENGTH, "sha2.h and record.h agree");

void judging_begin(struct judging *j, enum confine_result confined)
{
	memset(&j->config, 0, sizeof(j->config));
	memset(&j->decision, 0, sizeof(j->decision));
	report_init(&j->report, CODE_CONFIG, 78);
	j->hashed = j->turn_hashed = false;
	j->confined = confined;
	text_init(&j->arena, j->arena_bytes, sizeof(j->arena_bytes));
}

static void hash(struct judging *j, const char *text, size_t len)
{
	SHA2_CTX context;

	SHA256Init(&context);
	SHA256Update(&context, (const uint8_t *)text, len);
	SHA256Final(j->config_sha256, &context);
	j->hashed = true;
}

static bool read_document(struct judging *j, const char *text, size_t len)
{
	const struct json_limits limits = {
		.bytes = CONFIG_BYTES_MAX,
		.values = JSON_POOL,
		.lone_surrogates = false,
	};
	struct json_error error;
	struct json doc;

	if (!json_parse(&doc, text, len, &limits, &error)) {
		report_json_error(&j->report, &error);
		return false;
	}
	config_read(&doc, &j->arena, &j->config, &j->report);
	json_drop(&doc);
	return true;
}

void judging_config(struct judging *j, const char *text, size_t len, struct facts *facts,
                    const struct judging_how *how, const struct decide_asker *asker)
{
	const struct decide_options options = { .offline = how->offline };

	memcpy(j->decision.launch.nonce, facts->nonce, sizeof(facts->nonce));
	hash(j, text, len);
	if (!read_document(j, text, len) || (!how->by_hand && !report_empty(&j->report)))
		return;
	if (how->by_hand)
		facts->mode = j->config.mode;
	if (!how->offline && j->confined == CONFINE_NO_LANDLOCK && !j->config.best_effort)
		report_add(&j->report, REASON_CONFINE_LANDLOCK, "/confinement");
	if (!how->by_hand && j->config.audit_required && facts->audit == NULL)
		report_add(&j->report, REASON_AUDIT_ABSENT, "/audit/required");
	decide(&j->config, facts, &options, asker, &j->arena, &j->decision, &j->report);
}

bool judging_image(const char *text, size_t len, struct text *arena, struct image *out,
                   struct report *report)
{
	const struct json_limits limits = {
		.bytes = ANSWER_MAX,
		.values = JSON_POOL,
		.lone_surrogates = false,
	};
	const uint32_t before = report->count + report->dropped;
	struct json_error error;
	struct json doc;

	if (!json_parse(&doc, text, len, &limits, &error)) {
		const char *why = reason_name(error.reason);

		report_add_text(report, REASON_IMAGE_ANSWER, "", "docker image inspect", why,
		                strlen(why));
		return false;
	}
	image_read(&doc, arena, out, report);
	json_drop(&doc);
	return report->count + report->dropped == before;
}

/* What `cofferdam-policy argv -0 | sha256sum` prints. */
static void hash_argv(const struct argv *argv, uint8_t sha256[SHA256_BYTES])
{
	SHA2_CTX context;

	SHA256Init(&context);
	for (uint16_t i = 0; i < argv->count; i++)
		SHA256Update(&context, (const uint8_t *)argv->at[i], strlen(argv->at[i]) + 1);
	SHA256Final(sha256, &context);
}

void judging_record(const struct judging *j, struct timespec now, uint64_t seq, bool all,
                    struct text *out)
{
	const struct argv *argv = &j->decision.launch.argv;
	uint8_t argv_sha256[SHA256_BYTES];
	const struct record_input input = {
		.now = now,
		.seq = seq,
		.config_sha256 = j->hashed ? j->config_sha256 : NULL,
		.turn_sha256 = j->turn_hashed ? j->turn_sha256 : NULL,
		.argv_sha256 = argv->count > 0 ? argv_sha256 : NULL,
		.confinement = j->confined == CONFINE_FULL ? "full" : "no-landlock",
		.all = all,
	};

	hash_argv(argv, argv_sha256);
	record_decision(&input, &j->decision, &j->report, out);
}
