"""The NVIDIA devices of a node: found, examined in child processes, watched, reported.

This process never initialises the driver: a process forked after that could not use a device.
Devices are found by what the kernel module shows in /proc and /dev; everything else is asked of a
device by a child process, which ends with its context.
"""
