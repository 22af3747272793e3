/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts of files: what the files of mm/kloc share, and mm/tiering uses.
 */
#ifndef _MM_KLOC_KLOC_H
#define _MM_KLOC_KLOC_H

#include <linux/fs.h>
#include <linux/kloc.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>

#include "../tiering/tiering.h"
#include "knode.h"

/* Whose files get contexts. */
enum kloc_scope {
	KLOC_ALL,
	KLOC_CHOSEN,		/* those of chosen processes, see control.c */
	KLOC_SCOPES,
};

/**
 * struct kloc_settings - what can be set in /sys/kernel/mm/kloc
 * @scope: enum kloc_scope
 * @kinds: bit for each enum tiering_kind that takes part
 */
struct kloc_settings {
	unsigned long scope;
	unsigned long kinds;
};

extern struct kloc_settings kloc_settings;
extern bool kloc_ready;

/*
 * What system calls go through is a few dozen instructions, of which rcu_read_lock()
 * and its end would be half. Code that cannot be preempted is a read-side critical
 * section, too; but where locks sleep it could not take one.
 */
static inline void kloc_enter(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_lock();
	else
		preempt_disable();
}

static inline void kloc_leave(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_unlock();
	else
		preempt_enable();
}

/* Folios that itr_knode_cache() finds at a time. */
#define KLOC_WALK	32

/**
 * struct kloc_walk - an iteration over the page cache of a knode
 * @knode: the knode, held
 * @nid: node whose folios are wanted; NUMA_NO_NODE for those of all slow memory
 * @index: where to go on
 * @done: the end was reached
 * @left: some were found that stay
 * @mapping: what the folios found last belonged to; not to be followed
 */
struct kloc_walk {
	struct knode *knode;
	int nid;
	pgoff_t index;
	bool done;
	bool left;
	const struct address_space *mapping;
};

/* Of a node that has no limit; a group's is PAGE_COUNTER_MAX then. */
#define KLOC_NO_LIMIT	ULONG_MAX

/* control.c */
extern bool kloc_any_process;
extern bool kloc_any_group;

/* memcg.c */
#ifdef CONFIG_MEMCG
bool kloc_is_group_chosen(void);
bool kloc_memcg_charge(unsigned int pages, struct mem_cgroup **charged);
void kloc_memcg_uncharge(struct mem_cgroup *charged, unsigned int pages);
bool kloc_memcg_charge_folio(struct folio *folio);
void kloc_memcg_uncharge_folio(struct folio *folio);
unsigned long kloc_memcg_used(struct mem_cgroup *group);
bool kloc_memcg_any_limited(void);
struct mem_cgroup *kloc_memcg_next_limited(unsigned long *id);
void kloc_memcg_count_limited(void);
unsigned long kloc_memcg_max(struct mem_cgroup *group);
unsigned long kloc_memcg_pages(struct mem_cgroup *group, int nid);
#else
static inline bool kloc_is_group_chosen(void)
{
	return false;
}

static inline bool kloc_memcg_charge(unsigned int pages,
				     struct mem_cgroup **charged)
{
	*charged = NULL;
	return true;
}

static inline void kloc_memcg_uncharge(struct mem_cgroup *charged,
				       unsigned int pages)
{
}

static inline bool kloc_memcg_charge_folio(struct folio *folio)
{
	return true;
}

static inline void kloc_memcg_uncharge_folio(struct folio *folio)
{
}

static inline unsigned long kloc_memcg_used(struct mem_cgroup *group)
{
	return 0;
}

static inline bool kloc_memcg_any_limited(void)
{
	return false;
}

static inline struct mem_cgroup *kloc_memcg_next_limited(unsigned long *id)
{
	return NULL;
}

static inline void kloc_memcg_count_limited(void)
{
}

static inline unsigned long kloc_memcg_max(struct mem_cgroup *group)
{
	return KLOC_NO_LIMIT;
}

static inline unsigned long kloc_memcg_pages(struct mem_cgroup *group, int nid)
{
	return 0;
}
#endif

/* Was the process of this task chosen? */
static inline bool kloc_is_process_chosen(void)
{
	return current->mm && test_bit(MMF_KLOC, &current->mm->flags);
}

/**
 * kloc_chosen() - does a file get a context that this task uses?
 *
 * With the scope "chosen" it does if the task's process was chosen, or a group
 * that it is in; on most servers none ever was. What the kernel does on its own is
 * nobody's choice.
 *
 * Return: true if it does.
 */
static inline bool kloc_chosen(void)
{
	if (READ_ONCE(kloc_settings.scope) == KLOC_ALL)
		return true;
	if (!(READ_ONCE(kloc_any_process) && kloc_is_process_chosen()) &&
	    !(READ_ONCE(kloc_any_group) && kloc_is_group_chosen()))
		return false;
	return !(current->flags & PF_KTHREAD);
}

/* file.c */
struct knode *kloc_knode_make(struct inode *inode);

/**
 * kloc_knode_of() - the knode of an inode, made if need be
 * @inode: the inode, which the caller has a reference to
 *
 * Context: RCU read-side critical section, of any kind.
 * Return: the knode; NULL if there is none.
 */
static inline struct knode *kloc_knode_of(struct inode *inode)
{
	struct knode *knode = knode_dereference(inode->i_knode);

	return knode ?: kloc_knode_make(inode);
}

/**
 * kloc_knode_in() - the knode that the pages of a mapping belong to
 * @mapping: the mapping, kept by the caller; NULL for none
 *
 * Whether it takes part is not looked at.
 *
 * Context: RCU read-side critical section.
 * Return: the knode; NULL if there is none.
 */
static inline struct knode *kloc_knode_in(const struct address_space *mapping)
{
	return mapping && mapping->host ?
	       knode_dereference(mapping->host->i_knode) : NULL;
}

/**
 * kloc_has_none() - is an inode none that has a context, or gets one now?
 * @inode: the inode, which the caller has a reference to
 *
 * To be asked before all else: where few processes were chosen it is the answer
 * for most of what is done to files, which should pay next to nothing.
 *
 * Return: true if there is nothing to do.
 */
static inline bool kloc_has_none(struct inode *inode)
{
	return !rcu_access_pointer(inode->i_knode) && !kloc_chosen();
}

/* object.c */
unsigned int itr_knode_slab(const struct knode *knode,
			    bool (*choose)(const void *object), void **addrs,
			    unsigned int most);
unsigned int itr_knode_cache(struct kloc_walk *walk, struct folio **folios);
unsigned long kloc_pages(const struct knode *knode);
void knode_note_pages(struct knode *knode, int nid);
void knode_add_obj(struct knode *knode, struct folio *folio);
enum tiering_kind kloc_kind(const struct knode *knode);
bool kloc_takes_part(const struct knode *knode);

/* limit.c */
extern bool kloc_limits;
extern unsigned long kloc_node_max[MAX_NUMNODES];

void kloc_limit_changed(void);
bool kloc_limit_node(int nid, unsigned int pages);
void kloc_limit_look(const struct tiering_node *tn);
long kloc_limit_fill(struct tiering_node *tn, struct tiering_batch *b);

/* nodes.c */
int kloc_node_show(int nid);
void kloc_node_hide(int nid);

/* sysfs.c */
extern struct kobject *kloc_folder;

/* main.c */
void kloc_start(void);
void kloc_stop(void);

#endif /* _MM_KLOC_KLOC_H */
