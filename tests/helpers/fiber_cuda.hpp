#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

/// Runs CUDA kernels on the processor, from the source that nvcc compiles: one fiber for every CUDA thread,
/// a real __syncthreads(), blocks one after the other; and a CUDA runtime of host memory, with faults on
/// demand. Include it before models/scoring/cuda_support.hpp and the file with the kernels; the rest of
/// that file is compiled as ordinary C++.
///
/// It finds errors of indexing and of tails, barrier errors (a thread that leaves while others wait, or a
/// barrier that not all reach), memory errors (with an address sanitizer), and errors after any failing
/// call. It does not find races between threads of a block with a missing barrier, unless the order of the
/// fibers matters, and nothing about warps or speed.
#define CORUN_FIBER_CUDA
#define __global__
#define __device__
#define __shared__ static

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

inline dim3 threadIdx, blockIdx, blockDim, gridDim;  // of the running fiber

namespace fiber_cuda {

// ---- fibers -------------------------------------------------------------------------------------

#if defined(__x86_64__)
/// Keeps the callee-saved registers on the present stack and switches to another one.
__attribute__((naked, noinline)) inline void switch_stack(void** /*from*/, void* /*to*/) {
  asm("pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
      "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
      "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret\n");
}
#endif

class Block;
inline Block* running = nullptr;

/// The threads of one block. Their stacks are used again for the next block.
class Block {
 public:
  /// Runs `body` once as every thread of the block. `broken` gets an error text if the threads disagree
  /// about a barrier.
  void run(dim3 size, const std::function<void()>& body) {
    const unsigned count = size.x * size.y * size.z;
    while (stacks_.size() < count) stacks_.push_back(new_stack());
    body_ = &body;
    fibers_.assign(count, {});
    for (unsigned t = 0; t < count; ++t) {
      fibers_[t].index = dim3(t % size.x, t / size.x % size.y, t / size.x / size.y);
      prepare(fibers_[t], stacks_[t]);
    }
    Block* const before = std::exchange(running, this);
    unsigned left = count;
    while (left > 0 && !error_) {
      // Odd steps go backwards, so that a dependence on the order of the threads shows.
      std::size_t waiting = 0;
      for (unsigned s = 0; s < count; ++s) {
        Fiber& fiber = fibers_[backwards_ ? count - 1 - s : s];
        if (fiber.done) continue;
        current_ = &fiber;
        threadIdx = fiber.index;
        enter(fiber);
        if (fiber.done) {
          --left;
        } else {
          ++waiting;
        }
      }
      backwards_ = !backwards_;
      if (waiting > 0 && waiting != left) broken = "not all threads of a block reached a barrier";
      if (waiting > 0 && left != count) broken = "a thread ended while others wait at a barrier";
    }
    running = before;
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  void barrier() { leave(*current_); }

  std::string broken;
  std::vector<unsigned char> dynamic_shared;

  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    for (void* stack : stacks_) munmap(stack, kStack);
  }

 private:
  static constexpr std::size_t kStack = 64 * 1024;
  /// An ended fiber leaves its stack poisoned; the next fiber uses it.
  static void forget_poison(void* stack) {
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(stack, kStack);
#else
    static_cast<void>(stack);
#endif
  }
  struct Fiber {
    dim3 index;
    bool done = false;
#if defined(__x86_64__)
    void* at = nullptr;
#else
    ucontext_t at;
#endif
  };

  static void* new_stack() {
    void* const stack =
        mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) std::abort();
    return stack;
  }
  /// The main function of every fiber.
  static void trunk() {
    Block& block = *running;
    try {
      (*block.body_)();
    } catch (...) {
      block.error_ = std::current_exception();
    }
    block.current_->done = true;
    block.leave(*block.current_);
    std::abort();
  }
#if defined(__x86_64__)
  static void prepare(Fiber& fiber, void* stack) {
    forget_poison(stack);
    auto* top = reinterpret_cast<void**>(static_cast<char*>(stack) + kStack);
    *--top = nullptr;  // keeps the stack aligned as after a call
    *--top = reinterpret_cast<void*>(&Block::trunk);
    for (int i = 0; i < 6; ++i) *--top = nullptr;
    fiber.at = top;
  }
  void enter(Fiber& fiber) { switch_stack(&main_, fiber.at); }
  void leave(Fiber& fiber) { switch_stack(&fiber.at, main_); }
  void* main_ = nullptr;
#else
  static void prepare(Fiber& fiber, void* stack) {
    forget_poison(stack);
    getcontext(&fiber.at);
    fiber.at.uc_stack.ss_sp = stack;
    fiber.at.uc_stack.ss_size = kStack;
    fiber.at.uc_link = nullptr;
    makecontext(&fiber.at, &Block::trunk, 0);
  }
  void enter(Fiber& fiber) { swapcontext(&main_, &fiber.at); }
  void leave(Fiber& fiber) { swapcontext(&fiber.at, &main_); }
  ucontext_t main_;
#endif

