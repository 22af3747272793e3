/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: hooks for the rest of the kernel.
 *
 * A hook is a no-op behind a static key unless the selected policy needs it. Without
 * CONFIG_TIERING, it compiles to nothing. See Documentation/mm/tiering.rst.
 */
#ifndef _LINUX_TIERING_H
#define _LINUX_TIERING_H

#include <linux/jump_label.h>
#include <linux/numa.h>
#include <linux/ra_class.h>
#include <linux/tiering_table.h>
#include <linux/types.h>

struct address_space;
struct folio;
struct lruvec;
struct mem_cgroup;
struct mm_struct;
struct page;
struct vm_area_struct;

/**
 * struct tiering_hint - the migration of a folio after its hint fault
 * @began: time at which it began, ns; 0 if no policy needs hint faults
 * @room_ns: time that was spent on room for the folio, ns
 */
struct tiering_hint {
	u64 began;
	u64 room_ns;
};

#ifdef CONFIG_TIERING

DECLARE_STATIC_KEY_FALSE(tiering_places_key);
DECLARE_STATIC_KEY_FALSE(tiering_files_key);
DECLARE_STATIC_KEY_FALSE(tiering_uses_key);
DECLARE_STATIC_KEY_FALSE(tiering_hints_key);
DECLARE_STATIC_KEY_FALSE(tiering_records_key);
DECLARE_STATIC_KEY_FALSE(tiering_room_key);
DECLARE_STATIC_KEY_FALSE(tiering_visits_key);

struct page *tiering_alloc_pages(gfp_t gfp, unsigned int order, int nid, bool is_user);
struct folio *__tiering_alloc_folio(struct address_space *mapping, gfp_t gfp,
				    unsigned int order, enum ra_class class);
void __tiering_folio_added(struct folio *folio);
void __tiering_folio_used(struct folio *folio);
void __tiering_folio_moved(struct folio *src, struct folio *dst);
void tiering_folio_migrated(struct folio *src, struct folio *dst, unsigned long private);
void __tiering_folio_freed(struct folio *folio);
void __tiering_folio_split(struct folio *folio, unsigned long pages);
bool __tiering_make_room(int nid, unsigned long *nr_reclaimed);
void __tiering_folio_new(struct folio *folio);
void __tiering_folio_scanned(struct folio *folio, unsigned long pfn);
void __tiering_folio_hinted(struct folio *folio);
int tiering_hint_fault(struct folio *folio, int cpu_nid);
bool __tiering_makes_room(struct folio *folio, int nid);
bool __tiering_hint_begin(struct tiering_hint *hint, struct folio *folio, int nid);
void __tiering_hint_end(const struct tiering_hint *hint, int src, int nid,
			unsigned int moved);
void __tiering_folio_misplaced(struct folio *src, struct folio *dst);
int __tiering_stack_nid(void);
void tiering_count_stack(bool fast);
bool __tiering_visited(struct vm_area_struct *vma, unsigned long addr, bool is_huge);
bool __tiering_is_counted(struct mm_struct *mm, unsigned long addr);

/* Test whether the selected policy places all new pages. */
static inline bool tiering_is_placing(void)
{
	return static_branch_unlikely(&tiering_places_key);
}

/* Test whether the selected policy places new page cache. */
static inline bool tiering_is_placing_files(void)
{
	return static_branch_unlikely(&tiering_files_key);
}

/* Test whether the selected policy needs the uses of page cache. */
static inline bool tiering_is_sampling(void)
{
	return static_branch_unlikely(&tiering_uses_key);
}

/* Test whether the selected policy needs the hint faults of NUMA balancing. */
static inline bool tiering_is_hinting(void)
{
	return static_branch_unlikely(&tiering_hints_key);
}

/* Test whether pages have records, for either of the two needs. */
static inline bool tiering_is_recording(void)
{
	return static_branch_unlikely(&tiering_records_key);
}

/* Test whether the selected policy demotes before reclaim. */
static inline bool tiering_is_making_room(void)
{
	return static_branch_unlikely(&tiering_room_key);
}

/* Test whether the selected policy counts the visits of memory. */
static inline bool tiering_is_counting(void)
{
	return static_branch_unlikely(&tiering_visits_key);
}

#else /* !CONFIG_TIERING */

static inline bool tiering_is_placing(void)
{
	return false;
}

static inline bool tiering_is_placing_files(void)
{
	return false;
}

static inline bool tiering_is_sampling(void)
{
	return false;
}

static inline bool tiering_is_hinting(void)
{
	return false;
}

static inline bool tiering_is_recording(void)
{
	return false;
}

static inline bool tiering_is_making_room(void)
{
	return false;
}

static inline bool tiering_is_counting(void)
{
	return false;
}

static inline struct page *tiering_alloc_pages(gfp_t gfp, unsigned int order,
					       int nid, bool is_user)
{
	return NULL;
}

