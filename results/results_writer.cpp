#include "results/results_writer.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "results/partial_directory.hpp"
#include "results/result_rows.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"

namespace corun::inline results {

namespace {

std::vector<const Replication*> by_number(const std::vector<Replication>& replications) {
  std::vector<const Replication*> sorted;
  sorted.reserve(replications.size());
  for (const Replication& r : replications) sorted.push_back(&r);
  std::ranges::sort(sorted, {}, &Replication::number);
  return sorted;
}

}  // namespace

struct ResultsWriter::Impl {
  Impl(const std::string& path, ResultsHeader the_header, std::chrono::milliseconds the_interval)
      : target(checked_output_path(path, kOutputFlag)),
        header(std::move(the_header)),
        interval(the_interval),
        directory(target, kOutputFlag),
        writer([this](const std::stop_token& stop) { write_parts(stop); }) {}

  /// Body of the thread: waits for a replication, then for `interval`, then writes all pending
  /// ones.
  void write_parts(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (!failure) {
      wake.wait(lock, stop, [&] { return !pending.empty(); });
      wake.wait_for(lock, stop, interval, [] { return false; });
      if (stop.stop_requested()) return;
      const std::vector<Replication> batch = std::exchange(pending, {});
      lock.unlock();
      std::exception_ptr thrown;
      try {
        write_part(batch);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      failure = thrown;
    }
  }

  /// Called by the thread, or after its end.
  void write_part(const std::vector<Replication>& batch) {
    if (batch.empty()) return;
    const std::vector<const Replication*> replications = by_number(batch);
    const std::string image = results_image({header, replications});
    if (parts == 0) sync_directory(directory_of(directory.path()));
    write_file_atomically(directory.part_path(parts), image);
    ++parts;
    committed += batch.size();
  }

  void end_thread() {
    writer.request_stop();
    if (writer.joinable()) writer.join();
  }

  std::string target;
  ResultsHeader header;
  std::chrono::milliseconds interval;
  PartialDirectory directory;
  std::size_t parts = 0;
  std::atomic<std::size_t> committed{0};
  bool keep_parts = false;
  bool finished = false;

  std::mutex mutex;  ///< guards pending and failure
  std::condition_variable_any wake;
  std::vector<Replication> pending;
  std::exception_ptr failure;
  std::jthread writer;  ///< last member: the thread uses the others
};

ResultsWriter::ResultsWriter(const std::string& path, ResultsHeader header,
                             std::chrono::milliseconds flush_interval)
    : impl_(std::make_unique<Impl>(path, std::move(header), flush_interval)) {}

ResultsWriter::~ResultsWriter() {
  impl_->end_thread();
  const bool keep = impl_->keep_parts || impl_->failure;
  if (!impl_->finished && (!keep || impl_->committed == 0)) impl_->directory.remove();
}

void ResultsWriter::add(const Replication& replication) {
  assert(!impl_->finished);
  Replication copy = replication;
  const std::lock_guard lock(impl_->mutex);
  if (impl_->failure) std::rethrow_exception(impl_->failure);
  impl_->pending.push_back(std::move(copy));
  impl_->wake.notify_one();
}

std::size_t ResultsWriter::committed() const { return impl_->committed; }

const std::string& ResultsWriter::notice() const { return impl_->directory.notice(); }

void ResultsWriter::finish(const ReplayResult& result, const std::string& elsewhere) {
  assert(!impl_->finished);
  impl_->end_thread();
  const std::vector<const Replication*> replications = by_number(result.replications);
  try {
    write_file_atomically(elsewhere.empty() ? impl_->target : elsewhere,
                          results_image({impl_->header, replications, &result}));
  } catch (const std::exception& error) {
    impl_->keep_parts = true;
    try {
      impl_->write_part(impl_->pending);
      impl_->pending.clear();
    } catch (const std::exception&) {
      // The first error is reported.
    }
    const std::size_t safe = impl_->committed;
    throw InputError(kOutputFlag,
                     error.what() + (safe == 0 ? std::string()
                                               : "; " + std::to_string(safe) +
                                                     " finished replications are in '" +
                                                     impl_->directory.path() + "'"));
  }
  impl_->finished = true;
  impl_->directory.remove();
}

}  // namespace corun::inline results
