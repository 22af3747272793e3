// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the lists that say which knodes were used lately (4.3).
 *
 * Each CPU has a list of the knodes that became active there, and each node of fast
 * memory one of those that are not in use and may have pages there, the one that is so
 * for longest first. A knode is on one list at most.
 *
 * A file that is opened and closed again and again stays on the list of a CPU, and only
 * the flags of its knode change. A scan passes over these lists: all get a scan older,
 * and what is not in use, and was not used for some scans, leaves for the list of cold
 * ones.
 *
 * knode->list changes from KNODE_NO_LIST with cmpxchg, under the lock of the list that
 * it is added to; and back under the same lock. Who adds one looks at KNODE_DEAD after
 * the first change, and who takes it away for good sets KNODE_DEAD before it looks at
 * knode->list: so a dead knode is on no list.
 */
#include <linux/init.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "kloc.h"

/**
 * struct knode_list - a list of knodes
 * @lock: of all in it
 * @head: the one that was added last is the last
 * @count: of knodes; read without the lock, too
 */
struct knode_list {
	spinlock_t lock;	/* of head and count */
	struct list_head head;
	unsigned int count;
};

static DEFINE_PER_CPU(struct knode_list, knode_used_lists);
static struct knode_list knode_cold_lists[KNODE_FAST_NODES];

/* Knodes that are looked at while a list is locked. */
#define KNODE_LIST_LOOK		32

static struct knode_list *knode_list_of(u32 number)
{
	return number < KNODE_USED_LIST ?
	       &knode_cold_lists[number - KNODE_COLD_LIST] :
	       per_cpu_ptr(&knode_used_lists, number - KNODE_USED_LIST);
}

/* Take a knode off a list, which is locked. */
static void knode_unlink(struct knode_list *list, struct knode *knode)
{
	list_del_init(&knode->link);
	WRITE_ONCE(list->count, list->count - 1);
	/* After its link: who adds it to another list sees it unlinked. */
	smp_store_release(&knode->list, KNODE_NO_LIST);
}

/* Add a knode to a list, if it is on none. */
static void knode_link(struct knode *knode, u32 number)
{
	struct knode_list *list = knode_list_of(number);

	spin_lock(&list->lock);
	if (cmpxchg(&knode->list, KNODE_NO_LIST, number) == KNODE_NO_LIST) {
		if (test_bit(KNODE_DEAD, &knode->flags)) {
			WRITE_ONCE(knode->list, KNODE_NO_LIST);
		} else {
			list_add_tail(&knode->link, &list->head);
			WRITE_ONCE(list->count, list->count + 1);
		}
	}
	spin_unlock(&list->lock);
}

/**
 * knode_list_del() - take a knode off its list, if it is on one
 * @knode: the knode
 */
void knode_list_del(struct knode *knode)
{
	struct knode_list *list;
	u32 number;

	while ((number = READ_ONCE(knode->list)) != KNODE_NO_LIST) {
		list = knode_list_of(number);
		spin_lock(&list->lock);
		/* It may have come to another list meanwhile. */
		if (READ_ONCE(knode->list) == number && !list_empty(&knode->link))
			knode_unlink(list, knode);
		spin_unlock(&list->lock);
	}
}

/**
 * knode_list_add() - add a knode that is used to the list of this CPU
 * @knode: the knode; nothing happens if it is on the list of a CPU
 */
void knode_list_add(struct knode *knode)
{
	if (knode_is_listed(knode))
		return;
	knode_list_del(knode);
	knode_link(knode, KNODE_USED_LIST + raw_smp_processor_id());
}

/**
 * knode_list_add_cold() - add a knode that is not in use to those that may leave
 * @knode: the knode; nothing happens if it is on a list, or is in slow memory
 */
void knode_list_add_cold(struct knode *knode)
{
	unsigned long nodes = knode_fast_nodes(knode);

	if (nodes)
		knode_link(knode, KNODE_COLD_LIST + __ffs(nodes));
}

