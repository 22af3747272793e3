// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: /sys/kernel/mm/kloc, see
 * Documentation/ABI/testing/sysfs-kernel-mm-kloc.
 */
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/time64.h>

#include "kloc.h"

static ssize_t enabled_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%d\n", static_key_enabled(&kloc_key));
}

static ssize_t enabled_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	bool on;
	int error = kstrtobool(buf, &on);

	if (!error)
		error = kloc_enable(on);
	return error ?: count;
}

static struct kobj_attribute enabled_attr = __ATTR_RW(enabled);

/**
 * struct choice_attr - a file in which one of several words is chosen
 * @attr: the file
 * @value: where the number of the word is
 * @names: the words
 * @count: of @names
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

static const char * const mode_names[KLOC_MODES] = {
	[KLOC_NOMIGRATE] = "nomigrate",
	[KLOC_MIGRATE]	 = "migrate",
	[KLOC_RANDOM]	 = "random",
	[KLOC_ALLACTIVE] = "allactive",
	[KLOC_CAP]	 = "cap",
};
CHOICE_ATTR(mode, kloc_settings.mode);

static const char * const scope_names[KLOC_SCOPES] = {
	[KLOC_ALL]    = "all",
	[KLOC_CHOSEN] = "chosen",
};
CHOICE_ATTR(scope, kloc_settings.scope);

/* A file with the kinds of objects that take part, separated by spaces. */
static const char * const kind_names[KLOC_KINDS] = {
	[KLOC_KIND_FILE]     = "file",
	[KLOC_KIND_BLOCKDEV] = "blockdev",
};

static ssize_t kinds_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	unsigned long kind, kinds = READ_ONCE(kloc_settings.kinds);
	ssize_t length = 0;

	for_each_set_bit(kind, &kinds, KLOC_KINDS)
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
		int kind = *name ? match_string(kind_names, KLOC_KINDS, name)
				 : -ENOENT;

		if (kind >= 0)
			kinds |= BIT(kind);
		else if (*name)
			return -EINVAL;
	}
	WRITE_ONCE(kloc_settings.kinds, kinds);
	return count;
}

static struct kobj_attribute kinds_attr = __ATTR_RW(kinds);

/**
 * struct number_attr - a file with a number
 * @attr: the file
 * @value: where the number is
 * @unit: of @value, in that of the file
 * @least: that the file takes
 * @most: likewise
 */
struct number_attr {
	struct kobj_attribute attr;
	unsigned long *value;
	unsigned long unit;
	unsigned long least;
	unsigned long most;
};

static ssize_t number_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	struct number_attr *number = container_of(attr, struct number_attr, attr);

	return sysfs_emit(buf, "%lu\n", READ_ONCE(*number->value) / number->unit);
}

static ssize_t number_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	struct number_attr *number = container_of(attr, struct number_attr, attr);
	unsigned long value;

	if (kstrtoul(buf, 0, &value) || value < number->least || value > number->most)
		return -EINVAL;
	WRITE_ONCE(*number->value, value * number->unit);
	return count;
}

#define NUMBER_ATTR(_name, _value, _unit, _least, _most)		\
static struct number_attr _name##_attr = {				\
	.attr = __ATTR(_name, 0644, number_show, number_store),		\
	.value = &(_value),						\
	.unit = _unit,							\
	.least = _least,						\
	.most = _most,							\
}

NUMBER_ATTR(rate_mbps, kloc_settings.rate, SZ_1M, 0, SZ_1M);
NUMBER_ATTR(scan_us, kloc_settings.scan_us, 1, 100, 60 * USEC_PER_SEC);
NUMBER_ATTR(inactive_age, kloc_settings.inactive_age, 1, 1, U8_MAX);
NUMBER_ATTR(half_life_us, kloc_half_life_us, 1, 1, 3600 * USEC_PER_SEC);
NUMBER_ATTR(reserve_pages, kloc_settings.reserve, 1, 1, INT_MAX);
NUMBER_ATTR(promote_heat, kloc_settings.promote_heat, 1, 1, U8_MAX);
NUMBER_ATTR(promote_pages, kloc_settings.promote_pages, 1, 0, INT_MAX);
NUMBER_ATTR(stream_kb, kloc_settings.stream_bytes, SZ_1K, 1, SZ_1G);
NUMBER_ATTR(pin, kloc_settings.pin, 1, 1, U8_MAX);

