#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "models/batch/batch_gpu.hpp"
#include "models/scoring/cuda_support.hpp"

/// BatchGpu's kernel and what drives it: compiled by nvcc in batch_gpu.cu, and as ordinary C++ by the
/// tests, whose fibers run the kernel.
namespace corun::CORUN_GPU {

/// Where the lists of a tile lie. All in blocks of kLanes replications.
struct BatchTile {
  std::uint32_t* count = nullptr;
  std::uint32_t* first = nullptr;
  std::uint32_t* members = nullptr;
  std::uint32_t* provenance = nullptr;
  double* speed = nullptr;
  std::int64_t* counted = nullptr;
  double* sums = nullptr;
  double* metrics = nullptr;
  double* isd = nullptr;
  double* ps = nullptr;

  CORUN_HOST_DEVICE BatchInput input(const BatchShape& shape, std::size_t r) const {
    return {lane(count, 1, r), lane(first, shape.first_size(), r), lane(members, shape.jobs, r),
            lane(provenance, shape.provenance_size(), r), lane(speed, shape.speed_size(), r)};
  }
  CORUN_HOST_DEVICE BatchOutput output(const BatchShape& shape, std::size_t r) const {
    return {lane(counted, BatchOutput::kCounted, r), lane(sums, BatchOutput::kSums, r),
            lane(metrics, kMetricCount, r), lane(isd, shape.jobs, r), lane(ps, shape.groups, r)};
  }
};

/// Only the GPU needs these.
struct BatchTileScratch {
  double* reals = nullptr;
  std::int64_t* times = nullptr;
  std::uint64_t* orders = nullptr;
  std::uint32_t* numbers = nullptr;
};

/// Speeds that were drawn beforehand.
struct TableSpeeds {
  BatchShape shape;
  BatchInput input;

  CORUN_HOST_DEVICE std::uint32_t operator()(std::uint32_t group, std::uint32_t company,
                                             const Strided<double>& out) const {
    const std::size_t at = std::size_t{group} * shape.companies() + shape.company_at(company);
    for (std::uint32_t p = 0; company >> p != 0; ++p) {
      if ((company >> p & 1U) != 0) out[p] = input.speed[at * shape.widest + p];
    }
    return input.provenance[at];
  }
};

/// One thread for each replication.
__global__ void replicate(BatchWorkload workload, BatchShape shape, BatchTile tile,
                          BatchTileScratch memory, std::uint32_t replications) {
  const std::uint32_t r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= replications) return;
  const BatchInput input = tile.input(shape, r);
  const BatchOutput output = tile.output(shape, r);
  const std::uint32_t groups = input.count[0];
  output.counted[0] = 0;
  if (groups == 0) return;
  const BatchPlan plan{
      groups, {input.first.data, input.first.stride}, {input.members.data, input.members.stride}};
  const BatchScratchSize size = scratch_size(shape.jobs, shape.gpus, shape.groups, shape.widest);
  const BatchScratch scratch =
      cut_scratch(shape.jobs, shape.gpus, shape.groups, shape.widest,
                  lane(memory.reals, size.reals, r), lane(memory.times, size.times, r),
                  lane(memory.orders, size.orders, r), lane(memory.numbers, size.numbers, r));
  const TableSpeeds speeds{shape, input};
  BatchRun<TableSpeeds> run(workload, plan, scratch, speeds);
  if (!run.run()) return;
  const BatchSums& sums = run.sums();
  // batch_metrics() writes to neighbouring addresses, and the lists of a warp are interleaved.
  double metrics[kMetricCount] = {};
  batch_metrics(workload, plan, scratch, sums, metrics);
  for (std::size_t m = 0; m < kMetricCount; ++m) output.metrics[m] = metrics[m];
  for (std::uint32_t j = 0; j < workload.jobs; ++j) output.isd[j] = scratch.isd[j];
  for (std::uint32_t g = 0; g < groups; ++g) output.ps[g] = scratch.ps[g];
  output.sums[0] = sums.util_s;
  output.sums[1] = sums.util_known_s;
  output.sums[2] = sums.mem_s;
  output.sums[3] = sums.mem_known_s;
  for (int p = 0; p < 4; ++p) output.sums[4 + p] = sums.corun_s[p];
  output.counted[1] = static_cast<std::int64_t>(sums.passes);
  output.counted[2] = sums.busy_ns;
  output.counted[0] = groups;
}

