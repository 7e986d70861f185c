#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include <sys/mman.h>

/// Memory that a forked process may take.
///
/// A guard and the process that becomes the command are forked by a process with several threads. Only
/// async-signal-safe functions may be called in them (fork(2)): if another thread held a lock of malloc during the
/// fork, nobody releases it in the child, and the child waits for ever. Code that runs there takes whole pages.
namespace corun::inline processes {

/// An allocator of containers that asks the kernel each time: at least one page, so reserve() first.
template <typename T>
struct PageAllocator {
  using value_type = T;

  PageAllocator() = default;
  template <typename U>
  explicit(false) PageAllocator(const PageAllocator<U>&) {}

  /// Throws std::bad_alloc if the kernel gives no memory.
  T* allocate(std::size_t n) {
    void* const pages =
        mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }
  void deallocate(T* pages, std::size_t n) { munmap(pages, n * sizeof(T)); }

  friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }
};

template <typename T>
using PageVector = std::vector<T, PageAllocator<T>>;

}  // namespace corun::inline processes
