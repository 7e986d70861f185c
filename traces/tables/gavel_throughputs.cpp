#include "traces/tables/gavel_throughputs.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "sim/base/nan.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/input_file.hpp"
#include "traces/tables/gavel_rates_csv.hpp"

namespace corun::inline traces {
namespace {

/// In the order of the features of a pair table; the wanted GPU type then moves to the front.
constexpr const auto& kGpuTypes = kGavelGpuTypes;
constexpr double kMostStepsPerSecond = 1e12;  ///< [steps/s], as in a table of pairs
constexpr std::int64_t kMostGpus = 1'000'000;
/// Far above any real file; a larger file is not one of rates.
constexpr std::size_t kMostBytes = std::size_t{1} << 26U;
/// Allowed difference of the two orders of a pair: digits lost in writing.
constexpr double kOrderTolerance = 1e-6;

/// An iterator that records how far the parser has read.
class Cursor {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor() = default;
  Cursor(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  Cursor& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  Cursor operator++(int) {
    Cursor before = *this;
    ++*this;
    return before;
  }
  [[maybe_unused]] friend bool operator==(const Cursor& a, const Cursor& b) {
    return a.at_ == b.at_;
  }
  friend bool operator!=(const Cursor& a, const Cursor& b) { return a.at_ != b.at_; }

 private:
  const char* at_ = nullptr;
  const char** seen_ = nullptr;
};

/// The parser calls these functions for every value, in the order of the file.
class ThroughputsHandler {
 public:
  ThroughputsHandler(std::string_view text, const std::string& name, std::string_view gpu,
                     WorkloadKeys& keys)
      : text_(text), name_(name), seen_(text.data()), keys_(keys) {
    gpus_[0] = gpu;
    std::copy_if(kGpuTypes.begin(), kGpuTypes.end(), gpus_.begin() + 1,
                 [gpu](std::string_view other) { return other != gpu; });
  }

  GavelThroughputs read() {
    nlohmann::json::sax_parse(Cursor(text_.data(), &seen_),
                              Cursor(text_.data() + text_.size(), &seen_), this);
    if (!seen_gpu_) {
      throw InputError(name_ + ":1:1", "found no rates for '" + std::string(gpus_[0]) +
                                           "', expected a key of this name; name another GPU type "
                                           "or another file");
    }
    finish();
    return std::move(out_);
  }

  bool start_object(std::size_t) {
    begin_token(1);
    if (array_ || (depth_ == 3)) refuse("an object", expected());
    ++depth_;
    return true;
  }
  bool end_object() {
    --depth_;
    return true;
  }
  bool key(const std::string& key) {
    begin_token(key.size() + 2);
    if (depth_ == 1) {
      const auto at = std::ranges::find(gpus_, key);
      gpu_ = static_cast<std::size_t>(at - gpus_.begin());
      if (gpu_ == 0 && seen_gpu_) refuse("'" + printable(key) + "' a second time", "each GPU once");
      seen_gpu_ |= gpu_ == 0;
    } else if (depth_ == 2) {
      job_ = place_of(key);
      if (gpu_ == 0) {
        if (types_seen_.size() <= job_) types_seen_.resize(job_ + 1);
        if (types_seen_[job_]) refuse("'" + printable(key) + "' a second time", "each type once");
        types_seen_[job_] = true;
        out_.listed.push_back(job_);
      }
    } else {
      alone_ = key == "null";
      if (!alone_) other_ = place_of(key);
    }
    return true;
  }
  bool start_array(std::size_t) {
    begin_token(1);
    if (depth_ != 3 || alone_ || array_) refuse("a list", expected());
    array_ = true;
    array_begin_ = token_;
    count_ = 0;
    return true;
  }
  bool end_array() {
    token_ = array_begin_;
    if (count_ != 2) refuse("a list of " + std::to_string(count_), expected());
    array_ = false;
    if (gpu_ == 0) add_pair();
    return true;
  }
  bool number_float(double value, const std::string& text) { return number(value, text); }
  bool number_integer(std::int64_t value) {
    return number(static_cast<double>(value), std::to_string(value));
  }
  bool number_unsigned(std::uint64_t value) {
    return number(static_cast<double>(value), std::to_string(value));
  }
  bool null() {
    begin_token(4);
    refuse("null", expected());
  }
  bool boolean(bool value) {
    begin_token(value ? 4 : 5);
    refuse(value ? "true" : "false", expected());
  }
  bool string(const std::string& value) {
    begin_token(value.size() + 2);
    refuse("'" + printable(value) + "'", expected());
  }
  bool binary(const nlohmann::json::binary_t&) { refuse("bytes", expected()); }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception&) {
    token_ = text_.data() + std::min(position > 0 ? position - 1 : 0, text_.size());
    refuse(position > text_.size() ? "the end of the file" : "'" + printable(token, 40) + "'",
           "JSON such as {\"v100\": {\"('TYPE', 1)\": {\"null\": 1.5}}}");
  }

