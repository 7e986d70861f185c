#include "support/yaml_tree.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline support {
namespace {

constexpr std::string_view kExpected = "expected YAML keys such as 'replications: 200'";

[[noreturn]] void refuse(const YamlSource& source, std::size_t offset, const std::string& message) {
  throw InputError(source.place(offset), message);
}

/// Finds errors in the raw text that yaml-cpp accepts or reports unclearly.
void check_text(const YamlSource& source, std::size_t bytes_max) {
  const std::string_view text = source.text;
  if (text.size() > bytes_max) {
    refuse(source, 0,
           fmt::format("larger than {} bytes, expected a configuration; data belong into CSV files",
                       bytes_max));
  }
  const std::size_t bad = find_bad_text(text, true);
  if (bad < text.size()) {
    refuse(source, bad,
           fmt::format("found the byte 0x{:02x}, expected text in UTF-8 without control characters;"
                       " is this a binary file?",
                       static_cast<unsigned char>(text[bad])));
  }
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::size_t content = text.find_first_not_of(" \t\r", start);
    if (content < end && text[content] != '#') {
      const std::size_t tab = start + text.substr(start, content - start).find('\t');
      if (tab >= start && tab < content) {
        refuse(source, tab, "found a tab as indentation, expected spaces");
      }
    }
    start = end + 1;
  }
}

/// Finds a missing closing quote, which yaml-cpp silently assumes at the end of the file.
void check_closed(const YamlSource& source, std::size_t offset) {
  const std::string_view text = source.text;
  const char quote = text[offset];
  for (std::size_t i = offset + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 >= text.size() || text[i + 1] != quote) return;
      ++i;
    }
  }
  refuse(source, offset, fmt::format("unterminated text, expected a closing {}", quote));
}

/// Builds the tree from yaml-cpp's events, in which duplicate keys and aliases are still visible.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::shared_ptr<const YamlSource> source) : source_(std::move(source)) {}

  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    const std::size_t at = offset_of(mark);
    if (documents_++ == 0) return;
    if (std::string_view(source_->text).substr(at, 3) == "---") {
      refuse(*source_, at, "found a second document, expected one; put it into a file of its own");
    }
    refuse(*source_, at,
           "found more text after the end of the document, expected one document;"
           " check indentation and brackets");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node = start(mark, "", anchor, YamlNode::Kind::kNull);
    // The mark of an omitted value is that of the next token, so it takes the key's place.
    const std::string_view rest = std::string_view(source_->text).substr(node.offset);
    const bool written = rest.substr(0, 1) == "~" || rest.substr(0, 4) == "null" ||
                         rest.substr(0, 4) == "Null" || rest.substr(0, 4) == "NULL";
    if (!written && !frames_.empty()) {
      const Frame& frame = frames_.back();
      node.offset = frame.has_key ? frame.key_offset : frame.node.offset;
    }
    add(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse(*source_, offset_of(mark), "found an alias (*), expected a value; write it out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = start(mark, tag, anchor, YamlNode::Kind::kScalar);
    const char first = node.offset < source_->text.size() ? source_->text[node.offset] : '\0';
    if (first == '\'' || first == '"') check_closed(*source_, node.offset);
    node.quoted = tag == "!";
    node.text = value;
    if (find_bad_text(value, false) < value.size()) {
      refuse(
          *source_, node.offset,
          fmt::format("found a line break, tab or control character in '{}', expected one line of"
                      " text",
                      printable(value)));
    }
    add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(start(mark, tag, anchor, YamlNode::Kind::kSequence));
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(start(mark, tag, anchor, YamlNode::Kind::kMap));
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    YamlNode node;
    bool has_key = false;
    std::string key;
    std::size_t key_offset = 0;
    std::map<std::string, std::size_t> keys;
  };

  std::size_t offset_of(const YAML::Mark& mark) const {
    return mark.pos < 0 ? 0 : std::min(static_cast<std::size_t>(mark.pos), source_->text.size());
  }

  YamlNode start(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                 YamlNode::Kind kind) const {
    YamlNode node;
    node.kind = kind;
    node.source = source_;
    node.offset = offset_of(mark);
    // A node's mark is that of its anchor or tag if it has one. Only the text distinguishes '! x'
    // from quotes, which carry the same tag.
    const char first = node.offset < source_->text.size() ? source_->text[node.offset] : '\0';
    if (anchor != 0 || first == '&') {
      refuse(*source_, node.offset, "found an anchor (&), expected a value; write it out");
    }
    if (first == '!' || (!tag.empty() && tag != "?" && tag != "!")) {
      refuse(*source_, node.offset, "found a tag (!), expected a plain value; leave the tag out");
    }
    return node;
  }

  void open(YamlNode node) {
    if (frames_.size() >= kYamlDepthMax) {
      refuse(*source_, node.offset,
             fmt::format("nested more than {} deep, expected a configuration", kYamlDepthMax));
    }
    if (wants_key()) refuse_key(node);
    frames_.emplace_back();
    frames_.back().node = std::move(node);
  }

  void close() {
    YamlNode node = std::move(frames_.back().node);
    frames_.pop_back();
    add(std::move(node));
  }

  bool wants_key() const {
    return !frames_.empty() && frames_.back().node.kind == YamlNode::Kind::kMap &&
           !frames_.back().has_key;
  }

  [[noreturn]] void refuse_key(const YamlNode& node) const {
    refuse(*source_, node.offset,
           fmt::format("found {} as a key, expected a plain word; is a bracket or quote left open?",
                       node.description()));
  }

  void add(YamlNode node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (wants_key()) {
      if (node.kind != YamlNode::Kind::kScalar) refuse_key(node);
      if (!node.quoted && node.text == "<<") {
        refuse(*source_, node.offset, "found a merge key (<<), expected a plain key; write it out");
      }
      const auto [it, is_new] = frame.keys.try_emplace(node.text, node.offset);
      if (!is_new) {
        const std::string first = source_->has_lines ? source_->place(it->second) : "";
        refuse(*source_, node.offset,
               fmt::format("duplicate key '{}', expected each key once{}; remove one of them",
                           printable(node.text),
                           first.empty() ? "" : fmt::format(" (it is also at {})", first)));
      }
      frame.has_key = true;
      frame.key = std::move(node.text);
      frame.key_offset = node.offset;
      return;
    }
    if (frame.has_key) {
      node.key = std::move(frame.key);
      node.key_offset = frame.key_offset;
      frame.has_key = false;
    }
    frame.node.children.push_back(std::move(node));
  }

  std::shared_ptr<const YamlSource> source_;
  std::vector<Frame> frames_;
  YamlNode root_;
  int documents_ = 0;
};

}  // namespace