/// The same list on both sides.
template <class T>
class MirroredList {
 public:
  explicit MirroredList(std::size_t size) : here_(size), there_(size) {}
  T* here() const { return here_.data(); }
  T* there() const { return there_.data(); }
  void up(std::size_t size, cudaStream_t stream) { there_.copy_from({here_.data(), size}, stream); }
  void down(std::size_t size, cudaStream_t stream) { there_.copy_to({here_.data(), size}, stream); }

 private:
  PinnedBuffer<T> here_;
  DeviceBuffer<T> there_;
};

/// Memory for a tile and the stream that it goes through.
class BatchSlot {
 public:
  BatchSlot(const BatchShape& shape, std::size_t tile)
      : BatchSlot(shape, tile, scratch_size(shape.jobs, shape.gpus, shape.groups, shape.widest)) {}

  BatchTile here() const {
    return {count_.here(),   first_.here(), members_.here(), provenance_.here(), speed_.here(),
            counted_.here(), sums_.here(),  metrics_.here(), isd_.here(),        ps_.here()};
  }

  /// The first `count` replications: up, through the kernel, and down again.
  void run(const BatchWorkload& workload, std::size_t count) {
    count_.up(lane_size(1, count), stream_);
    first_.up(lane_size(shape_.first_size(), count), stream_);
    members_.up(lane_size(shape_.jobs, count), stream_);
    provenance_.up(lane_size(shape_.provenance_size(), count), stream_);
    speed_.up(lane_size(shape_.speed_size(), count), stream_);
    constexpr unsigned kThreads = 128;
    const auto grid = static_cast<unsigned>((count + kThreads - 1) / kThreads);
    CORUN_LAUNCH(replicate, grid, kThreads, 0, stream_, workload, shape_, there(),
                 (BatchTileScratch{reals_.data(), times_.data(), orders_.data(), numbers_.data()}),
                 static_cast<std::uint32_t>(count));
    check_launch("running replications");
    counted_.down(lane_size(BatchOutput::kCounted, count), stream_);
    sums_.down(lane_size(BatchOutput::kSums, count), stream_);
    metrics_.down(lane_size(kMetricCount, count), stream_);
    isd_.down(lane_size(shape_.jobs, count), stream_);
    ps_.down(lane_size(shape_.groups, count), stream_);
  }
  void wait() const { stream_.wait(); }

  // What lies in it.
  std::size_t from = 0;
  std::size_t replications = 0;

 private:
  BatchSlot(const BatchShape& shape, std::size_t tile, const BatchScratchSize& size)
      : shape_(shape),
        count_(lane_size(1, tile)),
        first_(lane_size(shape.first_size(), tile)),
        members_(lane_size(shape.jobs, tile)),
        provenance_(lane_size(shape.provenance_size(), tile)),
        speed_(lane_size(shape.speed_size(), tile)),
        counted_(lane_size(BatchOutput::kCounted, tile)),
        sums_(lane_size(BatchOutput::kSums, tile)),
        metrics_(lane_size(kMetricCount, tile)),
        isd_(lane_size(shape.jobs, tile)),
        ps_(lane_size(shape.groups, tile)),
        reals_(lane_size(size.reals, tile)),
        times_(lane_size(size.times, tile)),
        orders_(lane_size(size.orders, tile)),
        numbers_(lane_size(size.numbers, tile)) {}

  BatchTile there() const {
    return {count_.there(),   first_.there(), members_.there(), provenance_.there(), speed_.there(),
            counted_.there(), sums_.there(),  metrics_.there(), isd_.there(),        ps_.there()};
  }

  BatchShape shape_;
  Stream stream_;
  MirroredList<std::uint32_t> count_, first_, members_, provenance_;
  MirroredList<double> speed_;
  MirroredList<std::int64_t> counted_;
  MirroredList<double> sums_, metrics_, isd_, ps_;
  DeviceBuffer<double> reals_;
  DeviceBuffer<std::int64_t> times_;
  DeviceBuffer<std::uint64_t> orders_;
  DeviceBuffer<std::uint32_t> numbers_;
};