/* What is mapped is used without a system call; its pages tell. */
static bool knode_is_mapped(const struct knode *knode)
{
	struct inode *inode = rcu_dereference(knode->inode);

	return inode && inode->i_mapping && mapping_mapped(inode->i_mapping);
}

/* A knode gets a scan older. */
static void knode_get_older(struct knode *knode, u8 inactive_age)
{
	u8 age = READ_ONCE(knode->age);

	set_bit(KNODE_AGED, &knode->flags);
	WRITE_ONCE(knode->history, READ_ONCE(knode->history) << 1);
	/* What no file owns is aged by page. */
	if (test_bit(KNODE_BLOCKDEV, &knode->flags))
		return;
	if (age < U8_MAX)
		WRITE_ONCE(knode->age, age + 1);
	if (age + 1 >= inactive_age && knode_inuse(knode) &&
	    !knode_is_mapped(knode))
		knode_deactivate(knode);
}

/*
 * Pass over some knodes of a CPU's list, which are put at its end. Those that are not in
 * use, and were not used for @cold_age scans, leave it, and are put in @cold. Unless
 * @inactive_age is 0, the others get a scan older. Return: how many left.
 */
static unsigned int knode_list_pass(struct knode_list *list, unsigned int looks,
				    u8 cold_age, u8 inactive_age,
				    struct knode **cold)
{
	unsigned int count = 0;
	struct knode *knode;

	rcu_read_lock();
	spin_lock(&list->lock);
	while (looks-- && !list_empty(&list->head)) {
		knode = list_first_entry(&list->head, struct knode, link);
		if (!knode_inuse(knode) && READ_ONCE(knode->age) >= cold_age) {
			knode_unlink(list, knode);
			if (knode_tryget(knode))
				cold[count++] = knode;
			continue;
		}
		list_rotate_left(&list->head);
		if (inactive_age)
			knode_get_older(knode, inactive_age);
	}
	spin_unlock(&list->lock);
	rcu_read_unlock();
	return count;
}

/* Pass over a CPU's list once. Return: how many left. */
static unsigned int knode_list_scan(struct knode_list *list, u8 cold_age,
				    u8 inactive_age)
{
	unsigned int left = READ_ONCE(list->count), all = 0;
	struct knode *cold[KNODE_LIST_LOOK];

	while (left) {
		unsigned int looks = min(left, KNODE_LIST_LOOK), i, count;

		count = knode_list_pass(list, looks, cold_age, inactive_age,
					cold);
		for (i = 0; i < count; i++) {
			WRITE_ONCE(cold[i]->history, 0);
			if (knode_inuse(cold[i]))
				knode_list_add(cold[i]);
			else
				knode_list_add_cold(cold[i]);
			knode_put(cold[i]);
		}
		all += count;
		left -= looks;
		cond_resched();
	}
	return all;
}

/**
 * knode_lists_age() - age the knodes that were used lately by one scan (4.3)
 * @inactive_age: age at which a knode becomes inactive, though it is open
 * @cold_age: age at which a knode that is inactive becomes cold
 *
 * Context: may sleep between knodes: there may be many.
 * Return: how many became cold.
 */
unsigned int knode_lists_age(u8 inactive_age, u8 cold_age)
{
	unsigned int cpu, cold = 0;

	for_each_possible_cpu(cpu)
		cold += knode_list_scan(per_cpu_ptr(&knode_used_lists, cpu),
					cold_age, inactive_age);
	return cold;
}

/**
 * knode_lists_settle() - those that are not in use are cold from now on
 * @age: scans that they were not used for, at least
 *
 * Before their time, because there is no room.
 *
 * Context: may sleep.
 */
void knode_lists_settle(u8 age)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		knode_list_scan(per_cpu_ptr(&knode_used_lists, cpu), age, 0);
}

/* Take the first knodes off a list of cold ones. */
static unsigned int knode_take_cold(unsigned int index, struct knode **knodes,
				    unsigned int most)
{
	struct knode_list *list = &knode_cold_lists[index % KNODE_FAST_NODES];
	unsigned int count = 0;
	struct knode *knode;

	if (!READ_ONCE(list->count))
		return 0;
	spin_lock(&list->lock);
	while (count < most && !list_empty(&list->head)) {
		knode = list_first_entry(&list->head, struct knode, link);
		knode_unlink(list, knode);
		if (knode_tryget(knode))
			knodes[count++] = knode;
	}
	spin_unlock(&list->lock);
	return count;
}

