#include "knowledge/model_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/interference/factor_model.hpp"
#include "models/model_state.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "support/checksum.hpp"
#include "tests/helpers/effort.hpp"

namespace corun::model_file_test {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kJobs = 6;

std::vector<std::string> all_names() {
  std::vector<std::string> out;
  for (std::size_t j = 0; j < kJobs; ++j) out.push_back(fmt::format("secret-net/bs={}", 8U << j));
  return out;
}

SpeedTable table_of(WorkloadKeys& keys) {
  SpeedTable table;
  table.features = {{"gpu_util_pct", FeatureScale::kLinear}, {"bytes", FeatureScale::kLog}};
  Rng rng(1, Stream::kTest);
  for (const std::string& name : all_names()) {
    table.jobs.push_back(keys.of(name));
    table.values.push_back(100 * rng.uniform());
    table.values.push_back(std::exp(10 + rng.normal()));
  }
  for (std::uint32_t i = 0; i < kJobs; ++i) {
    for (std::uint32_t j = i; j < kJobs; ++j) {
      const double a = 0.4 + 0.6 * rng.uniform();
      table.rows.push_back({i, j, a, 0.4 + 0.6 * rng.uniform()});
    }
  }
  return table;
}

ModelFile small_model(const SpeedTable& table, const WorkloadKeys& keys) {
  FactorOptions options;
  options.chains = {{2, 0.03}, {1, 0.1}};
  options.chains_per_kind = 1;
  options.sweeps = 20;
  options.burn_in = 10;
  const auto model = std::make_shared<const FactorModel>(FactorModel::fit(table, options));
  return {"factors", model, workload_digests(*model, keys), "6 jobs, 21 pairs"};
}

/// A small model's bytes, the same in every test.
const std::string& good_bytes() {
  static const std::string bytes = [] {
    WorkloadKeys keys;
    const SpeedTable table = table_of(keys);
    return model_bytes(small_model(table, keys));
  }();
  return bytes;
}

/// The result of reading bytes: a model, or the line that refuses them, which begins with the
/// file's name.
struct Reading {
  std::optional<ModelFile> file;
  std::string refusal;
};

Reading reading(std::string_view bytes, WorkloadKeys& keys) {
  Reading r;
  try {
    r.file = parse_model(bytes, "my.model", keys, all_names());
  } catch (const InputError& e) {
    const std::string what = e.what();
    EXPECT_TRUE(what.starts_with("my.model: ")) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    EXPECT_LT(what.size(), 250U) << what;
    r.refusal = what.substr(std::string_view("my.model: ").size());
  }
  return r;
}

/// The refusal of the bytes; empty if they are accepted.
std::string refusal(std::string_view bytes) {
  WorkloadKeys keys;
  return reading(bytes, keys).refusal;
}

/// A file of any content, with a matching checksum.
std::string file_of(const std::string& content) {
  return fmt::format("corun speed model, version 7, bytes {}, sha256 {}\n", content.size(),
                     sha256_of_text(content)) +
         content;
}

/// The good file with its content changed and a matching checksum.
std::string changed(const std::function<void(Json&)>& change) {
  const std::string& good = good_bytes();
  Json root = Json::from_cbor(good.substr(good.find('\n') + 1));
  change(root);
  std::string content;
  Json::to_cbor(root, content);
  return file_of(content);
}

/// Replaces a number in a byte string of floats by an impossible one.
template <typename Float>
void spoil(Json& bytes, Float value) {
  auto& binary = bytes.get_binary();
  ASSERT_GE(binary.size(), sizeof(Float));
  std::uint64_t bits = 0;
  if constexpr (sizeof(Float) == 8) {
    bits = std::bit_cast<std::uint64_t>(value);
  } else {
    bits = std::bit_cast<std::uint32_t>(value);
  }
  for (std::size_t b = 0; b < sizeof(Float); ++b) {
    binary[b] = static_cast<std::uint8_t>(bits >> (8 * b));
  }
}

class ModelFileOnDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(::testing::TempDir()) /
                 ("model_file_" +
                  std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }

 private:
  std::filesystem::path directory_;
};

TEST_F(ModelFileOnDisk, WhatIsReadPredictsTheSameBits) {
  WorkloadKeys keys;
  const SpeedTable table = table_of(keys);
  const ModelFile written = small_model(table, keys);
  write_model_file(path("a.model"), written, "--out");

  WorkloadKeys other;  // a later run: names in another order, and more of them
  other.of("something else");
  auto names = all_names();
  std::reverse(names.begin(), names.end());
  names.push_back("new");
  names.push_back(names.front());
  const ModelFile read = read_model_file(path("a.model"), other, names);
  EXPECT_EQ(read.about, written.about);
  EXPECT_EQ(read.workloads, written.workloads);
  EXPECT_EQ(read.name, written.name);
  EXPECT_EQ(read.model->features(), table.features);
  for (std::size_t j = 0; j < kJobs; ++j) {
    EXPECT_EQ(other.text(read.model->workloads()[j]), keys.text(written.model->workloads()[j]));
  }
  EXPECT_EQ(read.model->save(), written.model->save());
  EXPECT_EQ(read.model->residual_sigma(), written.model->residual_sigma());
  const auto names_in_order = all_names();
  const std::vector<double> features{40, 3e4};
  for (std::size_t i = 0; i < kJobs; ++i) {
    for (std::size_t j = 0; j <= kJobs; ++j) {
      const bool known = j < kJobs;
      const PairJob new_job{kUnknownWorkload, features};
      const SpeedPrediction a =
          written.model->predict({table.jobs[i], {}}, known ? PairJob{table.jobs[j], {}} : new_job);
      const SpeedPrediction b =
          read.model->predict({*other.find(names_in_order[i]), {}},
                              known ? PairJob{*other.find(names_in_order[j]), {}} : new_job);
      EXPECT_EQ(a.speed, b.speed);
      EXPECT_EQ(a.sd, b.sd);
      EXPECT_EQ(a.lo, b.lo);
      EXPECT_EQ(a.hi, b.hi);
    }
  }
}

TEST_F(ModelFileOnDisk, WorkloadsNobodyAsksForKeepTheirPlace) {
  WorkloadKeys keys;
  const std::vector<std::string> some{all_names()[2]};
  ModelFile read = parse_model(good_bytes(), "my.model", keys, some);
  const std::vector<WorkloadKey>& known = read.model->workloads();
  EXPECT_EQ(known.size(), kJobs);
  EXPECT_EQ(keys.size(), 1U);
  EXPECT_EQ(std::ranges::count(known, *keys.find(some[0])), 1);
  EXPECT_EQ(std::ranges::count(known, kUnknownWorkload), kJobs - 1);
  // Writing the model again loses nothing.
  write_model_file(path("again.model"), read, "--out");
  std::ifstream in(path("again.model"), std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), good_bytes());
}

TEST_F(ModelFileOnDisk, AFileThatCannotBeReadIsRefused) {
  WorkloadKeys keys;
  for (const std::string& file : {path("missing.model"), path("")}) {
    EXPECT_THROW(read_model_file(file, keys, {}), InputError) << file;
  }
  WorkloadKeys of_model;
  const SpeedTable table = table_of(of_model);
  const ModelFile model = small_model(table, of_model);
  for (const std::string& file : {path(""), path("no/such/folder"), std::string("/dev/null")}) {
    EXPECT_THROW(write_model_file(file, model, "--out"), InputError) << file;
  }
}

