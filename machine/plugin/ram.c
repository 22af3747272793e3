// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's memory, mapped from the files that QEMU backs it with.
 */
#include <string.h>

#include "file.h"
#include "ram.h"

void ram_add(struct ram *ram, const struct range_config *range, int force_tier,
	     unsigned char *bytes)
{
	ram->ranges[ram->count++] = (struct ram_range){
		.start = range->start,
		.end = range->start + range->bytes,
		.first_frame = ram->frames,
		.bytes = bytes,
		.socket = range->socket,
		.tier = range->tier,
		.timed_as = force_tier >= 0 ? (unsigned int)force_tier : range->tier,
	};
	ram->frames += range->bytes >> FRAME_SHIFT;
}

bool ram_map(struct ram *ram, const struct config *config)
{
	memset(ram, 0, sizeof(*ram));
	for (unsigned int i = 0; i < config->range_count; i++) {
		const struct range_config *range = &config->ranges[i];
		void *bytes = file_map("ram", range->path, range->offset, range->bytes, true);

		if (!bytes)
			return false;
		ram_add(ram, range, config->force_tier, bytes);
	}
	return true;
}

const void *ram_at(const struct ram *ram, uint64_t physical, uint64_t size)
{
	const struct ram_range *range = ram_find(ram, physical);

	if (!range || size > range->end - physical)
		return NULL;
	return range->bytes + (physical - range->start);
}

uint64_t ram_physical(const struct ram *ram, uint64_t frame)
{
	const struct ram_range *range = ram->ranges;

	while (range + 1 < ram->ranges + ram->count && range[1].first_frame <= frame)
		range++;
	return range->start + ((frame - range->first_frame) << FRAME_SHIFT);
}

uint64_t *ram_word(const struct ram *ram, uint64_t physical)
{
	const struct ram_range *range = ram_find(ram, physical);

	if (!range || range->end - physical < sizeof(uint64_t))
		return NULL;
	return (uint64_t *)(range->bytes + (physical - range->start));
}
