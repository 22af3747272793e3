// SPDX-License-Identifier: GPL-2.0
/*
 * kloc-free
 *
 * Prints the free page frames, a line "FIRST COUNT" for each range. If a kernel does not
 * describe its struct page to the timing model, only the kernel itself knows free frames:
 * KPF_BUDDY in /proc/kpageflags (Documentation/admin-guide/mm/pagemap.rst). Pages on
 * per-CPU lists do not have this flag, and count as used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KPF_BUDDY 10
#define FLAGS_AT_ONCE 4096

int main(void)
{
	static uint64_t flags[FLAGS_AT_ONCE];
	uint64_t frame = 0, first = 0;
	ssize_t bytes;
	int in_range = 0;
	int file = open("/proc/kpageflags", O_RDONLY);

	if (file < 0)
		return fprintf(stderr, "/proc/kpageflags: %s\n", strerror(errno)), 1;
	while ((bytes = read(file, flags, sizeof(flags))) > 0) {
		for (size_t i = 0; i < (size_t)bytes / sizeof(*flags); i++, frame++) {
			int is_free = flags[i] >> KPF_BUDDY & 1;

			if (is_free && !in_range)
				first = frame;
			if (!is_free && in_range)
				printf("%llu %llu\n", (unsigned long long)first,
				       (unsigned long long)(frame - first));
			in_range = is_free;
		}
	}
	if (bytes < 0)
		return fprintf(stderr, "/proc/kpageflags: %s\n", strerror(errno)), 1;
	if (in_range)
		printf("%llu %llu\n", (unsigned long long)first,
		       (unsigned long long)(frame - first));
	return 0;
}