TEST(ModelFile, KeepsHowGroupsCombine) {
  WorkloadKeys keys;
  const SpeedTable table = table_of(keys);
  ModelFile file = small_model(table, keys);
  const auto model = std::shared_ptr<InterferenceModel>(file.model->clone());
  InterferenceModel::Groups groups;
  groups.campaign.sharing = Sharing::kMps;
  groups.rules[1] = {1.5, 0.3};
  const WorkloadKey first = table.jobs.front();
  groups.saturations.campaign = {.gpu = "T4", .sharing = Sharing::kMps};
  groups.saturations.jobs[first] = {-0.5, 0.3, 0.1, 0.2, -0.1};
  model->set_groups(groups);
  file.model = model;
  WorkloadKeys others;
  const ModelFile again = parse_model(model_bytes(file), "m", others, {});
  EXPECT_EQ(again.model->groups().campaign.sharing, Sharing::kMps);
  EXPECT_EQ(again.model->groups().rules, groups.rules);
  EXPECT_TRUE(again.model->groups().saturations.jobs.empty());  // of jobs that nobody asks for
  WorkloadKeys asked;
  const ModelFile named = parse_model(model_bytes(file), "m", asked, all_names());
  Saturations expected = groups.saturations;
  expected.jobs = {{named.model->workloads().front(), expected.jobs.at(first)}};
  EXPECT_EQ(named.model->groups().saturations, expected);
  EXPECT_EQ(model_bytes(named), model_bytes(file));
  EXPECT_NE(refusal(changed([](Json& root) { root["sharing"] = "by luck"; })), "");
  EXPECT_NE(refusal(changed([](Json& root) { spoil(root["co_runners"], 0.5); })), "");
  EXPECT_NE(refusal(changed([](Json& root) { root.erase("co_runners"); })), "");
  const auto refused_saturations = [](std::vector<double> numbers) {
    numbers.resize(5 * kJobs, std::numeric_limits<double>::quiet_NaN());
    return refusal(
        changed([&](Json& root) { root["saturations"] = model_state::packed(numbers); }));
  };
  EXPECT_EQ(refused_saturations({}), "");
  EXPECT_EQ(refused_saturations({-1, 0.3, 0.1, 0, 0}), "");
  for (const std::vector<double>& bad : std::vector<std::vector<double>>{{-1, 0.3, -0.1, 0, 0},
                                                                         {-1, 0.3, 0.1, -1, 0},
                                                                         {-1, 0.1},
                                                                         {-100, 0.3, 0.1, 0, 0},
                                                                         {0, 0.1, 1e300, 0, 0},
                                                                         {0, 0.1, 1, 1, 99}}) {
    EXPECT_NE(refused_saturations(bad), "") << bad[0] << ' ' << bad[1];
  }
  EXPECT_NE(refusal(changed([](Json& root) {
              root["saturations"] = model_state::packed(std::vector<double>(3, 0.0));
            })),
            "");
}

TEST(ModelFile, KeepsAnEffortBelowOneAlone) {
  WorkloadKeys keys;
  const SpeedTable table = table_of(keys);
  ModelFile file = small_model(table, keys);
  const auto model = std::dynamic_pointer_cast<FactorModel>(
      std::shared_ptr<InterferenceModel>(file.model->clone()));
  ASSERT_NE(model, nullptr);
  const std::string whole = model_bytes(file);
  EXPECT_EQ(whole.find("effort"), std::string::npos);
  model->set_effort(0.1);
  file.model = model;
  const std::string little = model_bytes(file);
  EXPECT_NE(little.find("effort"), std::string::npos);
  const Reading read = reading(little, keys);
  ASSERT_TRUE(read.file) << read.refusal;
  EXPECT_EQ(read.file->model->effort(), 0.1);
  EXPECT_EQ(model_bytes(*read.file), little);
  for (const Json& bad : {Json(1), Json(1.0), Json(0), Json(-0.5), Json(2), Json(1e-9)}) {
    EXPECT_EQ(refusal(changed([&](Json& root) { root["effort"] = bad; })),
              "the file contradicts itself (the effort of the fit is not from 0.001 to below 1), "
              "take another copy")
        << bad;
  }
  EXPECT_NE(refusal(changed([](Json& root) { root["effort"] = "0.5"; })), "");
}

