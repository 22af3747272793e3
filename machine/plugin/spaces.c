// SPDX-License-Identifier: GPL-2.0
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

bool spaces_switch(struct spaces *spaces, uint64_t mm)
{
	uint64_t slot = (mm ^ mm >> 6) % SPACES_KEPT;
	bool over = false;

	if (!mm)
		return false;	/* a kernel thread borrows the previous address space */
	if (spaces->kept[slot].mm != mm) {
		over = new_number(spaces);
		spaces->kept[slot].mm = mm;
		spaces->kept[slot].number = spaces->latest;
	}
	spaces->change[0] = (uint64_t)spaces->kept[slot].number << SPACE_SHIFT |
			    (spaces->change[0] & DEVICE_KEY);
	return over;
}

void spaces_device(struct spaces *spaces, bool device)
{
	for (int half = 0; half < 2; half++)
		spaces->change[half] = (spaces->change[half] & ~DEVICE_KEY) |
				       (device ? DEVICE_KEY : 0);
}
