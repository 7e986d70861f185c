#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

/// Work on several threads, the calling one among them. Results kept by index are the same at any
/// number of threads.
namespace corun::inline sim {

/// Calls body() on `threads` threads (at least one) at once and returns when all have returned. The
/// body must not throw: an exception on another thread ends the program.
template <class Body>
void run_in_threads(std::size_t threads, const Body& body) {
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back([&body] { body(); });
  body();
}

/// Calls work(i, state) once for each i < count, begun in ascending order, on at most `threads`
/// threads; less than one counts as one. Each thread makes its own State before its first call.
///
/// After a call has thrown, no further index is begun. When all threads have ended, the exception
/// of the lowest failed index is rethrown: the same one at any number of threads.
template <class State, class Work>
void parallel_for_with(std::size_t count, std::integral auto threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::mutex guard;  // of `failed` and `failure`
  std::size_t failed = std::numeric_limits<std::size_t>::max();
  std::exception_ptr failure;
  run_in_threads(std::min(threads > 1 ? static_cast<std::size_t>(threads) : 1, count), [&] {
    std::optional<State> state;
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        if (!state) state.emplace();
        work(i, *state);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (i < failed) {
          failed = i;
          failure = std::current_exception();
        }
        next = count;
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

/// parallel_for_with() without a state: calls work(i).
template <class Work>
void parallel_for(std::size_t count, std::integral auto threads, const Work& work) {
  struct Nothing {};
  parallel_for_with<Nothing>(count, threads, [&](std::size_t i, Nothing&) { work(i); });
}

}  // namespace corun::inline sim
