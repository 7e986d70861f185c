#include "results/hdf5_table.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "sim/error.hpp"
#include "support/checksum.hpp"

namespace corun::inline results::hdf5 {

namespace {

// Rows are packed in memory as in the file, so that HDF5 converts nothing.
static_assert(std::endian::native == std::endian::little, "rows are packed little-endian");

constexpr std::size_t kChunkBytes = 256 * 1024;
constexpr unsigned kDeflateLevel = 1;  // higher levels take longer and save little here

constexpr std::string_view kSumMark = "\ncorun sha256:";
constexpr std::size_t kSumDigits = 64;

/// The last line of a file whose other bytes have this SHA-256.
std::string sum_line(const std::string& sum) { return std::string(kSumMark) + sum + "\n"; }

[[noreturn]] void fail(const char* doing) {
  throw std::runtime_error(std::string("the HDF5 library could not ") + doing +
                           " of the results (out of memory?)");
}

Handle text_type(std::size_t width) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "make a type");
  check(H5Tset_size(type, width), "make a type");
  check(H5Tset_strpad(type, H5T_STR_NULLPAD), "make a type");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "make a type");
  return type;
}

/// The type that h5py uses for bool.
Handle bool_type() {
  Handle type(H5Tenum_create(H5T_STD_I8LE), H5Tclose, "make a type");
  std::int8_t value = 0;
  check(H5Tenum_insert(type, "FALSE", &value), "make a type");
  value = 1;
  check(H5Tenum_insert(type, "TRUE", &value), "make a type");
  return type;
}

void write_attribute(hid_t object, const std::string& name, hid_t type, hid_t space,
                     const void* data) {
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose, "make an attribute");
  // The library refuses the null pointer of an empty array.
  if (data != nullptr) check(H5Awrite(attribute, type, data), "write an attribute");
}

}  // namespace

std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

void check(herr_t status, const char* doing) {
  if (status < 0) fail(doing);
}

Handle::Handle(hid_t id, Close close, const char* doing) : id_(id), close_(close) {
  if (id_ < 0) fail(doing);
}

void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

void write_attribute(hid_t object, const std::string& name, std::int64_t value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, "make a space");
  write_attribute(object, name, H5T_STD_I64LE, space, &value);
}

void write_attribute(hid_t object, const std::string& name, std::uint64_t value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, "make a space");
  write_attribute(object, name, H5T_STD_U64LE, space, &value);
}

void write_attribute(hid_t object, const std::string& name, double value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, "make a space");
  write_attribute(object, name, H5T_IEEE_F64LE, space, &value);
}

void write_attribute(hid_t object, const std::string& name, const std::string& value) {
  const Handle type = text_type(H5T_VARIABLE);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, "make a space");
  const char* text = value.c_str();
  write_attribute(object, name, type, space, &text);
}

void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& value) {
  const Handle type = text_type(H5T_VARIABLE);
  const hsize_t size = value.size();
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "make a space");
  std::vector<const char*> texts;
  texts.reserve(value.size());
  for (const std::string& text : value) texts.push_back(text.c_str());
  write_attribute(object, name, type, space, texts.data());
}

std::size_t Column::bytes() const {
  switch (kind) {
    case Kind::kInt32:
      return 4;
    case Kind::kInt64:
    case Kind::kReal:
      return 8;
    case Kind::kBool:
      return 1;
    case Kind::kText:
      return width;
  }
  return 0;
}

Handle Column::type() const {
  const auto copy = [](hid_t type) { return Handle(H5Tcopy(type), H5Tclose, "make a type"); };
  switch (kind) {
    case Kind::kInt32:
      return copy(H5T_STD_I32LE);
    case Kind::kInt64:
      return copy(H5T_STD_I64LE);
    case Kind::kReal:
      return copy(H5T_IEEE_F64LE);
    case Kind::kBool:
      return bool_type();
    case Kind::kText:
      break;
  }
  return text_type(width);
}

Table::Table(hid_t file, const char* name, const char* description, std::vector<Column> columns,
             bool deflate)
    : file_(file),
      name_(name),
      description_(description),
      columns_(std::move(columns)),
      deflate_(deflate),
      type_(make_type()) {}

Table& Table::integer(std::int64_t value) {
  const Kind kind = columns_[next_].kind;
  assert(kind == Kind::kInt32 || kind == Kind::kInt64);
  if (kind == Kind::kInt64) return put(&value, sizeof value);
  const auto narrow = static_cast<std::int32_t>(value);
  if (narrow != value) refuse("the number " + std::to_string(value));
  return put(&narrow, sizeof narrow);
}

