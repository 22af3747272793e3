// SPDX-License-Identifier: GPL-2.0
/*
 * The two-tier machine: its disks.
 *
 * The data of a disk is in the memory of a PCI device, outside of all tiers. A
 * request completes, in a timer interrupt, after its transfer at the disk's
 * bandwidth and the disk's latency; other tasks run until then. Its data is
 * copied on completion. The copy stands for DMA: the timing model charges it to
 * the bandwidth of the memory, and not to the core.
 */
#define pr_fmt(fmt) "kloc_machine: " fmt

#include <linux/atomic.h>
#include <linux/blk-mq.h>
#include <linux/highmem.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "machine.h"

#define DISK_BAR		2
#define DISK_DEPTH		128
#define DISK_MAX_BYTES		SZ_1M
#define DISK_MAX_SEGMENTS	256

/*
 * One value per disk, in the order of the disks. Disks without a value use the
 * last one. A new value applies to requests from then on.
 */
static unsigned int read_latency_ns[KLOC_MACHINE_PCI_DISKS] = { 15000 };
static unsigned int write_latency_ns[KLOC_MACHINE_PCI_DISKS] = { 15000 };
static unsigned int read_bytes_per_us[KLOC_MACHINE_PCI_DISKS] = { 1200 };
static unsigned int write_bytes_per_us[KLOC_MACHINE_PCI_DISKS] = { 1200 };
static unsigned int read_latencies = 1, write_latencies = 1;
static unsigned int read_rates = 1, write_rates = 1;

module_param_array(read_latency_ns, uint, &read_latencies, 0644);
MODULE_PARM_DESC(read_latency_ns, "latency of reads, per disk, ns");
module_param_array(write_latency_ns, uint, &write_latencies, 0644);
MODULE_PARM_DESC(write_latency_ns, "latency of writes and flushes, ns");
module_param_array(read_bytes_per_us, uint, &read_rates, 0644);
MODULE_PARM_DESC(read_bytes_per_us,
		 "bandwidth of reads, per disk, bytes/us, 0: unlimited");
module_param_array(write_bytes_per_us, uint, &write_rates, 0644);
MODULE_PARM_DESC(write_bytes_per_us,
		 "bandwidth of writes, per disk, bytes/us, 0: unlimited");

struct machine_disk {
	unsigned int number;
	void *memory;
	struct blk_mq_tag_set tags;
	struct gendisk *gendisk;

	/* Protects all fields below; taken in interrupts. */
	spinlock_t lock;
	u64 busy;			/* earlier transfers end then, ns */
	struct list_head waiting;	/* requests, by time of completion */
	struct hrtimer timer;		/* fires when the first completes */
};

/* Driver data of a request */
struct machine_request {
	struct list_head list;
	u64 finish;
	unsigned int bytes_per_us;
};

static atomic_t pending = ATOMIC_INIT(0);

static void count_pending(int change)
{
	WRITE_ONCE(kloc_machine_page->storage_pending,
		   atomic_add_return(change, &pending));
}

static unsigned int figure_of(const struct machine_disk *disk,
			      const unsigned int *figures, unsigned int count)
{
	return figures[min(disk->number, max(count, 1) - 1)];
}

/* Book the disk's bandwidth for a request, and set its time of completion. */
static void schedule_request(struct machine_disk *disk, struct request *rq)
{
	struct machine_request *mr = blk_mq_rq_to_pdu(rq);
	u64 now = ktime_get_ns();
	unsigned int latency;

	if (req_op(rq) == REQ_OP_READ) {
		latency = figure_of(disk, read_latency_ns, read_latencies);
		mr->bytes_per_us = figure_of(disk, read_bytes_per_us,
					     read_rates);
	} else {
		latency = figure_of(disk, write_latency_ns, write_latencies);
		mr->bytes_per_us = figure_of(disk, write_bytes_per_us,
					     write_rates);
	}
	mr->finish = kloc_machine_disk_finish(&disk->busy, now,
					      blk_rq_bytes(rq),
					      mr->bytes_per_us, latency);
}

/* Insert a request after those that complete no later than it. */
static void insert_request(struct machine_disk *disk,
			   struct machine_request *mr)
{
	struct machine_request *before;

	list_for_each_entry_reverse(before, &disk->waiting, list)
		if (before->finish <= mr->finish)
			break;
	list_add(&mr->list, &before->list);
}

static void start_timer(struct machine_disk *disk)
{
	struct machine_request *first;

	first = list_first_entry_or_null(&disk->waiting, struct machine_request,
					 list);
	if (first)
		hrtimer_start(&disk->timer, ns_to_ktime(first->finish),
			      HRTIMER_MODE_ABS_HARD);
}

static blk_status_t queue_request(struct blk_mq_hw_ctx *hctx,
				  const struct blk_mq_queue_data *data)
{
	struct machine_disk *disk = hctx->queue->queuedata;
	struct request *rq = data->rq;
	struct machine_request *mr = blk_mq_rq_to_pdu(rq);
	unsigned long flags;

	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
	case REQ_OP_FLUSH:
		break;
	default:
		return BLK_STS_NOTSUPP;
	}

	blk_mq_start_request(rq);
	count_pending(1);

	spin_lock_irqsave(&disk->lock, flags);
	schedule_request(disk, rq);
	insert_request(disk, mr);
	if (list_is_first(&mr->list, &disk->waiting))
		start_timer(disk);
	spin_unlock_irqrestore(&disk->lock, flags);

	return BLK_STS_OK;
}

