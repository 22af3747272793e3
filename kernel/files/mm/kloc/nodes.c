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
#define KB_SHIFT	(PAGE_SHIFT - 10)

/**
 * struct node_folder - the folder of a node of fast memory
 * @kobject: the folder
 * @nid: number of the node
 */
struct node_folder {
	struct kobject kobject;
	int nid;
};

/* They are there while KLOC is on. Changed under the mutex of kloc_enable(). */
static struct node_folder *folders[MAX_NUMNODES];

static struct node_folder *folder_of(struct kobject *kobject)
{
	return container_of(kobject, struct node_folder, kobject);
}

static ssize_t max_kb_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	unsigned long max = READ_ONCE(kloc_node_max[folder_of(kobj)->nid]);

	return max == KLOC_NO_LIMIT ? sysfs_emit(buf, "max\n") :
				      sysfs_emit(buf, "%lu\n", max << KB_SHIFT);
}

static ssize_t max_kb_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	unsigned long max = KLOC_NO_LIMIT, kb;

	if (!sysfs_streq(buf, "max")) {
		if (kstrtoul(buf, 0, &kb) || kb > LONG_MAX)
			return -EINVAL;
		max = kb >> KB_SHIFT;
	}
	WRITE_ONCE(kloc_node_max[folder_of(kobj)->nid], max);
	kloc_limit_changed();
	return count;
}

static struct kobj_attribute max_kb_attr = __ATTR_RW(max_kb);

static struct attribute *node_attrs[] = {
	&max_kb_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(node);

static void release(struct kobject *kobject)
{
	kfree(folder_of(kobject));
}

static const struct kobj_type node_type = {
	.release = release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = node_groups,
};

static int show(int nid)
{
	struct node_folder *folder = kzalloc(sizeof(*folder), GFP_KERNEL);
	int error;

	if (!folder)
		return -ENOMEM;
	folder->nid = nid;
	error = kobject_init_and_add(&folder->kobject, &node_type, kloc_folder,
				     "node%d", nid);
	if (error)
		kobject_put(&folder->kobject);
	else
		folders[nid] = folder;
	return error;
}

/**
 * kloc_nodes_show() - make the folders of all fast nodes
 *
 * Return: 0, or an error: then kloc_nodes_hide() is to be called.
 */
int kloc_nodes_show(void)
{
	int nid, error = 0;

	for_each_online_node(nid)
		if (!error && kloc_near[nid] && kloc_near[nid]->nid == nid)
			error = show(nid);
	return error;
}

/**
 * kloc_nodes_hide() - remove the folders; what is set in them is kept
 */
void kloc_nodes_hide(void)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		if (!folders[nid])
			continue;
		/* Its name is free again at once, whoever still holds it. */
		kobject_del(&folders[nid]->kobject);
		kobject_put(&folders[nid]->kobject);
		folders[nid] = NULL;
	}
}
