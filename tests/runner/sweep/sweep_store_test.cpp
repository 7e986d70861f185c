#include "runner/sweep/sweep_store.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "policies/catalog.hpp"
#include "results/export/sweep_launchers.hpp"
#include "runner/sweep/sweep_plan.hpp"
#include "runner/sweep/sweep_results.hpp"
#include "runner/sweep/sweep_worker.hpp"
#include "sim/error.hpp"
#include "support/objects/object_store.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// Workers that share the chunks of a sweep.
namespace corun::sweep_store_test {
namespace {

constexpr const char* kSweep =
    "policies: [fcfs, random, min-slowdown]\nworkload: {source: jrs-resampled, jobs: 12}\n"
    "sweep:\n  list:\n    - {cluster.nodes: 1, replications: 3}\n    - {cluster.nodes: 2, "
    "replications: 5}\n    - {cluster.nodes: 4, replications: 4}\n";

SweepPlan plan_of(const std::string& text = kSweep) {
  return SweepPlan::parse(text, "s.yaml", {}, policy_catalog());
}

/// A server that has objects, and does not list them yet.
class ListsLate final : public ObjectStore {
 public:
  explicit ListsLate(std::shared_ptr<ObjectStore> objects) : objects_(std::move(objects)) {}

  const std::string& place() const override { return objects_->place(); }
  std::vector<std::string> list(std::string_view) override { return {}; }
  std::optional<std::string> get(const std::string& name) override { return objects_->get(name); }
  bool has(const std::string& name) override { return objects_->has(name); }
  bool put_once(const std::string& name, std::string_view bytes) override {
    return objects_->put_once(name, bytes);
  }
  void put(const std::string& name, std::string_view bytes) override { objects_->put(name, bytes); }
  void remove(const std::string& name) override { objects_->remove(name); }

