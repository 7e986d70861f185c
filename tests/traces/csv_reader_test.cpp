#include "traces/csv_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun::csv_reader_test {
namespace {

const std::vector<CsvColumn> kColumns = {{"job", true}, {"solo_s", true}, {"gpus"}, {"note"}};
constexpr NumberRule kSeconds{"a number of seconds", 0};
constexpr IntegerRule kGpus{"a whole number of GPUs", 1, 8};

struct Row {
  std::string job;
  double solo_s = 0;
  std::optional<std::int64_t> gpus;
  std::string note;
  std::size_t line = 0;
  friend bool operator==(const Row&, const Row&) = default;
};

std::vector<Row> read(const std::string& text) {
  std::istringstream in(text);
  CsvReader csv(in, "t.csv", kColumns);
  std::vector<Row> rows;
  while (csv.next()) {
    rows.push_back({std::string(csv.required_text(csv.column("job"), "the name of a job")),
                    csv.required_number(csv.column("solo_s"), kSeconds),
                    csv.integer(csv.column("gpus"), kGpus),
                    std::string(csv.text(csv.column("note"))), csv.line()});
  }
  return rows;
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CsvReader, ReadsColumnsByNameInAnyOrder) {
  EXPECT_EQ(read("gpus,solo_s,job\n2,1.5,a\n,7,b\n"),
            (std::vector<Row>{{"a", 1.5, 2, "", 2}, {"b", 7, std::nullopt, "", 3}}));
}

TEST(CsvReader, KnowsWhichColumnsTheHeaderHas) {
  std::istringstream in("job,solo_s\n");
  const CsvReader csv(in, "t.csv", kColumns);
  EXPECT_TRUE(csv.has(csv.column("solo_s")));
  EXPECT_FALSE(csv.has(csv.column("gpus")));
  EXPECT_THROW(csv.column("no such"), std::logic_error);
}

TEST(CsvReader, ToleratesByteOrderMarkCrLfAndMissingLastLineEnd) {
  const std::vector<Row> expected = {{"a", 1, 1, "x", 2}, {"b", 2, std::nullopt, "", 3}};
  for (const std::string mark : {"", "\xef\xbb\xbf"}) {
    for (const std::string eol : {"\n", "\r\n"}) {
      for (const std::string& last : {std::string(), eol}) {
        std::string text = mark;
        text.append("job,solo_s,gpus,note").append(eol).append("a,1,1,x").append(eol);
        text.append("b,2,,").append(last);
        EXPECT_EQ(read(text), expected);
      }
    }
  }
}

TEST(CsvReader, UnquotesAndCountsTheLinesInsideQuotes) {
  std::istringstream in("job,solo_s,note\n\"a,\"\"b\"\"\",1,\"two\r\nlines\"\n\"\",\"2\",ünï\n");
  CsvReader csv(in, "t.csv", kColumns);
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.text(csv.column("job")), "a,\"b\"");
  try {
    csv.text(csv.column("note"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "t.csv:2:13: column 'note' is 'two\\x0d\\x0alines', expected text on one line, "
                 "without tabs; correct it or leave it empty");
  }
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.line(), 4u);
  EXPECT_EQ(csv.text(csv.column("job")), "");
  EXPECT_EQ(csv.required_number(csv.column("solo_s"), kSeconds), 2);
  EXPECT_EQ(csv.text(csv.column("note")), "ünï");
  EXPECT_FALSE(csv.next());
  EXPECT_FALSE(csv.next());
}

TEST(CsvReader, ReadsOtherSeparatorsAndIgnoresUnknownColumnsWhenAsked) {
  std::istringstream in("solo_s\tuser\tjob\n1\tx,y\ta\n");
  CsvReader csv(in, "t.tsv", kColumns, {'\t', true});
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.text(csv.column("job")), "a");
}

