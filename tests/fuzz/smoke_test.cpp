#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/helpers/gzip.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// What the fuzzers do for an hour, for some seconds and always the same: each reader over its
/// corpus and over broken forms of it. Anything but a trace that is sound or an InputError of one
/// line is a failure.
namespace corun::smoke_test {
namespace {

namespace fs = std::filesystem;

struct Sample {
  const fuzz::Reader* reader;
  std::string name;
  std::string bytes;
};

std::vector<Sample> corpus() {
  std::vector<Sample> samples;
  for (const fuzz::Reader& reader : fuzz::readers()) {
    const fs::path folder = fs::path(CORUN_SOURCE_DIR "/tests/fuzz/corpus") / reader.name;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      samples.push_back({&reader, file.filename().string(), test::read_file(file.string())});
    }
  }
  return samples;
}

/// The error, or nothing where the bytes were read.
std::string error_of(const fuzz::Reader& reader, const std::string& bytes) {
  try {
    reader.read(bytes);
    return "";
  } catch (const InputError& e) {
    return e.what();
  }
}

void expect_read_or_refused(const Sample& sample, const std::string& bytes,
                            const std::string& what) {
  SCOPED_TRACE(std::string(sample.reader->name) + "/" + sample.name + ", " + what);
  try {
    const std::string error = error_of(*sample.reader, bytes);
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_LT(error.size(), 2000U);
  } catch (const std::exception& e) {
    ADD_FAILURE() << "neither read nor refused: " << e.what();
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// A run of digits somewhere becomes `number`.
std::string with_number(std::string text, Rng& rng, const std::string& number) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (digit && (i == 0 || text[i - 1] < '0' || text[i - 1] > '9')) starts.push_back(i);
  }
  if (starts.empty()) return text;
  const std::size_t at = starts[rng.below(static_cast<std::uint32_t>(starts.size()))];
  std::size_t end = at;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return text.replace(at, end - at, number);
}

std::string any_line_twice(const std::string& text, Rng& rng) {
  std::vector<std::size_t> begins{0};
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '\n') begins.push_back(i + 1);
  }
  const std::size_t at = begins[rng.below(static_cast<std::uint32_t>(begins.size()))];
  const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
  return text.substr(0, end) + text.substr(at, end - at) + text.substr(end);
}

TEST(FuzzSmoke, EveryReaderHasACorpusThatIsRead) {
  for (const fuzz::Reader& reader : fuzz::readers()) {
    bool read = false;
    for (const Sample& sample : corpus()) {
      if (sample.reader == &reader) read = read || error_of(reader, sample.bytes).empty();
    }
    EXPECT_TRUE(read) << "no sample of tests/fuzz/corpus/" << reader.name << " can be read";
  }
}

TEST(FuzzSmoke, CorpusIsReadOrRefused) {
  for (const Sample& sample : corpus()) expect_read_or_refused(sample, sample.bytes, "as it is");
}

TEST(FuzzSmoke, EveryPrefixIsReadOrRefused) {
  for (const Sample& sample : corpus()) {
    for (std::size_t length = 0; length < std::min<std::size_t>(sample.bytes.size(), 1500);
         ++length) {
      expect_read_or_refused(sample, sample.bytes.substr(0, length), std::to_string(length));
    }
  }
}

/// A whole number from the environment, for longer runs than that of the test suite (tests/soak).
std::uint64_t number_of_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(FuzzSmoke, SeededMutationsAreReadOrRefused) {
  const std::uint64_t rounds = number_of_environment("CORUN_FUZZ_ROUNDS", 150);
  const std::uint64_t seed = number_of_environment("CORUN_FUZZ_SEED", 1);
  const std::array<std::string, 14> numbers{"-1",
                                            "1000000000",
                                            "99999999999999999999",
                                            "1e9",
                                            "1e309",
                                            "nan",
                                            "0x10",
                                            "",
                                            "0.5",
                                            "-0",
                                            "2147483648",
                                            "4e9",
                                            "1e-12",
                                            "9223372036854775807"};
  for (const Sample& sample : corpus()) {
    Rng rng(seed, Stream::kTest, std::hash<std::string_view>{}(sample.reader->name));
    for (std::uint64_t round = 0; round < rounds; ++round) {
      std::string bytes = sample.bytes;
      if (bytes.empty()) continue;
      std::string what = "round " + std::to_string(round);
      for (std::uint32_t step = 0; step <= rng.below(3); ++step) {
        const std::uint32_t at = rng.below(static_cast<std::uint32_t>(bytes.size()));
        switch (rng.below(6)) {
          case 0:
            bytes[at] = static_cast<char>(rng.below(256));
            break;
          case 1:
            bytes.erase(at, rng.below(20));
            break;
          case 2:
            bytes = any_line_twice(bytes, rng);
            break;
          case 3:
            bytes.insert(at, 1, "\",\n\r\t;|{}[]"[rng.below(11)]);
            break;
          default:
            bytes = with_number(bytes, rng, numbers[rng.below(numbers.size())]);
        }
        if (bytes.empty()) break;
      }
      expect_read_or_refused(sample, bytes, what);
    }
  }
}

TEST(FuzzSmoke, WholeFileFormsAreReadOrRefused) {
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  for (const Sample& sample : corpus()) {
    const std::string& bytes = sample.bytes;
    const std::size_t half = bytes.size() / 2;
    expect_read_or_refused(sample, "\xef\xbb\xbf" + bytes, "byte order mark");
    expect_read_or_refused(sample, "\xff\xfe" + bytes, "another byte order mark");
    expect_read_or_refused(sample, replaced(bytes, "\n", "\r\n"), "CRLF");
    expect_read_or_refused(sample,
                           bytes.substr(0, half) + replaced(bytes.substr(half), "\n", "\r\n"),
                           "mixed line ends");
    expect_read_or_refused(sample, replaced(bytes, "\n", "\r"), "CR");
    expect_read_or_refused(sample, bytes + bytes, "twice");
    expect_read_or_refused(sample, bytes + std::string(kMebibyte, 'x'), "long line");
    expect_read_or_refused(sample, std::string(kMebibyte + 10, '1') + bytes, "long first line");
    expect_read_or_refused(sample, bytes + std::string(3 * kMebibyte, '"'), "quotes");
    expect_read_or_refused(sample, std::string(2 * kMebibyte, '['), "brackets");
    expect_read_or_refused(sample, std::string(1000, '\0') + bytes, "zeros");
    const std::string archive = test::gzip(bytes);
    EXPECT_EQ(error_of(*sample.reader, archive), error_of(*sample.reader, bytes)) << sample.name;
    for (std::size_t length = 2; length < archive.size(); length += 7) {
      EXPECT_NE(error_of(*sample.reader, archive.substr(0, length)), "")
          << sample.name << " cut at " << length;
    }
    std::string damaged = archive;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
    EXPECT_NE(error_of(*sample.reader, damaged), "") << sample.name;
  }
}

}  // namespace
}  // namespace corun::smoke_test