 private:
  std::string expected() const {
    switch (depth_) {
      case 0:
        return "an object of GPU types";
      case 1:
        return "an object of types of jobs";
      case 2:
        return "an object of rates";
      default:
        return array_   ? "a list of two rates"
               : alone_ ? "a rate of steps per second"
                        : "the rates of both, such as [1.5, 2]";
    }
  }

  /// Sets the place of the token that the parser has just read; it has so many bytes.
  void begin_token(std::size_t bytes) {
    const auto read = static_cast<std::size_t>(seen_ - text_.data());
    token_ = seen_ - std::min(bytes, read);
  }

  std::string place(const char* token) const {
    const std::string_view before = text_.substr(0, static_cast<std::size_t>(token - text_.data()));
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t begin = before.rfind('\n') + 1;  // 0 if there is none
    return name_ + ":" + std::to_string(line) + ":" + std::to_string(before.size() - begin + 1);
  }

  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw InputError(place(token_),
                     "found " + found + ", expected " + expected + "; correct the file");
  }

  bool number(double value, const std::string& text) {
    // The parser has read one byte more to find the end of a number, except at the end of the file.
    const bool more = seen_[-1] < '0' || seen_[-1] > '9';
    begin_token(text.size() + (more ? 1 : 0));
    if (depth_ != 3 || (!array_ && !alone_)) refuse(printable(text, 40), expected());
    if (!(value >= 0 && value <= kMostStepsPerSecond)) {
      refuse(printable(text, 40), "a rate of 0 to 1e12 steps per second");
    }
    if (array_) {
      if (count_ == 2) refuse("a third rate", expected());
      rates_[count_++] = value;
    } else if (gpu_ < kGpuTypes.size()) {
      out_.pairs.speeds.values[job_ * kGpuTypes.size() + gpu_] = value;
    }
    return true;
  }

  /// The position of the job of a key such as "('ResNet-18 (batch size 16)', 1)".
  std::uint32_t place_of(const std::string& key) {
    const std::string_view text(key);
    const std::size_t comma = text.rfind("', ");
    std::optional<std::int64_t> gpus;
    if (text.starts_with("('") && text.ends_with(")") && comma != std::string_view::npos &&
        comma > 2) {
      gpus = parse_integer(text.substr(comma + 3, text.size() - comma - 4));
    }
    if (!gpus || *gpus < 1 || *gpus > kMostGpus) {
      refuse("'" + printable(key) + "'",
             "a type and its GPUs such as \"('LM (batch size 5)', 1)\"");
    }
    if (find_bad_text(text, false) != text.size()) {
      refuse("'" + printable(key) + "'", "a name without control characters");
    }
    const std::string name = gavel_job_name(text.substr(2, comma - 2), *gpus);
    Measurements& pairs = out_.pairs;
    const auto next = static_cast<std::uint32_t>(pairs.names.size());
    const auto [at, is_new] = out_.places.emplace(name, next);
    if (is_new) {
      pairs.names.push_back(name);
      out_.scale_factors.push_back(*gpus);
      pairs.families.emplace_back();
      pairs.speeds.jobs.push_back(keys_.of(name));
      pairs.speeds.values.insert(pairs.speeds.values.end(), kGpuTypes.size(), kNaN);
    }
    return at->second;
  }

  void add_pair() {
    const bool turned = other_ < job_;
    const std::uint64_t key =
        (std::uint64_t{std::min(job_, other_)} << 32U) | std::max(job_, other_);
    const std::array<double, 2> rates{rates_[turned ? 1 : 0], rates_[turned ? 0 : 1]};
    const auto [at, is_new] = row_of_.emplace(key, measured_.size());
    if (is_new) {
      measured_.push_back({std::min(job_, other_), std::max(job_, other_), rates, token_});
      return;
    }
    const auto agree = [](double a, double b) {
      return std::fabs(a - b) <= kOrderTolerance * std::max(a, b);
    };
    const Pair& before = measured_[at->second];
    if (!agree(before.rates[0], rates[0]) || !agree(before.rates[1], rates[1])) {
      refuse("rates other than those of the same pair at " + place(before.token), "the same");
    }
  }

  void finish() {
    std::vector<RatedPair> rated;
    for (const Pair& p : measured_) rated.push_back({p.a, p.b, p.rates});
    out_.source = name_;
    out_.gpus.assign(gpus_.begin(), gpus_.end());
    complete_rates(out_, rated, [&](std::size_t pair, const std::string& found) {
      throw InputError(place(measured_[pair].token), found);
    });
  }

  struct Pair {
    std::uint32_t a, b;  ///< a <= b
    std::array<double, 2> rates;
    const char* token;  ///< where it begins
  };

  std::string_view text_;
  const std::string& name_;
  const char* seen_;             ///< end of the bytes that the parser has read
  const char* token_ = nullptr;  ///< begin of the present token
  const char* array_begin_ = nullptr;
  WorkloadKeys& keys_;
  std::array<std::string_view, kGpuTypes.size()> gpus_;  ///< the wanted one first

