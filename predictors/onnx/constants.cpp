#include "predictors/onnx/constants.hpp"

#include <algorithm>
#include <utility>

#include "predictors/onnx/model_file.hpp"

namespace corun::inline predictors::onnx_file {

namespace {

/// Types that quantised weights and their biases have; wider integers and truth values are indices and masks.
bool may_be_quantised(int type) {
  return type != kBool && type != kInt64 && type != kUint64 && type != kString &&
         type != kUndefined;
}

}  // namespace

void Weights::add(const Weights& more) {
  learnt += more.learnt;
  tensors += more.tensors;
  learnt_bytes += more.learnt_bytes;
  frozen += more.frozen;
  frozen_bytes += more.frozen_bytes;
}

void Weights::count_for(Operation& operation) const {
  operation.parameters = learnt;
  operation.parameter_tensors = tensors;
  if (learnt > 0) operation.bytes_per_parameter = learnt_bytes / static_cast<double>(learnt);
  operation.frozen_parameters = frozen;
  operation.frozen_bytes = frozen_bytes;
}

std::size_t ConstantList::add(Constant constant) {
  Entry entry;
  if (constant.made_of.empty()) entry.stored = static_cast<double>(constant.elements);
  for (const std::size_t part : constant.made_of) entry.stored += entries_.at(part).stored;
  for (const std::size_t part : constant.beside) entry.stored += entries_.at(part).stored;
  entry.constant = std::move(constant);
  entries_.push_back(std::move(entry));
  return entries_.size() - 1;
}

Weights ConstantList::claim(std::size_t from, Use use) {
  Weights weights;
  const bool read_as_floating = is_floating(entries_.at(from).constant.type);
  std::vector<std::pair<std::size_t, Use>> open{{from, use}};
  while (!open.empty()) {
    const std::size_t index = open.back().first;
    use = open.back().second;
    open.pop_back();
    const int level = 1 + static_cast<int>(use);
    const Entry& entry = entries_[index];
    const Constant& constant = entry.constant;
    if (entry.counted || entry.walked >= level) continue;
    const bool large = constant.elements > kMostValues;
    const bool made_here =
        constant.made_of.empty() || (large && entry.stored <= static_cast<double>(kMostValues));
    const bool is_weight = use == Use::kWeight ||
                           (use == Use::kAddition && ((constant.listed && constant.elements > 1) ||
                                                      (constant.given && large)));
    const double bytes = static_cast<double>(constant.elements) * bytes_of_element(constant.type);
    bool counted = false;
    if (made_here && is_weight && is_floating(constant.type)) {
      weights.learnt += constant.elements;
      weights.learnt_bytes += bytes;
      weights.tensors += constant.elements > 0 ? 1 : 0;
      counted = true;
    } else if (made_here && is_weight && may_be_quantised(constant.type) &&
               (read_as_floating || use == Use::kWeight)) {
      weights.frozen += constant.elements;
      weights.frozen_bytes += bytes;
      counted = true;
    } else if (made_here && large) {
      weights.frozen_bytes += bytes;
      counted = true;
    }
    // A filling that is added hides no weights of its own: the bias that it repeats is one.
    if (!made_here || use != Use::kWeight) {
      for (const std::size_t part : constant.made_of) open.emplace_back(part, use);
      for (const std::size_t part : constant.beside) open.emplace_back(part, Use::kBuffer);
    }
    change(index, level, counted);
  }
  return weights;
}

void ConstantList::change(std::size_t index, int walked, bool counted) {
  Entry& entry = entries_[index];
  changes_.push_back({index, entry.walked, entry.counted});
  entry.walked = walked;
  entry.counted = counted;
}

std::vector<ConstantList::Change> ConstantList::roll_back(std::size_t mark) {
  std::vector<Change> undone;
  while (changes_.size() > mark) {
    const Change before = changes_.back();
    changes_.pop_back();
    Entry& entry = entries_[before.constant];
    undone.push_back({before.constant, entry.walked, entry.counted});
    entry.walked = before.walked;
    entry.counted = before.counted;
  }
  std::reverse(undone.begin(), undone.end());
  return undone;
}

void ConstantList::repeat(const std::vector<Change>& changes) {
  for (const Change& c : changes) change(c.constant, c.walked, c.counted);
}

}  // namespace corun::inline predictors::onnx_file
