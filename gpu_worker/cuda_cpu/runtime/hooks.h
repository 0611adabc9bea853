// What a translated kernel calls in the runtime. The memory hooks themselves are called by the
// instrumentation of -fsanitize=thread, see memory.inc.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector_types.h>

namespace learnml {

enum BarrierKind : uint32_t { PLAIN, COUNT, AND, OR };

// The registers of the thread that runs now; the scheduler sets them as it switches. To a kernel
// they are constants: no thread ever sees its own change.
struct Now {
  uint3 thread_index, block_index;
  dim3 block_size, grid_size;
  uint32_t linear;
};
#ifdef LEARNML_RUNTIME
extern Now now __attribute__((visibility("hidden")));
#else
extern const Now now __attribute__((visibility("hidden")));
#endif
extern unsigned char dynamic_shared[] __attribute__((visibility("hidden")));

inline uint32_t lane() { return now.linear & 31u; }

}  // namespace learnml

extern "C" {
int learnml_barrier(uint32_t kind, int predicate, int line);
void learnml_warp_barrier(unsigned mask, int line);
void learnml_exchange(unsigned mask, const void *value, void *result, uint32_t size, int source, int line);
unsigned learnml_ballot(unsigned mask, int predicate, int line);
unsigned learnml_active_mask(int line);
void learnml_read(const void *address, uint32_t size, uint32_t alignment, int line);
void learnml_write(void *address, uint32_t size, uint32_t alignment, int line);
void *learnml_copy(void *to, const void *from, size_t bytes, int line);
void *learnml_fill(void *to, int value, size_t bytes, int line);
void learnml_atomic(void *address, uint32_t size, int line);
void learnml_compare(const void *address);
void learnml_sum(void *address, uint32_t size, double before, double value, int digits, int line);
void learnml_async_copy(void *to, const void *from, uint32_t size, uint32_t zfill, int line);
void learnml_async_commit();
void learnml_async_wait(uint64_t prior);
void learnml_fence();
void learnml_pause();
void learnml_trap(int line);
void learnml_half_sum(uint32_t result, uint32_t left, uint32_t right, int line);
long long learnml_clock();
int learnml_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
}
