#include "live/jobs/solo_csv.hpp"

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/temporary_directory.hpp"

namespace corun::live::solo_csv_test {
namespace {

TEST(SoloCsv, PackingLabelsAreOptional) {
  const test::TemporaryDirectory directory;
  const auto rows =
      read_solo_csv(directory.write("solo.csv", "job,solo_s,packing_label\na,9,1\nb,9,\n"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].profile.packing_label, 1);
  EXPECT_FALSE(rows[1].profile.packing_label);
  EXPECT_THROW(read_solo_csv(directory.write("bad.csv", "job,solo_s,packing_label\na,9,3\n")),
               InputError);
}

}  // namespace
}  // namespace corun::live::solo_csv_test
