// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the folder /sys/kernel/debug/tiering, and in it the file
 * history, a byte for each page frame with its history, for tests. See
 * Documentation/ABI/testing/debugfs-tiering.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "internal.h"

static u8 tiering_history_of(unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);
	u8 history = 0;
	struct folio *folio;

	if (!page || PageTail(page))
		return 0;
	folio = page_folio(page);
	if (!folio_try_get(folio))
		return 0;
	if (page_folio(page) == folio)
		history = tiering_page_history(folio);
	folio_put(folio);
	return history;
}

static ssize_t history_read(struct file *file, char __user *buf, size_t count,
			    loff_t *ppos)
{
	unsigned long pfn = *ppos;
	size_t i;

	if (*ppos < 0 || pfn >= max_pfn)
		return 0;
	count = min3(count, (size_t)(max_pfn - pfn), (size_t)PAGE_SIZE);
	for (i = 0; i < count; i++) {
		if (put_user(tiering_history_of(pfn + i), (u8 __user *)buf + i))
			return -EFAULT;
		cond_resched();
	}
	*ppos += count;
	return count;
}

static const struct file_operations history_fops = {
	.owner = THIS_MODULE,
	.llseek = default_llseek,
	.read = history_read,
};

static int __init tiering_debugfs_init(void)
{
	struct dentry *folder = debugfs_create_dir("tiering", NULL);

	debugfs_create_file("history", 0400, folder, NULL, &history_fops);
	tiering_waits_add(folder);
	return 0;
}
late_initcall(tiering_debugfs_init);
