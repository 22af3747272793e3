// SPDX-License-Identifier: GPL-2.0
/*
 * Placement by page kind or by frame: decides which tier times a page, when this is not
 * the tier that holds it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "placement.h"

static const char slab[] = "slab:";

static bool complain(const char *what, const char *name)
{
	fprintf(stderr, "kloc model: fast_kinds: %s '%s'\n", what, name);
	return false;
}

static bool is_kind(const char *name)
{
	if (!strncmp(name, slab, strlen(slab)))
		return name[strlen(slab)] != '\0';
	for (unsigned int kind = 0; kind < KIND_SLAB; kind++)
		if (kind != KIND_FREE && !strcmp(name, pages_fixed_name(kind)))
			return true;
	return false;
}

static bool add_names(struct placement *placement)
{
	char *rest = placement->names;
	char *name;

	while ((name = strsep(&rest, ","))) {
		if (!*name && !rest && !placement->count)
			return true;		/* the list is empty */
		if (!is_kind(name))
			return complain("unknown page kind (pages.c has the names):", name);
		if (placement->count == PLACEMENT_MAX)
			return complain("too many page kinds, the maximum is 32; remove", name);
		placement->fast[placement->count++] = name;
	}
	return true;
}

bool placement_init(struct placement *placement, const char *kinds, unsigned int tier_count,
		    uint64_t frames)
{
	memset(placement, 0, sizeof(*placement));
	if (!kinds)
		return true;
	placement->on = true;
	placement->slow = tier_count - 1;
	placement->names = strdup(kinds);
	placement->latest = malloc(frames + 1);
	if (!placement->names || !placement->latest)
		return complain("out of memory for", kinds);
	memset(placement->latest, (int)placement->slow, frames + 1);
	return add_names(placement);
}

void placement_free(struct placement *placement)
{
	free(placement->names);
	free(placement->latest);
}

static bool is_fast(const struct placement *placement, const char *name)
{
	bool is_slab = !strncmp(name, slab, strlen(slab));

	for (unsigned int i = 0; i < placement->count; i++)
		if (!strcmp(placement->fast[i], name) ||
		    (is_slab && !strcmp(placement->fast[i], "slab:*")))
			return true;
	return false;
}

unsigned int placement_tier(struct placement *placement, const struct pages *pages,
			    const struct ram_range *range, unsigned int kind)
{
	if (!placement->on)
		return range->timed_as;
	/* Kinds are numbered as they are first seen, and keep their number. */
	for (; unlikely(placement->known <= kind); placement->known++) {
		const char *name = pages_kind_name(pages, placement->known);

		placement->tiers[placement->known] =
			is_fast(placement, name) ? 0 : (unsigned char)placement->slow;
	}
	return placement->tiers[kind];
}

unsigned int placement_access(struct placement *placement, const struct pages *pages,
			      const struct ram_line *where, unsigned int kind)
{
	unsigned int tier = placement_tier(placement, pages, where->range, kind);

	if (placement->fast_frames && placement->fast_frames[where->frame])
		return 0;
	if (placement->on)
		placement->latest[where->frame] = (unsigned char)tier;
	return tier;
}

unsigned int placement_write_back(const struct placement *placement,
				  const struct ram_line *where)
{
	if (placement->fast_frames && placement->fast_frames[where->frame])
		return 0;
	return placement->on ? placement->latest[where->frame] : where->range->timed_as;
}
