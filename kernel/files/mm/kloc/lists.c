// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: per-CPU lists of knodes (4.3).
 *
 * Whether a knode is active is known from its flags. The kmap, whose lock all CPUs
 * share, has to know it only when somebody looks for what is active, or cold. So a
 * CPU that makes a knode active or inactive puts it on its list, and the kmap is
 * told of all that are on a list at once: when the list is full, and before the
 * kmap is asked. What is opened and closed again and again stays on a list, and
 * the kmap is not looked up for it.
 *
 * A knode is on one list at most: KNODE_LISTED says so, and any CPU that changes
 * the knode meanwhile has nothing more to do, whoever's list that is. The flag is
 * a bit of the same word as KNODE_INUSE, so that all see the changes of both in one
 * order:
 *
 *   who changes the knode            who tells the kmap
 *     change KNODE_INUSE               clear KNODE_LISTED
 *     look at KNODE_LISTED             look at KNODE_INUSE
 *
 * Either the one finds the knode on no list, and puts it on one again, or the
 * other finds the change.
 */
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "knode.h"

/**
 * struct knode_list - knodes that the kmap is to be told of
 * @lock: of @count and @knodes
 * @count: of @knodes
 * @saved: changes for which the kmap was not looked up
 * @missed: those for which it was
 * @knodes: they are held
 */
struct knode_list {
	spinlock_t lock;	/* of count and knodes */
	unsigned int count;
	unsigned long saved;
	unsigned long missed;
	struct knode *knodes[KNODE_LIST_SIZE];
};

static DEFINE_PER_CPU(struct knode_list, knode_lists) = {
	.lock = __SPIN_LOCK_UNLOCKED(knode_lists.lock),
};

/**
 * knode_list_count() - count a change of a knode
 * @saved: the kmap was not looked up for it
 */
void knode_list_count(bool saved)
{
	if (saved)
		raw_cpu_inc(knode_lists.saved);
	else
		raw_cpu_inc(knode_lists.missed);
}

/* Take all that are on a list, which is locked. */
static unsigned int take_all(struct knode_list *list, struct knode **knodes)
{
	unsigned int count = list->count;

	memcpy(knodes, list->knodes, count * sizeof(*knodes));
	WRITE_ONCE(list->count, 0);
	return count;
}

/**
 * knode_list_add() - a knode became active or inactive: the kmap is to be told
 * @kmap: the kmap that has all knodes that are on lists
 * @knode: the knode, which may be dead by now
 *
 * Context: RCU read-side critical section.
 */
void knode_list_add(struct kmap *kmap, struct knode *knode)
{
	struct knode *full[KNODE_LIST_SIZE];
	struct knode_list *list;
	unsigned int count = 0;

	if (test_bit(KNODE_LISTED, &knode->flags) ||
	    test_and_set_bit(KNODE_LISTED, &knode->flags)) {
		knode_list_count(true);
		return;
	}
	/* Of one that is about to be freed nobody has to know. */
	if (!knode_tryget(knode))
		return;
	list = raw_cpu_ptr(&knode_lists);
	spin_lock(&list->lock);
	if (list->count == KNODE_LIST_SIZE)
		count = take_all(list, full);
	list->knodes[list->count] = knode;
	WRITE_ONCE(list->count, list->count + 1);
	spin_unlock(&list->lock);
	kmap_settle(kmap, full, count);
}

/**
 * knode_lists_flush() - tell a kmap of all that are on lists
 * @kmap: the kmap
 */
void knode_lists_flush(struct kmap *kmap)
{
	struct knode *knodes[KNODE_LIST_SIZE];
	unsigned int cpu, count;

	for_each_possible_cpu(cpu) {
		struct knode_list *list = per_cpu_ptr(&knode_lists, cpu);

		if (!READ_ONCE(list->count))
			continue;
		spin_lock(&list->lock);
		count = take_all(list, knodes);
		spin_unlock(&list->lock);
		kmap_settle(kmap, knodes, count);
	}
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
 * knode_list_saved() - for how many changes was the kmap not looked up?
 *
 * Return: the count of all CPUs, since boot.
 */
unsigned long knode_list_saved(void)
{
	return sum(&knode_lists.saved);
}

/**
 * knode_list_missed() - and for how many was it?
 *
 * Return: the count of all CPUs, since boot.
 */
unsigned long knode_list_missed(void)
{
	return sum(&knode_lists.missed);
}
