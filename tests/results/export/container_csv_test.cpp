#include "results/export/container_csv.hpp"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"

namespace corun::container_csv_test {
namespace {

using Words = std::vector<std::string>;

/// `field` is a field of CSV without commas and double quotes.
Words words(const std::string& field) {
  std::istringstream in("job,image,args\nj,i," + field + "\n");
  return read_container_csv(in, "c.csv").jobs.at("j").args;
}

TEST(ContainerCsv, CommandAndArgsMayBeLeftOut) {
  std::istringstream in("image,job\nrepo/a:1,a\nrepo/b,b\n");
  const ContainerTable table = read_container_csv(in, "c.csv");
  EXPECT_EQ(table.name, "c.csv");
  EXPECT_EQ(table.jobs.size(), 2U);
  EXPECT_EQ(table.jobs.at("a").image, "repo/a:1");
  EXPECT_TRUE(table.jobs.at("a").command.empty());
  EXPECT_TRUE(table.jobs.at("a").args.empty());
}

TEST(ContainerCsv, WordsAreThoseOfAShellWithoutItsExpansions) {
  EXPECT_EQ(words("  a   b "), (Words{"a", "b"}));
  EXPECT_EQ(words("'a b'c ''"), (Words{"a bc", ""}));
  EXPECT_EQ(words("a\\ b \\\\ \\'"), (Words{"a b", "\\", "'"}));
  EXPECT_EQ(words("'a\\b' $HOME *"), (Words{"a\\b", "$HOME", "*"}));
  // Quotes doubled, as CSV requires.
  EXPECT_EQ(words("\"\"\"a \\\"\" \\\\ \\n\"\"\""), (Words{"a \" \\ \\n"}));
  EXPECT_TRUE(words("   ").empty());
}

TEST(ContainerCsv, RefusesWithThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"job,image\n,i\n", "c.csv:2:1: column 'job' is empty"},
      {"job,image\na,\n", "c.csv:2:3: column 'image' is empty"},
      {"job,image\na,b c\n", "c.csv:2:3: column 'image' is 'b c', expected the image"},
      {"job,image\na,i\na,i\n", "c.csv:3:1: job 'a' is listed twice"},
      {"job,image,args\na,i,it's\n", "c.csv:2:5: column 'args' is 'it's', expected words"},
      {"job,image,command\na,i,x\\\n", "c.csv:2:5: column 'command' is 'x\\', expected words"},
      {"job,picture\na,i\n", "c.csv:1:5: "},
  };
  for (const auto& [text, begin] : cases) {
    std::istringstream in(text);
    try {
      read_container_csv(in, "c.csv");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const InputError& e) {
      EXPECT_EQ(std::string(e.what()).rfind(begin, 0), 0U) << e.what();
    }
  }
}

}  // namespace
}  // namespace corun::container_csv_test
