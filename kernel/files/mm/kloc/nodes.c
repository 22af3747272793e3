// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: /sys/kernel/mm/kloc/node<N>, what is set for one node.
 */
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "kloc.h"

/* Pages to KiB, a power of two. */
#define KLOC_KB_SHIFT	(PAGE_SHIFT - 10)

/**
 * struct kloc_node_folder - the folder of a node of fast memory
 * @kobject: the folder
 * @nid: number of the node
 */
struct kloc_node_folder {
	struct kobject kobject;
	int nid;
};

/* They are there while a policy needs contexts. Changed by who selects a policy. */
static struct kloc_node_folder *kloc_node_folders[MAX_NUMNODES];

static int kloc_folder_nid(struct kobject *kobject)
{
	return container_of(kobject, struct kloc_node_folder, kobject)->nid;
}

static ssize_t max_kb_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	unsigned long max = READ_ONCE(kloc_node_max[kloc_folder_nid(kobj)]);

	return max == KLOC_NO_LIMIT ?
	       sysfs_emit(buf, "max\n") :
	       sysfs_emit(buf, "%lu\n", max << KLOC_KB_SHIFT);
}

static ssize_t max_kb_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	unsigned long max = KLOC_NO_LIMIT, kb;

	if (!sysfs_streq(buf, "max")) {
		if (kstrtoul(buf, 0, &kb) || kb > LONG_MAX)
			return -EINVAL;
		max = kb >> KLOC_KB_SHIFT;
	}
	WRITE_ONCE(kloc_node_max[kloc_folder_nid(kobj)], max);
	kloc_limit_changed();
	return count;
}

static struct kobj_attribute max_kb_attr = __ATTR_RW(max_kb);

static struct attribute *kloc_node_attrs[] = {
	&max_kb_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(kloc_node);

static void kloc_node_release(struct kobject *kobject)
{
	kfree(container_of(kobject, struct kloc_node_folder, kobject));
}

static const struct kobj_type kloc_node_type = {
	.release = kloc_node_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = kloc_node_groups,
};

/**
 * kloc_node_show() - make the folder of a fast node
 * @nid: the node
 *
 * Return: 0, or an error.
 */
int kloc_node_show(int nid)
{
	struct kloc_node_folder *folder = kzalloc(sizeof(*folder), GFP_KERNEL);
	int error;

	if (!folder)
		return -ENOMEM;
	folder->nid = nid;
	error = kobject_init_and_add(&folder->kobject, &kloc_node_type,
				     kloc_folder, "node%d", nid);
	if (error)
		kobject_put(&folder->kobject);
	else
		kloc_node_folders[nid] = folder;
	return error;
}

/**
 * kloc_node_hide() - remove the folder of a node; what is set in it is kept
 * @nid: the node, which may have none
 */
void kloc_node_hide(int nid)
{
	struct kloc_node_folder *folder = kloc_node_folders[nid];

	if (!folder)
		return;
	/* Its name is free again at once, whoever still holds it. */
	kobject_del(&folder->kobject);
	kobject_put(&folder->kobject);
	kloc_node_folders[nid] = NULL;
}
