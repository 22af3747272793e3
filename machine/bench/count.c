// SPDX-License-Identifier: GPL-2.0
/*
 * A QEMU TCG plugin for `kloc bench cost`: counts the data cache lines that each
 * system call of calls.c touches. Each line of physical memory that instructions
 * between two marks (marks.h) load from or store to counts once.
 *
 *	-plugin count.so,output=FILE
 *
 * FILE gets a line "NUMBER LINES" for each call that is made: the call's number, and
 * the number of cache lines that it touched.
 *
 * Limits:
 * - One CPU, and memory below MEMORY_MAX.
 * - Page-table walks and instruction fetches are not seen.
 * - An access that straddles two lines counts as one of the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "marks.h"
#include "qemu_api.h"

/* Physical addresses from here on do not count. */
#define MEMORY_MAX	(4ULL << 30)

int qemu_plugin_version = QEMU_PLUGIN_API;

static qemu_plugin_id_t plugin;
static FILE *output;
static bool counting;

/* The call in progress: its mark or 0, its serial number, and the lines it has touched. */
static unsigned int call;
static uint32_t number, lines;

/* By physical line: serial number of the call that touched it last. */
static uint32_t *touched_by;

static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
		      void *userdata)
{
	struct qemu_plugin_hwaddr *where;
	uint64_t physical;

	(void)cpu;
	(void)userdata;
	if (!call)
		return;
	where = qemu_plugin_get_hwaddr(info, address);
	if (!where || qemu_plugin_hwaddr_is_io(where))
		return;
	physical = qemu_plugin_hwaddr_phys_addr(where);
	if (physical >= MEMORY_MAX || touched_by[physical / CACHE_LINE] == number)
		return;
	touched_by[physical / CACHE_LINE] = number;
	lines++;
}

static void register_callbacks(qemu_plugin_id_t id);

/* Handle a mark; userdata is its number. */
static void on_mark(unsigned int cpu, void *userdata)
{
	unsigned int mark = (unsigned int)(uintptr_t)userdata;

	(void)cpu;
	if (mark == MARK_COUNT || mark == MARK_REST) {
		/* Translate all code again, with or without callbacks for memory accesses. */
		counting = mark == MARK_COUNT;
		qemu_plugin_reset(plugin, register_callbacks);
	} else if (mark == MARK_END && call) {
		fprintf(output, "%u %u\n", call - MARK_BEGIN, lines);
		call = 0;
	} else if (mark >= MARK_BEGIN && counting) {
		call = mark;
		number++;
		lines = 0;
	}
}

/* Return the number of the mark, or 0 if the instruction is no mark. */
static unsigned int mark_of(const struct qemu_plugin_insn *insn)
{
	uint8_t code[7];

	if (qemu_plugin_insn_size(insn) != sizeof(code))
		return 0;
	qemu_plugin_insn_data(insn, code, sizeof(code));
	if (code[0] != 0x0f || code[1] != 0x1f || code[2] != 0x80 || code[4] != MARK_1 ||
	    code[5] != MARK_2 || code[6] != MARK_3)
		return 0;
	return code[3];
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		unsigned int mark = mark_of(insn);

		if (mark)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark,
							       QEMU_PLUGIN_CB_NO_REGS,
							       (void *)(uintptr_t)mark);
		if (counting)
			qemu_plugin_register_vcpu_mem_addr_cb(insn, on_access,
							      QEMU_PLUGIN_CB_NO_REGS,
							      QEMU_PLUGIN_MEM_R |
							      QEMU_PLUGIN_MEM_W, NULL);
	}
}

static void on_exit_qemu(qemu_plugin_id_t id, void *userdata)
{
	(void)id;
	(void)userdata;
	if (fclose(output))
		perror("count: output");
}

static void register_callbacks(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_qemu, NULL);
}

static int complain(const char *what)
{
	fprintf(stderr, "count: %s\n", what);
	return -1;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	const char key[] = "output=";

	if (!info->system_emulation || info->system.max_vcpus > 1)
		return complain("needs qemu-system with one CPU; start QEMU with -smp 1");
	if (argc != 1 || strncmp(argv[0], key, strlen(key)))
		return complain("usage: -plugin count.so,output=FILE");
	output = fopen(argv[0] + strlen(key), "w");
	touched_by = calloc(MEMORY_MAX / CACHE_LINE, sizeof(*touched_by));
	if (!output || !touched_by)
		return complain("cannot create the output file, or out of memory");
	plugin = id;
	register_callbacks(id);
	return 0;
}