static inline struct folio *
__tiering_alloc_folio(struct address_space *mapping, gfp_t gfp,
		      unsigned int order, enum ra_class class)
{
	return NULL;
}

static inline void __tiering_folio_added(struct folio *folio) { }
static inline void __tiering_folio_used(struct folio *folio) { }

static inline void __tiering_folio_moved(struct folio *src, struct folio *dst)
{
}

static inline void tiering_folio_migrated(struct folio *src, struct folio *dst,
					  unsigned long private)
{
}

static inline void __tiering_folio_freed(struct folio *folio) { }

static inline void __tiering_folio_split(struct folio *folio,
					 unsigned long pages)
{
}

static inline bool __tiering_make_room(int nid, unsigned long *nr_reclaimed)
{
	return false;
}

static inline void __tiering_folio_new(struct folio *folio) { }

static inline void __tiering_folio_scanned(struct folio *folio, unsigned long pfn)
{
}

static inline void __tiering_folio_hinted(struct folio *folio) { }

static inline int tiering_hint_fault(struct folio *folio, int cpu_nid)
{
	return NUMA_NO_NODE;
}

static inline bool __tiering_makes_room(struct folio *folio, int nid)
{
	return false;
}

static inline bool __tiering_hint_begin(struct tiering_hint *hint,
					struct folio *folio, int nid)
{
	return true;
}

static inline void __tiering_hint_end(const struct tiering_hint *hint, int src,
				      int nid, unsigned int moved)
{
}

static inline void __tiering_folio_misplaced(struct folio *src, struct folio *dst)
{
}

static inline int __tiering_stack_nid(void)
{
	return NUMA_NO_NODE;
}

static inline void tiering_count_stack(bool fast) { }

static inline bool __tiering_visited(struct vm_area_struct *vma, unsigned long addr,
				     bool is_huge)
{
	return false;
}

static inline bool __tiering_is_counted(struct mm_struct *mm, unsigned long addr)
{
	return false;
}

#endif /* CONFIG_TIERING */

#if defined(CONFIG_TIERING) && defined(CONFIG_MEMCG)

DECLARE_STATIC_KEY_FALSE(tiering_limits_key);

void __tiering_files_changed(struct lruvec *lruvec, long pages);
void tiering_memcg_online(struct mem_cgroup *memcg);
void tiering_memcg_reset(struct mem_cgroup *memcg);
void tiering_memcg_free(struct mem_cgroup *memcg);

/* Test whether any cgroup has a limit of page cache in fast memory. */
static inline bool tiering_is_limiting(void)
{
	return static_branch_unlikely(&tiering_limits_key);
}

#else

static inline void __tiering_files_changed(struct lruvec *lruvec, long pages) { }
static inline void tiering_memcg_online(struct mem_cgroup *memcg) { }
static inline void tiering_memcg_reset(struct mem_cgroup *memcg) { }
static inline void tiering_memcg_free(struct mem_cgroup *memcg) { }

static inline bool tiering_is_limiting(void)
{
	return false;
}

#endif

/**
 * tiering_files_changed() - count a change of the page cache on LRU lists of a cgroup
 * @lruvec: the lists of the cgroup on a node, locked
 * @pages: number of pages added; negative for pages removed
 */
static inline void tiering_files_changed(struct lruvec *lruvec, long pages)
{
	if (tiering_is_limiting())
		__tiering_files_changed(lruvec, pages);
}

/**
 * tiering_alloc_folio() - allocate a folio of page cache where the policy wants it
 * @mapping: mapping of the folio
 * @gfp: allocation flags
 * @order: order of the folio
 * @class: class of the folio's readahead window, RA_CLASS_OTHER without one
 *
 * Does not reclaim: the wanted tier is not worth the cost of reclaim.
 *
 * Return: the folio, or NULL if the caller must allocate it as without a policy.
 */
static inline struct folio *tiering_alloc_folio(struct address_space *mapping,
						gfp_t gfp, unsigned int order,
						enum ra_class class)
{
	return tiering_is_placing_files() ?
	       __tiering_alloc_folio(mapping, gfp, order, class) : NULL;
}

/**
 * tiering_folio_added() - note that a folio was added to the page cache
 * @folio: the folio, locked
 */
static inline void tiering_folio_added(struct folio *folio)
{
	if (tiering_is_recording())
		__tiering_folio_added(folio);
}

/**
 * tiering_folio_used() - note a use of a folio of the page cache
 * @folio: the folio; the caller holds a reference
 */
static inline void tiering_folio_used(struct folio *folio)
{
	if (tiering_is_sampling())
		__tiering_folio_used(folio);
}

/**
 * tiering_folio_moved() - note that a folio was migrated, not by the policy
 * @src: the old folio
 * @dst: the new folio, locked
 */
static inline void tiering_folio_moved(struct folio *src, struct folio *dst)
{
	if (tiering_is_recording())
		__tiering_folio_moved(src, dst);
}

/**
 * tiering_folio_freed() - note that a folio is removed from the page cache
 * @folio: the folio, locked, with its mapping still set
 */
