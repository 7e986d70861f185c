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

/// HDF5 files of corun: attributes and tidy tables, every column with its unit and description, no
/// timestamps; equal rows give equal bytes. Files are built in memory, so writing throws
/// std::runtime_error only for lack of memory or a programming error.
///
/// The last line of a file is the SHA-256 of all before, which other readers of HDF5 ignore. Nothing of a
/// file is read before this sum is checked: the library may crash on a damaged file, or not notice.
///
/// The library is not thread-safe: hold hdf5_mutex() around every use of it.
namespace corun::inline results::hdf5 {

std::mutex& hdf5_mutex();

/// Throws std::runtime_error if a status of the library means failure; `doing` completes "could not
/// ...".
void check(herr_t status, const char* doing);

/// Owns an identifier of the HDF5 library.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  /// Throws as check() if `id` is negative, the library's mark of failure.
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

/// Stops the library from printing its error stack; errors become exceptions.
void silence_hdf5();

void write_attribute(hid_t object, const std::string& name, std::int64_t value);
void write_attribute(hid_t object, const std::string& name, std::uint64_t value);
void write_attribute(hid_t object, const std::string& name, double value);
/// Text of variable length, which h5py reads as str and which may exceed 64 KiB.
void write_attribute(hid_t object, const std::string& name, const std::string& value);
void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& value);

enum class Kind : std::uint8_t { kInt32, kInt64, kReal, kBool, kText };

struct Column {
  std::string name;
  Kind kind;
  std::string units;  ///< empty if there is none (text, bool)
  std::string description;
  std::size_t width = 0;  ///< of text, in bytes

  std::size_t bytes() const;
  Handle type() const;
};

/// Bytes of the longest text, at least 1 because HDF5 has no text of width 0.
template <typename Range, typename Text>
std::size_t width_of(const Range& range, Text text) {
  std::size_t width = 1;
  for (const auto& item : range) width = std::max(width, text(item).size());
  return width;
}

/// One table. Put values in the order of the columns, row after row; they go to the file chunk by
/// chunk. Call finish() after the last row: before, the dataset may not exist. A value that its column cannot
/// hold, a number beyond 32 bits or a text beyond the width, is a std::logic_error.
class Table {
 public:
  /// `deflate` off for columns of noisy reals, which compress slowly and hardly shrink.
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
  [[noreturn]] void refuse(const std::string& what) const;

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

/// A column of a table whose rows come from objects of type Row: what the file says of it, and its value.
template <typename Row>
struct ColumnOf {
  Column column;
  std::function<void(Table&, const Row&)> put;
};

/// Makes the columns of a table: Columns<JobRow>::real("submit_s", "s", "submitted", [](const JobRow& row) {...}).
template <typename Row>
struct Columns {
  using List = std::vector<ColumnOf<Row>>;

  template <typename Get>
  static ColumnOf<Row> int32(std::string name, std::string description, Get get) {
    return whole(Kind::kInt32, std::move(name), std::move(description), get);
  }
  template <typename Get>
  static ColumnOf<Row> int64(std::string name, std::string description, Get get) {
    return whole(Kind::kInt64, std::move(name), std::move(description), get);
  }
  template <typename Get>
  static ColumnOf<Row> real(std::string name, std::string units, std::string description, Get get) {
    return {{std::move(name), Kind::kReal, std::move(units), std::move(description)},
            [get](Table& table, const Row& row) { table.real(get(row)); }};
  }
  template <typename Get>
  static ColumnOf<Row> flag(std::string name, std::string description, Get get) {
    return {{std::move(name), Kind::kBool, "", std::move(description)},
            [get](Table& table, const Row& row) { table.flag(get(row)); }};
  }
  /// `width`: of the longest text [bytes].
  template <typename Get>
  static ColumnOf<Row> text(std::string name, std::string description, std::size_t width, Get get) {
    return {{std::move(name), Kind::kText, "", std::move(description), width},
            [get](Table& table, const Row& row) { table.text(get(row)); }};
  }

 private:
  /// A whole number or the number of an enumerator; it has the unit 1.
  template <typename Get>
  static ColumnOf<Row> whole(Kind kind, std::string name, std::string description, Get get) {
    return {{std::move(name), kind, "1", std::move(description)},
            [get](Table& table, const Row& row) {
              table.integer(static_cast<std::int64_t>(get(row)));
            }};
  }
};

/// A table that is filled from rows.
template <typename Row>
class TableOf {
 public:
  TableOf(hid_t file, const char* name, const char* description, std::vector<ColumnOf<Row>> columns,
          bool deflate = true)
      : table_(file, name, description, columns_of(columns), deflate),
        columns_(std::move(columns)) {}

  hid_t id() const { return table_.id(); }
  void add(const Row& row) {
    for (const ColumnOf<Row>& column : columns_) column.put(table_, row);
  }
  void finish() { table_.finish(); }

 private:
  static std::vector<Column> columns_of(const std::vector<ColumnOf<Row>>& columns) {
    std::vector<Column> all;
    for (const ColumnOf<Row>& column : columns) all.push_back(column.column);
    return all;
  }

  Table table_;
  std::vector<ColumnOf<Row>> columns_;
};

/// The bytes of a file that `fill` writes into, with its checksum. The caller writes them to disk, because
/// the library gives no reason when a disk is full and leaves the file half closed. Locks hdf5_mutex().
std::string file_image(const std::function<void(hid_t file)>& fill);

// Reading: throws std::runtime_error for a missing object or another type.

/// Opens a file of corun for reading. Throws InputError, which begins with the path, if the file cannot be
/// read, has no checksum or another than its own.
Handle open_file(const std::string& path);
std::string read_text_attribute(hid_t object, const char* name);
std::vector<std::string> read_texts_attribute(hid_t object, const char* name);
std::int64_t read_integer_attribute(hid_t object, const char* name);
std::uint64_t read_unsigned_attribute(hid_t object, const char* name);
double read_real_attribute(hid_t object, const char* name);
bool has_attribute(hid_t object, const char* name);
/// Whether the file has a table (or group) of this name.
bool has_table(hid_t file, const char* name);

/// Rows [first, first + count) of a table.
struct RowRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Reads a table by column; one value per row. Without a range, all rows.
class TableReader {
 public:
  TableReader(hid_t file, const char* name);

  hid_t id() const { return data_; }
  std::size_t rows() const { return rows_; }
  bool has_column(const std::string& column) const;
  /// Names of all columns, in their order.
  std::vector<std::string> columns() const;
  /// Attribute COLUMN_description; empty if there is none.
  std::string description(const std::string& column) const;
  std::vector<double> reals(const std::string& column) const;
  std::vector<double> reals(const std::string& column, RowRange rows) const;
  std::vector<std::int64_t> integers(const std::string& column) const;
  std::vector<std::int64_t> integers(const std::string& column, RowRange rows) const;
  std::vector<std::string> texts(const std::string& column) const;
  std::vector<std::string> texts(const std::string& column, RowRange rows) const;
  /// Booleans, 0 or 1.
  std::vector<std::uint8_t> flags(const std::string& column, RowRange rows) const;

 private:
  Handle member_type(const std::string& column, H5T_class_t wanted) const;
  void read(const std::string& column, hid_t type, std::size_t bytes, RowRange rows,
            void* out) const;

  Handle data_;
  Handle type_;
  std::size_t rows_ = 0;
};

}  // namespace corun::inline results::hdf5
