// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the lists of recently used knodes and of cold knodes (4.3).
 *
 * Each CPU has a list of the knodes that became active there. A knode is cold if it is
 * inactive and was unused for some scans. Cold knodes are on one list for each set of
 * nodes of fast memory where they may have pages, the coldest first. A knode is on at
 * most one list.
 *
 * Opening and closing a file repeatedly changes only the flags of its knode, which
 * stays on the list of a CPU. Passes over these lists age all knodes by a scan, and
 * find cold ones. There may be millions of knodes, so a pass has steps: each checks a
 * few knodes at the head of a list, and moves them to its tail. Concurrent passes may
 * skip a knode, or check it twice.
 *
 * knode->list changes from KNODE_NO_LIST with cmpxchg, under the lock of the new list,
 * and back under the same lock. Adding a knode checks KNODE_DEAD after the first
 * change; removing it for good sets KNODE_DEAD before it reads knode->list. So a dead
 * knode is on no list.
 */
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/sort.h>
#include <linux/spinlock.h>

#include "kloc.h"

/**
 * struct knode_list - a list of knodes
 * @lock: protects @head and @count
 * @head: the knodes, the last one added at the tail
 * @count: number of knodes; read without the lock, too
 */
struct knode_list {
	spinlock_t lock;	/* protects head and count */
	struct list_head head;
	unsigned int count;
};

static DEFINE_PER_CPU(struct knode_list, knode_used_lists);

/* Indexed by knode_fast_nodes(); the first one stays empty. */
static struct knode_list knode_cold_lists[KNODE_USED_LIST];

/* For each node, the last cold list of get_LRU_knodes(). */
static u8 knode_cold_turns[KNODE_FAST_NODES];

/* Number of the pass that ages knodes. One thread at a time makes such passes. */
static unsigned int knode_age_pass;

static struct knode_list *knode_list_of(u32 number)
{
	return number < KNODE_USED_LIST ?
	       &knode_cold_lists[number] :
	       per_cpu_ptr(&knode_used_lists, number - KNODE_USED_LIST);
}

/* Take a knode off a locked list. */
static void knode_unlink(struct knode_list *list, struct knode *knode)
{
	list_del_init(&knode->link);
	WRITE_ONCE(list->count, list->count - 1);
	/*
	 * After unlinking, so that adding the knode to another list sees it unlinked.
	 */
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
		/* The knode may be on another list by now. */
		if (READ_ONCE(knode->list) == number && !list_empty(&knode->link))
			knode_unlink(list, knode);
		spin_unlock(&list->lock);
	}
}

/**
 * knode_list_add() - add a knode to the list of this CPU
 * @knode: the knode; ignored if it is on the list of a CPU already
 */
void knode_list_add(struct knode *knode)
{
	if (knode_is_listed(knode))
		return;
	knode_list_del(knode);
	knode_link(knode, KNODE_USED_LIST + raw_smp_processor_id());
}

/**
 * knode_list_add_cold() - add an inactive knode to its list of cold knodes
 * @knode: the knode; ignored if it is on a list, or has no pages in fast memory
 */
void knode_list_add_cold(struct knode *knode)
{
	unsigned long nodes = knode_fast_nodes(knode);

	if (!nodes)
		return;
	knode_link(knode, nodes);
	/*
	 * The knode may have pages on another node by now. Pairs with the barrier in
	 * knode_set_fast(); the change of knode->list is a full barrier.
	 */
	if (knode_fast_nodes(knode) & ~nodes)
		knode_list_add(knode);
}

/*
 * Test whether a file is mapped. Only its pages' history shows uses through mappings.
 */
static bool knode_is_mapped(const struct knode *knode)
{
	struct inode *inode = rcu_dereference(knode->inode);

	return inode && inode->i_mapping && mapping_mapped(inode->i_mapping);
}

/*
 * Make a knode inactive that was unused for @inactive_age scans. Block devices stay
 * active, as file systems use them without opening them.
 */
static void knode_retire(struct knode *knode, u8 inactive_age)
{
	if (READ_ONCE(knode->age) < inactive_age || !knode_inuse(knode) ||
	    test_bit(KNODE_BLOCKDEV, &knode->flags) || knode_is_mapped(knode))
		return;
	knode_deactivate(knode);
	/*
	 * A concurrent use may have found the knode active. Both sides change one flag
	 * and then check the other, see knode_activate().
	 */
	if (!test_bit(KNODE_AGED, &knode->flags))
		knode_activate(knode);
}

