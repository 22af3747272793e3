// SPDX-License-Identifier: GPL-2.0
/*
 * Parser of the configuration (see config.h for its format). Decimal fractions
 * become integers in ps without floating point, so that a figure means the same
 * on every host.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "core.h"

#define MICRO		1000000ULL

/* Position in the file, for messages. */
struct place {
	const char *file;
	unsigned int line;	/* 0: the file as a whole */
	const char *key;
};

/* The configuration, and values that finish() resolves when all keys are known. */
struct draft {
	struct config *config;
	char force_tier[CONFIG_NAME_MAX];
};

/* Print "kloc model: FILE:LINE: KEY: MESSAGE" to stderr and return false. */
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

/* Parse an integer, decimal or 0x hexadecimal. */
static bool parse_whole(const struct place *place, const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	if (*text >= '0' && *text <= '9') {
		*value = strtoull(text, &end, 0);
		if (!errno && !*end)
			return true;
	}
	return complain(place, "'%s' is not an integer; write decimal or 0x hexadecimal digits",
			text);
}

/* Parse a decimal fraction such as 0.9375 into units of 1/scale, rounded. */
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
				continue;	/* digits below any scale */
			part = part * 10 + (uint64_t)(*at - '0');
			unit *= 10;
		}
	}
	if (at == text || *at)
		return complain(place, "'%s' is not a number; write it like 0.25", text);
	*value = whole * scale + (part * scale + unit / 2) / unit;
	return true;
}

/* Like parse_fraction(), but refuse values that round to 0. */
static bool parse_positive(const struct place *place, const char *text,
			   uint64_t scale, uint64_t *value)
{
	if (!parse_fraction(place, text, scale, value))
		return false;
	if (!*value)
		return complain(place, "'%s' is too small; write a number above 0", text);
	return true;
}

static bool parse_text(const struct place *place, const char *text, char **copy)
{
	free(*copy);
	*copy = strdup(text);
	return *copy || complain(place, "out of memory");
}

static bool parse_path(const struct place *place, const char *text, char **path)
{
	if (!*text)
		return complain(place, "the path is empty; name a file");
	return parse_text(place, text, path);
}

static bool parse_name(const struct place *place, const char *text, char *name)
{
	if (!*text || strlen(text) >= CONFIG_NAME_MAX)
		return complain(place, "'%s' is not a tier's name; use 1 to %d characters", text,
				CONFIG_NAME_MAX - 1);
	strcpy(name, text);
	return true;
}

/* Split text at its commas, in place, into exactly count fields. */
static bool split(const struct place *place, char *text, char **fields, unsigned int count)
{
	unsigned int n = 0;

	for (char *comma = text; comma; n++) {
		if (n == count)
			return complain(place, "expected %u fields separated by commas, found more",
					count);
		fields[n] = comma;
		comma = strchr(comma, ',');
		if (comma)
			*comma++ = '\0';
	}
	return n == count || complain(place, "found %u fields separated by commas, expected %u",
				      n, count);
}

/* Return how long unit_bytes take, in ps, at this bandwidth in 1/1000000 byte/ns. */
static uint64_t service_ps(uint64_t unit_bytes, uint64_t micro_bytes_per_ns)
{
	return (unit_bytes * PS_PER_NS * MICRO + micro_bytes_per_ns / 2) /
	       micro_bytes_per_ns;
}

/* tier=NAME,READ_NS,READ_BYTES_PER_NS,WRITE_BYTES_PER_NS,UNIT_BYTES */
static bool parse_tier(const struct place *place, char *text, struct config *config)
{
	struct tier_config *tier = &config->tiers[config->tier_count];
	uint64_t read_rate, write_rate;
	char *fields[5];

	if (config->tier_count == TIERS_MAX)
		return complain(place, "too many tiers; the maximum is %d", TIERS_MAX);
	if (!split(place, text, fields, 5) ||
	    !parse_name(place, fields[0], tier->name) ||
	    !parse_fraction(place, fields[1], PS_PER_NS, &tier->read_ps) ||
	    !parse_positive(place, fields[2], MICRO, &read_rate) ||
	    !parse_positive(place, fields[3], MICRO, &write_rate) ||
	    !parse_whole(place, fields[4], &tier->unit_bytes))
		return false;
	if (tier->unit_bytes < LINE_BYTES || tier->unit_bytes > FRAME_BYTES ||
	    tier->unit_bytes & (tier->unit_bytes - 1))
		return complain(place,
				"unit of %s bytes is invalid; use a power of two from 64 to 4096",
				fields[4]);
	tier->read_unit_ps = service_ps(tier->unit_bytes, read_rate);
	tier->write_unit_ps = service_ps(tier->unit_bytes, write_rate);
	config->tier_count++;
	return true;
}

