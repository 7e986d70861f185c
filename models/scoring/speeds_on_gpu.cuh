#pragma once

#include "models/scoring/cuda_support.hpp"
#include "models/scoring/gp_kernels.cuh"
#include "models/scoring/trees_kernels.cuh"

/// The interface of a long formula to the GPU's scorer (gpu_scorer.cuh), specialised for the jobs of each:
///
///   SpeedsOnGpu(jobs, stream)               copies the model and the jobs to the GPU
///   Prepared(speeds, rows)                  memory for the states of `rows` slowed jobs; may be empty
///   prepare(prepared, i0, i1, stream)       computes the states of jobs [i0, i1)
///   fill(prepared, tile, out, stream)       writes the speeds of a tile of those rows to device arrays
///
/// TreesBatch: DeviceError if the features of 32 pairs do not fit into shared memory.
namespace corun::inline models::CORUN_GPU {

template <class Jobs>
class SpeedsOnGpu;

template <>
class SpeedsOnGpu<GpBatch> {
 public:
  SpeedsOnGpu(GpBatch& batch, cudaStream_t stream) : gp_(batch, stream) {}

  struct Prepared {
    DeviceBuffer<double> states, scratch;
    Prepared(const SpeedsOnGpu& speeds, std::size_t rows)
        : states(rows * speeds.gp_.state_size()), scratch(rows * speeds.gp_.scratch_size()) {}
  };
  void prepare(const Prepared& prepared, std::size_t i0, std::size_t i1,
               cudaStream_t stream) const {
    gp_.prepare(i0, i1 - i0, prepared.scratch.data(), prepared.states.data(), stream);
  }
  void fill(const Prepared& prepared, const PairTile& tile, const TileSpeeds& out,
            cudaStream_t stream) const {
    gp_.speeds(tile, prepared.states.data(), out, stream);
  }

 private:
  GpOnGpu gp_;
};

template <>
class SpeedsOnGpu<TreesBatch> {
 public:
  SpeedsOnGpu(const TreesBatch& batch, cudaStream_t stream) : trees_(fitting(batch), stream) {}

  struct Prepared {
    Prepared(const SpeedsOnGpu&, std::size_t) {}
  };
  void prepare(const Prepared&, std::size_t, std::size_t, cudaStream_t) const {}
  void fill(const Prepared&, const PairTile& tile, const TileSpeeds& out,
            cudaStream_t stream) const {
    trees_.speeds(tile, out, stream);
  }

 private:
  static const TreesBatch& fitting(const TreesBatch& batch) {
    if (!TreesOnGpu::fits(batch)) {
      throw DeviceError("boosted trees of so many features do not fit into a GPU's shared memory");
    }
    return batch;
  }
  TreesOnGpu trees_;
};

}  // namespace corun::inline models::CORUN_GPU
