// Copies from global to shared memory that go on beside the kernel, cp.async: what cuda_pipeline.h has of
// them. A copy is there once its thread has waited for it, and for other threads behind a barrier too.
#pragma once

inline void __pipeline_memcpy_async(void *__restrict__ to, const void *__restrict__ from, size_t size, size_t zfill = 0,
                                    int line = __builtin_LINE()) {
  if ((size != 4 && size != 8 && size != 16) || zfill > size) learnml_trap(line);
  learnml_async_copy(to, from, static_cast<uint32_t>(size), static_cast<uint32_t>(zfill), line);
}
inline void __pipeline_commit() { learnml_async_commit(); }
inline void __pipeline_wait_prior(size_t prior) { learnml_async_wait(prior); }
