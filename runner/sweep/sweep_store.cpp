#include "runner/sweep/sweep_store.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "models/limited_json.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/checksum.hpp"
#include "support/json.hpp"

namespace corun::inline runner {

namespace {

constexpr std::string_view kHeadEnd = ".sweep.json";
constexpr std::string_view kChunkEnd = ".chunk";
constexpr std::string_view kClaimEnd = ".claim";
constexpr std::string_view kWorkerEnd = ".worker";
constexpr std::string_view kStoreKind = "corun sweep in chunks";
constexpr std::size_t kKeyLength = 16;
/// A head has the points of the sweep in its configuration.
constexpr JsonLimits kHeadLimits{16, std::size_t{1} << 20U};
constexpr JsonLimits kWorkerLimits{4, 100};

Json identity_json(const SweepIdentity& identity) {
  Json json;
  json["kind"] = kStoreKind;
  json["corun_version"] = identity.corun_version;
  json["commit"] = identity.commit;
  json["seed"] = identity.seed;
  json["points"] = identity.points;
  json["replications"] = identity.replications;
  json["as_needed"] = identity.as_needed;
  json["config"] = identity.config;
  return json;
}

struct StoreHead {
  SweepIdentity identity;
  std::size_t chunk_units = 0;
};

/// Nothing for bytes that corun does not write so.
std::optional<StoreHead> head_of(std::string_view bytes) {
  const Json json = parse_limited_json<Json>(bytes, kHeadLimits).value_or(Json());
  try {
    StoreHead head{{json.at("corun_version"), json.at("commit"), json.at("config"), json.at("seed"),
                    json.at("points"), json.at("replications"), json.value("as_needed", false)},
                   json.at("chunk_units")};
    if (json.at("kind") != kStoreKind || head.chunk_units == 0 || head.identity.replications == 0) {
      return std::nullopt;
    }
    return head;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string key_of(const SweepIdentity& identity) {
  return sha256_of_text(identity_json(identity).dump()).substr(0, kKeyLength);
}

/// The number of a chunk in "KEY.NUMBER" + `end`.
std::optional<std::size_t> number_in(std::string_view name, std::string_view end) {
  if (!name.ends_with(end) || name.size() <= kKeyLength + 1 + end.size()) return std::nullopt;
  name.remove_suffix(end.size());
  name.remove_prefix(kKeyLength + 1);
  const auto number = parse_integer(name);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

}  // namespace

SweepStore::SweepStore(std::shared_ptr<ObjectStore> objects, SweepIdentity identity,
                       std::size_t chunk_units)
    : objects_(std::move(objects)),
      identity_(std::move(identity)),
      key_(key_of(identity_)),
      chunk_units_(chunk_units) {}

SweepStore SweepStore::open(std::shared_ptr<ObjectStore> objects) {
  std::vector<std::string> heads = objects->list("");
  std::erase_if(heads, [](const std::string& name) { return !name.ends_with(kHeadEnd); });
  if (heads.size() != 1) {
    throw InputError(objects->place(),
                     heads.empty() ? "holds no sweep, expected what corun sweep --worker has begun"
                                   : fmt::format("holds {} sweeps, expected one; give each sweep a "
                                                 "store of its own",
                                                 heads.size()));
  }
  return open_named(std::move(objects), heads.front());
}

SweepStore SweepStore::open_named(std::shared_ptr<ObjectStore> objects, const std::string& name) {
  const std::optional<StoreHead> head = head_of(objects->get(name).value_or(""));
  if (!head || name != key_of(head->identity) + std::string(kHeadEnd)) {
    throw InputError(objects->place() + "/" + name,
                     "is damaged: it is no head of a sweep; begin anew in another store");
  }
  return {std::move(objects), head->identity, head->chunk_units};
}

SweepStore SweepStore::open_for(std::shared_ptr<ObjectStore> objects, const SweepPlan& plan,
                                const std::function<std::size_t()>& chunk_units) {
  const SweepIdentity identity = sweep_identity(plan);
  const std::string name = key_of(identity) + std::string(kHeadEnd);
  std::vector<std::string> others = objects->list("");
  std::erase_if(others, [&](const std::string& other) {
    return !other.ends_with(kHeadEnd) || other == name;
  });
  if (!others.empty()) {
    throw InputError(
        objects->place(),
        "holds another sweep, or that of another corun; give each sweep a store of its "
        "own");
  }
  if (!objects->has(name)) {
    Json head = identity_json(identity);
    head["chunk_units"] = chunk_units();
    objects->put_once(name, head.dump());
  }
  return open_named(std::move(objects),
                    name);  // a server may list an object some time after it has it
}

std::size_t SweepStore::chunks() const {
  return (identity_.replications + chunk_units_ - 1) / chunk_units_;
}

std::pair<std::size_t, std::size_t> SweepStore::units_of(std::size_t chunk) const {
  const std::size_t first = chunk * chunk_units_;
  return {first, std::min(first + chunk_units_, identity_.replications)};
}

std::string SweepStore::chunk_name(std::size_t chunk) const {
  return fmt::format("{}.{:08}{}", key_, chunk, kChunkEnd);
}
std::string SweepStore::claim_name(std::size_t chunk) const {
  return fmt::format("{}.{:08}{}", key_, chunk, kClaimEnd);
}
std::string SweepStore::worker_name(std::string_view worker) const {
  return fmt::format("{}.{}{}", key_, worker, kWorkerEnd);
}

SweepStore::State SweepStore::state() const {
  State state;
  state.finished.resize(chunks());
  std::set<std::size_t> claimed;
  for (const std::string& name : objects_->list(key_ + ".")) {
    if (const auto chunk = number_in(name, kChunkEnd); chunk && *chunk < chunks()) {
      state.finished[*chunk] = true;
    } else if (const auto claim = number_in(name, kClaimEnd); claim && *claim < chunks()) {
      claimed.insert(*claim);
    }
  }
  for (const std::size_t chunk : claimed) {
    if (!state.finished[chunk]) state.claimed.push_back(chunk);
  }
  return state;
}

std::optional<std::string> SweepStore::records_of(std::size_t chunk) const {
  std::optional<std::string> records = objects_->get(chunk_name(chunk));
  if (!records) return std::nullopt;
  const auto units = units_of_records(*records);
  const auto [first, end] = units_of(chunk);
  // How many replications points have that stop when they have enough, the merge knows.
  if (units && (identity_.as_needed || units->size() == end - first)) return records;
  throw InputError(objects_->place() + "/" + chunk_name(chunk),
                   "is damaged; remove it, and a worker makes it anew");
}

SweepUnits::SweepUnits(const SweepPlan& plan)
    : first_of_point_(plan.points() + 1), whole_points_(plan.until().any()) {
  for (std::size_t p = 0; p < plan.points(); ++p) {
    first_of_point_[p + 1] = first_of_point_[p] + plan.replications(p);
  }
}

SweepUnit SweepUnits::unit(std::size_t number) const {
  const auto after = std::ranges::upper_bound(first_of_point_, number);
  if (after == first_of_point_.end()) return {first_of_point_.size() - 1, 0};
  const auto point = static_cast<std::size_t>(after - first_of_point_.begin()) - 1;
  const std::size_t replication = number - first_of_point_[point];
  if (whole_points_ && replication > 0) return {point + 1, 0};
  return {point, replication};
}

std::vector<std::size_t> write_journal(const SweepStore& store, SweepJournalWriter& journal) {
  std::vector<std::size_t> missing;
  journal.begin(store.identity());
  for (std::size_t chunk = 0; chunk < store.chunks(); ++chunk) {
    if (const auto records = store.records_of(chunk)) {
      journal.add_records(*records);
    } else {
      missing.push_back(chunk);
    }
  }
  journal.sync();
  return missing;
}

SweepStoreStatus status_of(const SweepStore& store) {
  SweepStoreStatus status;
  const SweepStore::State state = store.state();
  status.units = store.identity().replications;
  status.chunks = store.chunks();
  status.claimed_chunks = state.claimed.size();
  for (std::size_t chunk = 0; chunk < status.chunks; ++chunk) {
    if (!state.finished[chunk]) continue;
    ++status.finished_chunks;
    const auto [first, end] = store.units_of(chunk);
    status.finished_units += end - first;
  }
  std::set<std::string> at_work;
  for (const std::size_t chunk : state.claimed) {
    const std::string claim = store.objects().get(store.claim_name(chunk)).value_or("");
    at_work.insert(claim.substr(0, claim.find(' ')));
  }
  std::set<std::string> workers = at_work;
  const std::string prefix = store.worker_name("");
  const std::string begin = prefix.substr(0, prefix.size() - kWorkerEnd.size());
  double units_per_s = 0;
  for (const std::string& name : store.objects().list(begin)) {
    if (!name.ends_with(kWorkerEnd)) continue;
    const std::string worker =
        name.substr(begin.size(), name.size() - begin.size() - kWorkerEnd.size());
    workers.insert(worker);
    const Json json =
        parse_limited_json<Json>(store.objects().get(name).value_or(""), kWorkerLimits)
            .value_or(Json());
    if (!at_work.contains(worker)) continue;
    const auto number = [&](const char* key) {
      const bool has = json.is_object() && json.contains(key) && json[key].is_number();
      return has ? json[key].get<double>() : 0.0;
    };
    if (number("seconds") > 0) units_per_s += number("units") / number("seconds");
  }
  status.workers = workers.size();
  if (units_per_s > 0) {
    status.left_s = static_cast<double>(status.units - status.finished_units) / units_per_s;
  }
  return status;
}

}  // namespace corun::inline runner
