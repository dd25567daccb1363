/* SPDX-License-Identifier: ISC */

/* policy/image.c: docker's answer about an image, and references. */

#include <stdlib.h>
#include <string.h>

#include "../../executor/gate.h"
#include "../../policy/image.h"
#include "../../policy/judging.h"
#include "fuzz.h"

#define REFERENCE_MAX 512

static char arena_bytes[2 * ANSWER_MAX];
static struct report report;

/* What policy lets through to ASK_IMAGE, the executor must not refuse. */
static void check_reference(const char *text, size_t len)
{
	static char word[REFERENCE_MAX + 1];
	char *copy = fuzz_copy(text, len);
	const bool taken = image_reference(copy, len);

	HOLDS(!image_id(copy, len) || taken);
	free(copy);
	if (!taken)
		return;
	HOLDS(len >= 1 && len <= REFERENCE_MAX && memchr(text, '\0', len) == NULL);
	memcpy(word, text, len);
	word[len] = '\0';
	HOLDS(gate_image_reference(word));
}

static size_t name_length(const char *entry)
{
	return strcspn(entry, "=");
}

static void check_image(const struct image *image)
{
	const struct inherited *env = &image->env;

	HOLDS(image->id != NULL && image_id(image->id, strlen(image->id)));
	HOLDS(image->workdir != NULL && image->workdir[0] != '\0');
	HOLDS(image->entrypoint.count <= WORDS_MAX && image->command.count <= WORDS_MAX);
	HOLDS(env->count <= INHERITED_MAX && image->labels.count <= INHERITED_MAX);
	for (unsigned i = 0; i < image->entrypoint.count; i++)
		HOLDS(image->entrypoint.at[i] != NULL);
	for (unsigned i = 0; i < image->command.count; i++)
		HOLDS(image->command.at[i] != NULL);
	for (unsigned i = 0; i < image->labels.count; i++)
		HOLDS(strchr(image->labels.at[i], '=') != NULL);
	for (unsigned i = 0; i < env->count; i++)
		for (unsigned j = 0; j < i; j++)
			HOLDS(name_length(env->at[i]) != name_length(env->at[j]) ||
			      memcmp(env->at[i], env->at[j], name_length(env->at[i])) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = fuzz_copy(data, size);
	static const struct image untouched;
	struct image image = untouched;
	struct text arena;
	bool taken;

	check_reference(copy, size);
	report_init(&report, CODE_UNAVAILABLE, 69);
	text_init(&arena, arena_bytes, sizeof arena_bytes);
	taken = judging_image(copy, size, &arena, &image, &report);
	HOLDS(taken == report_empty(&report));
	fuzz_report(&report);
	if (taken)
		check_image(&image);
	else
		HOLDS(memcmp(&image, &untouched, sizeof image) == 0);
	free(copy);
	return 0;
}
