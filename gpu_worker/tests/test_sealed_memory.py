"""The memory that a job is handed over in: nobody changes it, and sealing it does not fail."""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Iterator

import pytest

from gpu_worker.sandbox.pipes import seal, sealed_memory

DATA = bytes(range(256)) * 64


@pytest.fixture
def sealed() -> Iterator[int]:
    descriptor = sealed_memory(DATA)
    yield descriptor
    os.close(descriptor)


def test_it_can_be_read_but_not_written_in_any_way(sealed: int) -> None:
    assert os.pread(sealed, len(DATA), 0) == DATA
    for descriptor in (sealed, os.open(f"/proc/self/fd/{sealed}", os.O_RDWR)):
        with pytest.raises(PermissionError):
            os.pwrite(descriptor, b"x", 0)
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, 0)
        with pytest.raises(PermissionError):
            mmap.mmap(descriptor, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        with pytest.raises(PermissionError):
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL)
    os.close(descriptor)
    with mmap.mmap(sealed, 0, mmap.MAP_SHARED, mmap.PROT_READ) as memory:
        assert memory[:] == DATA


def test_it_is_sealed_even_while_something_holds_a_page() -> None:
    descriptor = os.memfd_create("held", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(descriptor, DATA)
    reading, writing = os.pipe()
    # The pipe holds the page itself, not a copy, as the kernel does when it looks at memory.
    assert os.splice(descriptor, writing, 4_096, offset_src=0) == 4_096
    seal(descriptor)
    with pytest.raises(PermissionError):
        os.pwrite(descriptor, b"x", 0)
    for each in (descriptor, reading, writing):
        os.close(each)
