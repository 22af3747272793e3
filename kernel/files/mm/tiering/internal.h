/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: declarations that the files of the core share.
 */
#ifndef _MM_TIERING_INTERNAL_H
#define _MM_TIERING_INTERNAL_H

#include <linux/jump_label.h>
#include <linux/srcu.h>

#include "grouping.h"

struct llist_head;
struct lruvec;
struct vm_area_struct;

/* The needs for which pages have records. */
#define TIERING_RECORDS		(TIERING_USES | TIERING_HINTS)

/* core.c */
extern const struct tiering_policy __rcu *tiering_selected;
extern const struct tiering_grouping *tiering_grouping;

extern struct srcu_struct tiering_srcu;

int tiering_select(const char *name);
struct tiering_policy *tiering_next_policy(struct tiering_policy *policy);

/* nodes.c */
extern struct tiering_node __rcu *tiering_near[MAX_NUMNODES];

int tiering_nodes_start(const struct tiering_policy *policy);
void tiering_nodes_hide(void);
void tiering_nodes_stop(const struct tiering_policy *policy);
void tiering_nodes_update(const struct tiering_policy *policy);
bool tiering_is_fast(int nid);
unsigned int tiering_tiers(const nodemask_t **tiers);
void tiering_wake_all(void);

/* place.c */
gfp_t tiering_free_only(gfp_t gfp);

/* room.c */
long tiering_room_to_fill(int nid);
long tiering_missing(int nid);
bool tiering_may_alloc(int nid, unsigned int order);
bool tiering_may_alloc_kernel(int nid, unsigned int order, unsigned int pages);
bool tiering_may_promote_kernel(int nid, unsigned int pages);
void tiering_retry_kswapd(int nid);
void tiering_drain_free(int nid);
void tiering_wake_kswapd(int nid, unsigned int order);

/* page.c */
void tiering_pages_prepare(struct llist_head *spares, bool is_hinting);
void tiering_pages_unprepare(struct llist_head *spares);
int tiering_pages_start(struct llist_head *spares, bool is_hinting);
void tiering_pages_stop(void);
void tiering_pages_online(unsigned long pfn, unsigned long count);
void tiering_pages_offline(unsigned long pfn, unsigned long count);
unsigned long tiering_pages_bytes(void);
void tiering_next_scan(void);
unsigned int tiering_page_use(struct folio *folio);
void tiering_page_scan(struct folio *folio);
void tiering_page_hint(struct folio *folio);
bool tiering_page_was_used(struct folio *folio);
bool tiering_page_pinned(struct folio *folio);
void tiering_page_new(struct folio *folio);
void tiering_page_freed(struct folio *folio);
void tiering_page_split(struct folio *folio, unsigned long pages);
void tiering_page_move(struct folio *src, struct folio *dst,
		       enum tiering_reason why);

/* sample.c */
DECLARE_STATIC_KEY_FALSE(tiering_counts_key);

void tiering_note_move(struct folio *src, struct folio *dst, enum tiering_reason why);

/* daemon.c */
int tiering_daemon_start(struct tiering_node *tn);
void tiering_daemon_stop(struct tiering_node *tn);

/* migrate.c */
unsigned long tiering_lruvec_files(struct lruvec *lruvec, int nid);
bool tiering_hot_waits(struct tiering_node *tn);
unsigned int tiering_migrate(struct tiering_node *tn, struct tiering_batch *b);

/* spaces.c */
#define TIERING_ALWAYS		1024ULL

struct tiering_space *tiering_space_get(struct mm_struct *mm);
void tiering_space_put(struct tiering_space *space);
void tiering_space_round(struct tiering_space *space);
u64 tiering_space_active(const struct tiering_space *space, u64 ns);
u64 tiering_space_rate(const struct tiering_space *space, u64 rate);
u64 tiering_task_active(u64 ns);

/* bounds.c */
#ifdef CONFIG_MEMCG
int tiering_bound_parse(char *text, unsigned int *bp);
void tiering_bound_reset(struct mem_cgroup *memcg);
#endif

/* visits.c */
bool tiering_vma_counts(struct vm_area_struct *vma);
struct tiering_region *tiering_region_add(struct mm_struct *mm, unsigned long start,
					  unsigned long end);
int tiering_region_walk(struct tiering_region *region, struct folio **folios, u16 *places);

/* slab.c */
bool tiering_slabs_are_looked_at(const struct tiering_node *tn);
bool tiering_slabs_turn(struct tiering_node *tn);
void tiering_slabs_period(struct tiering_node *tn);

/* stats.c */
void tiering_count(enum tiering_event event, enum tiering_kind kind, long pages);
enum tiering_kind tiering_mapping_kind(const struct address_space *mapping);
int tiering_stats_add(struct kobject *folder);

/* waits.c */
#ifdef CONFIG_DEBUG_FS
void tiering_count_wait(u64 ns);
void tiering_waits_add(struct dentry *folder);
#else
static inline void tiering_count_wait(u64 ns)
{
}
#endif

/* sysfs.c */
extern struct kobject *tiering_folder;

int tiering_sysfs_add(const struct tiering_policy *policy);

/* limits.c */
#define TIERING_NO_LIMIT	ULONG_MAX

extern bool tiering_limits;
extern unsigned long tiering_node_max[MAX_NUMNODES];

void tiering_limit_changed(void);
bool tiering_limit_node(int nid, unsigned int pages);
bool tiering_limit_may_add(int nid, unsigned int pages);
bool tiering_limit_may_promote(int nid, struct folio *folio, unsigned int more);
long tiering_limit_fill(struct tiering_node *tn, struct tiering_batch *b);

/* limits_sysfs.c */
int tiering_limit_folder_add(int nid);
void tiering_limit_folder_remove(int nid);

/* memcg.c */
#ifdef CONFIG_MEMCG
bool tiering_memcg_may_add(unsigned int pages);
bool tiering_memcg_may_promote(struct folio *folio, unsigned int more);
bool tiering_memcg_any_limited(void);
struct mem_cgroup *tiering_memcg_next_limited(unsigned long *id);
unsigned long tiering_memcg_max(struct mem_cgroup *memcg);
unsigned long tiering_memcg_files(struct mem_cgroup *memcg, int nid);
unsigned long tiering_memcg_used(struct mem_cgroup *memcg);
#else
static inline bool tiering_memcg_may_add(unsigned int pages)
{
	return true;
}

static inline bool tiering_memcg_may_promote(struct folio *folio, unsigned int more)
{
	return true;
}

static inline bool tiering_memcg_any_limited(void)
{
	return false;
}

static inline struct mem_cgroup *tiering_memcg_next_limited(unsigned long *id)
{
	return NULL;
}

static inline unsigned long tiering_memcg_max(struct mem_cgroup *memcg)
{
	return TIERING_NO_LIMIT;
}

static inline unsigned long tiering_memcg_files(struct mem_cgroup *memcg, int nid)
{
	return 0;
}

static inline unsigned long tiering_memcg_used(struct mem_cgroup *memcg)
{
	return 0;
}
#endif

#endif /* _MM_TIERING_INTERNAL_H */
