// SPDX-License-Identifier: GPL-2.0
/*
 * on_node NODE COMMAND...: run a command that allocates memory on one node only.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MPOL_BIND	2

int main(int argc, char **argv)
{
	unsigned long nodes;

	if (argc < 3) {
		fprintf(stderr, "usage: on_node NODE COMMAND...\n");
		return 2;
	}
	nodes = 1UL << strtoul(argv[1], NULL, 0);
	if (syscall(SYS_set_mempolicy, MPOL_BIND, &nodes, 8 * sizeof(nodes))) {
		perror("set_mempolicy");
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