// Each mistake with the exact place. "..." at the end stands for any rest.
TEST(CsvReader, ReadsColumnsThatOnlyTheHeaderKnew) {
  std::istringstream in("extra,job,\"a, b\"\n1,x,2\n");
  CsvReader csv(in, "t.csv", {{"job", true}}, {',', true});
  EXPECT_EQ(csv.header(), (std::vector<std::string>{"extra", "job", "a, b"}));
  const auto last = csv.add_column("a, b");
  EXPECT_EQ(csv.add_column("a, b"), last);
  EXPECT_EQ(csv.add_column("job"), csv.column("job"));
  EXPECT_EQ(csv.place(last), "t.csv:1:11");
  EXPECT_THROW(csv.add_column("none"), std::logic_error);
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.number(last, kSeconds), 2);
  EXPECT_EQ(csv.number(csv.add_column("extra"), kSeconds), 1);
  EXPECT_EQ(csv.text(csv.column("job")), "x");
}

TEST(CsvReader, KnowsColumnsByTheBeginningsOfTheirNames) {
  std::istringstream in("x@b,job,theirs,x@a,solo_s,y@a\n1,j,2,,3,4\n");
  CsvReader csv(in, "t.csv", kColumns,
                {.ignore_unknown = true, .renamed = {{"theirs", "x@c", 10}}, .beginnings = {"x@"}});
  std::vector<std::string> names;
  for (const CsvReader::NamedColumn& column : csv.begun_columns()) names.emplace_back(column.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x@b", "x@c", "x@a"}));
  EXPECT_EQ(csv.unknown(), (std::vector<std::string>{"y@a"}));
  EXPECT_EQ(csv.place(csv.begun_columns()[2].column), "t.csv:1:16");
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.number(csv.begun_columns()[0].column, kSeconds), 1);
  EXPECT_EQ(csv.number(csv.begun_columns()[1].column, kSeconds), 20);
  EXPECT_EQ(csv.number(csv.begun_columns()[2].column, kSeconds), std::nullopt);
  EXPECT_EQ(csv.text(csv.column("job")), "j");
}

