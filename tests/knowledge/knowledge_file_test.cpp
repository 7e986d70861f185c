#include "knowledge/knowledge_file.hpp"

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "knowledge/knowledge_catalog.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/temporary_directory.hpp"

namespace corun::knowledge_file_test {
namespace {

bool same(const KnowledgeBase& x, const KnowledgeBase& y) {
  if (!(x.clustering() == y.clustering()) || x.decay() != y.decay()) return false;
  for (int a = 0; a < x.clusters(); ++a) {
    for (int b = 0; b < x.clusters(); ++b) {
      if (!(x.isd(a, b).state() == y.isd(a, b).state())) return false;
      if (!(x.ps(a, b).state() == y.ps(a, b).state())) return false;
    }
  }
  return true;
}

/// Adds `n` co-runs of random clusters and advances the generator.
void observe_some(KnowledgeBase& kb, Rng& rng, std::size_t n) {
  const auto clusters = static_cast<std::uint64_t>(kb.clusters());
  for (std::size_t i = 0; i < n; ++i) {
    const int a = static_cast<int>(rng.below(static_cast<std::uint32_t>(clusters)));
    const int b = static_cast<int>(rng.below(static_cast<std::uint32_t>(clusters)));
    kb.observe(a, b, 0.3 * rng.uniform(), 0.9 * rng.uniform(), 0.5 - 0.4 * rng.uniform());
  }
}

TEST(KnowledgeFile, EveryNamedKnowledgeBaseComesBack) {
  for (const KnowledgeEntry& entry : knowledge_catalog()) {
    const KnowledgeFile file{
        entry.make(), "about \"it\" \\ all", {{"rows", "ab12", 46, "V100 mps"}}};
    const KnowledgeFile back = parse_knowledge(knowledge_text(file), "kb.yaml");
    EXPECT_TRUE(same(file.kb, back.kb)) << entry.name;
    EXPECT_EQ(back.about, file.about);
    EXPECT_EQ(back.sources, file.sources);
    EXPECT_EQ(knowledge_text(back), knowledge_text(file)) << entry.name;
  }
}

TEST(KnowledgeFile, LearningInManyRunsIsLearningInOne) {
  // Random streams, written and read back at random points, give the same bytes as one stream.
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Rng stream(seed, Stream::kEstimates);
    Rng same_stream(seed, Stream::kEstimates);
    Rng stops(seed, Stream::kEstimates, 1);
    KnowledgeFile whole{KnowledgeBase(paper_clusters()), "", {}};
    KnowledgeFile parts = whole;
    for (int run = 0; run < 6; ++run) {
      const std::size_t n = stops.below(300);
      observe_some(whole.kb, stream, n);
      observe_some(parts.kb, same_stream, n);
      parts = parse_knowledge(knowledge_text(parts), "kb.yaml");
      ASSERT_TRUE(same(whole.kb, parts.kb)) << "seed " << seed << " run " << run;
    }
    EXPECT_EQ(knowledge_text(whole), knowledge_text(parts));
  }
}

/// Any mixture of observations, summaries without observations (as people write) and merges.
KnowledgeBase random_knowledge(std::uint64_t seed) {
  Rng rng(seed, Stream::kEstimates, 2);
  KnowledgeBase kb(paper_clusters());
  for (int a = 0; a < kb.clusters(); ++a) {
    for (int b = a; b < kb.clusters(); ++b) {
      if (rng.below(2) == 0) continue;
      const std::int64_t pairs = rng.below(90) + 1;
      const double variance = pairs > 1 ? 0.01 * rng.uniform() : 0;
      kb.ps(a, b) = Statistic::summary(pairs, 0.4 * rng.uniform(), variance);
      // Of a pair of one cluster both jobs are observed.
      const std::int64_t jobs = a == b ? 2 * pairs : pairs;
      kb.isd(a, b) = Statistic::summary(jobs, rng.uniform() - 0.2, variance);
      if (a != b) kb.isd(b, a) = Statistic::summary(jobs, rng.uniform() - 0.2, variance);
    }
  }
  observe_some(kb, rng, rng.below(40));
  if (rng.below(3) == 0) {
    KnowledgeBase other(paper_clusters());
    observe_some(other, rng, rng.below(400));
    kb.merge(other);
  }
  return kb;
}

TEST(KnowledgeFile, AnyKnowledgeComesBackAndLearnsOn) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const KnowledgeFile file{random_knowledge(seed), "", {}};
    KnowledgeFile back = file;
    ASSERT_NO_THROW(back = parse_knowledge(knowledge_text(file), "kb.yaml")) << seed;
    EXPECT_EQ(knowledge_text(back), knowledge_text(file)) << seed;
    Rng rng(seed, Stream::kEstimates, 3);
    observe_some(back.kb, rng, 5);
    EXPECT_NO_THROW(parse_knowledge(knowledge_text(back), "kb.yaml")) << seed;
  }
}

