/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies that take what is oldest.
 */
#ifndef _MM_TIERING_POLICY_LRU_H
#define _MM_TIERING_POLICY_LRU_H

#include "tiering.h"

long policy_lru_take(struct tiering_node *tn, struct tiering_batch *b,
		     struct mem_cgroup *root, enum tiering_kind kind,
		     tiering_choose_t choose);

#endif /* _MM_TIERING_POLICY_LRU_H */
