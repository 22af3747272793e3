// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: on and off, as the selected policy needs them.
 */
#include <linux/jump_label.h>
#include <linux/rcupdate.h>

#include "kloc.h"

DEFINE_STATIC_KEY_FALSE(kloc_key);

/* Are knodes made? Changes to false before they are all taken away. */
bool kloc_ready;

struct kloc_settings kloc_settings = {
	.kinds = BIT(TIERING_FILE) | BIT(TIERING_BLOCKDEV) | BIT(TIERING_SLAB),
};

/**
 * kloc_start() - files get contexts from now on
 *
 * Context: the lock of CPU hotplug is held.
 */
void kloc_start(void)
{
	static_branch_enable_cpuslocked(&kloc_key);
	WRITE_ONCE(kloc_ready, true);
}

/**
 * kloc_stop() - take all contexts away, whatever files are in use
 *
 * Whoever makes a knode does so under RCU, and sees that it must not any more after
 * a grace period. Then each knode goes with its inode, or here.
 *
 * Context: as kloc_start(); may sleep.
 */
void kloc_stop(void)
{
	WRITE_ONCE(kloc_ready, false);
	synchronize_rcu();
	knode_kill_all();
	static_branch_disable_cpuslocked(&kloc_key);
	/* Whoever went by the key before may still add a dead knode to a list. */
	synchronize_rcu();
}