static struct tier_config *tier_of_name(struct config *config, const char *name)
{
	for (unsigned int i = 0; i < config->tier_count; i++)
		if (!strcmp(config->tiers[i].name, name))
			return &config->tiers[i];
	return NULL;
}

/* UTILISATION:FACTOR */
static bool parse_point(const struct place *place, char *text, struct tier_config *tier)
{
	struct loaded_point *point = &tier->points[tier->point_count];
	char *colon = strchr(text, ':');
	uint64_t utilisation, factor;

	if (tier->point_count == LOADED_POINTS_MAX)
		return complain(place, "too many points; the maximum is %d", LOADED_POINTS_MAX);
	if (!colon)
		return complain(place, "'%s' is not a point; write UTILISATION:FACTOR", text);
	*colon = '\0';
	if (!parse_fraction(place, text, LOADED_ONE, &utilisation) ||
	    !parse_fraction(place, colon + 1, LOADED_ONE, &factor))
		return false;
	if (utilisation > LOADED_ONE || factor < LOADED_ONE || factor > 1000 * LOADED_ONE ||
	    (tier->point_count ? utilisation <= point[-1].utilisation :
				 utilisation || factor != LOADED_ONE))
		return complain(place, "%s:%s is invalid; begin with 0:1, let utilisation rise to "
				"at most 1, and let factors be 1 or more", text, colon + 1);
	point->utilisation = (uint32_t)utilisation;
	point->factor = (uint32_t)factor;
	tier->point_count++;
	return true;
}

/* UTILISATION:FACTOR,... */
static bool parse_curve(const struct place *place, char *text, struct tier_config *tier)
{
	char *point;

	tier->point_count = 0;
	while ((point = strsep(&text, ",")))
		if (!parse_point(place, point, tier))
			return false;
	return true;
}

/* loaded=NAME,UTILISATION:FACTOR,... */
static bool parse_loaded(const struct place *place, char *text, struct config *config)
{
	char *name = strsep(&text, ",");
	struct tier_config *tier = tier_of_name(config, name);

	if (!tier)
		return complain(place, "tier '%s' is not defined above this line", name);
	return parse_curve(place, text, tier);
}

/* remote=NS,BYTES_PER_NS */
static bool parse_remote(const struct place *place, char *text, struct config *config)
{
	struct tier_config *link = &config->link;
	uint64_t rate;
	char *fields[2];

	if (!split(place, text, fields, 2) ||
	    !parse_fraction(place, fields[0], PS_PER_NS, &link->read_ps) ||
	    !parse_positive(place, fields[1], MICRO, &rate))
		return false;
	link->unit_bytes = LINE_BYTES;
	link->read_unit_ps = service_ps(LINE_BYTES, rate);
	link->write_unit_ps = link->read_unit_ps;
	return true;
}

/* ENTRIES,WAYS */
static bool parse_shape(const struct place *place, char *text, struct tlb_shape *shape)
{
	uint64_t entries, ways;
	char *fields[2];

	if (!split(place, text, fields, 2) || !parse_whole(place, fields[0], &entries) ||
	    !parse_whole(place, fields[1], &ways))
		return false;
	if (!ways || ways > 64 || entries > 1 << 20 || !entries || entries % ways ||
	    (entries / ways & (entries / ways - 1)))
		return complain(place, "%s entries in %s ways: entries / ways must be a power of "
				"two, with 1 to 64 ways", fields[0], fields[1]);
	*shape = (struct tlb_shape){ (unsigned int)entries, (unsigned int)ways };
	return true;
}

/* Parse an integer from 1 to max. */
static bool parse_count(const struct place *place, const char *text, uint64_t max,
			unsigned int *count)
{
	uint64_t value;

	if (!parse_whole(place, text, &value))
		return false;
	if (!value || value > max)
		return complain(place, "%s is out of range; use 1 to %llu", text,
				(unsigned long long)max);
	*count = (unsigned int)value;
	return true;
}

static unsigned int count_fields(const char *text)
{
	unsigned int count = 1;

	for (; *text; text++)
		count += *text == ',';
	return count;
}