TEST(KnowledgeFile, FadingKnowledgeComesBackToRounding) {
  Rng rng(3, Stream::kEstimates);
  KnowledgeFile file{KnowledgeBase(paper_clusters(), 0.05), "", {}};
  observe_some(file.kb, rng, 400);
  const KnowledgeFile back = parse_knowledge(knowledge_text(file), "kb.yaml");
  EXPECT_EQ(back.kb.decay(), 0.05);
  for (int a = 0; a < 3; ++a) {
    EXPECT_EQ(back.kb.isd(a, 0).mean(), file.kb.isd(a, 0).mean());
    EXPECT_NEAR(back.kb.isd(a, 0).quantile(0.5), file.kb.isd(a, 0).quantile(0.5), 1e-12);
  }
}

TEST(KnowledgeFile, OneWrittenByHandNeedsNoLists) {
  const KnowledgeFile file = parse_knowledge(
      "kind: corun knowledge base\nversion: 1\nfeatures: [gpu_util_pct, mem_alloc_pct, "
      "mem_time_pct]\n"
      "centres:\n  - [60, 40, 20]\n  - [20, 10, 5]\n"
      "isd:\n  - {cluster: 0, partner: 1, count: 4, mean: 0.1, variance: 0.004}\n"
      "  - {cluster: 1, partner: 0, count: 4, mean: 0.2, variance: 0}\n"
      "ps:\n  - {cluster: 0, partner: 1, count: 4, mean: 0.3, variance: 0.001}\ncomplete: true\n",
      "kb.yaml");
  EXPECT_EQ(file.kb.clusters(), 2);
  EXPECT_DOUBLE_EQ(file.kb.isd(0, 1).variance(), 0.004);
  EXPECT_FALSE(file.kb.isd(0, 1).has_quantiles());
  EXPECT_EQ(file.kb.isd(0, 0).count(), 0);
}

