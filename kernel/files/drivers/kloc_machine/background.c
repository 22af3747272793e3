// SPDX-License-Identifier: GPL-2.0
/*
 * The two-tier machine: which task runs, and pacing of background threads.
 *
 * A server runs the kernel threads that reclaim, compact, migrate and sample on
 * spare cores. The guest has one CPU. So the driver tells the model when such a
 * thread runs: simulated time then stands still, and the clock of a background
 * core advances. Threads wait when this clock is ahead of simulated time.
 */
#define pr_fmt(fmt) "kloc_machine: " fmt

#include <linux/binfmts.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/mm_types.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/sched/rt.h>
#include <linux/sched/signal.h>
#include <linux/workqueue.h>

#include <trace/events/sched.h>

#include "machine.h"

static unsigned int background_ahead_ns = 200 * NSEC_PER_USEC;
module_param(background_ahead_ns, uint, 0644);
MODULE_PARM_DESC(background_ahead_ns,
		 "ns that the background core may be ahead of simulated time");

DEFINE_STATIC_KEY_FALSE(kloc_machine_background_key);

static const char * const background_names[] = {
	"kswapd", "kcompactd", "khugepaged", "kdamond", "kloc",
};

/* Slots in use, without slot 0 (the workload). Slots are never freed. */
static unsigned int slots_used;

/**
 * kloc_machine_is_background() - check if a thread counts as background
 * @comm: name of the kernel thread
 *
 * Return: true if the thread runs on the background core.
 */
bool kloc_machine_is_background(const char *comm)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(background_names); i++)
		if (str_has_prefix(comm, background_names[i]))
			return true;
	return false;
}

/**
 * kloc_machine_slot_of() - find or assign the slot of a background thread
 * @comm: name of the kernel thread, TASK_COMM_LEN bytes padded with zeros
 *
 * Slots are found by name: a DAMON thread that is stopped and restarted keeps its.
 *
 * Context: preemption disabled.
 * Return: the slot; 0 if it is no background thread, or if all slots are taken.
 */
unsigned int kloc_machine_slot_of(const char *comm)
{
	struct kloc_machine_slot *slots = kloc_machine_page->slots;
	unsigned int slot;

	for (slot = 1; slot <= slots_used; slot++)
		if (!memcmp(slots[slot].comm, comm, TASK_COMM_LEN))
			return slot;

	if (slot == KLOC_MACHINE_SLOTS || !kloc_machine_is_background(comm))
		return 0;

	memcpy(slots[slot].comm, comm, TASK_COMM_LEN);
	slots_used = slot;
	return slot;
}

/*
 * On a core of its own, a thread need not wait until the workload is preempted.
 * So it runs first, at real-time priority, while simulated time stands still.
 */
static void prefer_background(struct work_struct *work)
{
	struct task_struct *task;

	rcu_read_lock();
	for_each_process(task)
		if (task->flags & PF_KTHREAD && !rt_task(task) &&
		    kloc_machine_is_background(task->comm))
			sched_set_fifo_low(task);
	rcu_read_unlock();
}

static DECLARE_WORK(prefer_work, prefer_background);

static void queue_prefer_work(struct irq_work *work)
{
	schedule_work(&prefer_work);
}

/* Priorities cannot be changed during a context switch: do it later. */
static DEFINE_IRQ_WORK(prefer_irq_work, queue_prefer_work);

/*
 * An address space is identified by ctx_id, which is never reused, unlike the
 * address of an mm_struct. Kernel threads use the previous task's.
 */
static void tell_model(struct task_struct *task)
{
	struct kloc_machine_page *page = kloc_machine_page;

	BUILD_BUG_ON(TASK_COMM_LEN != KLOC_MACHINE_COMM);

	page->slot = task->flags & PF_KTHREAD ? kloc_machine_slot_of(task->comm)
					      : 0;
	if (page->slot && page->own_core && !rt_task(task))
		irq_work_queue(&prefer_irq_work);
	if (task->mm)
		page->mm = task->mm->context.ctx_id;
	kloc_machine_call(KLOC_MACHINE_SWITCH);
}

static void on_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	tell_model(next);
	kloc_machine_timer_switch();
}

static void on_exec(void *data, struct task_struct *task, pid_t old_pid,
		    struct linux_binprm *bprm)
{
	unsigned long flags;

	local_irq_save(flags);
	tell_model(task);
	local_irq_restore(flags);
}

/* May the current task sleep here? cond_resched() does not guarantee it. */
static bool may_sleep(void)
{
	return !preempt_count() && !irqs_disabled() && !rcu_preempt_depth() &&
	       READ_ONCE(current->__state) == TASK_RUNNING;
}

/* Called by cond_resched(). */
int __kloc_machine_background_wait(void)
{
	ktime_t ahead;
	u64 ahead_ns;

	if (!READ_ONCE(kloc_machine_page->slot) || !may_sleep())
		return 0;

	/* Reading the time makes the model update the page. */
	kloc_machine_time();
	ahead_ns = READ_ONCE(kloc_machine_page->background);
	if (ahead_ns <= background_ahead_ns)
		return 0;

	ahead = ns_to_ktime(ahead_ns);
	__set_current_state(TASK_IDLE);
	schedule_hrtimeout_range(&ahead, 0, HRTIMER_MODE_REL);
	return 1;
}

static int __init background_init(void)
{
	int error;

	if (!kloc_machine_present())
		return 0;

	error = register_trace_sched_switch(on_switch, NULL);
	if (!error)
		error = register_trace_sched_process_exec(on_exec, NULL);
	if (error) {
		pr_err("cannot follow the scheduler: %d\n", error);
		return error;
	}
	static_branch_enable(&kloc_machine_background_key);
	return 0;
}
device_initcall(background_init);