/* ram=TIER,START,BYTES,FILE,OFFSET[,SOCKET] */
static bool parse_ram(const struct place *place, char *text, struct config *config)
{
	struct range_config *range = &config->ranges[config->range_count];
	uint64_t tier, socket = 0;
	char *fields[6];
	bool has_socket = count_fields(text) == 6;

	if (config->range_count == CONFIG_RANGES_MAX)
		return complain(place, "too many ranges; the maximum is %d", CONFIG_RANGES_MAX);
	if (!split(place, text, fields, has_socket ? 6 : 5) ||
	    !parse_whole(place, fields[0], &tier) ||
	    !parse_whole(place, fields[1], &range->start) ||
	    !parse_whole(place, fields[2], &range->bytes) ||
	    !parse_path(place, fields[3], &range->path) ||
	    !parse_whole(place, fields[4], &range->offset) ||
	    (has_socket && !parse_whole(place, fields[5], &socket)))
		return false;
	config->range_count++;
	if ((range->start | range->bytes | range->offset) % FRAME_BYTES || !range->bytes)
		return complain(place,
				"start, size (not 0) and offset must be multiples of 4096 bytes");
	if (tier >= TIERS_MAX)
		return complain(place, "tier %s is not defined; tier lines count from 0",
				fields[0]);
	if (socket >= SOCKETS_MAX)
		return complain(place, "socket %s is out of range; sockets count from 0, and there "
				"are %d at most", fields[5], SOCKETS_MAX);
	range->tier = (unsigned int)tier;
	range->socket = (unsigned int)socket;
	return true;
}

static bool parse_ways(const struct place *place, const char *text, unsigned int *ways)
{
	uint64_t value;

	if (!parse_whole(place, text, &value))
		return false;
	if (value < 2 || value > 64)
		return complain(place, "%s ways are out of range; use 2 to 64", text);
	*ways = (unsigned int)value;
	return true;
}

/* Parse one of two words. */
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

	if (!strcmp(key, "cores"))
		return parse_count(place, value, CORES_MAX, &config->cores);
	if (!strcmp(key, "sockets"))
		return parse_count(place, value, SOCKETS_MAX, &config->sockets);
	if (!strcmp(key, "remote"))
		return parse_remote(place, value, config);
	if (!strcmp(key, "remote_loaded"))
		return parse_curve(place, value, &config->link);
	if (!strcmp(key, "output"))
		return parse_path(place, value, &config->output);
	if (!strcmp(key, "live"))
		return parse_path(place, value, &config->live);
	if (!strcmp(key, "progress"))
		return parse_path(place, value, &config->progress);
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
	if (!strcmp(key, "llc_ns"))
		return parse_fraction(place, value, PS_PER_NS, &config->llc_ps);
	if (!strcmp(key, "snoop_ns"))
		return parse_fraction(place, value, PS_PER_NS, &config->snoop_ps);
	if (!strcmp(key, "outstanding"))
		return parse_count(place, value, OVERLAP_LINES_MAX, &config->overlap.outstanding);
	if (!strcmp(key, "window"))
		return parse_whole(place, value, &config->overlap.window);
	if (!strcmp(key, "store_buffer"))
		return parse_count(place, value, OVERLAP_LINES_MAX, &config->overlap.store_buffer);
	if (!strcmp(key, "prefetch"))
		return parse_count(place, value, OVERLAP_PREFETCH_MAX, &config->overlap.prefetch);
	if (!strcmp(key, "tlb"))
		return parse_shape(place, value, &config->tlb.small);
	if (!strcmp(key, "tlb_huge"))
		return parse_shape(place, value, &config->tlb.huge);
	if (!strcmp(key, "stlb"))
		return parse_shape(place, value, &config->tlb.second);
	if (!strcmp(key, "stlb_ns"))
		return parse_fraction(place, value, PS_PER_NS, &config->stlb_ps);
	if (!strcmp(key, "tier"))
		return parse_tier(place, value, config);
	if (!strcmp(key, "loaded"))
		return parse_loaded(place, value, config);
	if (!strcmp(key, "ram"))
		return parse_ram(place, value, config);
	if (!strcmp(key, "force_tier"))
		return parse_name(place, value, draft->force_tier);
	if (!strcmp(key, "fast_kinds"))
		return parse_text(place, value, &config->fast_kinds);
	if (!strcmp(key, "fast_frames"))
		return parse_path(place, value, &config->fast_frames);
	if (!strcmp(key, "observe"))
		return parse_flag(place, value, "0", "1", &config->observe);
	if (!strcmp(key, "dump"))
		return parse_flag(place, value, "0", "1", &config->dump);
	if (!strcmp(key, "sample_ns"))
		return parse_fraction(place, value, PS_PER_NS, &config->sample_ps);
	return complain(place, "unknown key; machine/plugin/config.h lists the keys");
}

/* Parse one line: empty, a # comment, or KEY=VALUE. */
static bool parse_line(struct place *place, char *line, struct draft *draft)
{
	char *equals = strchr(line, '=');

	if (!*line || *line == '#')
		return true;
	place->key = line;
	if (!equals)
		return complain(place, "'=' is missing; write KEY=VALUE");
	*equals = '\0';
	return parse_pair(place, equals + 1, draft);
}