/* Age a knode by a scan. */
static void knode_get_older(struct knode *knode, u8 inactive_age)
{
	u8 age;

	set_bit(KNODE_AGED, &knode->flags);
	/*
	 * Pairs with knode_activate(): the check below sees a use that clears the flag.
	 */
	smp_mb__after_atomic();
	age = READ_ONCE(knode->age);
	WRITE_ONCE(knode->age, min(age + 1, U8_MAX));
	WRITE_ONCE(knode->history, READ_ONCE(knode->history) << 1);
	/* Order the writes before the check of the flag. A use overrides them. */
	smp_mb();
	if (!test_bit(KNODE_AGED, &knode->flags))
		knode_note_use(knode);
	else
		knode_retire(knode, inactive_age);
	if ((knode_age_pass + knode->id) % KNODE_STUCK_SCANS == 0)
		knode_clear_stuck(knode);
}

/*
 * Find the next list of a pass with @pass->left knodes to check. Return: NULL at the
 * end of the pass; the next call begins a new one.
 */
static struct knode_list *knode_pass_list(struct knode_pass *pass)
{
	struct knode_list *list = NULL;
	unsigned int cpu;

	if (pass->next) {
		list = per_cpu_ptr(&knode_used_lists, pass->next - 1);
		/* The list may be shorter by now: check no knode twice. */
		pass->left = min(pass->left, READ_ONCE(list->count));
	}
	while (!pass->left) {
		cpu = cpumask_next((int)pass->next - 1, cpu_possible_mask);
		if (cpu >= nr_cpu_ids) {
			pass->next = 0;
			return NULL;
		}
		list = per_cpu_ptr(&knode_used_lists, cpu);
		pass->next = cpu + 1;
		pass->left = READ_ONCE(list->count);
	}
	return list;
}

/* Get the number of knodes, at most @most, that a step of a pass checks. */
static unsigned int knode_pass_step(struct knode_pass *pass, unsigned int most)
{
	unsigned int looks = min3(pass->left, most, KNODE_LIST_LOOK);

	pass->left -= looks;
	return looks;
}

/*
 * Check @looks knodes at the head of a CPU's list. Move inactive knodes that were
 * unused for @cold_age scans, and are not stuck, to @cold. Move the others to the tail,
 * and age them unless @inactive_age is 0. Return: the number of knodes in @cold.
 */
static unsigned int knode_list_look(struct knode_list *list, unsigned int looks,
				    u8 cold_age, u8 inactive_age,
				    struct knode **cold)
{
	unsigned int count = 0;
	struct knode *knode;

