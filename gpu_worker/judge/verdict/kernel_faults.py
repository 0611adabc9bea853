"""The judge's own explanation of each defect that the executor can find in a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MEANINGS: Final[Mapping[str, str]] = {
    "out-of-bounds-read": "A thread reads beyond the end, or before the beginning, of an array. "
    "Check the index against the number of elements, above all in the last block.",
    "out-of-bounds-write": "A thread writes beyond the end, or before the beginning, of an array. "
    "Check the index against the number of elements, above all in the last block.",
    "misaligned-access": "A vector load or store needs an address that is a multiple of its size. "
    "Rows whose length the vector does not divide do not begin at one: use vectors where they do.",
    "read-after-free": "A kernel uses an array that is gone. Keep a reference to it.",
    "null-pointer": "A kernel uses an array that was not given, or has no elements.",
    "other-threads-local-memory": "A thread uses the address of another thread's local variable.",
    "missing-barrier": "A thread reads shared memory that another one writes with no barrier "
    "between them. Put one after the writes, and before the memory is used again: __syncthreads(), "
    "or in a branch that only one warp takes, __syncwarp().",
    "divergent-barrier": "Not all threads of the block reach the same barrier, or not all lanes "
    "of a mask the same shuffle: it stands in a branch. Have every thread reach it that has not "
    "returned.",
    "order-dependent": "The result depends on the order in which threads run. Something is shared "
    "without a barrier or an atomic operation, or a variable is read that was given no value.",
    "uninitialised-shared": "A thread reads shared memory that nothing was written to. It does not "
    "begin as zero, nor as an initial value or a constructor in the source would have it.",
    "uninitialised-global": "A thread reads elements of an array that nothing was written to.",
    "global-race": "Two threads write the same element of an array, or one reads what another "
    "writes, without an atomic operation.",
    "atomic-sum": "Several threads or blocks add floating-point numbers to one place. Atomic sums "
    "of floating-point numbers round differently in each order, and that changes from run to run. "
    "Within a block, add up by shuffles or by a tree in shared memory; of several blocks, let each "
    "write its part, and add the parts in a fixed order in a second kernel.",
    "launch-size": "A launch has a grid or a block that no device takes: at most 1024 threads in a "
    "block and no more than the kernel's __launch_bounds__, at least one block, at most 65535 "
    "blocks in y and z. Rows belong on x, which takes 2,147,483,647, or in a loop over gridDim.y.",
    "shared-size": "A block asks for more shared memory than there is: 48 KB, or more if "
    "max_dynamic_shared_size_bytes allows it.",
    "unwritten-output": "Not every element of a result was written: not all of it by a "
    "kernel, or none was launched for it. Take enough blocks for the last elements too, and launch "
    "for arrays of every shape.",
    "warp-size": "A warp operation names lanes that are not there. The last warp may be shorter "
    "than 32 threads: use blocks of a multiple of 32.",
    "index-overflow": "A whole number, such as an index, does not fit into its integer type. "
    "Compute it in long long.",
    "division-by-zero": "An integer is divided by zero.",
    "shift-too-large": "A number is shifted by as many bits as it has, or more.",
    "wrong-scalar-type": "A number is passed in another type than the kernel's parameter has. A "
    "Python int goes as long long, a float as double: pass np.int32(n) or np.float32(eps).",
    "wrong-array-type": "What is passed for the kernel's pointer is no array of CuPy, or "
    "one of another dtype.",
    "argument-count": "The number of arguments is not the number of the kernel's parameters.",
    "integer-division": "Two integers are divided, so the fraction is lost. Make one a float.",
    "half-accumulation": "A sum runs in half precision. Add up in float and round once at the end.",
    "stack-overflow": "A thread's local variables, or its calls, take more than there is.",
    "fault": "The kernel crashed.",
    "time-limit": "The kernel took more steps than allowed: look for a loop that never ends.",
    "endless-wait": "A loop waits for ever: it looks at one place again and again, and nothing "
    "else happens. Blocks of a kernel run one after another here, so a loop that waits for another "
    "block never ends, nor does one that waits for a thread of its own block with no barrier or "
    "atomic operation in it, nor one whose counter stands still. On a device, blocks may run in "
    "any order too: let a second kernel take what the first one leaves.",
    "trap": "The kernel ended itself, by a trap or a failed assertion.",
    "compile-error": "The kernel's source does not compile.",
    "refused-source": "The kernel's source uses something that is not allowed here.",
}
"""What each kind means, and what to do: the texts for hidden cases."""
ARGUMENT_REMEDIES: Final[Mapping[str, str]] = {
    "wrong-scalar-type": "A Python int goes as long long, a float as double: pass np.int32(n) or "
    "np.float32(eps).",
    "wrong-array-type": "Pass what the kernel takes, an array converted with .astype() for "
    "example, or compile the kernel for what it is given.",
    "argument-count": "Pass one value for each parameter, in the kernel's order.",
}
"""What to do about a wrong argument, behind what is passed and what is taken: types are no secret.
"""
