// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: /sys/kernel/mm/tiering/node<N>, the settings of a node.
 */
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "internal.h"

/* Pages to KiB, a power of two. */
#define TIERING_KB_SHIFT	(PAGE_SHIFT - 10)

/**
 * struct tiering_limit_folder - the folder of a node of fast memory
 * @kobject: the folder
 * @nid: number of the node
 */
struct tiering_limit_folder {
	struct kobject kobject;
	int nid;
};

/*
 * The folders exist while a policy places page cache. Protected by the selection locks.
 */
static struct tiering_limit_folder *tiering_limit_folders[MAX_NUMNODES];

static int tiering_limit_folder_nid(struct kobject *kobject)
{
	return container_of(kobject, struct tiering_limit_folder, kobject)->nid;
}

static ssize_t max_kb_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	unsigned long max = READ_ONCE(tiering_node_max[tiering_limit_folder_nid(kobj)]);

	return max == TIERING_NO_LIMIT ?
	       sysfs_emit(buf, "max\n") :
	       sysfs_emit(buf, "%lu\n", max << TIERING_KB_SHIFT);
}

static ssize_t max_kb_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	unsigned long max = TIERING_NO_LIMIT, kb;

	if (!sysfs_streq(buf, "max")) {
		if (kstrtoul(buf, 0, &kb) || kb > LONG_MAX)
			return -EINVAL;
		max = kb >> TIERING_KB_SHIFT;
	}
	WRITE_ONCE(tiering_node_max[tiering_limit_folder_nid(kobj)], max);
	tiering_limit_changed();
	return count;
}

static struct kobj_attribute max_kb_attr = __ATTR_RW(max_kb);

static struct attribute *tiering_limit_attrs[] = {
	&max_kb_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(tiering_limit);

static void tiering_limit_release(struct kobject *kobject)
{
	kfree(container_of(kobject, struct tiering_limit_folder, kobject));
}

static const struct kobj_type tiering_limit_type = {
	.release = tiering_limit_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = tiering_limit_groups,
};

/**
 * tiering_limit_folder_add() - create the folder of a fast node
 * @nid: the node
 *
 * Return: 0, or an error.
 */
int tiering_limit_folder_add(int nid)
{
	struct tiering_limit_folder *folder = kzalloc(sizeof(*folder), GFP_KERNEL);
	int error;

	if (!folder)
		return -ENOMEM;
	folder->nid = nid;
	error = kobject_init_and_add(&folder->kobject, &tiering_limit_type,
				     tiering_folder, "node%d", nid);
	if (error)
		kobject_put(&folder->kobject);
	else
		tiering_limit_folders[nid] = folder;
	return error;
}

/**
 * tiering_limit_folder_remove() - remove the folder of a node, and keep its settings
 * @nid: the node, which may have no folder
 */
void tiering_limit_folder_remove(int nid)
{
	struct tiering_limit_folder *folder = tiering_limit_folders[nid];

	if (!folder)
		return;
	/* Free the name at once: others may still hold the kobject. */
	kobject_del(&folder->kobject);
	kobject_put(&folder->kobject);
	tiering_limit_folders[nid] = NULL;
}
