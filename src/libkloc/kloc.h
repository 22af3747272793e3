/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libkloc: use kernel-level object contexts (KLOCs) of files from a program.
 *
 * The library has the two system calls of the paper (Kannan, Ren and
 * Bhattacharjee, "KLOCs: Kernel-Level Object Contexts for Heterogeneous Memory
 * Systems", ASPLOS 2021, table 2), under their names. Linux with CONFIG_KLOC
 * implements them as a prctl() and as files, which the library uses. Build and
 * install it with the Makefile in this directory, and link with -lkloc.
 *
 * To use it with a program that is not linked with it, preload it:
 *
 *	LD_PRELOAD=libkloc.so COMMAND
 *
 * This calls sys_enable_kloc(0, 1) before COMMAND starts, for COMMAND and its
 * children. If the call fails, COMMAND runs as it would without the library; with
 * KLOC_VERBOSE=1 in the environment, the reason is printed to stderr. Without
 * LD_PRELOAD, nothing is called: a program that is linked with libkloc calls
 * sys_enable_kloc() itself.
 *
 * Both functions are thread-safe.
 */
#ifndef KLOC_H
#define KLOC_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * sys_enable_kloc() - choose a process whose files get contexts, or release it
 * @pid: the process ID, or 0 for the calling process
 * @on: 1 to choose the process, 0 to release it
 *
 * Files that a chosen process uses from now on get contexts. Children that it
 * starts from now on, and the programs that they execute, inherit the choice.
 * Files that have a context keep it when the process is released.
 *
 * The choice takes effect only while /sys/kernel/mm/kloc/scope is "chosen"; while
 * it is "all", the files of all processes get contexts.
 *
 * Return: 0, or -1 with errno set:
 *
 * - EINVAL: @pid is negative, or @on is neither 0 nor 1.
 * - ESRCH: there is no process @pid, or it is a kernel thread or exiting.
 * - EPERM: the caller is not allowed to trace the process (see ptrace(2)).
 * - ENOSYS: this kernel has no contexts.
 */
int sys_enable_kloc(pid_t pid, int on);

/* For @where of sys_kloc_memsize(): limit the caller's cgroup instead of a node. */
#define KLOC_CGROUP	(-1)

/* For @bytes of sys_kloc_memsize(): no limit. */
#define KLOC_NO_LIMIT	(~0ULL)

/**
 * sys_kloc_memsize() - limit page cache in fast memory
 * @where: KLOC_CGROUP to limit the caller's cgroup (writes its memory.kloc.max),
 *	or the number of a fast memory node (writes the node's max_kb)
 * @bytes: the limit in bytes, which is rounded down to pages, or KLOC_NO_LIMIT
 *
 * All page cache counts, with a context or without one, except that of tmpfs.
 *
 * Return: 0, or -1 with errno set:
 *
 * - EINVAL: @where is neither KLOC_CGROUP nor a node number.
 * - EACCES: the caller is not allowed to write the file.
 * - ENOENT: the file does not exist. For a node: it has no fast memory, or
 *   contexts are disabled. For a cgroup: the caller is in the root cgroup, or in
 *   one without the memory controller, or cgroup v2 is not mounted.
 * - ENOSYS: this kernel has no contexts.
 * - EIO: the kernel accepted only a part of the value.
 * - Any other error of open(2) and write(2).
 */
int sys_kloc_memsize(int where, unsigned long long bytes);

#ifdef __cplusplus
}
#endif

#endif /* KLOC_H */