Table& Table::real(double value) {
  assert(columns_[next_].kind == Kind::kReal);
  // One bit pattern for all NaNs, so that equal rows are equal bytes.
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  return put(&value, sizeof value);
}

Table& Table::flag(bool value) {
  assert(columns_[next_].kind == Kind::kBool);
  const std::int8_t byte = value ? 1 : 0;
  return put(&byte, sizeof byte);
}

Table& Table::text(std::string_view value) {
  assert(columns_[next_].kind == Kind::kText);
  const std::size_t width = columns_[next_].width;
  if (value.size() > width) refuse("a text of " + std::to_string(value.size()) + " bytes");
  buffer_.append(value);
  buffer_.append(width - value.size(), '\0');
  return column_done();
}

void Table::refuse(const std::string& what) const {
  throw std::logic_error("column " + columns_[next_].name + " of table " + name_ + " cannot hold " +
                         what);
}

void Table::finish() {
  assert(next_ == 0);
  write_rows();
}

Handle Table::make_type() {
  for (const Column& column : columns_) row_bytes_ += column.bytes();
  chunk_rows_ = std::max<std::size_t>(1, kChunkBytes / row_bytes_);
  Handle type(H5Tcreate(H5T_COMPOUND, row_bytes_), H5Tclose, "make a type");
  std::size_t offset = 0;
  for (const Column& column : columns_) {
    check(H5Tinsert(type, column.name.c_str(), offset, column.type()), "make a type");
    offset += column.bytes();
  }
  return type;
}

/// Called with the first rows: a short table gets one chunk of its size because chunks are always
/// written whole.
void Table::make_dataset(std::size_t rows) {
  const hsize_t none = 0;
  const hsize_t any = H5S_UNLIMITED;
  const hsize_t chunk = std::max<std::size_t>(1, std::min(rows, chunk_rows_));
  const Handle space(H5Screate_simple(1, &none, &any), H5Sclose, "make a space");
  const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a property list");
  check(H5Pset_chunk(how, 1, &chunk), "set chunks");
  if (deflate_) {
    check(H5Pset_shuffle(how), "set compression");
    check(H5Pset_deflate(how, kDeflateLevel), "set compression");
  }
  check(H5Pset_obj_track_times(how, false), "set properties");  // no timestamps in the file
  check(H5Pset_fill_time(how, H5D_FILL_TIME_ALLOC), "set properties");
  data_.emplace(H5Dcreate2(file_, name_, type_, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose,
                "make a table");
  write_attribute(*data_, "description", std::string(description_));
  for (const Column& column : columns_) {
    if (!column.units.empty()) write_attribute(*data_, column.name + "_units", column.units);
    write_attribute(*data_, column.name + "_description", column.description);
  }
}

Table& Table::put(const void* value, std::size_t size) {
  buffer_.append(static_cast<const char*>(value), size);
  return column_done();
}

Table& Table::column_done() {
  if (++next_ == columns_.size()) {
    next_ = 0;
    if (buffer_.size() >= chunk_rows_ * row_bytes_) write_rows();
  }
  return *this;
}

void Table::write_rows() {
  const hsize_t count = buffer_.size() / row_bytes_;
  if (!data_) make_dataset(count);
  if (count == 0) return;
  const hsize_t start = written_;
  written_ += count;
  check(H5Dset_extent(*data_, &written_), "extend a table");
  const Handle file_space(H5Dget_space(*data_), H5Sclose, "make a space");
  check(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, nullptr, &count, nullptr),
        "select rows");
  const Handle memory_space(H5Screate_simple(1, &count, nullptr), H5Sclose, "make a space");
  check(H5Dwrite(*data_, type_, memory_space, file_space, H5P_DEFAULT, buffer_.data()),
        "write a table");
  buffer_.clear();
}

