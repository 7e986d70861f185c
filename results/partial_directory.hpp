#pragma once

#include <cstddef>
#include <string>

/// The directory `<path>.partial` beside a results file that is being written. A lock on the
/// directory keeps two programs from writing the same file.
///
/// Parts that a killed run left in it are moved aside to `<path>.partial.1` (or .2, ...), never deleted.
namespace corun::inline results {

class PartialDirectory {
 public:
  /// Makes and locks the directory. Throws InputError, which begins with `place` (the flag that
  /// named `target`), if something else has that name, another program is writing `target`, or
  /// parts of a killed run cannot be moved.
  PartialDirectory(const std::string& target, const char* place);
  ~PartialDirectory();
  PartialDirectory(const PartialDirectory&) = delete;
  PartialDirectory& operator=(const PartialDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// One line for the user about parts of killed runs that were or are kept aside; usually empty.
  const std::string& notice() const { return notice_; }

  /// The path of the part of this number, from 0.
  std::string part_path(std::size_t number) const;

  /// Removes parts and temporary files, then the directory if it is empty.
  void remove() const;

 private:
  bool lock(const std::string& target);
  void unlock();
  bool move_aside();
  void name_kept();

  const char* place_;
  std::string path_;
  std::string moved_;  ///< where the parts of the last killed run are now; empty: there were none
  std::string notice_;
  int fd_ = -1;
};

}  // namespace corun::inline results
