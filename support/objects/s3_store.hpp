#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "support/objects/object_store.hpp"

/// A store in a bucket of a server that speaks S3, by libcurl with signatures of version 4 (docs/sweeps.md names the
/// environment variables that say where it is and who asks).
namespace corun::inline support {

/// Whether a place is one in a bucket: "s3://BUCKET" or "s3://BUCKET/PREFIX".
bool is_s3_place(std::string_view place);

/// Opens it, and lists the bucket's first objects to see that it is there. InputError, which begins with `flag`, if the
/// place, an environment variable or libcurl is amiss; what the server refuses begins with the place.
///
/// put_once() looks first, then asks for a conditional put (If-None-Match: *). A server that has none writes in any case:
/// of two writers at the same instant the last one wins, and both believe that they made the object. Requests that fail on
/// the way or by the server's fault (5xx, 429) are repeated after 0.2 s, 0.4 s, ... 12.8 s; the first request of a store
/// three times only, since an address may be wrong.
std::unique_ptr<ObjectStore> open_s3_store(const std::string& place, const std::string& flag);

}  // namespace corun::inline support
