#include "traces/logs/cells.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"

namespace corun::inline traces {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::int64_t kMostSeconds = 4'000'000'000;
constexpr double kMostGpus = 1e6;
constexpr double kMostMib = 1e12;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Takes texts from the front of another.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_one_of(std::string_view chars) {
    return !rest_.empty() && chars.find(rest_.front()) != std::string_view::npos && take(rest_[0]);
  }
  bool take_word(std::string_view lower) {
    if (lower_case(rest_.substr(0, lower.size())) != lower) return false;
    rest_.remove_prefix(lower.size());
    return true;
  }
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }
  /// A whole number of `least` to `most` digits; the digit after them must be none.
  std::optional<std::int64_t> digits(std::size_t least, std::size_t most) {
    std::size_t count = 0;
    std::int64_t value = 0;
    while (count < rest_.size() && is_digit(rest_[count])) {
      if (count == most) return std::nullopt;
      value = value * 10 + (rest_[count++] - '0');
    }
    if (count < least) return std::nullopt;
    rest_.remove_prefix(count);
    return value;
  }
  /// Nanoseconds of ".5" or ",5"; 0 without a mark; nothing for a mark without digits.
  std::optional<std::int64_t> fraction() {
    if (!take('.') && !take(',')) return 0;
    std::int64_t value = 0;
    std::size_t count = 0;
    for (; count < rest_.size() && is_digit(rest_[count]); ++count) {
      if (count < 9) value = value * 10 + (rest_[count] - '0');
    }
    if (count == 0) return std::nullopt;
    for (std::size_t i = count; i < 9; ++i) value *= 10;
    rest_.remove_prefix(count);
    return value;
  }

 private:
  std::string_view rest_;
};

std::optional<Duration> bounded(std::int64_t seconds, std::int64_t ns) {
  if (seconds < 0 || seconds > kMostSeconds) return std::nullopt;
  return Duration{seconds * kNanoseconds + ns};
}

