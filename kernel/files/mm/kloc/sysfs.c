// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: /sys/kernel/mm/kloc, see
 * Documentation/ABI/testing/sysfs-kernel-mm-kloc.
 */
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "kloc.h"

/**
 * struct choice_attr - a file that selects one of several words
 * @attr: the file
 * @value: index of the selected word
 * @names: the words
 * @count: number of @names
 */
struct choice_attr {
	struct kobj_attribute attr;
	unsigned long *value;
	const char * const *names;
	unsigned int count;
};

static ssize_t choice_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	struct choice_attr *choice = container_of(attr, struct choice_attr, attr);

	return sysfs_emit(buf, "%s\n", choice->names[READ_ONCE(*choice->value)]);
}

static ssize_t choice_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	struct choice_attr *choice = container_of(attr, struct choice_attr, attr);
	int chosen = __sysfs_match_string(choice->names, choice->count, buf);

	if (chosen < 0)
		return chosen;
	WRITE_ONCE(*choice->value, chosen);
	return count;
}

#define CHOICE_ATTR(_name, _value)					\
static struct choice_attr _name##_attr = {				\
	.attr = __ATTR(_name, 0644, choice_show, choice_store),		\
	.value = &(_value),						\
	.names = _name##_names,						\
	.count = ARRAY_SIZE(_name##_names),				\
}

static const char * const scope_names[KLOC_SCOPES] = {
	[KLOC_ALL]    = "all",
	[KLOC_CHOSEN] = "chosen",
};
CHOICE_ATTR(scope, kloc_settings.scope);

/* A file with the kinds of objects that take part, separated by spaces. */
static const char * const kind_names[TIERING_KINDS] = {
	[TIERING_ANON]	   = "",
	[TIERING_FILE]	   = "file",
	[TIERING_BLOCKDEV] = "blockdev",
	[TIERING_SLAB]	   = "slab",
};

static ssize_t kinds_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	unsigned long kind, kinds = READ_ONCE(tiering_settings.kinds);
	ssize_t length = 0;

	for_each_set_bit(kind, &kinds, TIERING_KINDS)
		length += sysfs_emit_at(buf, length, "%s%s",
					length ? " " : "", kind_names[kind]);
	return length + sysfs_emit_at(buf, length, "\n");
}

static ssize_t kinds_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	char *copy __free(kfree) = kstrndup(buf, count, GFP_KERNEL);
	unsigned long kinds = 0;
	char *rest, *name;

	if (!copy)
		return -ENOMEM;
	rest = strim(copy);
	while ((name = strsep(&rest, " "))) {
		int kind = *name ? match_string(kind_names, TIERING_KINDS, name)
				 : -ENOENT;

		if (kind >= 0)
			kinds |= BIT(kind);
		else if (*name)
			return -EINVAL;
	}
	WRITE_ONCE(tiering_settings.kinds, kinds);
	return count;
}

static struct kobj_attribute kinds_attr = __ATTR_RW(kinds);

/* Read-only files with one number each. */
static ssize_t knodes_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%lu\n", knode_count());
}

static struct kobj_attribute knodes_attr = __ATTR_RO(knodes);

static ssize_t knode_bytes_show(struct kobject *kobj, struct kobj_attribute *attr,
				char *buf)
{
	return sysfs_emit(buf, "%lu\n", knode_count() * knode_size());
}

static struct kobj_attribute knode_bytes_attr = __ATTR_RO(knode_bytes);

static struct attribute *kloc_attrs[] = {
	&scope_attr.attr.attr,
	&kinds_attr.attr,
	&knodes_attr.attr,
	&knode_bytes_attr.attr,
	NULL,
};

static const struct attribute_group kloc_group = {
	.attrs = kloc_attrs,
};

static int __init kloc_sysfs_init(void)
{
	struct kobject *folder;
	int error;

	folder = kobject_create_and_add("kloc", mm_kobj);
	if (!folder)
		return -ENOMEM;
	error = sysfs_create_group(folder, &kloc_group);
	if (error)
		kobject_put(folder);
	return error;
}
subsys_initcall(kloc_sysfs_init);
