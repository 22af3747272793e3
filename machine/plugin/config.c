// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration file. Numbers are read as decimal fractions and turned
 * into whole picoseconds without ever being floating point, so that a figure
 * means the same on every host.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#define MICRO		1000000ULL

/* Where we are, for messages. */
struct place {
	const char *file;
	unsigned int line;	/* 0: no line in particular */
	const char *key;
};

/* What becomes of a tier's figures once all keys are known. */
struct draft {
	struct config *config;
	uint64_t store_stall;	/* thousandths */
	uint64_t write_ps[TIERS_MAX];
	char force_tier[CONFIG_NAME_MAX];
};

__attribute__((format(printf, 2, 3)))
static bool complain(const struct place *place, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "kloc model: %s", place->file);
	if (place->line)
		fprintf(stderr, ":%u", place->line);
	fprintf(stderr, ": %s: ", place->key);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

/* A whole number, decimal or 0x hexadecimal. */
static bool parse_whole(const struct place *place, const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	if (*text >= '0' && *text <= '9') {
		*value = strtoull(text, &end, 0);
		if (!errno && !*end)
			return true;
	}
	return complain(place, "'%s' is not a whole number", text);
}

/* A decimal fraction such as 0.9375, as a whole number of 1/scale, rounded. */
static bool parse_fraction(const struct place *place, const char *text,
			   uint64_t scale, uint64_t *value)
{
	uint64_t whole = 0, part = 0, unit = 1;
	const char *at = text;

	while (*at >= '0' && *at <= '9' && whole < UINT32_MAX)
		whole = whole * 10 + (uint64_t)(*at++ - '0');
	if (at != text && *at == '.') {
		at++;
		for (; *at >= '0' && *at <= '9'; at++) {
			if (unit >= 1000 * MICRO)
				continue;	/* finer than any scale */
			part = part * 10 + (uint64_t)(*at - '0');
			unit *= 10;
		}
	}
	if (at == text || *at)
		return complain(place, "'%s' is not a number", text);
	*value = whole * scale + (part * scale + unit / 2) / unit;
	return true;
}

static bool parse_positive(const struct place *place, const char *text,
			   uint64_t scale, uint64_t *value)
{
	if (!parse_fraction(place, text, scale, value))
		return false;
	if (!*value)
		return complain(place, "'%s' is too small", text);
	return true;
}

static bool parse_text(const struct place *place, const char *text, char **copy)
{
	free(*copy);
	*copy = strdup(text);
	return *copy || complain(place, "no memory");
}

static bool parse_path(const struct place *place, const char *text, char **path)
{
	if (!*text)
		return complain(place, "a path is missing");
	return parse_text(place, text, path);
}

static bool parse_name(const struct place *place, const char *text, char *name)
{
	if (!*text || strlen(text) >= CONFIG_NAME_MAX)
		return complain(place, "'%s' is not a name of 1 to %d characters", text,
				CONFIG_NAME_MAX - 1);
	strcpy(name, text);
	return true;
}

/* Split text at its commas, in place; false if it has not as many fields. */
static bool split(const struct place *place, char *text, char **fields, unsigned int count)
{
	unsigned int n = 0;

	for (char *comma = text; comma; n++) {
		if (n == count)
			return complain(place, "more than %u fields", count);
		fields[n] = comma;
		comma = strchr(comma, ',');
		if (comma)
			*comma++ = '\0';
	}
	return n == count || complain(place, "%u fields where %u are due", n, count);
}

/* How long unit_bytes take at so many millionths of a byte per nanosecond. */
static uint64_t service_ps(uint64_t unit_bytes, uint64_t micro_bytes_per_ns)
{
	return (unit_bytes * PS_PER_NS * MICRO + micro_bytes_per_ns / 2) /
	       micro_bytes_per_ns;
}

/* tier=NAME,READ_NS,WRITE_NS,READ_BYTES_PER_NS,WRITE_BYTES_PER_NS,UNIT_BYTES */
static bool parse_tier(const struct place *place, char *text, struct draft *draft)
{
	struct config *config = draft->config;
	struct tier_config *tier = &config->tiers[config->tier_count];
	uint64_t read_rate, write_rate;
	char *fields[6];

	if (config->tier_count == TIERS_MAX)
		return complain(place, "more than %d tiers", TIERS_MAX);
	if (!split(place, text, fields, 6) ||
	    !parse_name(place, fields[0], tier->name) ||
	    !parse_fraction(place, fields[1], PS_PER_NS, &tier->load_ps) ||
	    !parse_fraction(place, fields[2], PS_PER_NS,
			    &draft->write_ps[config->tier_count]) ||
	    !parse_positive(place, fields[3], MICRO, &read_rate) ||
	    !parse_positive(place, fields[4], MICRO, &write_rate) ||
	    !parse_whole(place, fields[5], &tier->unit_bytes))
		return false;
	if (tier->unit_bytes < LINE_BYTES || tier->unit_bytes > FRAME_BYTES ||
	    tier->unit_bytes & (tier->unit_bytes - 1))
		return complain(place, "unit of %s bytes is not a power of two from 64 to 4096",
				fields[5]);
	tier->read_unit_ps = service_ps(tier->unit_bytes, read_rate);
	tier->write_unit_ps = service_ps(tier->unit_bytes, write_rate);
	config->tier_count++;
	return true;
}

