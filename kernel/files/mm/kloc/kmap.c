// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the map of all knodes.
 */
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/string.h>

#include "knode.h"

struct kmap kloc_kmap = {
	.knodes = XARRAY_INIT(kloc_kmap.knodes, 0),
	.cold = LIST_HEAD_INIT(kloc_kmap.cold),
};

/* Knodes that are looked at for each one that is asked for. */
#define LOOK_AT		64

/**
 * add_to_kmap() - add a knode to a kmap (4.2, table 2)
 * @kmap: the kmap
 * @knode: the knode, new and inactive
 * @gfp: how to allocate
 *
 * Context: RCU read-side critical section, if @gfp does not allow to sleep.
 * Return: 0 or -ENOMEM.
 */
int add_to_kmap(struct kmap *kmap, struct knode *knode, gfp_t gfp)
{
	int error;

	xa_lock(&kmap->knodes);
	knode->id = ++kmap->last;
	error = __xa_insert(&kmap->knodes, knode->id, knode, gfp);
	if (!error)
		kmap->count++;
	xa_unlock(&kmap->knodes);
	return error;
}

/**
 * kmap_remove() - take a knode out of its kmap; it is dead from here on
 * @kmap: the kmap
 * @knode: the knode
 */
void kmap_remove(struct kmap *kmap, struct knode *knode)
{
	xa_lock(&kmap->knodes);
	WRITE_ONCE(knode->dead, true);
	clear_bit(KNODE_INUSE, &knode->flags);
	__xa_erase(&kmap->knodes, knode->id);
	list_del_init(&knode->cold);
	kmap->count--;
	xa_unlock(&kmap->knodes);
}

/* Keep the list of cold knodes right; what is new there is the least cold. */
static void sort_in(struct kmap *kmap, struct knode *knode)
{
	if (knode_inuse(knode) || !test_bit(KNODE_FAST, &knode->flags))
		list_del_init(&knode->cold);
	else if (list_empty(&knode->cold))
		list_add_tail(&knode->cold, &kmap->cold);
}

/* Have the mark and the list say what is so; the kmap is locked. */
static void settle(struct kmap *kmap, struct knode *knode)
{
	bool look_up;

	clear_bit(KNODE_LISTED, &knode->flags);
	/* What changes from here on comes to a list again, see lists.c. */
	if (knode->dead)
		return;
	look_up = knode_inuse(knode) &&
		  !test_and_set_bit(KNODE_MARKED, &knode->flags);
	if (look_up)
		__xa_set_mark(&kmap->knodes, knode->id, KMAP_ACTIVE);
	knode_list_count(!look_up);
	/* It was in use meanwhile, if it is not now. */
	list_del_init(&knode->cold);
	sort_in(kmap, knode);
}

/**
 * kmap_settle() - tell a kmap of knodes that became active or inactive
 * @kmap: the kmap
 * @knodes: which; they may be dead by now. The references to them are given up.
 * @count: of @knodes
 */
void kmap_settle(struct kmap *kmap, struct knode **knodes, unsigned int count)
{
	unsigned int i;

	if (!count)
		return;
	xa_lock(&kmap->knodes);
	for (i = 0; i < count; i++)
		settle(kmap, knodes[i]);
	xa_unlock(&kmap->knodes);
	for (i = 0; i < count; i++)
		knode_put(knodes[i]);
}

/**
 * kmap_set_fast() - note whether a knode may have pages in fast memory
 * @kmap: the kmap
 * @knode: the knode, which may be dead by now
 * @fast: false if all that it has are about to be looked at
 */
void kmap_set_fast(struct kmap *kmap, struct knode *knode, bool fast)
{
	if (test_bit(KNODE_FAST, &knode->flags) == fast)
		return;

	xa_lock(&kmap->knodes);
	if (!knode->dead) {
		if (fast)
			__xa_set_mark(&kmap->knodes, knode->id, KMAP_FAST);
		else
			__xa_clear_mark(&kmap->knodes, knode->id, KMAP_FAST);
		assign_bit(KNODE_FAST, &knode->flags, fast);
		sort_in(kmap, knode);
	}
	xa_unlock(&kmap->knodes);
	/* Pages that are looked at now: see kloc_note_pages(). */
	smp_mb();
}