std::string file_image(const std::function<void(hid_t file)>& fill) {
  const std::lock_guard lock(hdf5_mutex());
  silence_hdf5();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make a property list");
  check(H5Pset_fapl_core(access, std::size_t{1} << 20, false), "set properties");
  // Every version of the library writes this format, and old versions can read it.
  check(H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18), "set properties");
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "make a property list");
  check(H5Pset_obj_track_times(creation, false), "set properties");
  // The library checks for an existing file of this name; this one cannot exist.
  const Handle file(H5Fcreate("/dev/null/corun", H5F_ACC_TRUNC, creation, access), H5Fclose,
                    "make the file");
  fill(file);
  check(H5Fflush(file, H5F_SCOPE_GLOBAL), "put together the file");
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  if (size < 0) fail("put together the file");
  std::string image(static_cast<std::size_t>(size), '\0');
  if (H5Fget_file_image(file, image.data(), image.size()) != size) fail("put together the file");
  return image + sum_line(sha256_of_text(image));
}

Handle open_file(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw InputError(path, "cannot be read: " + error.message());
  const std::uintmax_t sum_size = sum_line("").size() + kSumDigits;
  const std::uintmax_t data_size = size - std::min(size, sum_size);
  std::string line(sum_size, '\0');
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(data_size));
  in.read(line.data(), static_cast<std::streamsize>(line.size()));
  if (in.bad()) throw InputError(path, "cannot be read to its end");
  if (!in || !line.starts_with(kSumMark)) {
    throw InputError(
        path,
        "does not end with the checksum that corun writes: it is cut short, changed by "
        "another program or of an older corun; make it again");
  }
  if (line != sum_line(sha256_of_file(path, data_size))) {
    throw InputError(path,
                     "is damaged: its contents differ from their checksum; make it again, or take "
                     "a copy");
  }
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open the file"};
}

std::string read_text_attribute(hid_t object, const char* name) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, "find an attribute");
  const Handle type(H5Aget_type(attribute), H5Tclose, "read an attribute");
  if (H5Tis_variable_str(type) <= 0) fail("read an attribute as text");
  const Handle wanted = text_type(H5T_VARIABLE);
  const Handle space(H5Aget_space(attribute), H5Sclose, "read an attribute");
  if (H5Sget_simple_extent_npoints(space) != 1) fail("read an attribute as one text");
  char* text = nullptr;
  check(H5Aread(attribute, wanted, static_cast<void*>(&text)), "read an attribute");
  std::string out = text == nullptr ? "" : text;
  H5free_memory(text);
  return out;
}

std::vector<std::string> read_texts_attribute(hid_t object, const char* name) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, "find an attribute");
  const Handle type(H5Aget_type(attribute), H5Tclose, "read an attribute");
  if (H5Tis_variable_str(type) <= 0) fail("read an attribute as text");
  const Handle wanted = text_type(H5T_VARIABLE);
  const Handle space(H5Aget_space(attribute), H5Sclose, "read an attribute");
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  constexpr hssize_t kMost = 10'000'000;
  if (count < 0 || count > kMost) fail("read an attribute as texts");
  std::vector<char*> texts(static_cast<std::size_t>(count), nullptr);
  if (count > 0) check(H5Aread(attribute, wanted, texts.data()), "read an attribute");
  std::vector<std::string> out;
  out.reserve(texts.size());
  for (char* text : texts) {
    out.emplace_back(text == nullptr ? "" : text);
    H5free_memory(text);
  }
  return out;
}

std::int64_t read_integer_attribute(hid_t object, const char* name) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, "find an attribute");
  const Handle space(H5Aget_space(attribute), H5Sclose, "read an attribute");
  if (H5Sget_simple_extent_npoints(space) != 1) fail("read an attribute as one number");
  std::int64_t value = 0;
  check(H5Aread(attribute, H5T_NATIVE_INT64, &value), "read an attribute");
  return value;
}

std::uint64_t read_unsigned_attribute(hid_t object, const char* name) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, "find an attribute");
  const Handle space(H5Aget_space(attribute), H5Sclose, "read an attribute");
  if (H5Sget_simple_extent_npoints(space) != 1) fail("read an attribute as one number");
  std::uint64_t value = 0;
  check(H5Aread(attribute, H5T_NATIVE_UINT64, &value), "read an attribute");
  return value;
}

double read_real_attribute(hid_t object, const char* name) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, "find an attribute");
  const Handle space(H5Aget_space(attribute), H5Sclose, "read an attribute");
  if (H5Sget_simple_extent_npoints(space) != 1) fail("read an attribute as one number");
  double value = 0;
  check(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value), "read an attribute");
  return value;
}

bool has_attribute(hid_t object, const char* name) { return H5Aexists(object, name) > 0; }

bool has_table(hid_t file, const char* name) { return H5Lexists(file, name, H5P_DEFAULT) > 0; }

