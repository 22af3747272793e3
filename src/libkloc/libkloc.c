// SPDX-License-Identifier: GPL-2.0
/*
 * libkloc: use kernel-level object contexts (KLOCs) of files from a program. See
 * kloc.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kloc.h"

/* A prefix for the paths of all files; tests set it to a directory of their own. */
#ifndef KLOC_ROOT
#define KLOC_ROOT ""
#endif

#define SETTINGS	KLOC_ROOT "/sys/kernel/mm/kloc"
#define LIMITS		KLOC_ROOT "/sys/kernel/mm/tiering"
#define CGROUPS		KLOC_ROOT "/sys/fs/cgroup"
#define OWN_CGROUP	KLOC_ROOT "/proc/self/cgroup"

/* As in <linux/prctl.h> of a kernel with contexts; other headers lack them. */
#ifndef PR_KLOC
#define PR_KLOC		0x4b4c4f43
#define PR_KLOC_SET	1
#endif

int sys_enable_kloc(pid_t pid, int on)
{
	if (pid < 0 || (on != 0 && on != 1)) {
		errno = EINVAL;
		return -1;
	}
	if (prctl(PR_KLOC, (unsigned long)PR_KLOC_SET, (unsigned long)pid,
		  (unsigned long)on, 0UL) == 0)
		return 0;
	/* The arguments are valid, so EINVAL says that the kernel does not know PR_KLOC. */
	if (errno == EINVAL)
		errno = ENOSYS;
	return -1;
}

/*
 * Write a line to a file with one write(). Return 0, or -1 with errno set: ENOSYS if
 * the kernel has no contexts, EIO after a short write.
 */
static int write_line(const char *path, const char *line)
{
	size_t length = strlen(line);
	ssize_t written;
	int fd, error;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT && access(SETTINGS, F_OK) != 0)
			errno = ENOSYS;
		return -1;
	}
	written = write(fd, line, length);
	error = written < 0 ? errno : EIO;
	close(fd);
	if (written == (ssize_t)length)
		return 0;
	errno = error;
	return -1;
}

/*
 * Store the path of the caller's cgroup (v2), from the line "0::/PATH" of
 * /proc/self/cgroup, in @path of @size bytes. Return 0, or -1 with errno set: ENOENT
 * if there is no such line or the path is too long.
 */
static int own_cgroup(char *path, size_t size)
{
	FILE *file = fopen(OWN_CGROUP, "re");
	char *line = NULL;
	size_t room = 0;
	int found = 0;

	if (!file)
		return -1;
	while (!found && getline(&line, &room, file) >= 0) {
		if (strncmp(line, "0::/", 4) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		found = strlen(line + 3) < size;
		if (found)
			memcpy(path, line + 3, strlen(line + 3) + 1);
	}
	free(line);
	fclose(file);
	if (!found)
		errno = ENOENT;
	return found ? 0 : -1;
}

/* Write memory.kloc.max of the caller's cgroup. Return 0, or -1 with errno set. */
static int limit_cgroup(unsigned long long bytes)
{
	char group[PATH_MAX], path[2 * PATH_MAX], line[32];

	if (own_cgroup(group, sizeof(group)) != 0)
		return -1;
	snprintf(path, sizeof(path), CGROUPS "%s/memory.kloc.max", group);
	snprintf(line, sizeof(line), "%llu\n", bytes);
	return write_line(path, bytes == KLOC_NO_LIMIT ? "max\n" : line);
}

/* Write max_kb of a node. Return 0, or -1 with errno set. */
static int limit_node(int node, unsigned long long bytes)
{
	char path[sizeof(LIMITS) + 64], line[32];

	snprintf(path, sizeof(path), LIMITS "/node%d/max_kb", node);
	snprintf(line, sizeof(line), "%llu\n", bytes / 1024);
	return write_line(path, bytes == KLOC_NO_LIMIT ? "max\n" : line);
}

int sys_kloc_memsize(int where, unsigned long long bytes)
{
	if (where < KLOC_CGROUP) {
		errno = EINVAL;
		return -1;
	}
	return where == KLOC_CGROUP ? limit_cgroup(bytes)
				    : limit_node(where, bytes);
}

/* Return whether LD_PRELOAD loaded this library. */
static int is_preloaded(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "libkloc");
}

/* With KLOC_VERBOSE=1, print to stderr why the program was not chosen. */
static void say_why(int error)
{
	const char *verbose = getenv("KLOC_VERBOSE");

	if (verbose && strcmp(verbose, "1") == 0)
		dprintf(STDERR_FILENO, "libkloc: no contexts: %s\n",
			error == ENOSYS ? "this kernel has none"
					: strerror(error));
}

/* If preloaded, choose the program. It must not notice if that fails, so restore errno. */
__attribute__((constructor)) static void enable_program(void)
{
	int before = errno;

	if (is_preloaded() && sys_enable_kloc(0, 1) != 0)
		say_why(errno);
	errno = before;
}