TEST(CsvReader, NamesThePlaceOfEveryMistake) {
  const std::string nul("job,solo_s\na,1\nb\0,2\n", 19);
  const std::vector<std::pair<std::string, std::string>> cases = {
      // The header.
      {"", "t.csv:1:1: the file is empty, expected a header line with job, solo_s; write one"},
      {"\xef\xbb\xbf", "t.csv:1:1: the file is empty..."},
      {"\xef\xbbjob", "t.csv:1:1: byte 0xef is not text..."},
      {"\n", "t.csv:1:1: unknown column ''..."},
      {"job\n",
       "t.csv:1:1: the header has no column 'solo_s', expected at least job, solo_s; add "
       "it"},
      {"gpus\n",
       "t.csv:1:1: the header has no columns 'job', 'solo_s', expected at least job, solo_s; add "
       "them"},
      {"job,slo_s\n",
       "t.csv:1:5: unknown column 'slo_s', expected columns among job, solo_s, gpus, "
       "note; did you mean 'solo_s'?"},
      {"job,solo_s, gpus\n",
       "t.csv:1:12: unknown column ' gpus', expected columns among job, "
       "solo_s, gpus, note; did you mean 'gpus'?"},
      {"job;solo_s\n", "t.csv:1:1: unknown column 'job;solo_s'..."},
      {"job,solo_s,gpus,solo_s,job\n",
       "t.csv:1:17: column 'solo_s' is named a second time (first "
       "at column 5), expected each once; remove one"},
      {"\"job\n", "t.csv:1:1: the quote is never closed..."},
      // The shape of rows.
      {"job,solo_s\na\n",
       "t.csv:2:1: the row has 1 field, expected 2 fields as in the header; add what is missing"},
      {"job,solo_s\na,1\n\nb,2\n",
       "t.csv:3:1: the line is empty, expected 2 fields as in the header; remove it"},
      {"job,solo_s\na,1,5\n",
       "t.csv:2:5: the row goes on after 2 fields, expected 2 as in the "
       "header; remove the rest..."},
      {"job,solo_s\na,1,\n", "t.csv:2:5: the row goes on after 2 fields..."},
      {"job,solo_s\na,1\nb,\"2\n3\n",
       "t.csv:3:3: the quote is never closed, expected a closing "
       "quote before the end of the file; close it"},
      {"job,solo_s\n\"a\"b,1\n", "t.csv:2:4: text after the closing quote..."},
      {"job,solo_s\n\"a\"\rb,1\n", "t.csv:2:4: text after the closing quote..."},
      {"job,solo_s\na\"b,1\n", "t.csv:2:2: a quote inside a bare field..."},
      {"job,solo_s\ra,1\r", "t.csv:1:11: a carriage return without a line feed..."},
      {"job,solo_s\na,1\r", "t.csv:2:4: a carriage return without a line feed..."},
      // Bytes.
      {nul,
       "t.csv:3:2: byte 0x00 is not text, expected UTF-8 without control characters; is this "
       "a CSV file?"},
      {"job,solo_s\n\x1b[31m,1\n", "t.csv:2:1: byte 0x1b is not text..."},
      {"job,solo_s\na\x7f,1\n", "t.csv:2:2: byte 0x7f is not text..."},
      {"job,solo_s\n\xff,1\n", "t.csv:2:1: byte 0xff is not text..."},
      {"job,solo_s\n\xc3,1\n", "t.csv:2:1: byte 0xc3 is not text..."},
      {"job,solo_s\n\xc0\x80,1\n", "t.csv:2:1: byte 0xc0 is not text..."},
      {"job,solo_s\n\xed\xa0\x80,1\n", "t.csv:2:1: byte 0xed is not text..."},
      {"job,solo_s\n\xc2\x9b,1\n", "t.csv:2:1: byte 0xc2 is not text..."},
      {"job,solo_s\n\"\xe2\x82", "t.csv:2:2: byte 0xe2 is not text..."},
      {"\xff\xfej\0", "t.csv:1:1: byte 0xff is not text..."},
      // Numbers.
      {"job,solo_s\na,abc\n",
       "t.csv:2:3: column 'solo_s' is 'abc', expected a number of seconds, "
       "0 or more; correct it"},
      {"job,solo_s\na,\n",
       "t.csv:2:3: column 'solo_s' is empty, expected a number of seconds, 0 or "
       "more; fill it in"},
      {"job,solo_s\na,-1\n", "t.csv:2:3: column 'solo_s' is '-1', expected a number of seconds..."},
      {"job,solo_s\na,nan\n", "t.csv:2:3: column 'solo_s' is 'nan'..."},
      {"job,solo_s\na,inf\n", "t.csv:2:3: column 'solo_s' is 'inf'..."},
      {"job,solo_s\na,-inf\n", "t.csv:2:3: column 'solo_s' is '-inf'..."},
      {"job,solo_s\na,1e999\n", "t.csv:2:3: column 'solo_s' is '1e999'..."},
      {"job,solo_s\na,0x10\n", "t.csv:2:3: column 'solo_s' is '0x10'..."},
      {"job,solo_s\na,+1\n", "t.csv:2:3: column 'solo_s' is '+1'..."},
      {"job,solo_s\na, 1\n", "t.csv:2:3: column 'solo_s' is ' 1'..."},
      {"job,solo_s\na,1 s\n", "t.csv:2:3: column 'solo_s' is '1 s'..."},
      {"job,solo_s\na,1e\n", "t.csv:2:3: column 'solo_s' is '1e'..."},
      {"job,solo_s\na,.\n", "t.csv:2:3: column 'solo_s' is '.'..."},
      {"job,solo_s\na,\"1,5\"\n", "t.csv:2:3: column 'solo_s' is '1,5'..."},
      {"job,solo_s,gpus\na,1,0\n",
       "t.csv:2:5: column 'gpus' is '0', expected a whole number of "
       "GPUs, from 1 to 8; correct it or leave it empty"},
      {"job,solo_s,gpus\na,1,1.0\n", "t.csv:2:5: column 'gpus' is '1.0'..."},
      {"job,solo_s,gpus\na,1,9\n", "t.csv:2:5: column 'gpus' is '9'..."},
      {"job,solo_s,gpus\na,1,99999999999999999999\n",
       "t.csv:2:5: column 'gpus' is '99999999999999999999'..."},
      // Text.
      {"job,solo_s\n,1\n",
       "t.csv:2:1: column 'job' is empty, expected the name of a job; fill it "
       "in"},
      {"job,solo_s,note\na,1,\"x\ny\"\n", "t.csv:2:5: column 'note' is 'x\\x0ay'..."},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_of(text);
    if (expected.ends_with("...")) {
      const std::string begin = expected.substr(0, expected.size() - 3);
      EXPECT_EQ(error.substr(0, begin.size()), begin) << text;
    } else {
      EXPECT_EQ(error, expected) << text;
    }
    EXPECT_EQ(error.find('\n'), std::string::npos) << text;
  }
}

