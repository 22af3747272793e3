/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libkloc: contexts of files (KLOCs), for programs.
 *
 * The two system calls of the paper (Kannan, Ren and Bhattacharjee, "KLOCs:
 * Kernel-Level Object Contexts for Heterogeneous Memory Systems", ASPLOS 2021,
 * table 2) by their names, over what Linux with CONFIG_KLOC has for them. Build
 * and install it with the Makefile beside this file; link with -lkloc.
 *
 * A program that does not know of it can be started with it:
 *
 *	LD_PRELOAD=libkloc.so COMMAND
 *
 * calls sys_enable_kloc(0, 1) first, for COMMAND and what it starts. Where that
 * fails, COMMAND runs as ever; with KLOC_VERBOSE=1 in the environment it is said
 * why. A program that is linked with libkloc is left to call it itself.
 *
 * Both functions return 0, or -1 with errno set. They may be called by several
 * threads at once.
 */
#ifndef KLOC_H
#define KLOC_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * sys_enable_kloc() - choose a process, or not any more
 * @pid: which, 0 for the caller
 * @on: 1 or 0
 *
 * Files that it uses from now on have contexts, and so have those of children
 * that it starts from now on and of what they execute. It matters while
 * /sys/kernel/mm/kloc/scope is "chosen".
 *
 * errno: EINVAL: wrong @pid or @on. ESRCH: there is no such process. EPERM: the
 * caller may not trace it. ENOSYS: this kernel has no contexts.
 */
int sys_enable_kloc(pid_t pid, int on);

/* What sys_kloc_memsize() limits, if it is not a node of memory by its number. */
#define KLOC_CGROUP	(-1)

/* No limit. */
#define KLOC_NO_LIMIT	(~0ULL)

/**
 * sys_kloc_memsize() - limit what page cache of contexts is in fast memory
 * @where: KLOC_CGROUP for that of the caller's cgroup (its memory.kloc.max), or
 *	the number of a node of fast memory (its max_kb)
 * @bytes: how much at most, rounded down to what the kernel counts in; or
 *	KLOC_NO_LIMIT
 *
 * errno: EINVAL: @where is none of these. EACCES: the caller may not write the
 * file. ENOENT: there is no such file: the node has no fast memory, or the
 * caller is in the root of cgroups, or in one without the memory controller.
 * ENOSYS: this kernel has no contexts. And what open(2) and write(2) have.
 */
int sys_kloc_memsize(int where, unsigned long long bytes);

#ifdef __cplusplus
}
#endif

#endif /* KLOC_H */
