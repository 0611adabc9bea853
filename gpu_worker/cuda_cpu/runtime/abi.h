// The data that the Python half and the native half of the executor exchange.
// `cupy_cpu/executor/abi.py` mirrors these structures field by field; VERSION guards against a mix of both.
#pragma once
#include <cstdint>

namespace learnml {

constexpr uint32_t VERSION = 9;

// Stable numbers: `cupy_cpu/executor/defects.py` gives each a name.
enum Kind : uint32_t {
  OUT_OF_BOUNDS = 1,
  MISALIGNED,
  FREED,
  NULL_POINTER,
  OTHER_STACK,
  MISSING_BARRIER,
  DIVERGENT_BARRIER,
  UNINITIALISED_SHARED,
  UNINITIALISED_GLOBAL,
  GLOBAL_RACE,
  LANE_ABSENT,
  LANE_NOT_IN_MASK,
  INTEGER_OVERFLOW,
  DIVISION_BY_ZERO,
  SHIFT_TOO_LARGE,
  HALF_ACCUMULATION,
  STACK_OVERFLOW,
  FAULT,
  STEP_LIMIT,
  TRAP,
  ATOMIC_SUM,
  SPINNING,
};

enum Order : uint32_t { FORWARD = 0, REVERSE = 1, RANDOM = 2 };

// UNTOUCHED: live, and to be copied before the first write.
enum BufferState : uint32_t { LIVE = 0, GONE = 1, CONSTANT = 2, UNTOUCHED = 3 };

// One allocation of device memory, or a variable of the module. `written` has one byte per 2 bytes of it, nonzero once written;
// null: all of it was. `hazards` has two words per 2**granule_shift bytes, null: not watched. `before`: what an UNTOUCHED one
// held when it was first written, and behind it its marks; the other half gives it to `learnml_release`.
struct Buffer {
  uint64_t start, end;
  uint8_t *written;
  uint64_t *hazards;
  uint32_t granule_shift;
  uint32_t state;
  uint64_t bytes_read, bytes_written, reads, writes;
  uint8_t *before;
};

constexpr uint32_t FRAMES = 8;

struct DefectRecord {
  uint32_t kind, write, size, line;
  uint64_t address;
  uint64_t frames[FRAMES];
  uint32_t thread[3], block[3];
  uint32_t other_thread, other_line;
  uint64_t other_block, other_frame;
  int64_t detail[4];
};

// One place in the kernel that touches memory, as the first block's first warps used it.
struct Site {
  uint64_t frame;
  uint32_t shared, write;
  uint64_t bytes, requests, sectors, ideal_sectors, bank_conflicts;
};

// Each static `__shared__` variable begins at a multiple of so many bytes, see shared.ld.
constexpr uint32_t SHARED_SLOT = 256;

constexpr uint32_t DEFECTS = 16;
constexpr uint32_t SITES = 64;

struct Launch {
  uint32_t version, order;
  uint64_t seed;
  void (*kernel)(void **);
  void **arguments;
  uint32_t grid[3], block[3];
  uint64_t first_block, block_count;
  uint64_t dynamic_shared_bytes;
  Buffer *buffers;
  uint64_t buffer_count;
  uint64_t step_limit;
  void *stacks;  // of all threads; null the first time, then what the first launch made
  const uint32_t *shared_ends;  // for each slot of static shared memory, where its variable ends
  char *output;
  uint64_t output_capacity, output_bytes;
  // Filled in by the launch.
  uint32_t fatal, defect_count, site_count, fenced;
  uint64_t barriers, warp_barriers, atomics, steps;
  uint64_t global_read, global_written, shared_read, shared_written;
  DefectRecord defects[DEFECTS];
  Site sites[SITES];
};

// One parameter of a kernel, known to the compiler.
enum ParameterKind : uint32_t { POINTER = 1, SIGNED, UNSIGNED, FLOATING, BOOLEAN, OTHER };
struct Parameter {
  uint32_t kind, size, pointee_kind, pointee_size, pointee_const;
};
struct KernelEntry {
  const char *name;
  void (*call)(void **);
  const Parameter *parameters;
  uint64_t parameter_count;
  void (*kernel)();
  const char *parameter_text;  // the parameter list as the source has it
  int64_t most_threads;        // of __launch_bounds__; 0 where it has none
  uint32_t first_line, last_line;  // of the source
};
struct GlobalEntry {
  const char *name;
  void *address;
  uint64_t size;
  uint32_t element_size, granule, constant;  // a granule is watched as one for races
};

}  // namespace learnml
