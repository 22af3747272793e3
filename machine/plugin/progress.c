// SPDX-License-Identifier: GPL-2.0
/*
 * The progress file: a thread writes how far the guest has come, ten times a second.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "file.h"
#include "machine.h"
#include "progress.h"

#define PERIOD_US	100000

static uint64_t count_instructions(const struct machine *machine)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < machine->config.cores; i++) {
		const volatile struct counts *counts = machine->cores[i].counts;

		if (counts)
			sum += counts->user + counts->kernel;
	}
	return sum;
}

static void *write_forever(void *data)
{
	struct progress *progress = data;

	for (;;) {
		progress->record->instructions = count_instructions(progress->machine);
		progress->record->time_ns = progress->now_ps() / PS_PER_NS;
		usleep(PERIOD_US);
	}
	return NULL;
}

bool progress_begin(struct progress *progress, const struct machine *machine,
		    uint64_t (*now_ps)(void))
{
	sigset_t all, old;
	pthread_t thread;
	int error;

	if (!machine->config.progress)
		return true;
	progress->machine = machine;
	progress->now_ps = now_ps;
	progress->record = file_map("progress", machine->config.progress, 0,
				    sizeof(*progress->record), true);
	if (!progress->record)
		return false;
	/* QEMU's own threads handle signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&thread, NULL, write_forever, progress);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error)
		fprintf(stderr, "kloc model: progress: cannot create a thread\n");
	return !error;
}
