/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tiering

#if !defined(_TRACE_TIERING_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TIERING_H

#include <linux/tracepoint.h>

/*
 * A batch was promoted to node nid, or demoted from it: moved pages migrated, and
 * failed pages did not. The names of reasons follow enum tiering_reason in
 * mm/tiering/policy.h.
 */
TRACE_EVENT(tiering_migrate,

	TP_PROTO(int nid, bool promote, int reason, unsigned int moved,
		 unsigned int failed),

	TP_ARGS(nid, promote, reason, moved, failed),

	TP_STRUCT__entry(
		__field(int, nid)
		__field(bool, promote)
		__field(int, reason)
		__field(unsigned int, moved)
		__field(unsigned int, failed)
	),

	TP_fast_assign(
		__entry->nid		= nid;
		__entry->promote	= promote;
		__entry->reason		= reason;
		__entry->moved		= moved;
		__entry->failed		= failed;
	),

	TP_printk("nid=%d promote=%d reason=%s moved=%u failed=%u",
		  __entry->nid, __entry->promote,
		  __print_symbolic(__entry->reason,
				   { 0, "inactive" }, { 1, "unused" },
				   { 2, "old" }, { 3, "random" },
				   { 4, "limit" }, { 5, "pair" },
				   { 6, "cold" }, { 7, "active" },
				   { 8, "used" }, { 9, "hint" }),
		  __entry->moved, __entry->failed)
);

/*
 * NUMA balancing has migrated moved pages of a folio from node src to node nid, 0 if it
 * failed. The task of the hint fault waited for ns, of which room_ns were spent on
 * demotions that made room (AutoTiering, slide "Effect of hiding demotion latency").
 */
TRACE_EVENT(tiering_hint,

	TP_PROTO(int src, int nid, unsigned int moved, u64 ns, u64 room_ns),

	TP_ARGS(src, nid, moved, ns, room_ns),

	TP_STRUCT__entry(
		__field(int, src)
		__field(int, nid)
		__field(unsigned int, moved)
		__field(u64, ns)
		__field(u64, room_ns)
	),

	TP_fast_assign(
		__entry->src		= src;
		__entry->nid		= nid;
		__entry->moved		= moved;
		__entry->ns		= ns;
		__entry->room_ns	= room_ns;
	),

	TP_printk("src=%d nid=%d moved=%u ns=%llu room_ns=%llu",
		  __entry->src, __entry->nid, __entry->moved, __entry->ns,
		  __entry->room_ns)
);

#endif /* _TRACE_TIERING_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
