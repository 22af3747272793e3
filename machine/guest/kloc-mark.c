// SPDX-License-Identifier: GPL-2.0
/*
 * kloc-mark start|warm|begin|end|time
 *
 * Tells the timing model that loading begins, or that a region begins or ends, with
 * the time by CLOCK_MONOTONIC in ns; or prints that time. The model recognizes a NOP as
 * the call (linux/kloc_machine.h), so that calls work on any kernel.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* enum kloc_machine_call, 'K' 'L' 'C' */
#define CALL(number, argument) \
	asm volatile(".byte 0x0f, 0x1f, 0x80, %c0, 'K', 'L', 'C'" \
		     : : "i" (number), "a" (argument) : "memory")

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	uint64_t now = monotonic_ns();

	if (!strcmp(what, "start"))
		CALL(2, now);
	else if (!strcmp(what, "warm"))
		CALL(3, now);
	else if (!strcmp(what, "begin"))
		CALL(4, monotonic_ns());
	else if (!strcmp(what, "end"))
		CALL(5, now);
	else if (!strcmp(what, "time"))
		printf("%llu\n", (unsigned long long)now);
	else
		return fprintf(stderr, "usage: kloc-mark start|warm|begin|end|time\n"), 2;
	return 0;
}
