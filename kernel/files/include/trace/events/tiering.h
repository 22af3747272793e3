/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tiering

#if !defined(_TRACE_TIERING_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TIERING_H

#include <linux/tracepoint.h>

/*
 * The policy of memory tiers had pages moved to node nid, or from it: moved of them,
 * while failed could not be migrated. The names of reasons are those of enum
 * tiering_reason (mm/tiering/tiering.h), in its order.
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
				   { 4, "limit" }, { 5, "active" },
				   { 6, "used" }),
		  __entry->moved, __entry->failed)
);

#endif /* _TRACE_TIERING_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
