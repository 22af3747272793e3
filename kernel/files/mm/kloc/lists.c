// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: per-CPU lists of knodes (4.3).
 *
 * A CPU's list has active knodes that the CPU used lately. Finding a knode there
 * saves looking it up in the kmap, whose lock all CPUs share, to mark it as
 * active. A knode may be on several lists, and is on none while it is inactive.
 *
 * The coherence of knode->inuse with the lists:
 *
 *   knode_list_add(), list locked        knode_list_drop()
 *     set the CPU's bit in knode->cpus     (inuse is false by now)
 *     add it if inuse is true              fetch and clear knode->cpus
 *                                          for each bit
 *                                            lock the list, take it out
 *
 * Both have a full barrier between the first line and the second: either the
 * one that drops it sees the bit, or the one that adds it sees that inuse is
 * false. Where the bit was seen, what is added is taken out again, as the bit
 * was set under the list's lock.
 */
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "knode.h"

/**
 * struct knode_list - knodes that a CPU used lately
 * @lock: for changes
 * @next: place whose knode goes next
 * @saved: uses of knodes that were on the list
 * @missed: uses of those that were not
 * @knodes: never followed, only compared
 */
struct knode_list {
	spinlock_t lock;	/* for changes */
	unsigned int next;
	unsigned long saved;
	unsigned long missed;
	const struct knode *knodes[KNODE_LIST_SIZE];
};

static DEFINE_PER_CPU(struct knode_list, knode_lists) = {
	.lock = __SPIN_LOCK_UNLOCKED(knode_lists.lock),
};

static int find(const struct knode_list *list, const struct knode *knode)
{
	int i;

	/* Most often it is the one that came last. */
	i = (READ_ONCE(list->next) + KNODE_LIST_SIZE - 1) % KNODE_LIST_SIZE;
	if (READ_ONCE(list->knodes[i]) == knode)
		return i;
	for (i = 0; i < KNODE_LIST_SIZE; i++)
		if (READ_ONCE(list->knodes[i]) == knode)
			return i;
	return -1;
}

/**
 * knode_list_has() - is a knode on this CPU's list?
 * @knode: the knode
 *
 * Return: true if it is; it is active then, or was a moment ago.
 */
bool knode_list_has(const struct knode *knode)
{
	const struct knode_list *list = raw_cpu_ptr(&knode_lists);
	bool has = find(list, knode) >= 0;

	if (has)
		raw_cpu_inc(knode_lists.saved);
	else
		raw_cpu_inc(knode_lists.missed);
	return has;
}

/**
 * knode_list_miss() - a knode is used that is on no list, as it is inactive
 */
void knode_list_miss(void)
{
	raw_cpu_inc(knode_lists.missed);
}

/**
 * knode_list_add() - add an active knode to this CPU's list
 * @knode: the knode; if it is inactive by now, nothing is done
 */
void knode_list_add(struct knode *knode)
{
	unsigned int cpu = raw_smp_processor_id();
	struct knode_list *list = per_cpu_ptr(&knode_lists, cpu);
	bool listed;

	spin_lock(&list->lock);
	/* A full barrier; pairs with the xchg() in knode_list_drop(), see above. */
	listed = test_and_set_bit(cpu % BITS_PER_LONG, &knode->cpus) &&
		 find(list, knode) >= 0;
	if (READ_ONCE(knode->inuse) && !listed) {
		WRITE_ONCE(list->knodes[list->next], knode);
		WRITE_ONCE(list->next, (list->next + 1) % KNODE_LIST_SIZE);
	}
	spin_unlock(&list->lock);
}

static void take_out(struct knode_list *list, const struct knode *knode)
{
	int i;

	spin_lock(&list->lock);
	i = find(list, knode);
	if (i >= 0)
		WRITE_ONCE(list->knodes[i], NULL);
	spin_unlock(&list->lock);
}

/**
 * knode_list_drop() - take a knode off all lists
 * @knode: the knode, inactive by now
 */
void knode_list_drop(struct knode *knode)
{
	unsigned long cpus = xchg(&knode->cpus, 0);
	unsigned int bit, cpu;

	for_each_set_bit(bit, &cpus, BITS_PER_LONG)
		for (cpu = bit; cpu < nr_cpu_ids; cpu += BITS_PER_LONG)
			if (cpu_possible(cpu))
				take_out(per_cpu_ptr(&knode_lists, cpu), knode);
}

/* The sum of a count over all CPUs. */
static unsigned long sum(const unsigned long __percpu *count)
{
	unsigned long all = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		/* Its CPU changes it meanwhile: that counts or not. */
		all += data_race(*per_cpu_ptr(count, cpu));
	}
	return all;
}

/**
 * knode_list_saved() - how often did the lists save a look-up of the kmap?
 *
 * Return: the count of all CPUs, since boot.
 */
unsigned long knode_list_saved(void)
{
	return sum(&knode_lists.saved);
}

/**
 * knode_list_missed() - how often did they not?
 *
 * Return: the count of all CPUs, since boot.
 */
unsigned long knode_list_missed(void)
{
	return sum(&knode_lists.missed);
}