/**
 * kmap_set_coldest() - a cold knode is the next to leave fast memory
 * @kmap: the kmap
 * @knode: the knode, which may be in use or dead by now
 */
void kmap_set_coldest(struct kmap *kmap, struct knode *knode)
{
	xa_lock(&kmap->knodes);
	if (!list_empty(&knode->cold))
		list_move(&knode->cold, &kmap->cold);
	xa_unlock(&kmap->knodes);
}

/* Take the mark from a knode that had become inactive, if it still is. */
static void clear_active(struct kmap *kmap, struct knode *knode)
{
	xa_lock(&kmap->knodes);
	if (!knode->dead && !knode_inuse(knode)) {
		__xa_clear_mark(&kmap->knodes, knode->id, KMAP_ACTIVE);
		clear_bit(KNODE_MARKED, &knode->flags);
	}
	xa_unlock(&kmap->knodes);
}

/* What is mapped is used without a system call; its pages tell. */
static bool is_mapped(const struct knode *knode)
{
	struct inode *inode = rcu_dereference(knode->inode);

	return inode && inode->i_mapping && mapping_mapped(inode->i_mapping);
}

/* Return: whether the knode became inactive. */
static bool age_by_one(struct kmap *kmap, struct knode *knode, u8 inactive_age)
{
	u8 age = READ_ONCE(knode->age);

	if (!knode_inuse(knode)) {
		clear_active(kmap, knode);
		return false;
	}
	/* What no file owns is aged by page. */
	if (test_bit(KNODE_SYSTEM, &knode->flags))
		return false;
	if (age < U8_MAX)
		WRITE_ONCE(knode->age, age + 1);
	set_bit(KNODE_AGED, &knode->flags);
	if (age + 1 < inactive_age || is_mapped(knode))
		return false;
	knode_deactivate(kmap, knode);
	return true;
}

/**
 * kmap_age() - age all active knodes by one scan (4.3)
 * @kmap: the kmap
 * @inactive_age: age at which a knode becomes inactive, though it is open
 *
 * Context: may sleep between knodes: there may be many.
 * Return: how many became inactive.
 */
unsigned int kmap_age(struct kmap *kmap, u8 inactive_age)
{
	unsigned int inactive = 0;
	struct knode *knode;
	unsigned long id;

	knode_lists_flush(kmap);
	rcu_read_lock();
	xa_for_each_marked(&kmap->knodes, id, knode, KMAP_ACTIVE) {
		inactive += age_by_one(kmap, knode, inactive_age);
		cond_resched_rcu();
	}
	rcu_read_unlock();
	return inactive;
}

/* Keep the coldest of those seen, the coldest first. */
static unsigned int insert(struct knode **coldest, unsigned int count,
			   unsigned int most, struct knode *knode)
{
	unsigned int place = count;

	while (place && kloc_colder(knode, coldest[place - 1]))
		place--;
	if (place == most)
		return count;
	if (count == most)
		count--;
	memmove(coldest + place + 1, coldest + place,
		(count - place) * sizeof(*coldest));
	coldest[place] = knode;
	return count + 1;
}

static unsigned int keep_alive(struct knode **knodes, unsigned int count)
{
	unsigned int i, kept = 0;

	for (i = 0; i < count; i++)
		if (knode_tryget(knodes[i]))
			knodes[kept++] = knodes[i];
	return kept;
}

/* The coldest that were found so far, and how many are still to be looked at. */
struct choice {
	struct knode **coldest;
	unsigned int count;
	unsigned int most;
	unsigned int looks;
};

/*
 * Look at those in use from the id @first to @last. Return: where to go on if
 * enough were looked at, 0 at the end.
 */
