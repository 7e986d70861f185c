#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The XML that an S3 server answers (Amazon S3 API Reference, ListObjectsV2 and "Error Responses").
namespace corun::inline support {

struct S3Listing {
  std::vector<std::string> keys;
  std::string next;  ///< continuation token of the next page; empty on the last one
};

/// A page of a listing; nothing for text that is none.
std::optional<S3Listing> s3_listing(std::string_view xml);

/// The text of the first element of that name that has no elements in it; empty if there is none.
std::string s3_element(std::string_view xml, std::string_view name);

/// A text as in a path or query of a signed request: all bytes but letters, digits and "-._~" become %XX, '/' stays where
/// `keeps_slash` (AWS General Reference, "Create a canonical request").
std::string s3_encoded(std::string_view text, bool keeps_slash);

}  // namespace corun::inline support