TableReader::TableReader(hid_t file, const char* name)
    : data_(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose, "find a table"),
      type_(H5Dget_type(data_), H5Tclose, "read a table") {
  if (H5Tget_class(type_) != H5T_COMPOUND) fail("read a table as rows");
  const Handle space(H5Dget_space(data_), H5Sclose, "read a table");
  hsize_t rows = 0;
  if (H5Sget_simple_extent_ndims(space) != 1) fail("read a table as rows");
  H5Sget_simple_extent_dims(space, &rows, nullptr);
  rows_ = rows;
}

Handle TableReader::member_type(const std::string& column, H5T_class_t wanted) const {
  const int at = H5Tget_member_index(type_, column.c_str());
  if (at < 0) fail("find a column");
  Handle type(H5Tget_member_type(type_, static_cast<unsigned>(at)), H5Tclose, "read a column");
  if (H5Tget_class(type) != wanted) fail("read a column as what it should be");
  return type;
}

bool TableReader::has_column(const std::string& column) const {
  return H5Tget_member_index(type_, column.c_str()) >= 0;
}

std::vector<std::string> TableReader::columns() const {
  std::vector<std::string> names;
  for (int at = 0; at < H5Tget_nmembers(type_); ++at) {
    char* name = H5Tget_member_name(type_, static_cast<unsigned>(at));
    if (name == nullptr) fail("read the columns of a table");
    names.emplace_back(name);
    H5free_memory(name);
  }
  return names;
}

std::string TableReader::description(const std::string& column) const {
  const std::string name = column + "_description";
  return has_attribute(data_, name.c_str()) ? read_text_attribute(data_, name.c_str()) : "";
}

void TableReader::read(const std::string& column, hid_t type, std::size_t bytes, RowRange rows,
                       void* out) const {
  if (rows.first > rows_ || rows.count > rows_ - rows.first) fail("read rows that a table lacks");
  if (rows.count == 0) return;
  // A row type of one member, which the library finds in the file's rows by name.
  const Handle row(H5Tcreate(H5T_COMPOUND, bytes), H5Tclose, "make a type");
  check(H5Tinsert(row, column.c_str(), 0, type), "make a type");
  const Handle space(H5Dget_space(data_), H5Sclose, "read a table");
  const hsize_t first = rows.first;
  const hsize_t count = rows.count;
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &count, nullptr),
        "read a table");
  const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose, "read a table");
  check(H5Dread(data_, row, memory, space, H5P_DEFAULT, out), "read a column");
}

std::vector<double> TableReader::reals(const std::string& column) const {
  return reals(column, {0, rows_});
}

std::vector<double> TableReader::reals(const std::string& column, RowRange rows) const {
  member_type(column, H5T_FLOAT);
  std::vector<double> out(rows.count);
  read(column, H5T_NATIVE_DOUBLE, sizeof(double), rows, out.data());
  return out;
}

std::vector<std::int64_t> TableReader::integers(const std::string& column) const {
  return integers(column, {0, rows_});
}

std::vector<std::int64_t> TableReader::integers(const std::string& column, RowRange rows) const {
  member_type(column, H5T_INTEGER);
  std::vector<std::int64_t> out(rows.count);
  read(column, H5T_NATIVE_INT64, sizeof(std::int64_t), rows, out.data());
  return out;
}

std::vector<std::uint8_t> TableReader::flags(const std::string& column, RowRange rows) const {
  const Handle type = member_type(column, H5T_ENUM);
  if (H5Tget_size(type) != 1) fail("read a column as booleans");
  std::vector<std::uint8_t> out(rows.count);
  read(column, type, 1, rows, out.data());
  return out;
}

std::vector<std::string> TableReader::texts(const std::string& column) const {
  return texts(column, {0, rows_});
}

std::vector<std::string> TableReader::texts(const std::string& column, RowRange rows) const {
  const Handle type = member_type(column, H5T_STRING);
  if (H5Tis_variable_str(type) != 0) fail("read a column as text");
  const std::size_t width = H5Tget_size(type);
  std::string bytes(rows.count * width, '\0');
  read(column, type, width, rows, bytes.data());
  std::vector<std::string> out;
  out.reserve(rows.count);
  for (std::size_t r = 0; r < rows.count; ++r) {
    const std::string_view text = std::string_view(bytes).substr(r * width, width);
    out.emplace_back(text.substr(0, text.find('\0')));
  }
  return out;
}

}  // namespace corun::inline results::hdf5