TEST(ModelFile, NamesNoWorkload) {
  EXPECT_EQ(good_bytes().find("secret"), std::string::npos);
  EXPECT_EQ(workload_digest("abc"), "ba7816bf8f01cfea");  // FIPS 180-4
  EXPECT_EQ(workload_digest(""), "");
  EXPECT_EQ(sha256_of_text(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(ModelFile, RefusesOtherKindsAndNewerVersions) {
  const std::string expected = "expected 'corun speed model, version 7, ...' first";
  EXPECT_EQ(refusal(good_bytes()), "");
  EXPECT_EQ(refusal(""), "the file is empty, " + expected);
  EXPECT_EQ(refusal("kind: corun knowledge base\nversion: 1\n"), "no speed model, " + expected);
  EXPECT_EQ(refusal(std::string(1000, '\0')), "no speed model, " + expected);
  EXPECT_EQ(refusal("corun speed model, version 8, whatever comes then"),
            "version 8 of a speed model, this corun reads version 7; the file is of a newer corun: "
            "use that one");
  EXPECT_EQ(
      refusal("corun speed model, version 2, bytes 3, sha256 0"),
      "version 2 of a speed model, this corun reads version 7; fit it again with `corun model "
      "fit`");
  for (const char* version : {"0", "-1", "", "x", "99999999999999999999"}) {
    EXPECT_NE(
        refusal("corun speed model, version " + std::string(version) + ", bytes 3, sha256 \n"), "");
  }
  EXPECT_EQ(refusal(good_bytes() + "x"), "something follows the speed model; take another copy");
}

TEST(ModelFile, RefusesAFileCutShortAnywhere) {
  const std::string& good = good_bytes();
  for (std::size_t at = 1; at < good.size(); at += at < 200 ? 1 : 50) {
    EXPECT_NE(refusal(good.substr(0, at)).find("cut short"), std::string::npos) << at;
  }
  EXPECT_NE(refusal(good.substr(0, good.size() - 1)).find("cut short"), std::string::npos);
}

TEST(ModelFile, RefusesBytesThatFlipped) {
  Rng rng(2, Stream::kTest);
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = good_bytes();
    const auto n = static_cast<std::uint32_t>(bytes.size());
    const std::size_t at = i < 150 ? static_cast<std::size_t>(i) : rng.below(n);
    bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1U << rng.below(8)));
    EXPECT_NE(refusal(bytes), "") << at;
  }
}

