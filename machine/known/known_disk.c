// SPDX-License-Identifier: GPL-2.0
/*
 * known_disk FILE: the latency and bandwidth of the disk, with O_DIRECT in a file of
 * BYTES bytes, which is made first.
 *
 *	disk.read.latency, disk.write.latency		us for 4 KiB at a random place, one
 *							request at a time
 *	disk.read.bandwidth, disk.write.bandwidth	GB/s in sequence, DEPTH requests of
 *							CHUNK bytes at a time
 *
 * The latencies leave out the processor time that the program takes itself.
 */
#include "known.h"

#include <fcntl.h>
#include <linux/aio_abi.h>

#define BYTES		(32UL << 20)
#define CHUNK		(256UL << 10)
#define CHUNKS		(BYTES / CHUNK)
#define DEPTH		8UL
#define REQUESTS	100

static char *buffer;
static int file;

static uint64_t processor_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static double time_requests(bool write)
{
	uint64_t begin = now_ns(), used = processor_ns(), random = 1;

	for (int i = 0; i < REQUESTS; i++) {
		off_t at = (off_t)(next_random(&random) % (BYTES / SMALL_PAGE) * SMALL_PAGE);
		ssize_t done = write ? pwrite(file, buffer, SMALL_PAGE, at) :
				       pread(file, buffer, SMALL_PAGE, at);

		if (done != (ssize_t)SMALL_PAGE)
			fail("a request of 4 KiB");
	}
	used = processor_ns() - used;
	return (double)(now_ns() - begin - used) / REQUESTS / 1000;
}

static void submit(aio_context_t context, struct iocb *request, size_t chunk, bool write)
{
	*request = (struct iocb){
		.aio_fildes = (uint32_t)file,
		.aio_lio_opcode = write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
		.aio_buf = (uintptr_t)(buffer + chunk % DEPTH * CHUNK),
		.aio_nbytes = CHUNK,
		.aio_offset = (int64_t)(chunk * CHUNK),
	};
	if (syscall(SYS_io_submit, context, 1L, &request) != 1)
		fail("io_submit");
}

/* Read or write the file from begin to end, DEPTH chunks at a time. Return bytes per ns. */
static double time_file(bool write)
{
	struct iocb requests[DEPTH];
	struct io_event event;
	aio_context_t context = 0;
	size_t submitted = 0;
	uint64_t begin;

	if (syscall(SYS_io_setup, DEPTH, &context))
		fail("io_setup");
	begin = now_ns();
	for (; submitted < DEPTH; submitted++)
		submit(context, &requests[submitted], submitted, write);
	for (size_t done = 0; done < CHUNKS; done++) {
		if (syscall(SYS_io_getevents, context, 1L, 1L, &event, NULL) != 1)
			fail("io_getevents");
		if (event.res != (int64_t)CHUNK)
			fail("a request of the file");
		/* Requests complete in order, so the place in the buffer is free. */
		if (submitted < CHUNKS) {
			submit(context, &requests[submitted % DEPTH], submitted, write);
			submitted++;
		}
	}
	begin = now_ns() - begin;
	syscall(SYS_io_destroy, context);
	return (double)BYTES / (double)begin;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 2;
	}
	pin(0);
	buffer = memory_on(0, DEPTH * CHUNK, true);
	file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
	if (file < 0 || fallocate(file, 0, 0, (off_t)BYTES))
		fail(argv[1]);
	/* The first time, the file system also notes that the blocks have data. */
	time_file(true);
	if (fsync(file))
		fail("fsync");
	result(time_requests(false), "us", "disk.read.latency");
	result(time_requests(true), "us", "disk.write.latency");
	result(time_file(false), "GB/s", "disk.read.bandwidth");
	result(time_file(true), "GB/s", "disk.write.bandwidth");
	if (unlink(argv[1]))
		fail("unlink");
	return 0;
}
