/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kloc

#if !defined(_TRACE_KLOC_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_KLOC_H

#include <linux/fs.h>
#include <linux/tracepoint.h>

/* The device and the inode number are 0 if the inode is being destroyed. */
DECLARE_EVENT_CLASS(kloc_knode,

	TP_PROTO(const struct knode *knode, const struct inode *inode),

	TP_ARGS(knode, inode),

	TP_STRUCT__entry(
		__field(unsigned long, knode)
		__field(dev_t, dev)
		__field(unsigned long, ino)
	),

	TP_fast_assign(
		__entry->knode	= knode->id;
		__entry->dev	= inode ? inode->i_sb->s_dev : 0;
		__entry->ino	= inode ? inode->i_ino : 0;
	),

	TP_printk("knode=%lu dev=%d:%d ino=%lu", __entry->knode,
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->ino)
);

/* The context of an inode was made. */
DEFINE_EVENT(kloc_knode, kloc_knode_create,
	TP_PROTO(const struct knode *knode, const struct inode *inode),
	TP_ARGS(knode, inode));

/* A context became active: its file is in use. */
DEFINE_EVENT(kloc_knode, kloc_activate,
	TP_PROTO(const struct knode *knode, const struct inode *inode),
	TP_ARGS(knode, inode));

/* A context became inactive: its file was closed, or not used for a while. */
DEFINE_EVENT(kloc_knode, kloc_deactivate,
	TP_PROTO(const struct knode *knode, const struct inode *inode),
	TP_ARGS(knode, inode));

/*
 * Pages of a context were moved to node nid: moved of them, while failed could
 * not be migrated. knode is 0 if the pages are the oldest of any files. The
 * names of reasons are those of enum kloc_event (mm/kloc/kloc.h), in its order.
 */
TRACE_EVENT(kloc_migrate,

	TP_PROTO(const struct knode *knode, int nid, int reason,
		 unsigned int moved, unsigned int failed),

	TP_ARGS(knode, nid, reason, moved, failed),

	TP_STRUCT__entry(
		__field(unsigned long, knode)
		__field(int, nid)
		__field(int, reason)
		__field(unsigned int, moved)
		__field(unsigned int, failed)
	),

	TP_fast_assign(
		__entry->knode	= knode ? knode->id : 0;
		__entry->nid	= nid;
		__entry->reason	= reason;
		__entry->moved	= moved;
		__entry->failed	= failed;
	),

	TP_printk("knode=%lu nid=%d reason=%s moved=%u failed=%u",
		  __entry->knode, __entry->nid,
		  __print_symbolic(__entry->reason,
				   { 0, "inactive" }, { 1, "unused" },
				   { 2, "last" }, { 3, "limit" },
				   { 4, "activated" }, { 5, "dense" },
				   { 6, "used" }),
		  __entry->moved, __entry->failed)
);

#endif /* _TRACE_KLOC_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
