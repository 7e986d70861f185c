#include "traces/input_file.hpp"

#include <istream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zstd.h>

#include "sim/error.hpp"
#include "tests/helpers/gzip.hpp"
#include "tests/helpers/temporary_directory.hpp"
#include "traces/job_csv.hpp"
#include "traces/tables/measurements.hpp"

namespace corun::input_file_test {
namespace {

using test::gzip;

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string read_all(const std::string& bytes) {
  std::istringstream file(bytes);
  const auto in = open_input(file, "f");
  // Not by the string's own constructor, which in libstdc++ 12 leaks if an iterator throws.
  std::string text;
  for (std::istreambuf_iterator<char> at(*in), end; at != end; ++at) text.push_back(*at);
  return text;
}

std::string error_of(const std::string& bytes) {
  try {
    read_all(bytes);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

/// Longer than all buffers, and in part hard to compress.
std::string long_text() {
  std::string text;
  for (unsigned i = 0; i < 60'000; ++i) text += std::to_string(i * 2654435761U) + "\n";
  return text;
}

TEST(InputFile, ReadsPlainTextGzipAndZstd) {
  for (const std::string& text : {std::string(), std::string("a"), std::string("a,b\n1,2\n"),
                                  long_text(), std::string(1'000'000, 'x')}) {
    EXPECT_EQ(read_all(text), text);
    EXPECT_EQ(read_all(gzip(text)), text);
    EXPECT_EQ(read_all(zstd(text)), text);
  }
}

TEST(InputFile, ReadsArchivesInARowAsOne) {
  EXPECT_EQ(read_all(gzip("one\n") + gzip(long_text()) + gzip("") + gzip("two\n")),
            "one\n" + long_text() + "two\n");
  EXPECT_EQ(read_all(zstd("one\n") + zstd(long_text()) + zstd("two\n")),
            "one\n" + long_text() + "two\n");
}

TEST(InputFile, RefusesArchivesCutShort) {
  const std::string text = "job,submit_s,solo_s\na,0,1\nb,0,1\n";
  for (const std::string& archive : {gzip(text), zstd(text)}) {
    for (std::size_t length = 4; length < archive.size(); ++length) {
      EXPECT_NE(error_of(archive.substr(0, length)).find("archive is cut short"), std::string::npos)
          << length << ": " << error_of(archive.substr(0, length));
    }
  }
  const std::string large = gzip(long_text());
  EXPECT_NE(error_of(large.substr(0, large.size() - 1)).find("cut short"), std::string::npos);
  EXPECT_NE(error_of(large.substr(0, large.size() / 2)).find("cut short"), std::string::npos);
}

TEST(InputFile, RefusesDamagedArchives) {
  for (std::string archive : {gzip(long_text()), zstd(long_text())}) {
    archive[archive.size() / 2] = static_cast<char>(archive[archive.size() / 2] ^ 0x10);
    archive[archive.size() / 2 + 1] = static_cast<char>(archive[archive.size() / 2 + 1] ^ 0x11);
    const std::string error = error_of(archive);
    EXPECT_TRUE(error.starts_with("f: the ")) << error;
    EXPECT_NE(error.find("fetch the file again"), std::string::npos) << error;
  }
  EXPECT_NE(error_of(gzip("a") + "rest").find("damaged"), std::string::npos);
}

TEST(InputFile, SaysWhatIsWrongWithAnArchive) {
  const std::string_view cut = " archive is cut short, expected its end; fetch the file again";
  const std::string_view whole = "), expected a whole one; fetch the file again";
  for (const bool is_gzip : {true, false}) {
    const std::string archive = is_gzip ? gzip("a") : zstd("a");
    const std::string kind = is_gzip ? "f: the gzip" : "f: the zstd";
    EXPECT_EQ(error_of(archive.substr(0, archive.size() - 1)), std::string(kind).append(cut));
    // Only another whole archive may follow an archive.
    EXPECT_EQ(error_of(archive + archive.substr(0, 5)), std::string(kind).append(cut));
    const std::string_view reason = is_gzip ? "incorrect header check" : "Unknown frame descriptor";
    EXPECT_EQ(error_of(archive + "rest"),
              std::string(kind).append(" archive is damaged (").append(reason).append(whole));
  }
  std::string archive = gzip("abcdefgh");
  archive[archive.size() - 8] ^= 1;
  EXPECT_EQ(error_of(archive),
            std::string("f: the gzip archive is damaged (incorrect data check").append(whole));
}

// 300 MiB of equal bytes.
TEST(InputFile, RefusesArchivesThatExpandAsNoDataDo) {
  const std::string mib(std::size_t{1} << 20U, 'x');
  for (const std::string& piece : {gzip(mib), zstd(mib)}) {
    std::string bomb;
    for (int i = 0; i < 300; ++i) bomb += piece;
    std::istringstream file(bomb);
    const auto in = open_input(file, "f");
    std::string error;
    std::size_t bytes = 0;
    try {
      std::vector<char> buffer(mib.size());
      while (in->read(buffer.data(), static_cast<std::streamsize>(buffer.size()))) {
        bytes += buffer.size();
      }
    } catch (const InputError& e) {
      error = e.what();
    }
    EXPECT_NE(error.find("archive holds more than 200 times its own size"), std::string::npos)
        << error;
    EXPECT_GE(bytes, std::size_t{255} << 20U);
  }
}

TEST(InputFile, ReadersNameTheLineInsideAnArchive) {
  const test::TemporaryDirectory directory;
  const std::string text = "job,submit_s,solo_s\na,0,1\nb,-1,1\n";
  for (const auto& [name, bytes] : {std::pair{"t.csv", text}, std::pair{"t.csv.gz", gzip(text)},
                                    std::pair{"odd-name", zstd(text)}}) {
    const std::string path = directory.write(name, bytes);
    WorkloadKeys keys;
    try {
      read_job_csv(path, keys);
      ADD_FAILURE() << name;
    } catch (const InputError& e) {
      EXPECT_TRUE(std::string(e.what()).starts_with(path + ":3:3: column 'submit_s' is '-1'"))
          << e.what();
    }
  }
}

TEST(InputFile, FormsOfPairTablesAreKnownInsideAnArchive) {
  const test::TemporaryDirectory directory;
  const std::string text = "job_a,solo_k80_a\n";
  EXPECT_EQ(measurement_form(directory.write("t.csv.gz", gzip(text))), MeasurementForm::kGavel);
  EXPECT_EQ(measurement_form(directory.write("t.csv.zst", zstd(text))), MeasurementForm::kGavel);
}

TEST(InputFile, FirstBytesAreThoseOfTheText) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.write("t.gz", gzip(long_text()));
  EXPECT_EQ(first_bytes(path, "a file", 100), long_text().substr(0, 100));
  EXPECT_EQ(first_bytes(directory.write("s", "ab"), "a file", 100), "ab");
}

}  // namespace
}  // namespace corun::input_file_test