static inline void tiering_folio_freed(struct folio *folio)
{
	if (tiering_is_recording())
		__tiering_folio_freed(folio);
}

/**
 * tiering_folio_split() - note that a large folio is split
 * @folio: the folio
 * @pages: number of its pages before the split
 */
static inline void tiering_folio_split(struct folio *folio, unsigned long pages)
{
	if (tiering_is_recording())
		__tiering_folio_split(folio, pages);
}

/**
 * tiering_folio_new() - note that a folio of anonymous memory is new
 * @folio: the folio
 */
static inline void tiering_folio_new(struct folio *folio)
{
	if (tiering_is_hinting())
		__tiering_folio_new(folio);
}

/**
 * tiering_folio_scanned() - note that a scan of NUMA balancing has found a folio
 * @folio: the folio
 * @pfn: the page frame that the entry maps
 *
 * Context: the lock of the page table.
 */
static inline void tiering_folio_scanned(struct folio *folio, unsigned long pfn)
{
	if (tiering_is_hinting())
		__tiering_folio_scanned(folio, pfn);
}

/**
 * tiering_folio_hinted() - note a hint fault of a folio
 * @folio: the folio
 *
 * Context: the lock of the page table.
 */
static inline void tiering_folio_hinted(struct folio *folio)
{
	if (tiering_is_hinting())
		__tiering_folio_hinted(folio);
}

/**
 * tiering_makes_room() - test whether the policy makes room for a folio with a hint fault
 * @folio: the folio
 * @nid: the node that is full
 *
 * Return: true if tiering_hint_begin() will try to.
 */
static inline bool tiering_makes_room(struct folio *folio, int nid)
{
	return tiering_is_hinting() && __tiering_makes_room(folio, nid);
}

/**
 * tiering_hint_begin() - prepare the migration of a folio after its hint fault
 * @hint: filled in
 * @folio: the folio, isolated
 * @nid: the node to migrate to
 *
 * Lets the policy make room on the node.
 *
 * Context: a hint fault, without the lock of the page table; may sleep.
 * Return: false if the node has no room for the folio.
 */
static inline bool tiering_hint_begin(struct tiering_hint *hint,
				      struct folio *folio, int nid)
{
	hint->began = 0;
	return !tiering_is_hinting() || __tiering_hint_begin(hint, folio, nid);
}

/**
 * tiering_hint_end() - trace the migration of a folio after its hint fault
 * @hint: filled in by tiering_hint_begin()
 * @src: the node that it was on
 * @nid: the node to migrate to
 * @moved: number of pages that have moved
 */
static inline void tiering_hint_end(const struct tiering_hint *hint, int src,
				    int nid, unsigned int moved)
{
	if (tiering_is_hinting() && hint->began)
		__tiering_hint_end(hint, src, nid, moved);
}

/**
 * tiering_folio_misplaced() - note that NUMA balancing has migrated a folio
 * @src: the old folio
 * @dst: the new folio, locked
 */
static inline void tiering_folio_misplaced(struct folio *src, struct folio *dst)
{
	if (tiering_is_recording())
		__tiering_folio_misplaced(src, dst);
}

/**
 * tiering_make_room() - demote pages of a node as the policy chooses
 * @nid: the node
 * @nr_reclaimed: incremented by the number of demoted pages
 *
 * A call moves a bounded number of pages, so that kswapd gets back to its waiters.
 *
 * Context: kswapd of the node.
 * Return: true if the node is still short of room and more pages may be demoted.
 */
static inline bool tiering_make_room(int nid, unsigned long *nr_reclaimed)
{
	return tiering_is_making_room() && __tiering_make_room(nid, nr_reclaimed);
}

/**
 * tiering_visited() - count a visit of memory, if a policy has closed the entry for it
 * @vma: the mapping
 * @addr: the address of the hint fault
 * @is_huge: the entry is that of a huge page
 *
 * Context: the lock of the page table, whose entry is inaccessible.
 * Return: true if it was counted. The caller opens this entry, and no other.
 */
static inline bool tiering_visited(struct vm_area_struct *vma, unsigned long addr,
				   bool is_huge)
{
	return tiering_is_counting() && __tiering_visited(vma, addr, is_huge);
}

/**
 * tiering_is_counted() - test whether a policy counts the visits of some memory
 * @mm: the address space
 * @addr: the address
 *
 * Return: true if it does: its base pages should stay apart.
 */
static inline bool tiering_is_counted(struct mm_struct *mm, unsigned long addr)
{
	return tiering_is_counting() && __tiering_is_counted(mm, addr);
}

/**
 * tiering_stack_nid() - choose a node for a kernel stack
 *
 * Return: the node, which may be full; NUMA_NO_NODE to allocate as without a policy.
 */
static inline int tiering_stack_nid(void)
{
	return tiering_is_placing_kernel() ? __tiering_stack_nid() : NUMA_NO_NODE;
}

#endif /* _LINUX_TIERING_H */