	rcu_read_lock();
	spin_lock(&list->lock);
	while (looks-- && !list_empty(&list->head)) {
		knode = list_first_entry(&list->head, struct knode, link);
		if (!knode_inuse(knode) && READ_ONCE(knode->age) >= cold_age &&
		    knode_may_leave(knode)) {
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

/* Make a step of a pass that finds cold knodes. Return: false at the end of the pass. */
static bool knode_pass_cold(struct knode_pass *pass, u8 cold_age, u8 inactive_age)
{
	struct knode_list *list = knode_pass_list(pass);
	struct knode *cold[KNODE_LIST_LOOK];
	unsigned int i, count;

	if (!list)
		return false;
	count = knode_list_look(list, knode_pass_step(pass, KNODE_LIST_LOOK),
				cold_age, inactive_age, cold);
	for (i = 0; i < count; i++) {
		WRITE_ONCE(cold[i]->history, 0);
		if (knode_inuse(cold[i]))
			knode_list_add(cold[i]);
		else
			knode_list_add_cold(cold[i]);
		knode_put(cold[i]);
	}
	return true;
}

/**
 * knode_pass_age() - age some of the recently used knodes by a scan (4.3)
 * @pass: a pass over these knodes; one thread makes such passes
 * @inactive_age: age at which a knode becomes inactive though its file is open; not 0
 * @cold_age: age at which an inactive knode becomes cold
 *
 * Return: false at the end of the pass.
 */
bool knode_pass_age(struct knode_pass *pass, u8 inactive_age, u8 cold_age)
{
	if (knode_pass_is_over(pass))
		knode_age_pass++;
	return knode_pass_cold(pass, cold_age, inactive_age);
}

/**
 * knode_pass_collect() - list some of the inactive knodes as cold early
 * @pass: a pass over the recently used knodes
 * @age: least number of scans without use
 *
 * For memory pressure: knode_pass_age() would list the knodes later.
 *
 * Return: false at the end of the pass.
 */
bool knode_pass_collect(struct knode_pass *pass, u8 age)
{
	return knode_pass_cold(pass, age, 0);
}

/* Take the first knode off a list of cold knodes. */
static struct knode *knode_take_cold(struct knode_list *list)
{
	struct knode *knode, *taken = NULL;

	if (!READ_ONCE(list->count))
		return NULL;
	spin_lock(&list->lock);
	while (!taken && !list_empty(&list->head)) {
		knode = list_first_entry(&list->head, struct knode, link);
		knode_unlink(list, knode);
		if (knode_tryget(knode))
			taken = knode;
	}
	spin_unlock(&list->lock);
	return taken;
}

/**
 * get_LRU_knodes() - take the coldest knodes that may have pages on a node (table 2)
 * @index: index of the node of fast memory
 * @knodes: filled in with knodes, which are taken off their lists
 * @most: size of @knodes
 *
 * Each list has the coldest knodes first. The lists for the sets of nodes that include
 * this one take turns.
 *
 * The caller calls knode_put() for each knode, and before that knode_list_add_cold()
 * for a knode that keeps pages on the node, or knode_list_add() for one that is active
 * again.
 *
 * Return: the number of knodes.
 */
unsigned int get_LRU_knodes(unsigned int index, struct knode **knodes,
			    unsigned int most)
{
	u8 *turn = &knode_cold_turns[index % KNODE_FAST_NODES];
	unsigned int nodes = READ_ONCE(*turn), lists, count = 0;

	/* Half of all sets of nodes include this one. */
	for (lists = KNODE_USED_LIST / 2; lists && count < most; lists--) {
		nodes = (nodes + 1) % KNODE_USED_LIST;
		nodes |= BIT(index % KNODE_FAST_NODES);
		knodes[count] = knode_take_cold(&knode_cold_lists[nodes]);
		if (!knodes[count])
			continue;
		count++;
		lists = KNODE_USED_LIST / 2 + 1;
	}
	WRITE_ONCE(*turn, nodes);
	return count;
}

/*
 * Find knodes of an age at the head of a CPU's list. Move all checked ones to its tail.
 */
static unsigned int knode_list_find_aged(struct knode_list *list, unsigned int looks,
					 unsigned int index, u8 age,
					 struct knode **knodes)
{
	unsigned int count = 0;
	struct knode *knode;

	spin_lock(&list->lock);
	while (looks-- && !list_empty(&list->head)) {
		knode = list_first_entry(&list->head, struct knode, link);
		list_rotate_left(&list->head);
		if (READ_ONCE(knode->age) >= age && knode_fast(knode, index) &&
		    !knode_is_stuck(knode, index) && knode_tryget(knode))
			knodes[count++] = knode;
	}
	spin_unlock(&list->lock);
	return count;
}

/* Order knodes by age, the oldest first. */
static int knode_compare_age(const void *a, const void *b)
{
	const struct knode *one = *(const struct knode * const *)a;
	const struct knode *other = *(const struct knode * const *)b;

	return READ_ONCE(other->age) - READ_ONCE(one->age);
}

/**
 * knode_pass_find_aged() - find knodes on a node that were unused for some scans (4.3)
 * @pass: a pass over the recently used knodes
 * @index: index of the node of fast memory
 * @age: least number of scans without use
 * @knodes: filled in with held knodes, the oldest first
 * @most: size of @knodes, and the largest number of knodes to check
 *
 * The knodes stay on their lists. Skips knodes that are stuck on the node.
 *
 * Context: may sleep.
 * Return: the number of knodes, which the caller has to put. It may be 0 before
 * knode_pass_is_over().
 */
unsigned int knode_pass_find_aged(struct knode_pass *pass, unsigned int index, u8 age,
				  struct knode **knodes, unsigned int most)
{
	unsigned int looks, count = 0;
	struct knode_list *list;

	while (most) {
		list = knode_pass_list(pass);
		if (!list)
			break;
		looks = knode_pass_step(pass, most);
		most -= looks;
		count += knode_list_find_aged(list, looks, index, age, knodes + count);
		cond_resched();
	}
	sort(knodes, count, sizeof(*knodes), knode_compare_age, NULL);
	return count;
}

static void __init knode_list_init(struct knode_list *list)
{
	spin_lock_init(&list->lock);
	INIT_LIST_HEAD(&list->head);
}

static int __init knode_lists_init(void)
{
	unsigned int i;

	for (i = 0; i < KNODE_USED_LIST; i++)
		knode_list_init(&knode_cold_lists[i]);
	for_each_possible_cpu(i)
		knode_list_init(per_cpu_ptr(&knode_used_lists, i));
	return 0;
}
core_initcall(knode_lists_init);

#ifdef CONFIG_KLOC_KUNIT_TEST
#include "tests/lists-kunit.h"
#endif