static void copy_data(struct machine_disk *disk, struct request *rq)
{
	void *memory = disk->memory + (blk_rq_pos(rq) << SECTOR_SHIFT);
	struct req_iterator iter;
	struct bio_vec vec;

	rq_for_each_segment(vec, rq, iter) {
		if (req_op(rq) == REQ_OP_READ)
			memcpy_to_bvec(&vec, memory);
		else
			memcpy_from_bvec(memory, &vec);
		memory += vec.bv_len;
	}
}

/* Copy the data as the device's DMA would, and complete the request. */
static void finish_request(struct machine_disk *disk,
			   struct machine_request *mr)
{
	struct request *rq = blk_mq_rq_from_pdu(mr);

	if (blk_rq_bytes(rq)) {
		kloc_machine_page->dma_bytes_per_us = mr->bytes_per_us;
		kloc_machine_call(KLOC_MACHINE_DMA_BEGIN);
		copy_data(disk, rq);
		kloc_machine_call(KLOC_MACHINE_DMA_END);
	}
	count_pending(-1);
	blk_mq_complete_request(rq);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct machine_disk *disk = container_of(timer, struct machine_disk,
						 timer);
	struct machine_request *mr, *next;
	u64 now = ktime_get_ns();
	LIST_HEAD(finished);

	scoped_guard(spinlock_irqsave, &disk->lock) {
		list_for_each_entry(mr, &disk->waiting, list)
			if (mr->finish > now)
				break;
		list_cut_before(&finished, &disk->waiting, &mr->list);
		start_timer(disk);
	}

	list_for_each_entry_safe(mr, next, &finished, list)
		finish_request(disk, mr);

	return HRTIMER_NORESTART;
}

static void complete_request(struct request *rq)
{
	blk_mq_end_request(rq, BLK_STS_OK);
}

static const struct blk_mq_ops disk_queue_ops = {
	.queue_rq	= queue_request,
	.complete	= complete_request,
};

static const struct block_device_operations disk_ops = {
	.owner		= THIS_MODULE,
};

static struct gendisk *alloc_gendisk(struct machine_disk *disk)
{
	struct queue_limits limits = {
		.physical_block_size	= SZ_4K,
		.max_hw_sectors		= DISK_MAX_BYTES >> SECTOR_SHIFT,
		.max_segments		= DISK_MAX_SEGMENTS,
		.features		= BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA,
	};
	struct gendisk *gendisk;
	int error;

	disk->tags.ops = &disk_queue_ops;
	disk->tags.nr_hw_queues = 1;
	disk->tags.queue_depth = DISK_DEPTH;
	disk->tags.numa_node = NUMA_NO_NODE;
	disk->tags.cmd_size = sizeof(struct machine_request);
	/* As for NVMe disks, which it stands for. */
	disk->tags.flags = BLK_MQ_F_SHOULD_MERGE | BLK_MQ_F_NO_SCHED_BY_DEFAULT;

	error = blk_mq_alloc_tag_set(&disk->tags);
	if (error)
		return ERR_PTR(error);

	gendisk = blk_mq_alloc_disk(&disk->tags, &limits, disk);
	if (IS_ERR(gendisk))
		blk_mq_free_tag_set(&disk->tags);
	return gendisk;
}

static int add_disk_of(struct pci_dev *pci, unsigned int number)
{
	resource_size_t bytes = pci_resource_len(pci, DISK_BAR);
	struct machine_disk *disk;
	struct gendisk *gendisk;
	int error;

	disk = kzalloc(sizeof(*disk), GFP_KERNEL);
	if (!disk)
		return -ENOMEM;

	disk->number = number;
	spin_lock_init(&disk->lock);
	INIT_LIST_HEAD(&disk->waiting);
	hrtimer_init(&disk->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	disk->timer.function = on_timer;

	disk->memory = memremap(pci_resource_start(pci, DISK_BAR), bytes,
				MEMREMAP_WB);
	if (!disk->memory) {
		error = -ENOMEM;
		goto free_disk;
	}

	gendisk = alloc_gendisk(disk);
	if (IS_ERR(gendisk)) {
		error = PTR_ERR(gendisk);
		goto unmap;
	}

	gendisk->fops = &disk_ops;
	gendisk->private_data = disk;
	gendisk->flags |= GENHD_FL_NO_PART;
	snprintf(gendisk->disk_name, DISK_NAME_LEN, "klocdisk%u", number);
	set_capacity(gendisk, bytes >> SECTOR_SHIFT);
	disk->gendisk = gendisk;

	error = device_add_disk(&pci->dev, gendisk, NULL);
	if (error)
		goto put_disk;
	return 0;

put_disk:
	put_disk(gendisk);
	blk_mq_free_tag_set(&disk->tags);
unmap:
	memunmap(disk->memory);
free_disk:
	kfree(disk);
	return error;
}

static int __init disk_init(void)
{
	unsigned int number;

	for (number = 0; number < KLOC_MACHINE_PCI_DISKS; number++) {
		struct pci_dev *pci;
		int error;

		pci = kloc_machine_pci(KLOC_MACHINE_PCI_DISK + number);
		if (!pci)
			continue;

		error = add_disk_of(pci, number);
		if (error) {
			pr_err("klocdisk%u: %d\n", number, error);
			pci_disable_device(pci);
			pci_dev_put(pci);
		}
	}
	return 0;
}
device_initcall(disk_init);