/* ram=TIERINDEX,PHYS_START,BYTES,PATH,OFFSET */
static bool parse_ram(const struct place *place, char *text, struct config *config)
{
	struct range_config *range = &config->ranges[config->range_count];
	uint64_t tier;
	char *fields[5];

	if (config->range_count == CONFIG_RANGES_MAX)
		return complain(place, "more than %d ranges", CONFIG_RANGES_MAX);
	if (!split(place, text, fields, 5) ||
	    !parse_whole(place, fields[0], &tier) ||
	    !parse_whole(place, fields[1], &range->start) ||
	    !parse_whole(place, fields[2], &range->bytes) ||
	    !parse_path(place, fields[3], &range->path) ||
	    !parse_whole(place, fields[4], &range->offset))
		return false;
	config->range_count++;
	if ((range->start | range->bytes | range->offset) % FRAME_BYTES || !range->bytes)
		return complain(place, "a range is made of whole 4096-byte frames");
	if (tier >= TIERS_MAX)
		return complain(place, "there is no tier %s", fields[0]);
	range->tier = (unsigned int)tier;
	return true;
}

static bool parse_ways(const struct place *place, const char *text, unsigned int *ways)
{
	uint64_t value;

	if (!parse_whole(place, text, &value))
		return false;
	if (value < 2 || value > 64)
		return complain(place, "%s ways are not 2 to 64", text);
	*ways = (unsigned int)value;
	return true;
}

static bool parse_flag(const struct place *place, const char *text, const char *off,
		       const char *on, bool *value)
{
	*value = !strcmp(text, on);
	if (*value || !strcmp(text, off))
		return true;
	return complain(place, "'%s' is neither '%s' nor '%s'", text, off, on);
}

static bool parse_pair(const struct place *place, char *value, struct draft *draft)
{
	struct config *config = draft->config;
	const char *key = place->key;

	if (!strcmp(key, "page"))
		return parse_path(place, value, &config->page);
	if (!strcmp(key, "output"))
		return parse_path(place, value, &config->output);
	if (!strcmp(key, "live"))
		return parse_path(place, value, &config->live);
	if (!strcmp(key, "pages"))
		return parse_path(place, value, &config->frames);
	if (!strcmp(key, "ns_per_instruction"))
		return parse_positive(place, value, PS_PER_NS, &config->insn_ps);
	if (!strcmp(key, "l1_bytes"))
		return parse_whole(place, value, &config->l1_bytes);
	if (!strcmp(key, "l1_ways"))
		return parse_ways(place, value, &config->l1_ways);
	if (!strcmp(key, "llc_bytes"))
		return parse_whole(place, value, &config->llc_bytes);
	if (!strcmp(key, "llc_ways"))
		return parse_ways(place, value, &config->llc_ways);
	if (!strcmp(key, "store_stall"))
		return parse_fraction(place, value, 1000, &draft->store_stall);
	if (!strcmp(key, "tier"))
		return parse_tier(place, value, draft);
	if (!strcmp(key, "ram"))
		return parse_ram(place, value, config);
	if (!strcmp(key, "force_tier"))
		return parse_name(place, value, draft->force_tier);
	if (!strcmp(key, "fast_kinds"))
		return parse_text(place, value, &config->fast_kinds);
	if (!strcmp(key, "background"))
		return parse_flag(place, value, "shared", "own-core", &config->own_core);
	if (!strcmp(key, "observe"))
		return parse_flag(place, value, "0", "1", &config->observe);
	if (!strcmp(key, "dump"))
		return parse_flag(place, value, "0", "1", &config->dump);
	if (!strcmp(key, "sample_ns"))
		return parse_fraction(place, value, PS_PER_NS, &config->sample_ps);
	return complain(place, "unknown key");
}

/* One line: empty, a # comment, or key=value. */
static bool parse_line(struct place *place, char *line, struct draft *draft)
{
	char *equals = strchr(line, '=');

	if (!*line || *line == '#')
		return true;
	place->key = line;
	if (!equals)
		return complain(place, "'=' is missing");
	*equals = '\0';
	return parse_pair(place, equals + 1, draft);
}

