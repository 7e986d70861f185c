#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hdf5.h>

/// HDF5 files as corun writes them: attributes and tidy tables, every column with its unit and
/// description, no clock anywhere, equal rows in equal bytes. What fails here is memory or a
/// mistake of ours (std::runtime_error), never the disk: files are built in memory.
///
/// The library is not safe for threads: hold hdf5_mutex() around every use of it.
namespace corun::hdf5 {

std::mutex& hdf5_mutex();

/// Throws when an identifier or status of the library says that it failed.
void check(herr_t status, const char* doing);

/// Owns an identifier of the HDF5 library.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle(hid_t id, Close close, const char* doing);
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle& operator=(Handle&&) = delete;

  operator hid_t() const { return id_; }  // NOLINT: the library's functions take the identifier

 private:
  hid_t id_;
  Close close_;
};

/// The library prints its error stack unless told not to; ours are exceptions.
void silence_hdf5();

void write_attribute(hid_t object, const std::string& name, std::int64_t value);
void write_attribute(hid_t object, const std::string& name, std::uint64_t value);
void write_attribute(hid_t object, const std::string& name, double value);
/// Of variable length: those reach h5py as str, and may be longer than 64 KiB.
void write_attribute(hid_t object, const std::string& name, const std::string& value);
void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& value);

enum class Kind : std::uint8_t { kInt32, kInt64, kReal, kBool, kText };

struct Column {
  std::string name;
  Kind kind;
  std::string units;  ///< empty where there is none (text, bool)
  std::string description;
  std::size_t width = 0;  ///< of text, in bytes

  std::size_t bytes() const;
  Handle type() const;
};

/// Wide enough for the longest text; HDF5 has no text of width 0.
template <typename Range, typename Text>
std::size_t width_of(const Range& range, Text text) {
  std::size_t width = 1;
  for (const auto& item : range) width = std::max(width, text(item).size());
  return width;
}

/// One table: values are put in the order of the columns, row after row, and go to the file chunk
/// by chunk. finish() after the last row; only then is the dataset sure to be there.
class Table {
 public:
  /// `deflate` off: for columns of noisy reals, which take long to compress and stay as long.
  Table(hid_t file, const char* name, const char* description, std::vector<Column> columns,
        bool deflate = true);

  hid_t id() const { return *data_; }

  Table& integer(std::int64_t value);
  Table& real(double value);
  Table& flag(bool value);
  Table& text(std::string_view value);
  void finish();

 private:
  Handle make_type();
  void make_dataset(std::size_t rows);
  Table& put(const void* value, std::size_t size);
  Table& column_done();
  void write_rows();

  hid_t file_;
  const char* name_;
  const char* description_;
  std::vector<Column> columns_;
  bool deflate_;
  std::size_t row_bytes_ = 0;
  std::size_t chunk_rows_ = 0;
  Handle type_;
  std::optional<Handle> data_;
  std::string buffer_;  ///< rows not yet in the file, packed
  std::size_t next_ = 0;
  hsize_t written_ = 0;
};

/// The bytes of a file that `fill` writes into, to be written by us: the library keeps a
/// half-closed file when a disk is full, and gives no reason. Takes the mutex.
std::string file_image(const std::function<void(hid_t file)>& fill);

// Reading: throws std::runtime_error for what is not there or of another type.

Handle open_file(const std::string& path);
std::string read_text_attribute(hid_t object, const char* name);
std::int64_t read_integer_attribute(hid_t object, const char* name);

/// A table as columns.
class TableReader {
 public:
  TableReader(hid_t file, const char* name);

  std::size_t rows() const { return rows_; }
  std::vector<double> reals(const std::string& column) const;
  std::vector<std::int64_t> integers(const std::string& column) const;
  std::vector<std::string> texts(const std::string& column) const;

 private:
  Handle member_type(const std::string& column, H5T_class_t wanted) const;
  void read(const std::string& column, hid_t type, std::size_t bytes, void* out) const;

  Handle data_;
  Handle type_;
  std::size_t rows_ = 0;
};

}  // namespace corun::hdf5