/**
 * get_LRU_knodes() - take the coldest knodes that may have pages on a node (table 2)
 * @index: of the node, a node of fast memory
 * @knodes: filled in with them, the coldest first; they are on no list any more
 * @most: room in @knodes
 *
 * Whoever has them calls knode_list_add_cold() for those that keep pages there, and
 * knode_put() for all. Some may be in use by now: that is for knode_list_add().
 *
 * Return: how many there are.
 */
unsigned int get_LRU_knodes(unsigned int index, struct knode **knodes,
			    unsigned int most)
{
	unsigned int count, other, i;
	struct knode *knode;

	count = knode_take_cold(index, knodes, most);
	/* Those that have pages on several nodes are on the list of one of them. */
	for (other = 0; !count && other < KNODE_FAST_NODES; other++) {
		if (other == index % KNODE_FAST_NODES)
			continue;
		for (i = 0; i < KNODE_LIST_LOOK && count < most; i++) {
			if (!knode_take_cold(other, &knode, 1))
				break;
			if (knode_fast(knode, index)) {
				knodes[count++] = knode;
				continue;
			}
			knode_list_add_cold(knode);
			knode_put(knode);
		}
	}
	return count;
}

/* Keep those of the greatest ages, the oldest first. */
static unsigned int knode_insert(struct knode **oldest, unsigned int count,
				 unsigned int most, struct knode *knode)
{
	unsigned int place = count;

	while (place && READ_ONCE(knode->age) > READ_ONCE(oldest[place - 1]->age))
		place--;
	if (place == most)
		return count;
	if (count == most)
		count--;
	memmove(oldest + place + 1, oldest + place,
		(count - place) * sizeof(*oldest));
	oldest[place] = knode;
	return count + 1;
}

/**
 * knode_get_aged() - find knodes in use that were not used for some time (4.3)
 * @index: of a node of fast memory, where they may have pages
 * @age: scans that they were not used for, at least
 * @knodes: filled in with them, the oldest of those that were looked at first
 * @most: room in @knodes
 *
 * They stay on their lists. Of each CPU's list some are looked at, and put at its end.
 *
 * Return: how many there are; knode_put() each when done with it.
 */
unsigned int knode_get_aged(unsigned int index, u8 age, struct knode **knodes,
			    unsigned int most)
{
	unsigned int cpu, i, kept = 0, count = 0;
	struct knode *knode;

	rcu_read_lock();
	for_each_possible_cpu(cpu) {
		struct knode_list *list = per_cpu_ptr(&knode_used_lists, cpu);

		spin_lock(&list->lock);
		for (i = min(list->count, 4 * KNODE_LIST_LOOK); i; i--) {
			knode = list_first_entry(&list->head, struct knode, link);
			list_rotate_left(&list->head);
			if (READ_ONCE(knode->age) >= age &&
			    knode_fast(knode, index))
				count = knode_insert(knodes, count, most, knode);
		}
		spin_unlock(&list->lock);
	}
	for (i = 0; i < count; i++)
		if (knode_tryget(knodes[i]))
			knodes[kept++] = knodes[i];
	rcu_read_unlock();
	return kept;
}

static void __init knode_list_init(struct knode_list *list)
{
	spin_lock_init(&list->lock);
	INIT_LIST_HEAD(&list->head);
}

static int __init knode_lists_init(void)
{
	unsigned int i;

	for (i = 0; i < KNODE_FAST_NODES; i++)
		knode_list_init(&knode_cold_lists[i]);
	for_each_possible_cpu(i)
		knode_list_init(per_cpu_ptr(&knode_used_lists, i));
	return 0;
}
core_initcall(knode_lists_init);

#ifdef CONFIG_KLOC_KUNIT_TEST
#include "tests/lists-kunit.h"
#endif
