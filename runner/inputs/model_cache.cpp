#include "runner/inputs/model_cache.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace corun::inline runner {

namespace {

/// Equality of bits: NaN equals itself, and 0 differs from -0.
bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same(const SpeedTable::Row& a, const SpeedTable::Row& b) {
  return a.a == b.a && a.b == b.b && a.campaign == b.campaign && same(a.speed_a, b.speed_a) &&
         same(a.speed_b, b.speed_b);
}

bool same(const SpeedTable::Group& a, const SpeedTable::Group& b) {
  return a.sharing == b.sharing && a.campaign == b.campaign && a.jobs == b.jobs &&
         std::ranges::equal(a.speeds, b.speeds, [](double x, double y) { return same(x, y); });
}

bool same(const SpeedTable& a, const SpeedTable& b) {
  return a.campaigns == b.campaigns && a.features == b.features && a.jobs == b.jobs &&
         std::ranges::equal(a.values, b.values, [](double x, double y) { return same(x, y); }) &&
         std::ranges::equal(
             a.rows, b.rows,
             [](const SpeedTable::Row& x, const SpeedTable::Row& y) { return same(x, y); }) &&
         std::ranges::equal(
             a.groups, b.groups,
             [](const SpeedTable::Group& x, const SpeedTable::Group& y) { return same(x, y); });
}

}  // namespace

bool ModelCache::FitQuery::operator==(const FitQuery& other) const {
  return entry == other.entry && seed == other.seed && effort == other.effort &&
         same(table, other.table);
}

std::shared_ptr<const InterferenceModel> ModelCache::fit(const InterferenceModelEntry& entry,
                                                         const SpeedTable& table,
                                                         const FitOptions& options) {
  const FitQuery query{&entry, options.seed, options.effort, table};
  return fits_.get(
      query, table.rows.size() + kLeastWeight,
      [&]() -> std::shared_ptr<const InterferenceModel> { return entry.fit(table, options); });
}

std::optional<HeldOutError> ModelCache::held_out(const InterferenceModelEntry& entry,
                                                 const SpeedTable& table,
                                                 const FitOptions& options) {
  const FitQuery query{&entry, options.seed, options.effort, table};
  return held_out_.get(query, table.rows.size() + kLeastWeight,
                       [&] { return held_out_error(entry, table, options); });
}

std::shared_ptr<const ModelFile> ModelCache::file(const std::string& path,
                                                  const std::string& sha256,
                                                  const WorkloadKeys& keys) {
  FileQuery query{sha256, {}};
  for (std::size_t k = 0; k < keys.size(); ++k) {
    query.names.push_back(keys.text(static_cast<WorkloadKey>(k)));
  }
  return files_.get(query, 1, [&] {
    WorkloadKeys same;  // numbered as `keys`
    for (const std::string& name : query.names) same.of(name);
    return std::make_shared<const ModelFile>(read_model_file(path, same, query.names));
  });
}

}  // namespace corun::inline runner
