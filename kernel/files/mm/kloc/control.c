// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: whose files have contexts.
 */
#include <linux/errno.h>
#include <linux/mm_types.h>
#include <linux/pid.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>

#include "kloc.h"

/* Was any process, or group, ever chosen? */
bool kloc_any_process __read_mostly;
bool kloc_any_group __read_mostly;

/* The process whose number that is, held; NULL if there is none. */
static struct task_struct *kloc_get_task(pid_t pid)
{
	return pid ? find_get_task_by_vpid(pid) : get_task_struct(current);
}

/**
 * kloc_prctl() - enable contexts for a process (table 2: sys_enable_kloc())
 * @what: PR_KLOC_GET or PR_KLOC_SET
 * @pid: of the process, 0 for the caller
 * @on: to set it, 0 or 1
 * @zero: for later, 0
 *
 * Return: for PR_KLOC_GET 0 or 1, otherwise 0 or an error: -EINVAL, -ESRCH, or
 * -EPERM if the caller may not trace the process.
 */
long kloc_prctl(unsigned long what, unsigned long pid, unsigned long on,
		unsigned long zero)
{
	unsigned int mode = what == PR_KLOC_SET ? PTRACE_MODE_ATTACH_REALCREDS
						: PTRACE_MODE_READ_REALCREDS;
	struct task_struct *task;
	struct mm_struct *mm;
	long result = -EPERM;

	if (what > PR_KLOC_SET || pid > INT_MAX || on > 1 || zero ||
	    (what == PR_KLOC_GET && on))
		return -EINVAL;
	task = kloc_get_task(pid);
	if (!task)
		return -ESRCH;
	mm = get_task_mm(task);
	if (!mm) {
		/* It ends, or is the kernel's. */
		result = -ESRCH;
	} else if (task == current || ptrace_may_access(task, mode)) {
		result = what == PR_KLOC_GET && test_bit(MMF_KLOC, &mm->flags);
		if (what == PR_KLOC_SET)
			assign_bit(MMF_KLOC, &mm->flags, on);
		if (on)
			WRITE_ONCE(kloc_any_process, true);
	}
	if (mm)
		mmput(mm);
	put_task_struct(task);
	return result;
}
