#include "support/printable_stream.hpp"

#include <algorithm>

#include "sim/base/text.hpp"

namespace corun::inline support {

namespace {

/// How many bytes at the end of `text` begin a UTF-8 character without ending it.
std::size_t begun_at_end(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;
    const std::size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return back < length ? back : 0;
  }
  return 0;
}

}  // namespace

PrintableStream::PrintableStream(std::ostream& stream)
    : stream_(stream), target_(stream.rdbuf(this)) {}

PrintableStream::~PrintableStream() {
  PrintableStream::sync();
  stream_.rdbuf(target_);
}

PrintableStream::int_type PrintableStream::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char byte = traits_type::to_char_type(c);
  return PrintableStream::xsputn(&byte, 1) == 1 ? c : traits_type::eof();
}

std::streamsize PrintableStream::xsputn(const char* text, std::streamsize bytes) {
  begun_.append(text, static_cast<std::size_t>(bytes));
  const std::string all = std::move(begun_);
  const std::size_t whole = all.size() - begun_at_end(all);
  begun_ = all.substr(whole);
  return print(std::string_view(all).substr(0, whole)) ? bytes : 0;
}

int PrintableStream::sync() {
  const std::string cut_short = std::move(begun_);
  begun_.clear();
  return print(cut_short) && target_->pubsync() == 0 ? 0 : -1;
}

bool PrintableStream::print(std::string_view text) {
  const std::string shown = printable_lines(text);
  const auto size = static_cast<std::streamsize>(shown.size());
  return target_->sputn(shown.data(), size) == size;
}

}  // namespace corun::inline support
