// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: whether folios that are mapped are used.
 *
 * folio_referenced() is for folios that reclaim has isolated; those here are on
 * their LRU lists.
 */
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/page_idle.h>
#include <linux/pagemap.h>
#include <linux/pgtable.h>
#include <linux/rmap.h>

#include "kloc.h"

/* Take the accessed bits of one mapping of a folio. */
static bool take_young(struct folio *folio, struct vm_area_struct *vma,
		       unsigned long address, void *arg)
{
	DEFINE_FOLIO_VMA_WALK(walk, folio, vma, address, 0);
	bool *young = arg;

	while (page_vma_mapped_walk(&walk)) {
		if (walk.pte)
			*young |= ptep_clear_young_notify(vma, walk.address,
							  walk.pte);
		else if (IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE))
			*young |= pmdp_clear_young_notify(vma, walk.address,
							  walk.pmd);
	}
	return true;
}

/**
 * kloc_was_referenced() - was a mapped folio used since this was asked last?
 * @folio: the folio, which the caller has a reference to
 *
 * Context: may sleep.
 * Return: true if it was, or if that cannot be told now.
 */
bool kloc_was_referenced(struct folio *folio)
{
	bool young = false;
	struct rmap_walk_control control = {
		.rmap_one = take_young,
		.arg = &young,
	};

	if (!folio_trylock(folio))
		return true;
	/* It may have been truncated meanwhile. */
	if (folio->mapping && folio_mapped(folio))
		rmap_walk(folio, &control);
	folio_unlock(folio);
	/* Its bits say no longer that it was: reclaim looks at this flag, too. */
	if (young)
		folio_set_young(folio);
	return young;
}
