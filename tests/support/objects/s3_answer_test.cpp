#include "support/objects/s3_answer.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

/// What S3 servers answer; the requests are those of test sweep_s3.
namespace corun::s3_answer_test {
namespace {

TEST(S3Answer, AListingHasKeysAndTheNextPage) {
  const auto page = s3_listing(
      "<?xml version=\"1.0\"?>\n<ListBucketResult "
      "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
      "<Prefix>a</Prefix><Contents><Key>a/1</Key><Size>3</Size></Contents>"
      "<Contents><Key>a/x "
      "&amp;&#38;&#x26;&lt;&quot;</Key></Contents><IsTruncated>true</IsTruncated>"
      "<NextContinuationToken>t&gt;=</NextContinuationToken></ListBucketResult>");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->keys, (std::vector<std::string>{"a/1", "a/x &&&<\""}));
  EXPECT_EQ(page->next, "t>=");
  const auto empty = s3_listing(
      "<ListBucketResult><IsTruncated>false</IsTruncated>"
      "<NextContinuationToken>x</NextContinuationToken></ListBucketResult>");
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->keys.empty());
  EXPECT_EQ(empty->next, "");
}

TEST(S3Answer, WhatIsNoListingIsRefused) {
  for (const char* text :
       {"", "<html>hello</html>", "<ListBucketResult><Contents><Key>a</Key>",
        "<ListBucketResult><Key>a<b/></Key></ListBucketResult>",
        "<ListBucketResult><Key>a&unknown;</Key></ListBucketResult>",
        "<ListBucketResult><Key>a&#300;</Key></ListBucketResult>",
        "<ListBucketResult><Key>a&#38</Key></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"}) {
    EXPECT_FALSE(s3_listing(text)) << text;
  }
}

TEST(S3Answer, AnErrorHasACode) {
  const std::string error =
      "<Error><Code>NoSuchBucket</Code><Message>no &lt;b&gt;</Message></Error>";
  EXPECT_EQ(s3_element(error, "Code"), "NoSuchBucket");
  EXPECT_EQ(s3_element(error, "Message"), "no <b>");
  EXPECT_EQ(s3_element(error, "Resource"), "");
  EXPECT_EQ(s3_element("<Code>", "Code"), "");
}

TEST(S3Answer, PathsAreEncodedAsSignaturesWantIt) {
  EXPECT_EQ(s3_encoded("a b/c~d-e.f_g+%", true), "a%20b/c~d-e.f_g%2B%25");
  EXPECT_EQ(s3_encoded("a/\xc3\xa4", false), "a%2F%C3%A4");
}

}  // namespace
}  // namespace corun::s3_answer_test