static struct attribute *kloc_attrs[] = {
	&enabled_attr.attr,
	&mode_attr.attr.attr,
	&scope_attr.attr.attr,
	&kinds_attr.attr,
	&reserve_pages_attr.attr.attr,
	&rate_mbps_attr.attr.attr,
	&scan_us_attr.attr.attr,
	&inactive_age_attr.attr.attr,
	&half_life_us_attr.attr.attr,
	&promote_heat_attr.attr.attr,
	&promote_pages_attr.attr.attr,
	&stream_kb_attr.attr.attr,
	&pin_attr.attr.attr,
	NULL,
};

static const struct attribute_group kloc_group = {
	.attrs = kloc_attrs,
};

/* One file has all counts: those of one moment belong together. */
static const char * const event_names[KLOC_EVENTS] = {
	[KLOC_DEMOTED_INACTIVE]	= "demoted_inactive",
	[KLOC_DEMOTED_UNUSED]	= "demoted_unused",
	[KLOC_DEMOTED_LAST]	= "demoted_last",
	[KLOC_DEMOTED_LIMIT]	= "demoted_limit",
	[KLOC_PROMOTED_WHOLE]	= "promoted_whole",
	[KLOC_PROMOTED_DENSE]	= "promoted_dense",
	[KLOC_PROMOTED_USED]	= "promoted_used",
	[KLOC_NOT_PINNED]	= "not_moved_pinned",
	[KLOC_NOT_BUSY]		= "not_moved_busy",
	[KLOC_NOT_MOVABLE]	= "not_moved_unmovable",
	[KLOC_NOT_MIGRATED]	= "not_moved_failed",
	[KLOC_NOT_PAYING]	= "not_moved_unpaid",
	[KLOC_NOT_LIMIT]	= "not_moved_limit",
	[KLOC_PLACED_FAST]	= "placed_fast",
	[KLOC_PLACED_SLOW]	= "placed_slow",
	[KLOC_PLACED_ELSEWHERE]	= "placed_elsewhere",
	[KLOC_PLACED_LIMIT]	= "placed_limit",
	[KLOC_PREDICTED]	= "predicted",
	[KLOC_MISPREDICTED]	= "mispredicted",
};

/* Reasons for which pages are promoted; a level is that of its number. */
static const char * const trial_names[KLOC_TRIALS] = {
	"", "level1", "level2", "level3", "level4", "level5", "whole", "dense",
};

/* How the promotions of late fared, on all nodes together. */
static ssize_t show_trials(char *buf, ssize_t length)
{
	unsigned int i;
	int nid;

	rcu_read_lock();
	for (i = 1; i < KLOC_TRIALS; i++) {
		long pages = 0, uses = 0;

		for_each_online_node(nid) {
			const struct kloc_node *node = READ_ONCE(kloc_near[nid]);

			/* Others only have it as the nearest. */
			if (!node || node->nid != nid)
				continue;
			pages += atomic_read(&node->trials[i].pages);
			uses += atomic_read(&node->trials[i].uses);
		}
		length += sysfs_emit_at(buf, length,
					"trial_%s_pages %ld\ntrial_%s_uses %ld\n",
					trial_names[i], pages, trial_names[i], uses);
	}
	rcu_read_unlock();
	return length;
}

static ssize_t stat_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	ssize_t length = 0;
	int event, kind;

	for (event = 0; event < KLOC_EVENTS; event++)
		for (kind = 0; kind < KLOC_KINDS; kind++)
			length += sysfs_emit_at(buf, length, "%s_%s %lu\n",
						event_names[event],
						kind_names[kind],
						kloc_events(event, kind));
	length = show_trials(buf, length);
	length += sysfs_emit_at(buf, length, "knodes %lu\n",
				READ_ONCE(kloc_kmap.count));
	length += sysfs_emit_at(buf, length, "knode_bytes %lu\n",
				READ_ONCE(kloc_kmap.count) * knode_size());
	rcu_read_lock();
	length += sysfs_emit_at(buf, length, "page_bytes %lu\n",
				kloc_pages_size());
	rcu_read_unlock();
	length += sysfs_emit_at(buf, length, "kmap_lookups_saved %lu\n",
				knode_list_saved());
	length += sysfs_emit_at(buf, length, "kmap_lookups %lu\n",
				knode_list_missed());
	return length;
}

static struct kobj_attribute stat_attr = __ATTR_RO(stat);

struct kobject *kloc_folder;

/**
 * kloc_sysfs_init() - make the folder and its files
 *
 * Return: 0, or an error.
 */
int __init kloc_sysfs_init(void)
{
	int error;

	kloc_folder = kobject_create_and_add("kloc", mm_kobj);
	if (!kloc_folder)
		return -ENOMEM;
	error = sysfs_create_group(kloc_folder, &kloc_group);
	if (!error)
		error = sysfs_create_file(kloc_folder, &stat_attr.attr);
	if (error)
		kobject_put(kloc_folder);
	return error;
}