static bool sets_are_whole(const struct place *place, uint64_t bytes, unsigned int ways)
{
	uint64_t sets = bytes / LINE_BYTES / ways;

	if (sets && !(sets & (sets - 1)) && sets * ways * LINE_BYTES == bytes)
		return true;
	return complain(place, "%llu bytes in %u ways are not a power of two of sets",
			(unsigned long long)bytes, ways);
}

static bool check_caches(struct place *place, const struct config *config)
{
	place->key = "l1_bytes";
	if (!sets_are_whole(place, config->l1_bytes, config->l1_ways))
		return false;
	/* It is looked up by virtual address: the index must be the same in both. */
	if (config->l1_bytes / config->l1_ways > FRAME_BYTES)
		return complain(place, "more than 4096 bytes a way");
	place->key = "llc_bytes";
	return sets_are_whole(place, config->llc_bytes, config->llc_ways);
}

static bool check_ranges(struct place *place, const struct config *config)
{
	place->key = "ram";
	for (unsigned int i = 0; i < config->range_count; i++) {
		const struct range_config *range = &config->ranges[i];

		if (range->tier >= config->tier_count)
			return complain(place, "there is no tier %u", range->tier);
		for (unsigned int j = 0; j < i; j++)
			if (range->start < config->ranges[j].start + config->ranges[j].bytes &&
			    config->ranges[j].start < range->start + range->bytes)
				return complain(place, "two ranges overlap at %#llx",
						(unsigned long long)range->start);
	}
	return true;
}

static bool resolve_force_tier(struct place *place, const struct draft *draft)
{
	struct config *config = draft->config;

	if (!*draft->force_tier)
		return true;
	for (unsigned int i = 0; i < config->tier_count; i++)
		if (!strcmp(config->tiers[i].name, draft->force_tier))
			config->force_tier = (int)i;
	place->key = "force_tier";
	return config->force_tier >= 0 ||
	       complain(place, "there is no tier '%s'", draft->force_tier);
}

/* What only holds, or can only be computed, when all keys have been read. */
static bool finish(struct place *place, const struct draft *draft)
{
	struct config *config = draft->config;

	place->line = 0;
	place->key = "tier";
	if (!config->tier_count)
		return complain(place, "there is none");
	place->key = "pages";
	if (config->dump && !config->frames)
		return complain(place, "missing, but dump=1 asks for that file");
	for (unsigned int i = 0; i < config->tier_count; i++)
		config->tiers[i].store_ps = draft->write_ps[i] * draft->store_stall / 1000;
	place->key = "fast_kinds";
	if (config->fast_kinds && *draft->force_tier)
		return complain(place, "force_tier says how all pages are timed");
	return check_caches(place, config) && check_ranges(place, config) &&
	       resolve_force_tier(place, draft);
}

static void set_defaults(struct config *config)
{
	*config = (struct config){
		.insn_ps = 250,
		.l1_bytes = 32 << 10,
		.l1_ways = 8,
		.llc_bytes = 1 << 20,
		.llc_ways = 16,
		.force_tier = -1,
		.own_core = true,
	};
}

bool config_parse(struct config *config, const char *text, const char *name)
{
	struct draft draft = { .config = config, .store_stall = 500 };
	struct place place = { .file = name, .key = "" };
	char *copy = strdup(text);
	char *line = copy;
	bool good = copy != NULL;

	set_defaults(config);
	while (good && line) {
		char *end = strchr(line, '\n');

		if (end)
			*end++ = '\0';
		place.line++;
		good = parse_line(&place, line, &draft);
		line = end;
	}
	good = good && finish(&place, &draft);
	free(copy);
	return good;
}

static char *read_whole(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t size = 0, room = 1 << 16;
	char *text = file ? malloc(room) : NULL;

	while (text) {
		size += fread(text + size, 1, room - size - 1, file);
		if (size < room - 1)
			break;
		room *= 2;
		text = realloc(text, room);
	}
	if (text)
		text[size] = '\0';
	if (text && ferror(file)) {
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

bool config_read(struct config *config, const char *path)
{
	char *text = read_whole(path);
	bool good;

	set_defaults(config);
	if (!text) {
		fprintf(stderr, "kloc model: %s: cannot read it: %s\n", path,
			strerror(errno));
		return false;
	}
	good = config_parse(config, text, path);
	free(text);
	return good;
}

void config_free(struct config *config)
{
	for (unsigned int i = 0; i < config->range_count; i++)
		free(config->ranges[i].path);
	free(config->page);
	free(config->output);
	free(config->live);
	free(config->frames);
	free(config->fast_kinds);
	set_defaults(config);
}
