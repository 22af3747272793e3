/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that watches the machine must not take time of the workload's cores: it
 * leaves the cgroup of the workload, and runs on the machine's spare cores.
 */
#ifndef ASIDE_H
#define ASIDE_H

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROOT_CGROUP "/sys/fs/cgroup/cgroup.procs"

static void __attribute__((format(printf, 1, 2), noreturn)) fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

/* Runs on the CPUs from `first` on, or on all if there are none. */
static void step_aside(int first)
{
	int count = (int)sysconf(_SC_NPROCESSORS_ONLN);
	FILE *group = fopen(ROOT_CGROUP, "w");
	cpu_set_t cpus;

	if (!group || fputs("0", group) < 0 || fclose(group) != 0)
		fail("cannot leave the workload's cgroup: %s does not take 0", ROOT_CGROUP);
	if (first >= count)
		return;
	CPU_ZERO(&cpus);
	for (int cpu = first; cpu < count; cpu++)
		CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
		fail("cannot run on the CPUs from %d on", first);
}

static inline void sleep_us(long us)
{
	struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

#endif
