#include "traces/input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <streambuf>
#include <string_view>
#include <system_error>
#include <vector>

#include <zlib.h>
#include <zstd.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline traces {
namespace {

constexpr std::size_t kInputBufferBytes = std::size_t{1} << 16;
/// Traces shrink to a tenth or so. A file this long that was shrunk further is no trace but fills the memory.
constexpr std::uint64_t kAnyExpansionBytes = std::uint64_t{256} << 20U;
constexpr std::uint64_t kMostExpansion = 200;
constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd";

/// The bytes of an archive. The first buffer is read at once, so that its kind can be recognised.
class Archive {
 public:
  Archive(std::istream& in, std::string name)
      : in_(in), name_(std::move(name)), buffer_(kInputBufferBytes) {
    refill();
  }

  std::string_view unread() const { return {buffer_.data() + at_, filled_ - at_}; }
  void consume(std::size_t bytes) {
    at_ += bytes;
    taken_ += bytes;
  }
  /// To be called with the size of each piece of text.
  void check_expansion(std::string_view kind, std::size_t bytes) {
    text_ += bytes;
    if (text_ <= kAnyExpansionBytes || text_ / kMostExpansion <= taken_) return;
    throw InputError(name_,
                     "the " + std::string(kind) + " archive holds more than " +
                         std::to_string(kMostExpansion) +
                         " times its own size, expected data; decompress it and look into it");
  }
  /// False at the end.
  bool refill() {
    at_ = 0;
    filled_ = 0;
    if (in_.good()) {
      in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
      filled_ = static_cast<std::size_t>(in_.gcount());
    }
    if (in_.bad()) throw InputError(name_, "reading failed, expected a readable file");
    return filled_ > 0;
  }
  [[noreturn]] void fail_cut_short(std::string_view kind) const {
    throw InputError(name_, "the " + std::string(kind) +
                                " archive is cut short, expected its end; fetch the file again");
  }
  [[noreturn]] void fail_damaged(std::string_view kind, const char* reason) const {
    throw InputError(name_, "the " + std::string(kind) + " archive is damaged (" +
                                printable(reason == nullptr ? "unknown" : reason) +
                                "), expected a whole one; fetch the file again");
  }

 private:
  std::istream& in_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t taken_ = 0;  ///< bytes consumed so far
  std::uint64_t text_ = 0;   ///< bytes of text they held
};

/// Passes the bytes on unchanged.
class PlainBuffer final : public std::streambuf {
 public:
  explicit PlainBuffer(Archive archive) : archive_(std::move(archive)) {}

 protected:
  int_type underflow() override {
    if (started_ && !archive_.refill()) return traits_type::eof();
    started_ = true;
    const std::string_view bytes = archive_.unread();
    if (bytes.empty()) return traits_type::eof();
    char* begin = const_cast<char*>(bytes.data());  // not written to
    setg(begin, begin, begin + bytes.size());
    return traits_type::to_int_type(*begin);
  }

 private:
  Archive archive_;
  bool started_ = false;
};

class GzipBuffer final : public std::streambuf {
 public:
  explicit GzipBuffer(Archive archive) : archive_(std::move(archive)), text_(kInputBufferBytes) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipBuffer() override { inflateEnd(&stream_); }
  GzipBuffer(const GzipBuffer&) = delete;
  GzipBuffer& operator=(const GzipBuffer&) = delete;

 protected:
  int_type underflow() override {
    for (;;) {
      // The decoder may still hold text after it took all bytes, so it is asked first.
      if (archive_.unread().empty() && !decoder_has_more_ && !archive_.refill()) {
        if (!between_members_) archive_.fail_cut_short("gzip");
        return traits_type::eof();
      }
      if (between_members_) inflateReset(&stream_);
      between_members_ = false;
      const std::string_view in = archive_.unread();
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // NOLINT: zlib
      stream_.avail_in = static_cast<uInt>(in.size());
      stream_.next_out = reinterpret_cast<Bytef*>(text_.data());
      stream_.avail_out = static_cast<uInt>(text_.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      archive_.consume(in.size() - stream_.avail_in);
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        archive_.fail_damaged("gzip", stream_.msg);
      }
      between_members_ = code == Z_STREAM_END;
      const std::size_t got = text_.size() - stream_.avail_out;
      decoder_has_more_ = code == Z_OK && got == text_.size();
      if (got == 0) continue;
      archive_.check_expansion("gzip", got);
      setg(text_.data(), text_.data(), text_.data() + got);
      return traits_type::to_int_type(text_.front());
    }
  }

 private:
  Archive archive_;
  std::vector<char> text_;
  z_stream stream_{};
  bool between_members_ = false;
  bool decoder_has_more_ = false;
};

class ZstdBuffer final : public std::streambuf {
 public:
  explicit ZstdBuffer(Archive archive)
      : archive_(std::move(archive)), text_(kInputBufferBytes), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

