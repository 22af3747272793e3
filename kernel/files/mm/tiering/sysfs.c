// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: /sys/kernel/mm/tiering, see
 * Documentation/ABI/testing/sysfs-kernel-mm-tiering.
 */
#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/sysfs.h>
#include <linux/time64.h>

#include "internal.h"

struct kobject *tiering_folder;

static ssize_t policies_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	struct tiering_policy *policy = NULL;
	ssize_t length = 0;

	while ((policy = tiering_next_policy(policy)))
		length += sysfs_emit_at(buf, length, "%s%s",
					length ? " " : "", policy->name);
	return length + sysfs_emit_at(buf, length, "\n");
}

static struct kobj_attribute policies_attr = __ATTR_RO(policies);

static ssize_t policy_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	const struct tiering_policy *policy;
	ssize_t length;

	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	length = sysfs_emit(buf, "%s\n", policy ? policy->name : "none");
	rcu_read_unlock();
	return length;
}

static ssize_t policy_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	int error = tiering_select(buf);

	return error ?: count;
}

static struct kobj_attribute policy_attr = __ATTR_RW(policy);

static ssize_t has_contexts_show(struct kobject *kobj,
				 struct kobj_attribute *attr, char *buf)
{
	const struct tiering_policy *policy;
	bool has_contexts;

	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	has_contexts = policy && policy->needs & TIERING_KNODES;
	rcu_read_unlock();
	return sysfs_emit(buf, "%d\n", has_contexts);
}

static struct kobj_attribute has_contexts_attr = __ATTR_RO(has_contexts);

/**
 * tiering_number_show() - read a number
 * @kobj: folder of the number
 * @attr: file of the number, in a struct tiering_number
 * @buf: filled in
 *
 * Return: bytes in @buf.
 */
ssize_t tiering_number_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	struct tiering_number *number =
		container_of(attr, struct tiering_number, attr);

	return sysfs_emit(buf, "%lu\n", READ_ONCE(*number->value) / number->unit);
}

/**
 * tiering_number_store() - set a number
 * @kobj: folder of the number
 * @attr: file of the number, in a struct tiering_number
 * @buf: the text that is written
 * @count: bytes in @buf
 *
 * Return: @count, or -EINVAL if the text is no number in the range of the file.
 */
ssize_t tiering_number_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	struct tiering_number *number =
		container_of(attr, struct tiering_number, attr);
	unsigned long value;

	if (kstrtoul(buf, 0, &value) || value < number->least ||
	    value > number->most)
		return -EINVAL;
	WRITE_ONCE(*number->value, value * number->unit);
	/* Daemons may wait for the end of a scan of the old length. */
	tiering_wake_all();
	return count;
}

TIERING_NUMBER(scan_us, tiering_settings.scan_us, 1, 100, 60 * USEC_PER_SEC);
TIERING_NUMBER(rate_mbps, tiering_settings.rate, SZ_1M, 0, SZ_1M);
TIERING_NUMBER(pin, tiering_settings.pin, 1, 1, U8_MAX);

static ssize_t page_bytes_show(struct kobject *kobj, struct kobj_attribute *attr,
			       char *buf)
{
	return sysfs_emit(buf, "%lu\n", tiering_pages_bytes());
}

static struct kobj_attribute page_bytes_attr = __ATTR_RO(page_bytes);

static struct attribute *tiering_attrs[] = {
	&policies_attr.attr,
	&policy_attr.attr,
	&has_contexts_attr.attr,
	&scan_us_number.attr.attr,
	&rate_mbps_number.attr.attr,
	&pin_number.attr.attr,
	&page_bytes_attr.attr,
	NULL,
};

static const struct attribute_group tiering_group = {
	.attrs = tiering_attrs,
};

/**
 * tiering_sysfs_add() - create the folder of a policy's settings
 * @policy: the policy
 *
 * Context: at boot.
 * Return: 0, or an error.
 */
int __init tiering_sysfs_add(const struct tiering_policy *policy)
{
	struct kobject *folder;
	int error;

	if (!policy->attrs)
		return 0;
	folder = kobject_create_and_add(policy->name, tiering_folder);
	if (!folder)
		return -ENOMEM;
	error = sysfs_create_group(folder, policy->attrs);
	if (error)
		kobject_put(folder);
	return error;
}

static int __init tiering_sysfs_init(void)
{
	int error;

	tiering_folder = kobject_create_and_add("tiering", mm_kobj);
	if (!tiering_folder)
		return -ENOMEM;
	error = sysfs_create_group(tiering_folder, &tiering_group);
	if (!error)
		error = tiering_stats_add(tiering_folder);
	if (error)
		kobject_put(tiering_folder);
	return error;
}
subsys_initcall(tiering_sysfs_init);