TEST(ModelFile, RefusesContentThatContradictsItself) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<std::string, std::function<void(Json&)>>> wrong{
      {"(the model is not a map of 11)",
       [](Json& r) {
         r = Json::array({1, 2});
       }},
      {"(the model is not a map of 11)", [](Json& r) { r.erase("state"); }},
      {"(the model is not a map of 9)", [](Json& r) { r["state"].erase("mean"); }},
      {"(the model is not a map of 11)", [](Json& r) { r["more"] = 1; }},
      {"(there is no 'mean')", [](Json& r) { r["state"]["other"] = 1, r["state"].erase("mean"); }},
      {"(there is no model 'best')", [](Json& r) { r["model"] = "best"; }},
      {"(there is no model 'default')", [](Json& r) { r["model"] = "default"; }},
      {"(a feature is listed twice)",
       [](Json& r) { r["features"][0]["name"] = r["features"][1]["name"]; }},
      {"('mean' is not a byte string)", [](Json& r) { r["state"]["mean"] = 3; }},
      {"('mean' ends within a number)",
       [](Json& r) { r["state"]["mean"].get_binary().push_back(0); }},
      {"('about' is not text)", [](Json& r) { r["about"] = 1; }},
      {"('about' is not text of one line)", [](Json& r) { r["about"] = "a\nb"; }},
      {"('features' is not a list)", [](Json& r) { r["features"] = "x"; }},
      {"(a feature is not a map of 2)", [](Json& r) { r["features"][0]["unit"] = "W"; }},
      {"(the scale of a feature", [](Json& r) { r["features"][0]["scale"] = "cubic"; }},
      {"('name' is not text of one line)", [](Json& r) { r["features"][0]["name"] = "\x1b[0m"; }},
      {"sizes of features and jobs", [](Json& r) { r["features"].erase(0); }},
      {"sizes of a sample",
       [](Json& r) {
         r["features"][0]["scale"] = "log", r["features"][1]["scale"] = "linear",
         r["state"]["samples"][0]["rank"] = 3;
       }},
      {"(a workload is not 16 hexadecimal", [](Json& r) { r["workloads"][0] = "0123"; }},
      {"(a workload is not 16 hexadecimal",
       [](Json& r) { r["workloads"][0] = "0123456789ABCDEF"; }},
      {"(a workload is listed twice)", [](Json& r) { r["workloads"][0] = r["workloads"][1]; }},
      {"('workloads' is not text)", [](Json& r) { r["workloads"][0] = nullptr; }},
      {"sizes of features and jobs", [](Json& r) { r["workloads"].erase(0); }},
      {"sizes of features and jobs", [](Json& r) { r["workloads"] = Json::array(); }},
      {"a mean or deviation", [&](Json& r) { spoil(r["state"]["mean"], nan); }},
      {"a mean or deviation", [&](Json& r) { spoil(r["state"]["deviation"], -1.0); }},
      {"a feature of a job", [&](Json& r) { spoil(r["state"]["landmarks"], nan); }},
      {"a feature of a job", [&](Json& r) { spoil(r["state"]["kernel_root"], 1e300); }},
      {"'target' has a number that is not finite",
       [&](Json& r) { spoil(r["state"]["target"], nan); }},
      {"deviation of the speeds", [&](Json& r) { spoil(r["state"]["target"], 1e9); }},
      {"'freedom' is not a finite number", [&](Json& r) { r["state"]["freedom"] = nan; }},
      {"freedom is not above 2", [&](Json& r) { r["state"]["freedom"] = 2; }},
      {"the scatter around", [&](Json& r) { r["state"]["residual_sigma"] = -1; }},
      {"'predicting' is 0", [](Json& r) { r["state"]["predicting"] = 0; }},
      {"'predicting' is 1000000", [](Json& r) { r["state"]["predicting"] = 1000000; }},
      {"'predicting' is 4, expected 1 to 0",
       [](Json& r) { r["state"]["samples"] = Json::array(); }},
      {"(a sample is not a map of 7)", [](Json& r) { r["state"]["samples"][1].erase("own"); }},
      {"'rank' is 1099511627776", [](Json& r) { r["state"]["samples"][1]["rank"] = 1LL << 40; }},
      {"'rank' is not a whole", [](Json& r) { r["state"]["samples"][1]["rank"] = 1.5; }},
      {"'rank' is -1", [](Json& r) { r["state"]["samples"][1]["rank"] = -1; }},
      {"sizes of a sample", [](Json& r) { r["state"]["samples"][1]["rank"] = 1; }},
      {"'noise' is not a finite", [&](Json& r) { r["state"]["samples"][1]["noise"] = nan; }},
      {"the noise of a sample", [&](Json& r) { r["state"]["samples"][1]["noise"] = 1e300; }},
      {"'strength' is not a finite", [&](Json& r) { r["state"]["samples"][1]["strength"] = nan; }},
      {"the strength of a sample", [&](Json& r) { r["state"]["samples"][1]["strength"] = 0; }},
      {"number that is not possible",
       [&](Json& r) { spoil(r["state"]["samples"][1]["own"], infinity); }},
      {"number that is not possible",
       [&](Json& r) { spoil(r["state"]["samples"][0]["beta"], infinity); }},
      {"number that is not possible",
       [&](Json& r) { spoil(r["state"]["samples"][0]["scatter"], infinity); }},
      {"number that is not possible",
       [&](Json& r) { spoil(r["state"]["samples"][0]["partner"], infinity); }},
  };
  EXPECT_EQ(refusal(changed([](Json&) {})), "");
  EXPECT_EQ(changed([](Json&) {}), good_bytes());
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const std::string what = refusal(changed(wrong[i].second));
    EXPECT_NE(what.find(wrong[i].first), std::string::npos) << i << ": " << what;
  }
}