TEST(CsvReader, BoundsTheRecord) {
  const std::string head = "job,solo_s\n";
  EXPECT_EQ(read(head + std::string(kMaxRecordBytes - 1, 'a') + ",1\n").size(), 1u);
  EXPECT_TRUE(error_of(head + std::string(kMaxRecordBytes + 1, 'a') + ",1\n")
                  .starts_with("t.csv:2:1: the record is longer than 1 MiB"));
  EXPECT_TRUE(error_of(head + "b,\"" + std::string(kMaxRecordBytes + 1, '\n'))
                  .starts_with("t.csv:2:3: the record is longer than 1 MiB"));
  EXPECT_TRUE(
      error_of(std::string(100000, ',')).starts_with("t.csv:1:4097: the row goes on after"));
  EXPECT_LT(error_of(head + "a," + std::string(1000, '9') + "x\n").size(), 200u);
}

TEST(CsvReader, RefusesFilesThatAreNone) {
  const auto folder = std::filesystem::path(testing::TempDir()) /
                      ("corun_csv_reader_test_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const auto error = [](const std::string& path) -> std::string {
    try {
      CsvReader csv(path, kColumns);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error(folder.string()),
            folder.string() + ": is a directory, expected a CSV file; name a file in it");
  const std::string missing = (folder / "missing.csv").string();
  EXPECT_EQ(error(missing), missing + ": no such file, expected a CSV file; check the path");
  EXPECT_EQ(error(""), "no such file, expected a CSV file; check the path");
  EXPECT_EQ(error(folder.string() + "/a\nb").find('\n'), std::string::npos);

  const std::string good = (folder / "good.csv").string();
  std::ofstream(good) << "job,solo_s\na,1\n";
  EXPECT_EQ(error(good), "no error");
  EXPECT_TRUE(error(good + "/x").starts_with(good + "/x: "));
  std::filesystem::remove_all(folder);
}

TEST(CsvReader, KeepsSecondsToTheNanosecond) {
  const auto seconds = [](const std::string& text, const NumberRule& rule) {
    std::istringstream in("job,solo_s\na," + text + "\n");
    CsvReader csv(in, "t.csv", kColumns);
    csv.next();
    return csv.required_seconds(csv.column("solo_s"), rule).count();
  };
  const std::vector<std::pair<std::string, std::int64_t>> cases = {
      {"0", 0},
      {"-0.0", 0},
      {"281.4", 281'400'000'000},
      {".5", 500'000'000},
      {"5.", 5'000'000'000},
      {"1e-9", 1},
      {"2.5e3", 2'500'000'000'000},
      {"0.0000000004", 0},
      {"0.0000000005", 1},
      {"0.9999999999", 1'000'000'000},
      {"0000001.000000001", 1'000'000'001},
      // A double near this one steps by 238 ns.
      {"1604275200.123456789", 1'604'275'200'123'456'789},
      {"4000000000", 4'000'000'000'000'000'000},
  };
  for (const auto& [text, ns] : cases) {
    EXPECT_EQ(seconds(text, kSeconds), ns) << text;
  }
  constexpr NumberRule kPositive{"a number of seconds", 0, 10, true};
  EXPECT_EQ(seconds("10", kPositive), 10'000'000'000);
  for (const std::string text : {"0", "-0", "1e-10", "0.0000000001", "10.1", "-1"}) {
    EXPECT_THROW(seconds(text, kPositive), InputError) << text;
  }
  EXPECT_THROW(seconds("4000000001", kSeconds), InputError);
}

TEST(CsvReader, WritesWhatItReads) {
  for (const std::string text : {"", "a", "a,b", "\"", "\"\"", " a ", "x\"y,z", "ünï", "'"}) {
    std::istringstream in("job,solo_s,note\na,1," + csv_text(text) + "\n");
    CsvReader csv(in, "t.csv", kColumns);
    ASSERT_TRUE(csv.next());
    EXPECT_EQ(csv.text(csv.column("note")), text);
  }
  for (const double value : {0.0, 0.1, 1.0 / 3, 1e-300, 1.7e308, 123456789.125, 5e-324}) {
    EXPECT_EQ(read("job,solo_s\na," + csv_number(value) + "\n").front().solo_s, value);
  }
  EXPECT_EQ(csv_number(std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(csv_number(std::optional<double>(0.5)), "0.5");
  EXPECT_EQ(csv_number(std::nullopt), "");
  EXPECT_EQ(csv_seconds(Duration{0}), "0");
  EXPECT_EQ(csv_seconds(Duration{1'500'000'000}), "1.5");
  EXPECT_EQ(csv_seconds(Duration{10'000'000'000}), "10");
  EXPECT_EQ(csv_seconds(Duration{1}), "0.000000001");
}

// The reader works in blocks of 64 KiB; results must not depend on their ends.
TEST(CsvReader, ReadsAcrossBlocks) {
  const std::string row = "\"ü,\"\"b\"\"\",1.25,3,ünï€\r\n";
  for (std::size_t shift = 0; shift < row.size(); ++shift) {
    std::string text = "job,solo_s,gpus,note\r\n" + std::string(shift + 1, 'p') + ",1,,\r\n";
    const std::size_t rows = 3 * 65536 / row.size();
    for (std::size_t i = 0; i < rows; ++i) text += row;
    const std::vector<Row> found = read(text);
    ASSERT_EQ(found.size(), rows + 1);
    for (std::size_t i = 1; i < found.size(); ++i) {
      ASSERT_EQ(found[i], (Row{"ü,\"b\"", 1.25, 3, "ünï€", i + 2})) << shift;
    }
    text += "a,b,,\n";
    EXPECT_TRUE(error_of(text).starts_with("t.csv:" + std::to_string(rows + 3) + ":3: ")) << shift;
  }
}

// Any damaged file is read or refused with one line; no other exception escapes.
TEST(CsvReader, SurvivesPrefixesAndMutations) {
  const std::string text =
      "\xef\xbb\xbfjob,solo_s,gpus,note\r\n\"a\"\"1\",1.5,2,ü\r\nb,2e3,,\"x, y\"\r\nc,0,8,\r\n";
  int refused = 0;
  const auto check = [&](const std::string& hostile) {
    try {
      read(hostile);
    } catch (const InputError& error) {
      ++refused;
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with("t.csv:")) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  };
  for (std::size_t n = 0; n <= text.size(); ++n) check(text.substr(0, n));
  for (std::uint64_t i = 0; i < 20000; ++i) {
    Rng rng(1, Stream::kTest, i);
    std::string hostile = text;
    for (std::uint32_t k = rng.below(4) + 1; k > 0 && !hostile.empty(); --k) {
      const std::size_t at = rng.below(static_cast<std::uint32_t>(hostile.size()));
      const char likely = "\",\n\r\0 -.e9\xff"[rng.below(12)];
      const char byte = rng.below(2) == 0 ? likely : static_cast<char>(rng.below(256));
      switch (rng.below(3)) {
        case 0:
          hostile[at] = byte;
          break;
        case 1:
          hostile.insert(at, 1, byte);
          break;
        default:
          hostile.erase(at, rng.below(5) + 1);
      }
    }
    check(hostile);
  }
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace corun::csv_reader_test
