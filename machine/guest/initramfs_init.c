// SPDX-License-Identifier: GPL-2.0
/*
 * The first program of the initramfs, for kernels that were not built for the
 * machine: seeds random numbers, loads the modules that /modules/order names, in
 * this order, and starts machine/guest/init on the root disk.
 *
 * Without a kernel that mounts the root disk no agent runs, so errors are
 * reported here, as the agent reports them: a frame on the second serial line.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define ROOT_DISK "/dev/vda"
#define ROOT "/root"
#define INIT "/kloc/init"

/* Most drivers find their devices at once. Wait this long for asynchronous probes. */
#define WAIT_STEPS 100
#define WAIT_STEP_NS 20000000L

/* Reports why the machine does not come up, and ends QEMU, which has -no-reboot. */
static void __attribute__((format(printf, 1, 2), noreturn)) fail(const char *format, ...)
{
	char text[512];
	va_list arguments;
	struct termios line;
	FILE *serial;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(stderr, "initramfs: %s\n", text);
	serial = fopen("/dev/ttyS1", "w");
	if (serial) {
		if (tcgetattr(fileno(serial), &line) == 0) {
			cfmakeraw(&line);
			tcsetattr(fileno(serial), TCSANOW, &line);
		}
		fprintf(serial, "@kloc failed %zu\n%s\n", strlen(text), text);
		fflush(serial);
		tcdrain(fileno(serial));
	}
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void mount_at(const char *type, const char *target)
{
	mkdir(target, 0755);
	if (mount(type, target, type, 0, NULL) != 0 && errno != EBUSY)
		fail("the kernel cannot mount %s: %s", type, strerror(errno));
}

/*
 * Mixes the run's seed, kloc.seed= of the command line, into the kernel's random
 * numbers, and so into address space layouts, as our own kernel does itself.
 */
static void seed_random(void)
{
	/* A struct rand_pool_info. */
	struct {
		int entropy_bits;
		int bytes;
		unsigned long long seed[4];
	} pool = { .entropy_bits = 256, .bytes = sizeof(pool.seed) };
	char text[4096];
	const char *seed;
	size_t length;
	int device;
	FILE *file = fopen("/proc/cmdline", "r");

	if (!file)
		fail("cannot read /proc/cmdline: %s", strerror(errno));
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	seed = strstr(text, "kloc.seed=");
	device = open("/dev/urandom", O_RDWR | O_CLOEXEC);
	if (!seed || device < 0)
		return;
	pool.seed[0] = strtoull(seed + strlen("kloc.seed="), NULL, 10);
	if (ioctl(device, RNDADDENTROPY, &pool) != 0 || ioctl(device, RNDRESEEDCRNG) != 0)
		fail("cannot seed the kernel's random numbers: %s", strerror(errno));
	close(device);
}

static void load_module(const char *name)
{
	char path[256];
	int file;

	snprintf(path, sizeof(path), "/modules/%s", name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		fail("the initramfs has no %s", path);
	if (syscall(SYS_finit_module, file, "", 0) != 0 && errno != EEXIST)
		fail("the kernel does not load its module %s: %s", name, strerror(errno));
	close(file);
}

static void load_modules(void)
{
	char name[200];
	FILE *order = fopen("/modules/order", "r");

	if (!order)
		return;
	while (fgets(name, sizeof(name), order)) {
		name[strcspn(name, "\n")] = '\0';
		load_module(name);
	}
	fclose(order);
}

static bool knows_filesystem(const char *name)
{
	char line[128];
	bool found = false;
	FILE *file = fopen("/proc/filesystems", "r");

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *type = strchr(line, '\t');

		line[strcspn(line, "\n")] = '\0';
		found = type && strcmp(type + 1, name) == 0;
	}
	if (file)
		fclose(file);
	return found;
}

static void __attribute__((noreturn)) fail_without(const char *what)
{
	fail("the kernel has no %s built in: give its Debian package, or build it in", what);
}

static void check_drivers(void)
{
	if (access("/sys/bus/pci/drivers/virtio-pci", F_OK) != 0)
		fail_without("virtio_pci (CONFIG_VIRTIO_PCI)");
	if (access("/sys/bus/virtio/drivers/virtio_blk", F_OK) != 0)
		fail_without("virtio_blk (CONFIG_VIRTIO_BLK)");
	if (!knows_filesystem("ext4"))
		fail_without("ext4 (CONFIG_EXT4_FS)");
	if (!knows_filesystem("overlay"))
		fail_without("overlay (CONFIG_OVERLAY_FS)");
	if (!knows_filesystem("cgroup2"))
		fail_without("cgroup2 (CONFIG_CGROUPS)");
	if (!knows_filesystem("debugfs"))
		fail_without("debugfs (CONFIG_DEBUG_FS)");
}

static void mount_root(void)
{
	const struct timespec step = { .tv_nsec = WAIT_STEP_NS };

	for (int i = 0; access(ROOT_DISK, F_OK) != 0; i++) {
		if (i == WAIT_STEPS)
			fail("the kernel does not find the machine's disk " ROOT_DISK);
		nanosleep(&step, NULL);
	}
	mkdir(ROOT, 0755);
	if (mount(ROOT_DISK, ROOT, "ext4", MS_RDONLY, "noload") != 0)
		fail("the kernel cannot mount " ROOT_DISK ": %s", strerror(errno));
}

/* Frees the memory of the modules' files, which nothing needs any more. */
static void remove_modules(void)
{
	DIR *directory = opendir("/modules");
	struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory)))
		unlinkat(dirfd(directory), entry->d_name, 0);
	closedir(directory);
	unlink("/init");
}

int main(void)
{
	char *const argv[] = { INIT, NULL };

	mount_at("devtmpfs", "/dev");
	mount_at("proc", "/proc");
	mount_at("sysfs", "/sys");
	seed_random();
	load_modules();
	check_drivers();
	mount_root();
	remove_modules();
	if (mount("/dev", ROOT "/dev", NULL, MS_MOVE, NULL) != 0 || chdir(ROOT) != 0 ||
	    mount(".", "/", NULL, MS_MOVE, NULL) != 0 ||
	    chroot(".") != 0 || chdir("/") != 0)
		fail("cannot make " ROOT_DISK " the root: %s", strerror(errno));
	execv(INIT, argv);
	fail("cannot execute " INIT ": %s", strerror(errno));
}