 private:
  std::shared_ptr<ObjectStore> objects_;
};

/// A store in a folder of its own, and workers of it.
class SweepStores : public testing::Test {
 protected:
  SweepStore open(std::size_t chunk_units) {
    return SweepStore::open_for(open_folder_store(store_, "--worker", true), plan_,
                                [=] { return chunk_units; });
  }
  SweepWorkerOutcome work(const SweepStore& store, const std::string& name, double lapse_s = 60,
                          unsigned threads = 1) {
    SweepWorkerOptions options;
    options.sweep.threads = threads;
    options.worker = name;
    options.scratch = directory_.path();
    options.lapse_s = lapse_s;
    return run_worker(plan_, store, options);
  }
  /// Of the journals at these paths.
  std::string results_of(const std::string& journal) {
    std::vector<std::unique_ptr<SweepJournalIndex>> journals;
    journals.push_back(std::make_unique<SweepJournalIndex>(journal));
    write_sweep_results(directory_.path("results.h5"), journals, false);
    return test::read_file(directory_.path("results.h5"));
  }
  std::string results_of(const SweepStore& store) {
    SweepJournalWriter journal(directory_.path("merged"), "--output");
    EXPECT_TRUE(write_journal(store, journal).empty());
    return results_of(directory_.path("merged"));
  }
  /// Of one process.
  std::string expected() {
    {
      SweepJournalWriter journal(directory_.path("whole"), "--output");
      journal.begin(sweep_identity(plan_));
      EXPECT_FALSE(run_sweep(plan_, journal, nullptr, {}).interrupted());
    }
    return results_of(directory_.path("whole"));
  }
  std::string file(const std::string& name) const { return store_ + "/" + name; }
  static std::string error_of(const auto& call) {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  test::TemporaryDirectory directory_;
  std::string store_ = directory_.path("store");
  SweepPlan plan_ = plan_of();
};

TEST_F(SweepStores, UnitsAreDividedInOrderOfPointAndReplication) {
  const SweepUnits units(plan_);
  const auto range = [&](std::size_t first, std::size_t end) {
    const SweepRange r = units.range({first, end});
    return std::vector<std::uint64_t>{r.first.point, r.first.replication, r.end.point,
                                      r.end.replication};
  };
  EXPECT_EQ(range(0, 3), (std::vector<std::uint64_t>{0, 0, 1, 0}));
  EXPECT_EQ(range(2, 9), (std::vector<std::uint64_t>{0, 2, 2, 1}));
  EXPECT_EQ(range(11, 12), (std::vector<std::uint64_t>{2, 3, 3, 0}));
  const SweepStore store = open(5);
  EXPECT_EQ(store.chunks(), 3U);
  EXPECT_EQ(store.units_of(2), (std::pair<std::size_t, std::size_t>{10, 12}));
}

TEST_F(SweepStores, WorkersGiveTheBytesOfOneProcess) {
  const std::string whole = expected();
  for (const std::size_t chunk_units : {1U, 5U, 12U, 100U}) {
    store_ = directory_.path("store" + std::to_string(chunk_units));
    const SweepStore store = open(chunk_units);
    SweepWorkerOutcome first;
    SweepWorkerOutcome second;
    std::thread other([&] { second = work(store, "b", 60, 2); });
    first = work(store, "a");
    other.join();
    EXPECT_FALSE(first.interrupted || second.interrupted);
    EXPECT_EQ(first.chunks + second.chunks, store.chunks());
    EXPECT_EQ(first.units + second.units, 12U);
    EXPECT_EQ(results_of(store), whole) << chunk_units;
    EXPECT_TRUE(store.state().claimed.empty());
  }
}

TEST_F(SweepStores, AChunkHasTheSameBytesAtAnyNumberOfThreads) {
  std::vector<std::string> bytes;
  for (const unsigned threads : {1U, 4U}) {
    store_ = directory_.path("t" + std::to_string(threads));
    const SweepStore store = open(7);
    work(store, "a", 60, threads);
    bytes.push_back(test::read_file(file(store.chunk_name(0))) +
                    test::read_file(file(store.chunk_name(1))));
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST_F(SweepStores, AClaimLapsesWhereItDoesNotChange) {
  const SweepStore store = open(4);
  store.objects().put(store.claim_name(1), "dead 7\n");
  std::atomic<bool> stop{false};
  SweepWorkerOptions options;
  options.worker = "a";
  options.scratch = directory_.path();
  options.sweep.stop = &stop;
  // A claim that changes holds: the worker does the other chunks and waits.
  options.lapse_s = 3600;
  options.on_progress = [&](std::size_t finished, std::size_t) { stop = finished == 2; };
  const SweepWorkerOutcome waits = run_worker(plan_, store, options);
  EXPECT_TRUE(waits.interrupted);
  EXPECT_EQ(waits.chunks, 2U);
  EXPECT_EQ(store.state().claimed, std::vector<std::size_t>{1});
  EXPECT_EQ(work(store, "b", 0.2).chunks, 1U);
  EXPECT_EQ(results_of(store), expected());
}

TEST_F(SweepStores, AChunkThatAnotherFinishedMeanwhileStaysAndMustBeTheSame) {
  const SweepStore store = open(12);
  SweepWorkerOptions options;
  options.worker = "slow";
  options.scratch = directory_.path();
  // While this worker runs the chunk, another one finishes it.
  bool other_ran = false;
  options.sweep.on_finished = [&](std::size_t, std::size_t) {
    if (other_ran) return;
    other_ran = true;
    store.objects().remove(store.claim_name(0));
    EXPECT_EQ(work(store, "quick").chunks, 1U);
  };
  const SweepWorkerOutcome late = run_worker(plan_, store, options);
  EXPECT_EQ(late.chunks, 0U);
  EXPECT_EQ(late.done_before, 1U);
  EXPECT_EQ(results_of(store), expected());
  // Bytes that differ are told.
  other_ran = false;
  store.objects().remove(store.chunk_name(0));
  options.sweep.on_finished = [&](std::size_t, std::size_t) {
    store.objects().put(store.chunk_name(0), "other bytes");
  };
  EXPECT_NE(error_of([&] {
              run_worker(plan_, store, options);
            }).find("has other bytes than this worker's run"),
            std::string::npos);
}

TEST_F(SweepStores, DamagedAndForeignObjectsAreRefused) {
  const SweepStore store = open(4);
  work(store, "a");
  const std::string chunk = file(store.chunk_name(1));
  const std::string bytes = test::read_file(chunk);
  for (const std::string& wrong :
       {bytes.substr(0, bytes.size() - 1), bytes + "x", std::string(), "x" + bytes.substr(1)}) {
    store.objects().put(store.chunk_name(1), wrong);
    EXPECT_EQ(error_of([&] { store.records_of(1); }),
              chunk + ": is damaged; remove it, and a worker makes it anew");
  }
  store.objects().remove(store.chunk_name(1));
  EXPECT_EQ(work(store, "b").chunks, 1U);
  EXPECT_EQ(test::read_file(chunk), bytes);

  const auto open_other = [&] {
    SweepStore::open_for(open_folder_store(store_, "--worker", true),
                         plan_of(std::string(kSweep) + "    - {cluster.nodes: 8}\n"),
                         [] { return 1U; });
  };
  EXPECT_NE(error_of(open_other).find("holds another sweep"), std::string::npos);
  const std::vector<std::string> names = store.objects().list("");
  const auto head = std::ranges::find_if(
      names, [](const std::string& name) { return name.ends_with(".sweep.json"); });
  ASSERT_NE(head, names.end());
  const std::string text = test::read_file(file(*head));
  for (const std::string& wrong : {std::string("{}"), text.substr(0, 40), std::string("[[[["),
                                   "{\"seed\": 1, " + text.substr(1)}) {
    store.objects().put(*head, wrong);
    EXPECT_NE(error_of([&] {
                SweepStore::open(open_folder_store(store_, "--merge", false));
              }).find("it is no head of a sweep"),
              std::string::npos)
        << wrong;
  }
  EXPECT_NE(error_of([&] {
              open_folder_store(directory_.path("none"), "--merge", false);
            }).find("is no folder, expected the store of a sweep"),
            std::string::npos);
}

TEST_F(SweepStores, AWorkerBeginsAndJoinsWhereListsAreLate) {
  const auto late = std::make_shared<ListsLate>(open_folder_store(store_, "--worker", true));
  const SweepStore begun = SweepStore::open_for(late, plan_, [] { return 4U; });
  const SweepStore joined = SweepStore::open_for(late, plan_, [] { return 5U; });
  EXPECT_EQ(joined.chunk_units(), 4U);
  EXPECT_EQ(joined.chunk_name(0), begun.chunk_name(0));
}

TEST_F(SweepStores, StatusCountsChunksAndTellsTheTimeLeft) {
  const SweepStore store = open(4);
  store.objects().put(store.claim_name(2), "w1 3\n");
  store.objects().put(store.worker_name("w1"), "{\"units\":8,\"seconds\":2.0}");
  store.objects().put(store.worker_name("w2"), "{\"units\":\"many\"}");
  const SweepStoreStatus status = status_of(store);
  EXPECT_EQ(status.units, 12U);
  EXPECT_EQ(status.finished_units, 0U);
  EXPECT_EQ(status.claimed_chunks, 1U);
  EXPECT_EQ(status.workers, 2U);
  ASSERT_TRUE(status.left_s.has_value());
  EXPECT_EQ(*status.left_s, 3);  // 12 at 4 a second
}

TEST_F(SweepStores, TheSizeOfAChunkFollowsTheCost) {
  const SweepUnits units(plan_);
  SweepWorkerOptions options;
  options.worker = "a";
  options.scratch = directory_.path();
  EXPECT_EQ(units_that_take(1e9, plan_, units, options), 12U);
  EXPECT_EQ(units_that_take(1e-9, plan_, units, options), 1U);
}

TEST(ObjectStore, OfManyWritersOneMakesTheObject) {
  const test::TemporaryDirectory directory;
  const auto store = open_folder_store(directory.path(), "--worker", true);
  std::atomic<int> made{0};
  std::vector<std::thread> writers;
  for (int w = 0; w < 8; ++w) {
    writers.emplace_back([&, w] {
      for (int n = 0; n < 50; ++n) {
        made +=
            store->put_once("o" + std::to_string(n), std::string(1000, static_cast<char>('a' + w)));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(made, 50);
  EXPECT_EQ(store->list("o").size(), 50U);
  EXPECT_EQ(store->list("").size(), 50U);
  const std::string one = store->get("o7").value_or("");
  EXPECT_EQ(one, std::string(1000, one.empty() ? ' ' : one[0]));
  EXPECT_EQ(store->get("none"), std::nullopt);
  store->remove("o7");
  store->remove("o7");
  EXPECT_FALSE(store->has("o7"));
}

TEST(SweepLaunchers, StartWorkersOfTheStore) {
  LauncherSweep sweep;
  sweep.program = "/opt/co run/corun";
  sweep.config = "/home/s.yaml";
  sweep.options = {"--set", "policies=[{name: fcfs}]"};
  sweep.store = "/shared/store";
  sweep.output = "/shared/store.h5";
  sweep.image = "registry/corun:1";
  sweep.workers = 12;
  sweep.threads = 3;
  const std::string command =
      "'/opt/co run/corun' 'sweep' '/home/s.yaml' '--set' 'policies=[{name: fcfs}]' '--worker' "
      "'/shared/store' '--threads' '3'";
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  };
  has(launcher_text(Launcher::kSlurm, sweep), "#SBATCH --array=1-12\n");
  has(launcher_text(Launcher::kSlurm, sweep), "\nexec " + command + "\n");
  has(launcher_text(Launcher::kHyperQueue, sweep), "--array 1-12 --cpus 3 -- " + command);
  has(launcher_text(Launcher::kSnakemake, sweep), "policies=[{{name: fcfs}}]");
  const auto job = nlohmann::json::parse(launcher_text(Launcher::kKubernetes, sweep));
  EXPECT_EQ(job["spec"]["completions"], 12);
  EXPECT_EQ(job["spec"]["template"]["spec"]["containers"][0]["command"][4],
            "policies=[{name: fcfs}]");
  EXPECT_EQ(job["spec"]["template"]["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"],
            "corun-sweep");
  sweep.bucket = true;
  sweep.store = "s3://bucket/store";
  const auto pod = nlohmann::json::parse(
      launcher_text(Launcher::kKubernetes, sweep))["spec"]["template"]["spec"];
  EXPECT_EQ(pod["volumes"][0]["configMap"]["name"], "corun-sweep");
  EXPECT_EQ(pod["containers"][0]["volumeMounts"][0]["mountPath"], "/home");
  EXPECT_EQ(pod["containers"][0]["envFrom"][0]["secretRef"]["name"], "corun-sweep");
}

}  // namespace
}  // namespace corun::sweep_store_test