static unsigned long look_at_active(struct kmap *kmap, unsigned long first,
				    unsigned long last, struct choice *choice)
{
	unsigned long id = first;
	struct knode *knode;

	for (knode = xa_find(&kmap->knodes, &id, last, KMAP_ACTIVE); knode;
	     knode = xa_find_after(&kmap->knodes, &id, last, KMAP_ACTIVE)) {
		if (!choice->looks)
			return id;
		choice->looks--;
		if (knode_inuse(knode) &&
		    test_bit(KNODE_FAST, &knode->flags))
			choice->count = insert(choice->coldest, choice->count,
					       choice->most, knode);
	}
	return 0;
}

/* The coldest of those that are in use, or of some if there are many. */
static unsigned int coldest_active(struct kmap *kmap, struct knode **coldest,
				   unsigned int most)
{
	unsigned long first = READ_ONCE(kmap->next), next;
	struct choice choice = {
		.coldest = coldest,
		.most = most,
		.looks = most * LOOK_AT,
	};

	next = look_at_active(kmap, first, ULONG_MAX, &choice);
	if (!next && first)
		next = look_at_active(kmap, 0, first - 1, &choice);
	WRITE_ONCE(kmap->next, next);
	return choice.count;
}

/* Those that are not in use, the coldest first, from one on or from the first. */
static unsigned int cold_after(struct kmap *kmap, const struct knode *after,
			       struct knode **knodes, unsigned int most)
{
	const struct list_head *place = after ? &after->cold : &kmap->cold;
	struct knode *knode = list_entry(place, struct knode, cold);
	unsigned int count = 0;

	xa_lock(&kmap->knodes);
	if (!after || !list_empty(place)) {
		list_for_each_entry_continue(knode, &kmap->cold, cold) {
			if (count == most)
				break;
			knodes[count++] = knode;
		}
	}
	xa_unlock(&kmap->knodes);
	return count;
}

/**
 * kmap_get_cold() - go over the knodes that are not in use and may have pages in
 * fast memory
 * @kmap: the kmap
 * @after: which the caller has, to go on after it; NULL for the first ones
 * @knodes: filled in with them, the coldest first
 * @most: room in @knodes
 *
 * Return: how many there are, 0 at the end and if @after is in use by now;
 * knode_put() each when done with it.
 */
unsigned int kmap_get_cold(struct kmap *kmap, const struct knode *after,
			   struct knode **knodes, unsigned int most)
{
	unsigned int count;

	knode_lists_flush(kmap);
	rcu_read_lock();
	count = cold_after(kmap, after, knodes, most);
	count = keep_alive(knodes, count);
	rcu_read_unlock();
	return count;
}

/**
 * get_LRU_knodes() - find cold knodes that may have pages in fast memory
 * (table 2)
 * @kmap: the kmap
 * @coldest: filled in with them, the coldest first
 * @most: room in @coldest
 *
 * Those that are not in use come first, in the order in which they became so,
 * and those in use after them by their age.
 *
 * Return: how many there are; knode_put() each when done with it.
 */
unsigned int get_LRU_knodes(struct kmap *kmap, struct knode **coldest,
			    unsigned int most)
{
	unsigned int count;

	knode_lists_flush(kmap);
	rcu_read_lock();
	count = cold_after(kmap, NULL, coldest, most);
	if (count < most)
		count += coldest_active(kmap, coldest + count,
					most - count);
	count = keep_alive(coldest, count);
	rcu_read_unlock();
	return count;
}

/**
 * kmap_get_random() - find any knodes that may have pages in fast memory
 * @kmap: the kmap
 * @knodes: filled in with them
 * @most: room in @knodes
 *
 * What cold ones have to be compared with.
 *
 * Return: how many there are; knode_put() each when done with it.
 */
unsigned int kmap_get_random(struct kmap *kmap, struct knode **knodes,
			     unsigned int most)
{
	unsigned int i, count = 0;

	rcu_read_lock();
	for (i = 0; i < most; i++) {
		unsigned long id = get_random_long() % (kmap->last + 1);
		struct knode *knode;

		knode = xa_find(&kmap->knodes, &id, ULONG_MAX, KMAP_FAST);
		if (knode)
			knodes[count++] = knode;
	}
	count = keep_alive(knodes, count);
	rcu_read_unlock();
	return count;
}
