// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ram.h"

static const unsigned char *map_file(const struct range_config *range)
{
	int fd = open(range->path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *map = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &status)) {
		errno = EFBIG;
		if ((uint64_t)status.st_size >= range->offset + range->bytes)
			map = mmap(NULL, range->bytes, PROT_READ, MAP_SHARED, fd,
				   (off_t)range->offset);
	}
	if (map == MAP_FAILED)
		fprintf(stderr, "kloc model: ram: cannot map %s: %s\n", range->path,
			strerror(errno));
	if (fd >= 0)
		close(fd);
	return map == MAP_FAILED ? NULL : map;
}

void ram_add(struct ram *ram, const struct range_config *range, int force_tier,
	     const unsigned char *bytes)
{
	ram->ranges[ram->count++] = (struct ram_range){
		.start = range->start,
		.end = range->start + range->bytes,
		.first_frame = ram->frames,
		.bytes = bytes,
		.tier = range->tier,
		.timed_as = force_tier >= 0 ? (unsigned int)force_tier : range->tier,
	};
	ram->frames += range->bytes >> FRAME_SHIFT;
}

bool ram_map(struct ram *ram, const struct config *config)
{
	memset(ram, 0, sizeof(*ram));
	for (unsigned int i = 0; i < config->range_count; i++) {
		const unsigned char *bytes = map_file(&config->ranges[i]);

		if (!bytes)
			return false;
		ram_add(ram, &config->ranges[i], config->force_tier, bytes);
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