  const std::function<void()>* body_ = nullptr;
  std::vector<void*> stacks_;
  std::vector<Fiber> fibers_;
  Fiber* current_ = nullptr;
  bool backwards_ = false;
  std::exception_ptr error_;
};

/// Runs a grid and returns the error of the kernel's barriers; empty: none.
inline std::string run_grid(dim3 grid, dim3 block, std::size_t shared_bytes,
                            const std::function<void()>& body) {
  static Block threads;
  threads.broken.clear();
  gridDim = grid;
  blockDim = block;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        // Overwrites the previous block's contents, which must not be used.
        threads.dynamic_shared.assign(shared_bytes, 0xa5);
        blockIdx = dim3(x, y, z);
        threads.run(block, body);
      }
    }
  }
  return threads.broken;
}

}  // namespace fiber_cuda

inline void __syncthreads() { fiber_cuda::running->barrier(); }
template <class T>
T atomicAdd(T* at, T more) {
  return std::exchange(*at, *at + more);
}
template <class T>
T __ldg(const T* at) {
  return *at;
}

/// Dynamic shared memory of the block, aligned for any type.
// NOLINTBEGIN(bugprone-macro-parentheses): a type stands in none
#define CORUN_DYNAMIC_SHARED(type, name) \
  type* const name = reinterpret_cast<type*>(fiber_cuda::running->dynamic_shared.data())
// NOLINTEND(bugprone-macro-parentheses)
#define CORUN_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  fiber_cuda::launch(grid, block, shared_bytes, stream, [&] { kernel(__VA_ARGS__); })
#define __launch_bounds__(...)

// ---- the runtime --------------------------------------------------------------------------------

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchFailure = 719,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
struct FiberStream {
  int unused = 0;
};
struct FiberEvent {
  int unused = 0;
};
using cudaStream_t = FiberStream*;
using cudaEvent_t = FiberEvent*;
inline constexpr unsigned cudaStreamNonBlocking = 1;
struct cudaDeviceProp {
  char name[256] = "fibers";
  int major = 7, minor = 0;
  int multiProcessorCount = 2;
  std::size_t totalGlobalMem = 0;
};
struct cudaFuncAttributes {
  int numRegs = 32;
};

namespace fiber_cuda {

/// The simulated device and its faults.
struct Device {
  int devices = 1;
  cudaError_t count_status = cudaSuccess;  ///< of cudaGetDeviceCount()
  cudaError_t launch_status =
      cudaSuccess;  ///< of every launch: kNoKernelImageForDevice and the like
  std::size_t memory = std::size_t{1} << 30;
  int fail_allocation = -1;  ///< this allocation (from 0) and `failures` - 1 after it fail
  int failures = 1;
  int lost_after = -1;  ///< after so many calls every call fails: the device is lost

