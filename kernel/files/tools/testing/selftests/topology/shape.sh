#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The machine has the nodes that $TOPOLOGY names, and no others. The starter
# of the machine sets it.

. ./_topology.sh

[ -n "$TOPOLOGY" ] || tiering_skip "needs \$TOPOLOGY"

# One result for each shape.
tiering_begin "$(echo "$shapes" | wc -w)"
for shape in $shapes; do
	if [ "$shape" = "$TOPOLOGY" ]; then
		tiering_check "the machine is $shape" topology_is_"$shape"
	else
		tiering_control "the machine is $shape" topology_is_"$shape"
	fi
done
for tier in $(tiering_tiers); do
	tiering_note "tier: nodes $(tiering_tier_of "$tier")"
done
tiering_note "CPUs: nodes $(cat $nodes/has_cpu); memory: nodes $(cat $nodes/has_memory)"
tiering_end
