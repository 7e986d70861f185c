#include "runner/config/enum_names.hpp"

#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "runner/config/config_enums.hpp"
#include "runner/config/model_choice.hpp"

namespace corun::enum_names_test {
namespace {

template <typename E>
class EnumTable : public testing::Test {};

using Enums = testing::Types<QueueOrder, MissingProfiles, SharingMode, EstimateKind, ControlMode,
                             PlanMode, StartMode, TickRule, ProfilingMode, WorldKind, BeliefKind>;
TYPED_TEST_SUITE(EnumTable, Enums);

TYPED_TEST(EnumTable, EachWordNamesItsValue) {
  std::set<std::string_view> words;
  for (const EnumName<TypeParam>& entry : EnumNames<TypeParam>::kTable) {
    EXPECT_EQ(name_of(entry.value), entry.word);
    EXPECT_EQ(parse_enum<TypeParam>(entry.word), entry.value);
    EXPECT_TRUE(words.insert(entry.word).second) << entry.word;
  }
  const auto all = words_of<TypeParam>();
  EXPECT_EQ(words, std::set<std::string_view>(all.begin(), all.end()));
  EXPECT_EQ(words.size(), all.size());
}

TYPED_TEST(EnumTable, NothingElseIsAValueOrAWord) {
  const std::string first(words_of<TypeParam>().front());
  for (const std::string& word : {std::string(), std::string("foo"), first + " ", first + "x",
                                  first.substr(0, first.size() - 1), std::string("NONE")}) {
    EXPECT_FALSE(parse_enum<TypeParam>(word)) << word;
  }
  const std::size_t beyond = EnumNames<TypeParam>::kTable.size();
  EXPECT_THROW(name_of(static_cast<TypeParam>(beyond)), std::logic_error);
}

// is_in_order() does not notice a table that lacks its last values.
TEST(EnumTables, HoldTheLastValueOfTheEnginesEnums) {
  EXPECT_EQ(name_of(StartMode::kJoin), "join");
  EXPECT_EQ(name_of(TickRule::kProgress), "progress");
  EXPECT_EQ(name_of(ProfilingMode::kPredictor), "predictor");
}

}  // namespace
}  // namespace corun::enum_names_test