/// Minutes east of UTC of the zone at the end of a date; nothing for another text.
std::optional<std::int64_t> zone_minutes(Scanner& text) {
  if (text.take_word("z")) return 0;
  if (text.take_word("utc") || text.take_word("gmt")) {
    if (text.done()) return 0;
  }
  const bool west = text.rest().starts_with('-');
  if (!text.take_one_of("+-")) return std::nullopt;
  std::optional<std::int64_t> hours = text.digits(2, 4);
  if (!hours) return std::nullopt;
  std::int64_t minutes = 0;
  if (*hours > 99 || text.rest().starts_with(':')) {
    if (text.take(':')) {
      const auto found = text.digits(2, 2);
      if (!found) return std::nullopt;
      minutes = *found;
    } else {
      minutes = *hours % 100;
      hours = *hours / 100;
    }
  }
  if (*hours > 14 || minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (*hours * 60 + minutes);
}

/// "[D-]HH:MM:SS", "MM:SS", each with a fraction.
std::optional<Duration> parse_clock(std::string_view text) {
  Scanner scan(text);
  std::int64_t days = 0;
  auto first = scan.digits(1, 7);
  if (!first) return std::nullopt;
  const bool has_days = scan.take('-');
  if (has_days) {
    days = *first;
    first = scan.digits(1, 2);
    if (!first) return std::nullopt;
  }
  if (!scan.take(':')) return std::nullopt;
  const auto second = scan.digits(2, 2);
  if (!second || *second > 59) return std::nullopt;
  std::int64_t seconds = 0;
  if (scan.take(':')) {
    const auto third = scan.digits(2, 2);
    if (!third || *third > 59) return std::nullopt;
    seconds = (*first * 60 + *second) * 60 + *third;
  } else {
    if (has_days) return std::nullopt;
    seconds = *first * 60 + *second;
  }
  const auto ns = scan.fraction();
  if (!ns || !scan.done()) return std::nullopt;
  return bounded(days * 86'400 + seconds, *ns);
}

/// "1 day, 2:03:04", "2 days 02:03:04.5", "2 days".
std::optional<Duration> parse_python_days(std::string_view text) {
  Scanner scan(text);
  const auto days = scan.digits(1, 6);
  if (!days) return std::nullopt;
  scan.skip_blanks();
  if (!scan.take_word("days") && !scan.take_word("day")) return std::nullopt;
  scan.take(',');
  scan.skip_blanks();
  if (scan.done()) return bounded(*days * 86'400, 0);
  const auto clock = parse_clock(scan.rest());
  if (!clock || std::ranges::count(scan.rest(), ':') != 2) return std::nullopt;
  const std::int64_t ns = clock->count();
  return bounded(*days * 86'400 + ns / kNanoseconds, ns % kNanoseconds);
}

/// "P1DT2H3M4.5S"; each part once and in this order, one at least.
std::optional<Duration> parse_iso_duration(std::string_view text) {
  Scanner scan(text);
  if (!scan.take_word("p")) return std::nullopt;
  constexpr std::array<std::pair<char, std::int64_t>, 5> kParts = {
      {{'w', 604'800}, {'d', 86'400}, {'h', 3600}, {'m', 60}, {'s', 1}}};
  std::int64_t seconds = 0;
  std::int64_t ns = 0;
  std::size_t next = 0;
  bool in_time = false;
  bool any = false;
  while (!scan.done()) {
    if (!in_time && scan.take_word("t")) {
      in_time = true;
      next = std::max<std::size_t>(next, 2);
      if (scan.done()) return std::nullopt;
    }
    const auto value = scan.digits(1, 10);
    const auto fraction = scan.fraction();
    if (!value || !fraction || scan.done()) return std::nullopt;
    while (next < kParts.size() && !scan.take_word(std::string_view(&kParts[next].first, 1)))
      ++next;
    if (next == kParts.size() || in_time != (next >= 2)) return std::nullopt;
    if (*fraction != 0 && kParts[next].first != 's') return std::nullopt;
    if (*value > kMostSeconds) return std::nullopt;
    seconds += *value * kParts[next].second;
    if (seconds > kMostSeconds) return std::nullopt;
    ns = *fraction;
    ++next;
    any = true;
  }
  return any ? bounded(seconds, ns) : std::nullopt;
}

std::optional<double> number_within(std::string_view text, double most) {
  const auto value = parse_number(text);
  return value && *value >= 0 && *value <= most ? value : std::nullopt;
}

/// "2", "a100:4", "2(S:0-1)", "a100:4(IDX:0-3)": the number that a part of a gres list gives.
std::optional<double> gres_count(std::string_view text) {
  if (const std::size_t places = text.find('('); places != std::string_view::npos) {
    if (!text.ends_with(')')) return std::nullopt;
    text = text.substr(0, places);
  }
  if (text.empty()) return 1;  // "gpu" is one
  const std::size_t colon = text.rfind(':');
  const std::string_view count = text.substr(colon == std::string_view::npos ? 0 : colon + 1);
  if (const auto value = number_within(count, kMostGpus)) return value;
  return colon == std::string_view::npos && !is_digit(count.front()) ? std::optional<double>(1)
                                                                     : std::nullopt;  // "gpu:a100"
}

struct Resources {
  double gpus = 0;
  std::string gpu_type;  ///< empty: none is named, or several are
};

/// The GPUs of a list of resources as Slurm writes it; nothing if it is no such list.
std::optional<Resources> parse_resources(std::string_view text) {
  std::optional<double> total;  // of all types
  double typed = 0;
  std::vector<std::string> types;
  bool any = false;
  std::size_t depth = 0;
  for (std::size_t from = 0; from < text.size();) {
    std::size_t to = from;  // a comma inside "(S:0,1)" separates nothing
    for (depth = 0; to < text.size() && (text[to] != ',' || depth > 0); ++to) {
      if (text[to] == '(') ++depth;
      if (text[to] == ')' && depth > 0) --depth;
    }
    const std::string_view part = trimmed(text.substr(from, to - from));
    from = to + 1;
    if (part.empty()) return std::nullopt;
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos) {
      const std::string name = lower_case(part.substr(0, equals));
      const auto id = parse_integer(name);
      const std::string_view count = part.substr(equals + 1);
      if (name.empty() || count.empty()) return std::nullopt;
      any = true;
      const bool all = name == "gres/gpu" || name == "gpu" || (id && *id == 1001);
      const bool of_type = name.starts_with("gres/gpu:") || name.starts_with("gpu:");
      if (!all && !of_type) continue;
      const auto value = number_within(count, kMostGpus);
      if (!value) return std::nullopt;
      if (all) total = value;
      if (of_type) {
        typed += *value;
        types.push_back(name.substr(name.find(':') + 1));
      }
      continue;
    }
    std::string lower = lower_case(part);
    std::string_view name = lower;
    if (name.starts_with("gres:")) name.remove_prefix(5);
    if (name.starts_with("gres/")) name.remove_prefix(5);
    if (!name.starts_with("gpu")) {
      const bool resource = name.find(':') != std::string_view::npos && !is_digit(name.front());
      if (!resource) return std::nullopt;
      any = true;
      continue;
    }
    name.remove_prefix(3);
    if (!name.empty() && name.front() != ':' && name.front() != '(') return std::nullopt;
    if (name.starts_with(':')) name.remove_prefix(1);
    const auto value = gres_count(name);
    if (!value) return std::nullopt;
    any = true;
    typed += *value;
    const std::string_view type = name.substr(0, name.find_first_of(":("));
    if (!type.empty() && !is_digit(type.front())) types.emplace_back(type);
  }
  if (!any) return std::nullopt;
  Resources found{total.value_or(typed), {}};
  if (found.gpus > kMostGpus) return std::nullopt;
  if (!types.empty() && std::ranges::count(types, types.front()) == std::ssize(types)) {
    found.gpu_type = types.front();
  }
  return found;
}

}  // namespace

bool is_absent(std::string_view text) {
  constexpr std::size_t kLongest = 8;
  text = trimmed(text);
  if (text.empty()) return true;
  if (text.size() > kLongest || is_digit(text.front())) return false;
  constexpr std::array<std::string_view, 15> kWords = {
      "nan", "nat", "none", "null", "nil",     "na",      "n/a",    "[n/a]",
      "\\n", "-",   "--",   "?",    "invalid", "unknown", "not set"};
  const std::string lower = lower_case(text);
  return lower == "unset" || std::ranges::find(kWords, lower) != kWords.end();
}

std::optional<DateCell> parse_date(std::string_view text) {
  using namespace std::chrono;
  Scanner scan(text);
  const auto year_number = scan.digits(4, 4);
  const bool slashes = scan.rest().starts_with('/');
  const char mark = slashes ? '/' : '-';
  if (!year_number || !scan.take(mark)) return std::nullopt;
  const auto month_number = scan.digits(2, 2);
  if (!month_number || !scan.take(mark)) return std::nullopt;
  const auto day_number = scan.digits(2, 2);
  if (!day_number || !scan.take_one_of(" Tt")) return std::nullopt;
  const auto hour = scan.digits(2, 2);
  if (!hour || *hour > 23 || !scan.take(':')) return std::nullopt;
  const auto minute = scan.digits(2, 2);
  if (!minute || *minute > 59) return std::nullopt;
  std::optional<std::int64_t> second = 0;
  std::optional<std::int64_t> ns = 0;
  if (scan.take(':')) {
    second = scan.digits(2, 2);
    ns = scan.fraction();
  }
  if (!second || *second > 59 || !ns) return std::nullopt;
  DateCell cell;
  scan.skip_blanks();
  std::int64_t zone = 0;
  if (!scan.done()) {
    const auto found = zone_minutes(scan);
    if (!found || !scan.done()) return std::nullopt;
    zone = *found;
    cell.has_zone = true;
  }
  const year_month_day date{year{static_cast<int>(*year_number)},
                            month{static_cast<unsigned>(*month_number)},
                            day{static_cast<unsigned>(*day_number)}};
  if (!date.ok() || *year_number < 1970 || *year_number > 2089) return std::nullopt;
  cell.time = sys_days{date}.time_since_epoch() + hours{*hour} + minutes{*minute - zone} +
              seconds{*second} + nanoseconds{*ns};
  if (cell.time < Time{0}) return std::nullopt;
  return cell;
}

std::optional<Duration> parse_duration(std::string_view text) {
  if (const auto clock = parse_clock(text)) return clock;
  if (const auto iso = parse_iso_duration(text)) return iso;
  return parse_python_days(text);
}

std::optional<double> parse_gpus(std::string_view text) {
  if (const auto count = number_within(text, kMostGpus)) return count;
  if (text.ends_with('%')) {
    const auto percent = number_within(trimmed(text.substr(0, text.size() - 1)), kMostGpus * 100);
    return percent ? std::optional(*percent / 100) : std::nullopt;
  }
  const auto resources = parse_resources(text);
  return resources ? std::optional(resources->gpus) : std::nullopt;
}

std::string parse_gpu_type(std::string_view text) {
  auto resources = parse_resources(text);
  return resources ? std::move(resources->gpu_type) : std::string();
}

std::optional<double> parse_memory_mib(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  const auto value = number_within(text.substr(0, end), 1e18);
  if (!value) return std::nullopt;
  std::string unit = lower_case(trimmed(text.substr(end)));
  if (unit.size() == 2 && (unit[1] == 'n' || unit[1] == 'c')) unit.pop_back();
  if (unit.empty()) return std::nullopt;
  if (unit == "b" || unit == "byte" || unit == "bytes") {
    constexpr double kBytesPerMib = 1'048'576;
    return *value / kBytesPerMib;
  }
  const std::string_view rest = std::string_view(unit).substr(1);
  if (!rest.empty() && rest != "b" && rest != "ib") return std::nullopt;
  double mib = 0;
  switch (unit.front()) {
    case 'k':
      mib = *value / 1024;
      break;
    case 'm':
      mib = *value;
      break;
    case 'g':
      mib = *value * 1024;
      break;
    case 't':
      mib = *value * 1024 * 1024;
      break;
    default:
      return std::nullopt;
  }
  return mib <= kMostMib ? std::optional(mib) : std::nullopt;
}

std::string with_decimal_point(std::string_view text) {
  std::string pointed(text);
  const std::size_t comma = pointed.find(',');
  const bool one = comma != std::string::npos && comma == pointed.rfind(',') &&
                   pointed.find('.') == std::string::npos;
  if (one) pointed[comma] = '.';
  return pointed;
}

}  // namespace corun::inline traces
