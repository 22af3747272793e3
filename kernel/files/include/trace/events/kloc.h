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
		__field(unsigned int, knode)
		__field(dev_t, dev)
		__field(unsigned long, ino)
	),

	TP_fast_assign(
		__entry->knode	= knode->id;
		__entry->dev	= inode ? inode->i_sb->s_dev : 0;
		__entry->ino	= inode ? inode->i_ino : 0;
	),

	TP_printk("knode=%u dev=%d:%d ino=%lu", __entry->knode,
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->ino)
);

/* The context of an inode was created. */
DEFINE_EVENT(kloc_knode, kloc_knode_create,
	TP_PROTO(const struct knode *knode, const struct inode *inode),
	TP_ARGS(knode, inode));

/* A context became active: its file is in use. */
DEFINE_EVENT(kloc_knode, kloc_activate,
	TP_PROTO(const struct knode *knode, const struct inode *inode),
	TP_ARGS(knode, inode));

/* A context became inactive: its file was closed, or unused for some scans. */
DEFINE_EVENT(kloc_knode, kloc_deactivate,
	TP_PROTO(const struct knode *knode, const struct inode *inode),
	TP_ARGS(knode, inode));

#endif /* _TRACE_KLOC_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
