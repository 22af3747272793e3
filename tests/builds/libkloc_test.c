// SPDX-License-Identifier: GPL-2.0
/*
 * Calls one function of libkloc, and replaces prctl(): it prints its arguments,
 * and fails with errno set to PRCTL_ERROR if the environment has that.
 *
 *	libkloc_test enable PID ON | memsize WHERE BYTES | nothing
 *
 * Prints the function's return value, and errno if it failed.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kloc.h"

int prctl(int option, ...);

int prctl(int option, ...)
{
	const char *error = getenv("PRCTL_ERROR");
	unsigned long arguments[4];
	va_list list;
	int i;

	va_start(list, option);
	for (i = 0; i < 4; i++)
		arguments[i] = va_arg(list, unsigned long);
	va_end(list);
	printf("prctl %#x %lu %lu %lu %lu\n", option, arguments[0],
	       arguments[1], arguments[2], arguments[3]);
	errno = error ? atoi(error) : 0;
	return error ? -1 : 0;
}

int main(int argc, char **argv)
{
	int result;

	/* The library's constructor must not change errno. */
	if (errno)
		return 3;
	if (argc == 2 && strcmp(argv[1], "nothing") == 0)
		return 0;
	if (argc != 4)
		return 2;
	errno = 0;
	if (strcmp(argv[1], "enable") == 0)
		result = sys_enable_kloc(atoi(argv[2]), atoi(argv[3]));
	else
		result = sys_kloc_memsize(atoi(argv[2]),
					  strtoull(argv[3], NULL, 10));
	printf("%d %d\n", result, result ? errno : 0);
	return 0;
}