// With a matching checksum: no CBOR; lists 17 and 200,000 deep; a list of more values than any model has;
// lists and texts that announce more than there is.
TEST(ModelFile, NoContentEndsTheProgram) {
  const std::string many("\x9a\x00\x10\x00\x00", 5);
  const std::string announced("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  for (const std::string& content :
       {std::string("junk"), std::string(16, '\x81') + "\x80",
        std::string(200'000, '\x81') + "\x80", std::string(200'000, '\xa1'),
        many + std::string(std::size_t{1} << 20U, '\x00'), "\x9b" + announced, "\xbb" + announced,
        "\x7b" + announced, "\x5b" + announced}) {
    EXPECT_EQ(refusal(file_of(content)), "the file is no speed model inside, take another copy")
        << content.size();
  }
}

/// Damaged content with a matching checksum, for every model of the catalogue, is refused or gives
/// a model that predicts.
TEST(ModelFile, NoContentDoesHarm) {
  WorkloadKeys keys;
  SpeedTable table = table_of(keys);
  Rng rng(3, Stream::kTest);
  for (const InterferenceModelEntry& entry : interference_model_catalog()) {
    SCOPED_TRACE(entry.name);
    const std::shared_ptr<const InterferenceModel> model =
        entry.fit(table, {.effort = test::kLittleEffort});
    const std::string whole =
        model_bytes({std::string(entry.name), model, workload_digests(*model, keys), ""});
    const std::string content = whole.substr(whole.find('\n') + 1);
    for (int i = 0; i < 150; ++i) {
      std::string bytes = content;
      const auto n = static_cast<std::uint32_t>(bytes.size());
      const std::size_t at = rng.below(i % 2 == 0 ? std::min(n, 300U) : n);
      bytes[at] = static_cast<char>(rng.below(256));
      if (i % 5 == 0) bytes.resize(rng.below(n));
      const std::string file = fmt::format("corun speed model, version 7, bytes {}, sha256 {}\n",
                                           bytes.size(), sha256_of_text(bytes)) +
                               bytes;
      WorkloadKeys again;
      const Reading read = reading(file, again);
      if (!read.file) {
        EXPECT_FALSE(read.refusal.empty()) << i;
        continue;
      }
      const InterferenceModel& damaged = *read.file->model;
      const std::vector<double> features(damaged.features().size(), 30);
      const SpeedPrediction p =
          damaged.predict({again.of(all_names()[0]), features}, {kUnknownWorkload, features});
      EXPECT_TRUE(std::isfinite(p.speed) && std::isfinite(p.sd)) << i;
    }
  }
}

/// Every model of the catalogue is unchanged after writing and reading.
TEST_F(ModelFileOnDisk, EveryModelOfTheCatalogue) {
  WorkloadKeys keys;
  SpeedTable table = table_of(keys);
  for (const InterferenceModelEntry& entry : interference_model_catalog()) {
    SCOPED_TRACE(entry.name);
    const std::shared_ptr<const InterferenceModel> model =
        entry.fit(table, {.effort = test::kLittleEffort});
    write_model_file(path("m"),
                     {std::string(entry.name), model, workload_digests(*model, keys), "six"},
                     "--out");
    const ModelFile read = read_model_file(path("m"), keys, all_names());
    EXPECT_EQ(read.name, entry.name);
    EXPECT_EQ(read.model->save(), model->save());
    EXPECT_EQ(read.model->effort(), model->effort());
    std::vector<PairJob> jobs;
    for (std::size_t j = 0; j < kJobs; ++j) jobs.push_back({table.jobs[j], {table.of(j), 2}});
    const std::vector<double> features{40, 3e4};
    jobs.push_back({kUnknownWorkload, features});
    std::vector<PairQuery> pairs;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      for (std::size_t j = 0; j < jobs.size(); ++j) pairs.push_back({i, j});
    }
    const auto before = model->predict(jobs, pairs);
    const auto after = read.model->predict(jobs, pairs);
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      EXPECT_EQ(before[q].speed, after[q].speed);
      EXPECT_EQ(before[q].sd, after[q].sd);
      EXPECT_EQ(before[q].lo, after[q].lo);
      EXPECT_EQ(before[q].hi, after[q].hi);
    }
  }
}

}  // namespace
}  // namespace corun::model_file_test
