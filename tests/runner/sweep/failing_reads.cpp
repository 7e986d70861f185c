#include "tests/runner/sweep/failing_reads.hpp"

#include <atomic>
#include <cerrno>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::atomic<ino_t> broken_file{0};
std::atomic<off_t> broken_byte{0};

}  // namespace

// The program's own definition comes before the C library's.
extern "C" ssize_t pread(int file, void* buffer, size_t bytes, off_t offset) {
  struct stat found {};
  if (broken_file != 0 && fstat(file, &found) == 0 && found.st_ino == broken_file &&
      offset <= broken_byte && broken_byte < offset + static_cast<off_t>(bytes)) {
    errno = EIO;
    return -1;
  }
  return syscall(SYS_pread64, file, buffer, bytes, offset);
}

namespace corun::test {

FailingReads::FailingReads(const std::string& path, std::size_t offset) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return;
  broken_byte = static_cast<off_t>(offset);
  broken_file = found.st_ino;
}

FailingReads::~FailingReads() { broken_file = 0; }

}  // namespace corun::test