 protected:
  int_type underflow() override {
    for (;;) {
      if (archive_.unread().empty() && !decoder_has_more_ && !archive_.refill()) {  // as above
        if (!between_frames_) archive_.fail_cut_short("zstd");
        return traits_type::eof();
      }
      const std::string_view left = archive_.unread();
      ZSTD_inBuffer in{left.data(), left.size(), 0};
      ZSTD_outBuffer out{text_.data(), text_.size(), 0};
      const std::size_t code = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(code) != 0) archive_.fail_damaged("zstd", ZSTD_getErrorName(code));
      archive_.consume(in.pos);
      between_frames_ = code == 0;
      decoder_has_more_ = code != 0 && out.pos == out.size;
      if (out.pos == 0) continue;
      archive_.check_expansion("zstd", out.pos);
      setg(text_.data(), text_.data(), text_.data() + out.pos);
      return traits_type::to_int_type(text_.front());
    }
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  Archive archive_;
  std::vector<char> text_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  bool between_frames_ = false;
  bool decoder_has_more_ = false;
};

/// An input stream that owns its buffer and the file behind it.
class Input final : public std::istream {
 public:
  Input(std::unique_ptr<std::istream> file, std::unique_ptr<std::streambuf> buffer)
      : std::istream(nullptr), file_(std::move(file)), buffer_(std::move(buffer)) {
    rdbuf(buffer_.get());
    exceptions(std::ios::badbit);  // passes on exceptions of the buffer
  }

 private:
  std::unique_ptr<std::istream> file_;
  std::unique_ptr<std::streambuf> buffer_;
};

/// Kinds of files that are no text and that corun does not open, by their first bytes.
struct WrongKind {
  std::string_view begin;
  std::string_view is;
  std::string_view advice;
};
constexpr WrongKind kWrongKinds[] = {
    {{"PK\x03\x04", 4}, "a zip archive (or a spreadsheet)", "unpack it, or save the sheet as CSV"},
    {{"\xfd"
      "7zXZ\0",
      6},
     "an xz archive",
     "unpack it: xz -d"},
    {{"BZh", 3}, "a bzip2 archive", "unpack it: bzip2 -d"},
    {{"7z\xbc\xaf", 4}, "a 7z archive", "unpack it"},
    {{"PAR1", 4}, "a Parquet file", "write it as CSV, for example with pandas"},
    {{"version https://git-lfs.github.com/spec/", 40},
     "a pointer of Git LFS, not the file",
     "fetch the file: git lfs pull"},
};

void refuse_wrong_kind(std::string_view begin, const std::string& name) {
  for (const WrongKind& kind : kWrongKinds) {
    if (!begin.starts_with(kind.begin)) continue;
    throw InputError(
        name, "is " + std::string(kind.is) + ", expected a text; " + std::string(kind.advice));
  }
}

std::unique_ptr<std::istream> wrap(std::unique_ptr<std::istream> file, std::istream& in,
                                   const std::string& name) {
  Archive archive(in, name);
  std::unique_ptr<std::streambuf> buffer;
  refuse_wrong_kind(archive.unread(), name);
  if (archive.unread().starts_with(kGzip)) {
    buffer = std::make_unique<GzipBuffer>(std::move(archive));
  } else if (archive.unread().starts_with(kZstd)) {
    buffer = std::make_unique<ZstdBuffer>(std::move(archive));
  } else {
    buffer = std::make_unique<PlainBuffer>(std::move(archive));
  }
  return std::make_unique<Input>(std::move(file), std::move(buffer));
}

}  // namespace

std::string shown_path(const std::string& path) {
  const auto breaks = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return std::ranges::any_of(path, breaks) ? printable(path, path.size()) : path;
}

std::unique_ptr<std::istream> open_input(const std::string& path, const std::string& what) {
  const std::string name = shown_path(path);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw InputError(name, "no such file, expected " + what + "; check the path");
  }
  if (status.type() == std::filesystem::file_type::directory) {
    throw InputError(name, "is a directory, expected " + what + "; name a file in it");
  }
  errno = 0;
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*file) {
    const std::string reason = errno != 0 ? std::generic_category().message(errno) : "unknown";
    throw InputError(name, "cannot be opened (" + reason + "), expected " + what +
                               " that can be read; check its permissions");
  }
  std::istream& in = *file;
  return wrap(std::move(file), in, name);
}

std::unique_ptr<std::istream> open_input(std::istream& in, const std::string& name) {
  return wrap(nullptr, in, name);
}

std::string first_bytes(const std::string& path, const std::string& what, std::size_t limit) {
  const auto in = open_input(path, what);
  std::string bytes(limit, '\0');
  in->read(bytes.data(), static_cast<std::streamsize>(limit));
  bytes.resize(static_cast<std::size_t>(in->gcount()));
  return bytes;
}

}  // namespace corun::inline traces
