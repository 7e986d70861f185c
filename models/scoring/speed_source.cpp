#include "models/scoring/speed_source.hpp"

#include <algorithm>

namespace corun::inline models {

namespace {

/// The states of all jobs are computed once if they fit into kMostNumbers, else again for every tile.
class GpSource final : public SpeedSource {
 public:
  GpSource(GpBatch& batch, const Kernels& kernels)
      : kernels_(kernels.of<GpBatch>()), problem_(batch.problem()), known_(batch.known) {
    constexpr std::size_t kMostNumbers = std::size_t{1} << 27;  // a gibibyte
    const std::size_t numbers = problem_.jobs.count * problem_.layout.size();
    if (numbers <= kMostNumbers) states_.resize(numbers);
  }

  std::size_t parts() const override {
    return states_.empty() ? 0 : (problem_.jobs.count + kPart - 1) / kPart;
  }
  void prepare(std::size_t part, Scratch& scratch) override {
    const std::size_t from = part * kPart;
    prepare(from, std::min(problem_.jobs.count, from + kPart),
            states_.data() + from * problem_.layout.size(), scratch);
  }

  void speeds(const PairTile& tile, Scratch& scratch, double* speed, double* sd) const override {
    const double* states = states_.data() + tile.i0 * problem_.layout.size();
    if (states_.empty()) {
      scratch.states.resize(tile.rows() * problem_.layout.size());
      prepare(tile.i0, tile.i1, scratch.states.data(), scratch);
      states = scratch.states.data();
    }
    scratch.numbers.resize(gp::Kernels::scratch(problem_));
    kernels_.speeds(problem_, tile, states, scratch.numbers.data(),
                    TileSpeeds::row_major(tile, speed, sd));
  }

 private:
  static constexpr std::size_t kPart = gp::Kernels::kPadding;

  void prepare(std::size_t from, std::size_t to, double* states, Scratch& scratch) const {
    scratch.numbers.resize(gp::Kernels::scratch(problem_));
    kernels_.prepare(problem_, {from, to - from, known_.data()}, states, scratch.numbers.data());
  }

  const gp::Kernels& kernels_;
  gp::Problem problem_;
  std::span<const std::uint32_t> known_;
  std::vector<double> states_;
};

class TreesSource final : public SpeedSource {
 public:
  TreesSource(const TreesBatch& batch, const Kernels& kernels)
      : kernels_(kernels.of<TreesBatch>()),
        model_(batch.model()),
        ranked_(batch.ranked),
        jobs_(batch.jobs()) {}

  void speeds(const PairTile& tile, Scratch& scratch, double* speed, double* sd) const override {
    scratch.of.clear();
    scratch.beside.clear();
    for (std::size_t i = tile.i0; i < tile.i1; ++i) {
      for (std::size_t j = tile.j0; j < tile.j1; ++j) {
        scratch.of.push_back(static_cast<std::uint32_t>(i));
        scratch.beside.push_back(static_cast<std::uint32_t>(j));
      }
    }
    const std::size_t count = scratch.of.size();
    scratch.numbers.resize(count);
    scratch.floats.resize(trees::Kernels::scratch(model_.trees));
    kernels_.sums(model_.trees, ranked_, jobs_, {scratch.of.data(), scratch.beside.data(), count},
                  scratch.floats.data(), scratch.numbers.data());
    for (std::size_t q = 0; q < count; ++q) {
      const std::size_t unknown =
          std::size_t{jobs_.unknown[scratch.of[q]]} + jobs_.unknown[scratch.beside[q]];
      const LogSlowdown log_slowdown = model_.log_slowdown(scratch.numbers[q], unknown);
      speed[q] = speed_of_log_slowdown(log_slowdown.t);
      sd[q] = speed[q] * log_slowdown.sd;
    }
  }

 private:
  const trees::Kernels& kernels_;
  trees::Model model_;
  trees::Ranked ranked_;
  trees::Jobs jobs_;
};

class PredictSource final : public SpeedSource {
 public:
  PredictSource(const InterferenceModel& model, std::span<const PairJob> kinds,
                std::span<const std::uint32_t> kind_of)
      : model_(model), kinds_(kinds), kind_of_(kind_of) {}

  void speeds(const PairTile& tile, Scratch& scratch, double* speed, double* sd) const override {
    scratch.queries.clear();
    for (std::size_t i = tile.i0; i < tile.i1; ++i) {
      for (std::size_t j = tile.j0; j < tile.j1; ++j) {
        scratch.queries.push_back({kind_of_[i], kind_of_[j]});
      }
    }
    const std::vector<SpeedPrediction> predicted = model_.predict(kinds_, scratch.queries);
    for (std::size_t q = 0; q < predicted.size(); ++q) {
      speed[q] = predicted[q].speed;
      sd[q] = predicted[q].sd;
    }
  }

 private:
  const InterferenceModel& model_;
  std::span<const PairJob> kinds_;
  std::span<const std::uint32_t> kind_of_;
};

}  // namespace

std::unique_ptr<SpeedSource> speed_source(GpBatch& batch, const Kernels& kernels) {
  return std::make_unique<GpSource>(batch, kernels);
}
std::unique_ptr<SpeedSource> speed_source(const TreesBatch& batch, const Kernels& kernels) {
  return std::make_unique<TreesSource>(batch, kernels);
}
std::unique_ptr<SpeedSource> speed_source(const InterferenceModel& model,
                                          std::span<const PairJob> kinds,
                                          std::span<const std::uint32_t> kind_of) {
  return std::make_unique<PredictSource>(model, kinds, kind_of);
}

}  // namespace corun::inline models