std::string YamlSource::place(std::size_t offset) const {
  if (!has_lines) return name;
  offset = std::min(offset, text.size());
  const auto next = std::upper_bound(line_starts.begin(), line_starts.end(), offset);
  const std::size_t start = *std::prev(next);
  // Editors count columns in characters, so continuation bytes do not count.
  const auto further_before = [&](std::size_t end) {
    const auto it = std::lower_bound(further_bytes.begin(), further_bytes.end(), end);
    return static_cast<std::size_t>(it - further_bytes.begin());
  };
  const std::size_t column = offset - start - (further_before(offset) - further_before(start));
  return fmt::format("{}:{}:{}", name, next - line_starts.begin(), column + 1);
}

const YamlNode* YamlNode::find(std::string_view wanted) const {
  if (kind != Kind::kMap) return nullptr;
  for (const YamlNode& child : children) {
    if (child.key == wanted) return &child;
  }
  return nullptr;
}

YamlNode* YamlNode::find(std::string_view wanted) {
  return const_cast<YamlNode*>(std::as_const(*this).find(wanted));
}

YamlNode typed_scalar(std::string text, bool quoted, const std::string& place) {
  if (find_bad_text(text, false) < text.size()) {
    throw InputError(
        place, fmt::format("found a line break, tab or control character in '{}', expected one line"
                           " of text",
                           printable(text)));
  }
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.quoted = quoted;
  node.text = std::move(text);
  node.source = std::make_shared<const YamlSource>(YamlSource{place, "", false, {}, {}});
  return node;
}

std::string YamlNode::description() const {
  switch (kind) {
    case Kind::kNull:
      return "nothing (null)";
    case Kind::kSequence:
      return "a list";
    case Kind::kMap:
      return "a map";
    case Kind::kScalar:
      break;
  }
  return fmt::format("{}'{}'", quoted ? "the quoted text " : "", printable(text));
}

YamlNode parse_yaml(std::string_view text, const std::string& name, bool has_lines,
                    std::size_t bytes_max) {
  // The byte order mark that some editors write is neither text nor a column.
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  auto source = std::make_shared<YamlSource>();
  source->name = printable(name, kYamlBytesMax);
  source->text = text;
  source->has_lines = has_lines;
  source->line_starts.push_back(0);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') source->line_starts.push_back(i + 1);
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) source->further_bytes.push_back(i);
  }
  check_text(*source, bytes_max);

  TreeBuilder builder(source);
  try {
    // yaml-cpp gets a final line end; without it, an error within a quoted text has no mark of its
    // beginning.
    std::istringstream in(source->text + "\n");
    YAML::Parser parser(in);
    // The builder refuses the second document, so this ends.
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    const std::size_t at =
        e.mark.pos < 0 ? 0 : std::min(static_cast<std::size_t>(e.mark.pos), source->text.size());
    refuse(*source, at,
           fmt::format("not valid YAML ({}), expected 'key: value'; check indentation, brackets and"
                       " quotes from here upwards",
                       printable(e.msg)));
  }
  YamlNode root = builder.take();
  if (!root.source || (root.kind == YamlNode::Kind::kNull && has_lines)) {
    refuse(*source, 0, fmt::format("found nothing but space and comments, {}", kExpected));
  }
  return root;
}

YamlNode read_yaml_file(const std::string& path, std::size_t bytes_max) {
  return parse_yaml(read_yaml_text(path, bytes_max), path, true, bytes_max);
}

std::string read_yaml_text(const std::string& path, std::size_t bytes_max) {
  const std::string name = printable(path, kYamlBytesMax);
  const auto unreadable = [&](const std::string& why) -> InputError {
    return {name, fmt::format("cannot be read ({}), expected a YAML file; check the path", why)};
  };
  std::error_code error;
  if (path.find('\0') != std::string::npos) throw unreadable("the path holds a NUL byte");
  if (std::filesystem::is_directory(path, error)) throw unreadable("it is a directory");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw unreadable(errno != 0 ? std::strerror(errno) : "it cannot be opened");
  // Reads no further than the limit, so that endless devices are refused, too.
  std::string text;
  for (std::vector<char> buffer(std::size_t{1} << 16U); in && text.size() <= bytes_max;) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw unreadable("reading failed");
  return text;
}

}  // namespace corun::inline support
