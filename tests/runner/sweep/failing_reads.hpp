#pragma once

#include <cstddef>
#include <string>

namespace corun::test {

/// While it lives, pread() of this file fails as on a broken disk (EIO) if it asks for the byte at `offset`.
/// One at a time.
class FailingReads {
 public:
  FailingReads(const std::string& path, std::size_t offset);
  ~FailingReads();
  FailingReads(const FailingReads&) = delete;
  FailingReads& operator=(const FailingReads&) = delete;
};

}  // namespace corun::test