static bool sets_are_whole(const struct place *place, uint64_t bytes, unsigned int ways)
{
	uint64_t sets = bytes / LINE_BYTES / ways;

	if (sets && !(sets & (sets - 1)) && sets * ways * LINE_BYTES == bytes)
		return true;
	return complain(place, "%llu bytes in %u ways: bytes / 64 / ways must be a power of two",
			(unsigned long long)bytes, ways);
}

static bool check_caches(struct place *place, const struct config *config)
{
	place->key = "l1_bytes";
	if (!sets_are_whole(place, config->l1_bytes, config->l1_ways))
		return false;
	/* An L1 is indexed by virtual address, and searched by physical address. */
	if (config->l1_bytes / config->l1_ways > FRAME_BYTES)
		return complain(place, "a way has more than 4096 bytes; use more ways");
	place->key = "llc_bytes";
	return sets_are_whole(place, config->llc_bytes, config->llc_ways);
}

static bool check_ranges(struct place *place, const struct config *config)
{
	place->key = "ram";
	for (unsigned int i = 0; i < config->range_count; i++) {
		const struct range_config *range = &config->ranges[i];

		if (range->tier >= config->tier_count)
			return complain(place, "tier %u is not defined; tier lines count from 0",
					range->tier);
		if (range->socket >= config->sockets)
			return complain(place, "socket %u does not exist; sockets count from 0, and "
					"sockets=%u", range->socket, config->sockets);
		for (unsigned int j = 0; j < i; j++)
			if (range->start < config->ranges[j].start + config->ranges[j].bytes &&
			    config->ranges[j].start < range->start + range->bytes)
				return complain(place, "two ranges overlap at %#llx; change one",
						(unsigned long long)range->start);
	}
	return true;
}

static bool check_sockets(struct place *place, const struct config *config)
{
	bool linked = config->link.unit_bytes;

	place->key = "sockets";
	if (config->cores % config->sockets)
		return complain(place, "%u cores cannot be divided among %u sockets; change one",
				config->cores, config->sockets);
	place->key = "remote";
	if (config->sockets > 1 && !linked)
		return complain(place, "missing, but sockets=%u needs it; add remote=NS,BYTES_PER_NS",
				config->sockets);
	if (config->sockets == 1 && (linked || config->link.point_count))
		return complain(place, "there is one socket; remove the keys, or add sockets=2");
	return true;
}

static bool resolve_force_tier(struct place *place, const struct draft *draft)
{
	struct config *config = draft->config;
	const struct tier_config *tier;

	if (!*draft->force_tier)
		return true;
	tier = tier_of_name(config, draft->force_tier);
	place->key = "force_tier";
	if (!tier)
		return complain(place, "tier '%s' is not defined; use the name of a tier line",
				draft->force_tier);
	config->force_tier = (int)(tier - config->tiers);
	return true;
}

/* Compute and check values that depend on several keys, after all have been read. */
static bool finish(struct place *place, const struct draft *draft)
{
	struct config *config = draft->config;

	place->line = 0;
	place->key = "tier";
	if (!config->tier_count)
		return complain(place, "no tier is defined; add a tier line for each");
	place->key = "pages";
	if (config->dump && !config->frames)
		return complain(place, "missing, but dump=1 needs it; add pages=FILE");
	config->overlap.insn_ps = config->insn_ps;
	place->key = "fast_kinds";
	if (config->fast_kinds && *draft->force_tier)
		return complain(place, "cannot be combined with force_tier; remove one of the two");
	return check_caches(place, config) && check_sockets(place, config) &&
	       check_ranges(place, config) && resolve_force_tier(place, draft);
}

static void set_defaults(struct config *config)
{
	*config = (struct config){
		.insn_ps = 250,
		.cores = 1,
		.sockets = 1,
		.overlap = { .outstanding = 10, .store_buffer = 8, .prefetch = 20, .window = 224 },
		.tlb = { .small = { 64, 4 }, .huge = { 32, 4 }, .second = { 1536, 12 } },
		.l1_bytes = 32 << 10,
		.l1_ways = 8,
		.llc_bytes = 1 << 20,
		.llc_ways = 16,
		.force_tier = -1,
	};
}

bool config_parse(struct config *config, const char *text, const char *name)
{
	struct draft draft = { .config = config };
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

/* Return the content of a file, terminated by NUL, or NULL. */
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
		fprintf(stderr, "kloc model: %s: cannot read the configuration: %s\n", path,
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
	free(config->progress);
	free(config->output);
	free(config->live);
	free(config->frames);
	free(config->fast_kinds);
	free(config->fast_frames);
	set_defaults(config);
}
