// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers of address spaces: the most recent root tables keep theirs, and others get the
 * next number.
 */
#include <string.h>

#include "spaces.h"

/* Assign the next number. Return true if they start over. */
static bool new_number(struct spaces *spaces)
{
	bool over = spaces->latest == SPACE_MAX;

	if (over) {
		memset(spaces->kept, 0, sizeof(spaces->kept));
		spaces->latest = 0;
	}
	spaces->latest++;
	return over;
}

bool spaces_switch(struct spaces *spaces, struct space *space, uint64_t root)
{
	uint64_t frame = root >> FRAME_SHIFT;
	uint64_t slot = (frame ^ frame >> 6) % SPACES_KEPT;
	bool over = false;

	if (spaces->kept[slot].root != frame) {
		over = new_number(spaces);
		spaces->kept[slot].root = frame;
		spaces->kept[slot].number = spaces->latest;
	}
	space->number = spaces->kept[slot].number;
	space->change[0] = (uint64_t)space->number << SPACE_SHIFT;
	return over;
}