std::string message_of(const std::string& text) {
  try {
    parse_knowledge(text, "kb.yaml");
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(KnowledgeFile, NoDamagedBitGoesUnnoticed) {
  const std::string good = knowledge_text({find_knowledge("jrs")->make(), "x", {}});
  std::string crlf;
  for (const char c : good) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(message_of(crlf), "accepted") << "line ends may change";
  int accepted = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    if (message_of(damaged) != "accepted") continue;
    ++accepted;  // in the words before the SHA-256
    EXPECT_EQ(knowledge_text(parse_knowledge(damaged, "kb.yaml")), good) << "byte " << at;
  }
  EXPECT_LT(accepted, 12);
}

TEST(KnowledgeFile, RefusesWhatItCannotTrust) {
  std::string good = knowledge_text({find_knowledge("jrs")->make(), "x", {}});
  good.erase(good.rfind("  # sha256"));  // as after an edit
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return message_of(text.replace(at, from.size(), to));
  };
  struct Case {
    std::string message, expected;
  };
  for (const Case& c : std::vector<Case>{
           {with("version: 1", "version: 2"),
            "kb.yaml:2:10: 'version' is '2', this corun reads version 1; the file is of a newer"},
           {with("version: 1", "version: one"), "kb.yaml:2:10: 'version' is 'one'"},
           {with("kind: corun knowledge base", "kind: recipe"), "kb.yaml:1:7: 'kind' is 'recipe'"},
           {with("complete: true", ""), "the file ends early"},
           {with("decay: 0", "decay: 1"), "'decay' is '1', expected 0 to 0.999"},
           {with("decay: 0", "decoy: 0"), "did you mean 'decay'?"},
           {with("scale: [1, 1, 1]", "scale: [1, 0, 1]"),
            "'scale' is '0', expected a number above 0"},
           {with("61.423", ".nan"), "'centres' is '.nan', expected a finite number"},
           {with("[61.423, 43.245, 24.456]", "[61.423, 43.245]"),
            "'centres' has 2 numbers, expected 3"},
           {with("distance_centres: []", "distance_centres:\n  - [1, 2, 3]"),
            "as many rows as 'centres'"},
           {with("uncertainty: all-centres", "uncertainty: some"),
            "'uncertainty' is 'some', expected all-centres or own-centre"},
           {with("cluster: 0, partner: 0", "cluster: 3, partner: 0"),
            "'cluster' is '3', expected the number of a cluster, 0 to 2"},
           {with("cluster: 0, partner: 1", "cluster: 0, partner: 0"), "isd of 0-0 is listed twice"},
           {with("count: 12", "count: 13"), "contradict"},
           {with("m2: 0.", "m2: 1."), "contradict each other"},
           {with("min: 0.0", "min: 3.0"), "'min' is"},
           {with("max: 0.3", "max: 0.0"), "'max' is"},
           {with("values: [0.1", "values: [9.1"), "lies outside of min"},
           {with("values: [", "values: [0.3, "), "observations are listed where the count says"},
           {with("values: [", "values: [nan, "), "'values' is 'nan', expected a fraction"}}) {
    const std::string& message = c.message;
    EXPECT_NE(message, "accepted") << c.expected;
    EXPECT_NE(message.find(c.expected), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  EXPECT_NE(message_of(good.substr(0, good.size() / 2)), "accepted");
}

/// Cuts a file after every `stride` bytes.
void cut_every(std::size_t stride) {
  const std::string good =
      knowledge_text({find_knowledge("prirect")->make(), "x", {{"a", "", 2, ""}}});
  for (std::size_t length = 0; length + 1 < good.size(); length += stride) {
    const std::string cut = good.substr(0, length);
    const bool lacks_nothing = cut.find("complete: true") != std::string::npos &&
                               cut.find("# sha256 ") == std::string::npos;
    if (lacks_nothing) {
      EXPECT_EQ(knowledge_text(parse_knowledge(cut, "kb.yaml")), good);
    } else {
      EXPECT_NE(message_of(cut), "accepted") << "cut after " << length << " bytes";
    }
  }
}

TEST(KnowledgeFile, CutAtEveryFifthByteItIsRefused) { cut_every(5); }
TEST(KnowledgeFile, CutAnywhereItIsRefused) { cut_every(1); }

TEST(KnowledgeFile, UpdatesOfManyProcessesAreAllKept) {
  test::TemporaryDirectory directory;
  const std::string path = directory.path("kb.yaml");
  write_knowledge_file(path, {KnowledgeBase(paper_clusters()), "", {}}, "--output");
  constexpr int kProcesses = 4;
  constexpr int kUpdates = 25;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int u = 0; u < kUpdates; ++u) {
        update_knowledge_file(
            path, [](KnowledgeFile& f) { f.kb.observe(0, 1, 0.1, 0.2, 0.3); }, "kb");
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read_knowledge_file(path).kb.ps(0, 1).count(), kProcesses * kUpdates);
}

TEST(KnowledgeFile, KilledAtAnyInstantItIsWhole) {
  // A child that updates endlessly is killed repeatedly; its file is always readable and never
  // loses earlier updates.
  test::TemporaryDirectory directory;
  const std::string path = directory.path("kb.yaml");
  write_knowledge_file(path, {KnowledgeBase(paper_clusters()), "", {}}, "--output");
  std::int64_t before = 0;
  // On a busy machine more rounds, which are longer and longer, until some updates came through.
  for (int round = 0; round < 30 || (before <= 30 && round < 300); ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;) {
        update_knowledge_file(
            path, [](KnowledgeFile& f) { f.kb.observe(1, 2, 0.1, 0.2, 0.3); }, "kb");
      }
    }
    // A different instant each time.
    std::this_thread::sleep_for(std::chrono::microseconds(500 + 1700 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::int64_t count = read_knowledge_file(path).kb.ps(1, 2).count();
    EXPECT_GE(count, before);
    before = count;
  }
  EXPECT_GT(before, 30);
}

TEST(KnowledgeFile, AChangeThatThrowsLeavesTheFile) {
  test::TemporaryDirectory directory;
  const std::string path = directory.path("kb.yaml");
  write_knowledge_file(path, {KnowledgeBase(paper_clusters()), "", {}}, "--output");
  const std::string before = test::read_file(path);
  EXPECT_THROW(update_knowledge_file(
                   path,
                   [](KnowledgeFile& f) {
                     f.kb.observe(0, 0, 1, 1, 0);
                     throw InputError("here", "no");
                   },
                   "kb"),
               InputError);
  EXPECT_EQ(test::read_file(path), before);
}

}  // namespace
}  // namespace corun::knowledge_file_test
