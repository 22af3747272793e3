# SPDX-License-Identifier: GPL-2.0
# The devices of the machine's QEMU. Kconfig selects what they depend on.
CONFIG_I440FX=y
CONFIG_HPET=y
CONFIG_SERIAL_ISA=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_BLK=y