  // Results.
  int allocations = 0;
  int calls = 0;
  int launches = 0;
  std::size_t held = 0;
  int objects = 0;  ///< existing buffers, streams and events
  std::map<void*, std::size_t> sizes;
  std::string broken;  ///< error of a kernel's barriers
  cudaError_t last = cudaSuccess;
};
inline Device device;

/// Result of one call.
inline cudaError_t call() {
  const bool lost = device.lost_after >= 0 && device.calls >= device.lost_after;
  ++device.calls;
  return lost ? cudaErrorLaunchFailure : cudaSuccess;
}

template <class T>
cudaError_t allocate(T** at, std::size_t bytes, bool on_device) {
  if (const cudaError_t status = call(); status != cudaSuccess) return status;
  const int n = device.allocations++;
  const bool told = device.fail_allocation >= 0 && n >= device.fail_allocation &&
                    n < device.fail_allocation + device.failures;
  if (told || (on_device && device.held + bytes > device.memory)) return cudaErrorMemoryAllocation;
  void* const block = std::malloc(std::max<std::size_t>(bytes, 1));
  std::memset(block, 0xa5, bytes);  // memory is not zero
  device.sizes[block] = on_device ? bytes : 0;
  if (on_device) device.held += bytes;
  ++device.objects;
  *at = static_cast<T*>(block);
  return cudaSuccess;
}
inline cudaError_t release(void* at) {
  if (at == nullptr) return cudaSuccess;
  const auto held = device.sizes.find(at);
  if (held == device.sizes.end()) return cudaErrorInvalidValue;
  device.held -= held->second;
  device.sizes.erase(held);
  --device.objects;
  std::free(at);
  return call();
}

template <class Body>
void launch(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t, const Body& body) {
  ++device.launches;
  cudaError_t status = call();
  if (status == cudaSuccess) status = device.launch_status;
  const bool possible = grid.x > 0 && grid.y > 0 && grid.z > 0 && block.x * block.y * block.z > 0 &&
                        block.x * block.y * block.z <= 1024 && grid.y < 65536 && grid.z < 65536 &&
                        shared_bytes <= 48 * 1024;
  if (status == cudaSuccess && !possible) status = cudaErrorInvalidValue;
  if (status != cudaSuccess) {
    device.last = status;
    return;
  }
  const std::string broken = run_grid(grid, block, shared_bytes, body);
  if (!broken.empty()) device.broken = broken;
}

}  // namespace fiber_cuda

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = fiber_cuda::device.count_status == cudaSuccess ? fiber_cuda::device.devices : 0;
  return fiber_cuda::device.count_status;
}
inline cudaError_t cudaSetDevice(int) { return fiber_cuda::call(); }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int) {
  *out = {};
  out->totalGlobalMem = fiber_cuda::device.memory;
  return fiber_cuda::call();
}
inline cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  *total = fiber_cuda::device.memory;
  *free_bytes = fiber_cuda::device.memory - fiber_cuda::device.held;
  return fiber_cuda::call();
}
template <class T>
cudaError_t cudaMalloc(T** at, std::size_t bytes) {
  return fiber_cuda::allocate(at, bytes, true);
}
template <class T>
cudaError_t cudaMallocHost(T** at, std::size_t bytes) {
  return fiber_cuda::allocate(at, bytes, false);
}
inline cudaError_t cudaFree(void* at) { return fiber_cuda::release(at); }
inline cudaError_t cudaFreeHost(void* at) { return fiber_cuda::release(at); }
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  const cudaError_t status = fiber_cuda::call();
  if (status == cudaSuccess && bytes > 0) std::memcpy(to, from, bytes);
  return status;
}
inline cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, cudaStream_t) {
  const cudaError_t status = fiber_cuda::call();
  if (status == cudaSuccess && bytes > 0) std::memset(at, value, bytes);
  return status;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned) {
  const cudaError_t status = fiber_cuda::call();
  if (status != cudaSuccess) return status;
  *out = new FiberStream;
  ++fiber_cuda::device.objects;
  return status;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream != nullptr) --fiber_cuda::device.objects;
  delete stream;
  return fiber_cuda::call();
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return fiber_cuda::call(); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return fiber_cuda::call();
}
inline cudaError_t cudaDeviceSynchronize() { return fiber_cuda::call(); }
inline cudaError_t cudaEventCreate(cudaEvent_t* out) {
  const cudaError_t status = fiber_cuda::call();
  if (status != cudaSuccess) return status;
  *out = new FiberEvent;
  ++fiber_cuda::device.objects;
  return status;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event != nullptr) --fiber_cuda::device.objects;
  delete event;
  return fiber_cuda::call();
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return fiber_cuda::call(); }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return fiber_cuda::call(); }
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  *ms = 0;
  return fiber_cuda::call();
}
inline cudaError_t cudaGetLastError() {
  return std::exchange(fiber_cuda::device.last, cudaSuccess);
}
inline const char* cudaGetErrorString(cudaError_t status) {
  switch (status) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorDevicesUnavailable:
      return "CUDA-capable device(s) is/are busy or unavailable";
    case cudaErrorNoKernelImageForDevice:
      return "no kernel image is available for execution on the device";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    default:
      return "invalid argument";
  }
}
