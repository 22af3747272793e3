// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the processes and cgroups whose files have contexts.
 */
#include <linux/cgroup.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/memcontrol.h>
#include <linux/mm_types.h>
#include <linux/pid.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>

#include "kloc.h"

/* True once any process, or cgroup, was chosen. */
bool kloc_any_process __read_mostly;
bool kloc_any_group __read_mostly;

#ifdef CONFIG_MEMCG
/* Get the cgroup that is charged for this task; NULL for kernel threads. */
static struct mem_cgroup *kloc_current_memcg(void)
{
	if (mem_cgroup_disabled() || !current->mm || current->flags & PF_KTHREAD)
		return NULL;
	return mem_cgroup_from_task(current);
}

/* Test whether a cgroup or one of its ancestors was chosen. */
static bool kloc_is_chosen(struct mem_cgroup *group)
{
	for (; group; group = parent_mem_cgroup(group))
		if (READ_ONCE(group->kloc_enabled))
			return true;
	return false;
}

/**
 * kloc_is_group_chosen() - test whether a cgroup of this task was chosen
 *
 * Return: true if its cgroup or an ancestor was chosen.
 */
bool kloc_is_group_chosen(void)
{
	bool chosen;

	rcu_read_lock();
	chosen = kloc_is_chosen(kloc_current_memcg());
	rcu_read_unlock();
	return chosen;
}

static u64 kloc_enabled_read(struct cgroup_subsys_state *css, struct cftype *cft)
{
	return READ_ONCE(mem_cgroup_from_css(css)->kloc_enabled);
}

static int kloc_enabled_write(struct cgroup_subsys_state *css,
			      struct cftype *cft, u64 value)
{
	if (value > 1)
		return -EINVAL;
	WRITE_ONCE(mem_cgroup_from_css(css)->kloc_enabled, value);
	if (value)
		WRITE_ONCE(kloc_any_group, true);
	return 0;
}

static struct cftype kloc_memcg_files[] = {
	{
		.name = "kloc.enabled",
		.flags = CFTYPE_NOT_ON_ROOT,
		.read_u64 = kloc_enabled_read,
		.write_u64 = kloc_enabled_write,
	},
	{ }
};

static int __init kloc_memcg_init(void)
{
	return cgroup_add_dfl_cftypes(&memory_cgrp_subsys, kloc_memcg_files);
}
subsys_initcall(kloc_memcg_init);
#endif /* CONFIG_MEMCG */

/* Find and hold the process with a pid, 0 for the caller; NULL if there is none. */
static struct task_struct *kloc_get_task(pid_t pid)
{
	return pid ? find_get_task_by_vpid(pid) : get_task_struct(current);
}

/**
 * kloc_prctl() - enable contexts for a process (table 2: sys_enable_kloc())
 * @what: PR_KLOC_GET or PR_KLOC_SET
 * @pid: pid of the process, 0 for the caller
 * @on: the new state, 0 or 1; 0 for PR_KLOC_GET
 * @zero: reserved, 0
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
		/* The process is exiting, or is a kernel thread. */
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