/// body(thread, r) for r from 0 to `count` - 1, whole blocks of kLanes by one thread. Throws what one of
/// them threw.
template <class Body>
void for_each_replication(std::size_t count, unsigned threads, const Body& body) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&](unsigned thread) {
    try {
      for (;;) {
        const std::size_t begin = next.fetch_add(kLanes);
        if (begin >= count) return;
        for (std::size_t r = begin; r < std::min(begin + kLanes, count); ++r) body(thread, r);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      error = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned t = 1; t < threads; ++t) others.emplace_back(work, t);
    work(0);
  }
  if (error) std::rethrow_exception(error);
}

class BatchDriver final : public BatchGpu {
 public:
  void run(const BatchWorkload& lists, const BatchShape& shape, std::size_t replications,
           const Fill& fill, const Take& take, const Options& options) const override {
    if (replications == 0) return;
    const Stream stream;
    const DeviceBuffer<double> work({lists.work_ns, lists.jobs}, stream);
    const DeviceBuffer<std::int64_t> solo({lists.solo_ns, lists.jobs}, stream);
    const DeviceBuffer<double> util({lists.util, lists.jobs}, stream);
    const DeviceBuffer<double> memory({lists.memory, lists.jobs}, stream);
    const DeviceBuffer<std::uint8_t> known({lists.known, lists.jobs}, stream);
    stream.wait();
    BatchWorkload workload = lists;
    workload.work_ns = work.data();
    workload.solo_ns = solo.data();
    workload.util = util.data();
    workload.memory = memory.data();
    workload.known = known.data();

    struct Slots {
      Slots(const BatchShape& shape, std::size_t tile) : slot{{shape, tile}, {shape, tile}} {}
      BatchSlot slot[2];
    };
    std::size_t tile = 0;
    const auto slots = with_shrinking_tile(largest_tile(shape, replications, options), kLanes,
                                           [&](std::size_t size) {
                                             tile = size;
                                             return std::make_unique<Slots>(shape, size);
                                           });
    const auto finish = [&](BatchSlot& slot) {
      if (slot.replications == 0) return;
      slot.wait();
      const BatchTile here = slot.here();
      for_each_replication(slot.replications, options.threads, [&](unsigned thread, std::size_t r) {
        take(thread, slot.from + r, here.output(shape, r));
      });
      slot.replications = 0;
    };
    unsigned turn = 0;
    for (std::size_t from = 0; from < replications; from += tile) {
      BatchSlot& slot = slots->slot[turn];
      turn ^= 1U;
      finish(slot);  // of two tiles ago
      const std::size_t count = std::min(tile, replications - from);
      const BatchTile here = slot.here();
      for_each_replication(count, options.threads, [&](unsigned thread, std::size_t r) {
        fill(thread, from + r, here.input(shape, r));
      });
      slot.run(workload, count);
      slot.from = from;
      slot.replications = count;
    }
    finish(slots->slot[turn]);
    finish(slots->slot[turn ^ 1U]);
  }

 private:
  /// Of two in flight.
  static std::size_t largest_tile(const BatchShape& shape, std::size_t replications,
                                  const Options& options) {
    const BatchScratchSize size = scratch_size(shape.jobs, shape.gpus, shape.groups, shape.widest);
    const std::size_t numbers = 1 + shape.first_size() + shape.jobs + shape.provenance_size();
    const std::size_t reals = shape.speed_size() + BatchOutput::kSums + kMetricCount +
                              std::size_t{shape.jobs} + shape.groups + size.reals;
    const std::size_t bytes = 4 * (numbers + size.numbers) +
                              8 * (reals + BatchOutput::kCounted + size.times + size.orders);
    std::size_t tile = options.tile;
    if (tile == 0) {
      constexpr std::size_t kPlenty = 65'536;  // more threads than any GPU runs at once
      tile = std::min(kPlenty, free_memory() / 10 * 9 / 2 / bytes);
    }
    tile = std::min(tile, replications);
    return std::max(tile / kLanes, std::size_t{1}) * kLanes;
  }
};

}  // namespace corun::CORUN_GPU
