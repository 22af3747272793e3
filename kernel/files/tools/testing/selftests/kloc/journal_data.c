// SPDX-License-Identifier: GPL-2.0
/*
 * journal_data FILE: have ext4 write the data of a file to the journal, as chattr +j does.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd, flags;

	if (argc != 2) {
		fprintf(stderr, "usage: journal_data FILE\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags)) {
		perror(argv[1]);
		return 1;
	}
	flags |= FS_JOURNAL_DATA_FL;
	if (ioctl(fd, FS_IOC_SETFLAGS, &flags)) {
		perror(argv[1]);
		return 1;
	}
	close(fd);
	return 0;
}
