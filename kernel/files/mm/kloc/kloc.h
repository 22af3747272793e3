/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts of files: declarations for the files of mm/kloc and for policies with
 * contexts.
 */
#ifndef _MM_KLOC_KLOC_H
#define _MM_KLOC_KLOC_H

#include <linux/fs.h>
#include <linux/kloc.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>

#include "../tiering/grouping.h"
#include "knode.h"

/* The processes whose files get contexts. */
enum kloc_scope {
	KLOC_ALL,
	KLOC_CHOSEN,		/* chosen processes and cgroups, see control.c */
	KLOC_SCOPES,
};

/**
 * struct kloc_settings - the settings in /sys/kernel/mm/kloc
 * @scope: enum kloc_scope
 */
struct kloc_settings {
	unsigned long scope;
};

extern struct kloc_settings kloc_settings;
extern bool kloc_ready;

/*
 * Enter an RCU read-side critical section. The fast path of the hooks is a few dozen
 * instructions, of which rcu_read_lock() and rcu_read_unlock() would be half. Disabling
 * preemption is cheaper, but not allowed on PREEMPT_RT, where spinlocks sleep.
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

/* control.c */
extern bool kloc_any_process;
extern bool kloc_any_group;

#ifdef CONFIG_MEMCG
bool kloc_is_group_chosen(void);
#else
static inline bool kloc_is_group_chosen(void)
{
	return false;
}
#endif

/* Test whether the process of this task was chosen. */
static inline bool kloc_is_process_chosen(void)
{
	return current->mm && test_bit(MMF_KLOC, &current->mm->flags);
}

/**
 * kloc_chosen() - test whether files that this task uses get contexts
 *
 * With the scope "chosen", files get contexts if the task's process or one of its
 * cgroups was chosen. On most servers none ever was. Kernel threads are never chosen.
 *
 * Return: true if they do.
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
bool kloc_is_eligible(const struct address_space *mapping);
struct knode *kloc_knode_make(struct inode *inode);

/**
 * kloc_knode_of() - find or create the knode of an inode
 * @inode: the inode; the caller holds a reference
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
 * kloc_knode_in() - find the knode of a mapping
 * @mapping: the mapping, kept alive by the caller; NULL for none
 *
 * Does not check whether the knode's kind is excluded.
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
 * kloc_has_none() - test whether an inode has no context and gets none now
 * @inode: the inode; the caller holds a reference
 *
 * Hooks test this first: if few processes are chosen, it keeps the overhead of all
 * other file operations low.
 *
 * Return: true if the hook has nothing to do.
 */
static inline bool kloc_has_none(struct inode *inode)
{
	return !rcu_access_pointer(inode->i_knode) && !kloc_chosen();
}

/* object.c */
unsigned int itr_knode_slab(const struct knode *knode,
			    bool (*choose)(const void *object), void **addrs,
			    unsigned int most);
unsigned int itr_knode_cache(struct tiering_walk *walk, struct folio **folios);
unsigned long kloc_pages(const struct knode *knode);
void knode_note_pages(struct knode *knode, int nid);
void knode_add_obj(struct knode *knode, struct folio *folio);
enum tiering_kind kloc_kind(const struct knode *knode);
bool kloc_takes_part(const struct knode *knode);

#endif /* _MM_KLOC_KLOC_H */
