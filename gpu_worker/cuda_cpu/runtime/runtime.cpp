// The native half of the executor: runs a translated kernel with CUDA's semantics on one processor
// core and says what it did. Built once, linked into every kernel's library.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

#define LEARNML_RUNTIME
#include "abi.h"
#include "hooks.h"

#include "fibers.inc"
#include "defects.inc"
#include "memory.inc"
#include "copies.inc"
#include "sums.inc"
#include "pipeline.inc"
#include "scheduler.inc"
#include "collectives.inc"
#include "arithmetic.inc"
#include "faults.inc"

extern "C" int learnml_print(const char *format, ...) {
  using namespace learnml;
  if (!launch || launch->output_bytes >= launch->output_capacity) return 0;
  va_list values;
  va_start(values, format);
  const uint64_t room = launch->output_capacity - launch->output_bytes;
  const int length = vsnprintf(launch->output + launch->output_bytes, room, format, values);
  va_end(values);
  if (length > 0) launch->output_bytes += std::min<uint64_t>(static_cast<uint64_t>(length), room);
  return length;
}

// A device runs no destructors at the end of a program either.
extern "C" {
__attribute__((visibility("hidden"))) void *__dso_handle = nullptr;
__attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }
}

extern "C" long long learnml_clock() { return learnml::launch ? static_cast<long long>(learnml::launch->steps) : 0; }

extern "C" __attribute__((visibility("default"))) uint32_t learnml_version() { return learnml::VERSION; }

extern "C" __attribute__((visibility("default"))) uint64_t learnml_base() {
  return reinterpret_cast<uint64_t>(__ehdr_start);
}

extern "C" __attribute__((visibility("default"))) uint64_t learnml_dynamic_shared() {
  return reinterpret_cast<uint64_t>(learnml::dynamic_shared);
}

extern "C" __attribute__((visibility("default"))) void learnml_release(uint8_t *before) { free(before); }

// A device runs no constructors of `__shared__` variables: each counts as constructed from the start.
static void skip_constructors() {
  memset(__start_learnml_made, 1, static_cast<size_t>(__stop_learnml_made - __start_learnml_made));
}

// Returns 0; -1 if there was no memory, -2 if the other half is of another version.
extern "C" __attribute__((visibility("default"))) int learnml_launch(learnml::Launch *request) {
  using namespace learnml;
  if (request->version != VERSION) return -2;
  if (!reserve_stacks(request->stacks)) return -1;
  shared_cell_count = (static_shared_bytes() + request->dynamic_shared_bytes + 1) / 2;
  shared_cells = static_cast<SharedCell *>(calloc(shared_cell_count + 1, sizeof(SharedCell)));
  if (!shared_cells) return -1;
  skip_constructors();
  launch = request;
  arguments = request->arguments;
  random_state = request->seed * 2654435761u + 88172645463325252ull;
  recent = nullptr;
  previous_read = 0;
  spun_at = spins = 0;
  forget_chains();
  now.grid_size = {request->grid[0], request->grid[1], request->grid[2]};
  now.block_size = {request->block[0], request->block[1], request->block[2]};
  {
    const FaultsCaught caught;
    run_blocks();
  }
  forget_float_sums();
  free_async();
  free(shared_cells);
  shared_cells = nullptr;
  launch = nullptr;
  return 0;
}