  int depth_ = 0;
  bool array_ = false;
  bool alone_ = false;
  bool seen_gpu_ = false;
  std::size_t gpu_ = kGpuTypes.size();  ///< position in gpus_; beyond it for others
  std::uint32_t job_ = 0;
  std::uint32_t other_ = 0;
  std::size_t count_ = 0;
  std::array<double, 2> rates_{};
  std::vector<bool> types_seen_;
  std::vector<Pair> measured_;
  std::unordered_map<std::uint64_t, std::size_t> row_of_;  ///< in measured_, by both jobs
  GavelThroughputs out_;
};

}  // namespace

void complete_rates(GavelThroughputs& rates, std::span<const RatedPair> measured,
                    const std::function<void(std::size_t, const std::string&)>& refuse) {
  Measurements& pairs = rates.pairs;
  for (const std::string& gpu : rates.gpus) {
    pairs.speeds.features.push_back({"solo_" + gpu, FeatureScale::kLog});
  }
  rates.alone_on = pairs.speeds.values;
  for (std::size_t j = 0; j < pairs.names.size(); ++j) {
    rates.alone.push_back(pairs.speeds.values[j * rates.gpus.size()]);
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const RatedPair& p = measured[i];
    SpeedTable::Row row{p.a, p.b, kNaN, kNaN};
    if (rates.alone[p.a] == 0 || rates.alone[p.b] == 0) {  // it does not run there at all
      ++rates.pairs_left_out;
      continue;
    }
    if ((p.rates[0] == 0) != (p.rates[1] == 0)) {
      refuse(i,
             "found one rate of 0, expected two rates above 0, or [0, 0] for a pair that does not "
             "fit; correct the file");
    }
    if (p.rates[0] == 0) {
      pairs.misfits.push_back({p.a, p.b});
    } else {
      for (const std::uint32_t j : {p.a, p.b}) {
        if (rates.alone[j] > 0) continue;
        refuse(i, "found rates of a pair with '" + printable(pairs.names[j]) +
                      "', expected its rate alone, \"null\", too; add it");
      }
      row.speed_a = p.rates[0] / rates.alone[p.a];
      row.speed_b = p.rates[1] / rates.alone[p.b];
    }
    pairs.speeds.rows.push_back(row);
    rates.rates.push_back(p.rates);
    pairs.scored.push_back(p.rates[0] > 0);
    pairs.solo_s.push_back({kNaN, kNaN});
  }
  // A log scale has no 0.
  std::ranges::replace(pairs.speeds.values, 0.0, kNaN);
  pairs.has_speeds = true;
  pairs.gpu = rates.gpus[0];
  pairs.speeds.campaigns.front() = campaign_on(pairs.gpu, Sharing::kUnknown);
  pairs.forms.front() = MeasurementForm::kGavel;
  pairs.source = rates.source;
}

std::string gavel_job_name(std::string_view type, std::int64_t scale_factor) {
  std::string name(type);
  if (scale_factor > 1) name += " x" + std::to_string(scale_factor);
  return name;
}

std::optional<std::uint32_t> GavelThroughputs::find(std::string_view type,
                                                    std::int64_t scale_factor) const {
  const auto at = places.find(gavel_job_name(type, scale_factor));
  if (at == places.end()) return std::nullopt;
  return at->second;
}

bool is_gavel_gpu(std::string_view gpu) {
  return std::ranges::find(kGpuTypes, gpu) != kGpuTypes.end();
}

bool is_rates_head(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const auto skip = [&](std::string_view what) {
    head.remove_prefix(std::min(head.size(), head.find_first_not_of(" \t\r\n")));
    if (!head.starts_with(what)) return false;
    head.remove_prefix(what.size());
    return true;
  };
  if (has_own_rates(head)) return true;
  if (!skip("{") || !skip("\"")) return false;
  const std::string_view first = head.substr(0, head.find('"'));
  if (std::ranges::any_of(kGpuTypes,
                          [&](std::string_view gpu) { return first.starts_with(gpu); })) {
    return true;
  }
  head.remove_prefix(first.size());
  return skip("\"") && skip(":") && skip("{") && skip("\"('");
}

GavelThroughputs read_gavel_throughputs(const std::string& path, std::string_view gpu,
                                        WorkloadKeys& keys) {
  if (has_own_rates(first_bytes(path, "a file of rates")))
    return read_rates_of_trace(path, gpu, keys);
  const std::string name = shown_path(path);
  const auto in = open_input(path, "a file of rates");
  std::string text;
  std::array<char, 65536> block;
  while (in->read(block.data(), block.size()) || in->gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(in->gcount()));
    if (text.size() > kMostBytes) {
      throw InputError(name, "is larger than 64 MiB, expected a file of rates; name another file");
    }
  }
  return parse_gavel_throughputs(text, name, gpu, keys);
}

GavelThroughputs parse_gavel_throughputs(std::string_view text, const std::string& name,
                                         std::string_view gpu, WorkloadKeys& keys) {
  return ThroughputsHandler(text, name, gpu, keys).read();
}

}  // namespace corun::inline traces
