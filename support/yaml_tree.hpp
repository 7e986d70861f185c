#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// YAML as a plain tree in which every node knows its place, for the readers of configurations. It
/// accepts less than YAML does, so that nothing is lost or guessed silently: no anchors, aliases,
/// merge keys and tags, one document, no duplicate keys, keys are plain words, no control
/// characters, tabs never indent. Numbers stay text: yaml_values.hpp converts them.
namespace corun::inline support {

/// The source of a text: a file, whose places are "NAME:LINE:COLUMN" (1-based, columns in
/// characters), or a command-line option, whose only place is NAME.
struct YamlSource {
  std::string name;
  std::string text;
  bool has_lines = true;
  std::vector<std::size_t> line_starts;    ///< offsets in bytes
  std::vector<std::size_t> further_bytes;  ///< offsets of all but the first byte of characters

  std::string place(std::size_t offset) const;
};

struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  bool quoted = false;             ///< a scalar in quotes, or a block of text
  std::string text;                ///< of a scalar
  std::vector<YamlNode> children;  ///< of a sequence or a map, in file order
  std::string key;                 ///< of a child of a map
  std::size_t key_offset = 0;
  std::size_t offset = 0;
  std::shared_ptr<const YamlSource> source;  ///< empty for a default value

  std::string place() const { return source ? source->place(offset) : std::string(); }
  std::string key_place() const { return source ? source->place(key_offset) : std::string(); }

  /// The child of that key; nullptr if there is none or the node is no map.
  const YamlNode* find(std::string_view wanted) const;
  YamlNode* find(std::string_view wanted);

  /// For error messages: "'many'", "the quoted text '5'", "nothing (null)", "a list", "a map".
  std::string description() const;
};

/// The largest configuration in bytes (readers of other files give their own limit), and the
/// deepest nesting of lists and maps.
inline constexpr std::size_t kYamlBytesMax = std::size_t{1} << 20U;
inline constexpr int kYamlDepthMax = 16;

/// Places begin with `name`; with `has_lines` false, `name` is the whole place. Throws InputError
/// with place and hint for everything that the tree cannot hold, an empty text, and a text larger
/// than `bytes_max`.
YamlNode parse_yaml(std::string_view text, const std::string& name, bool has_lines = true,
                    std::size_t bytes_max = kYamlBytesMax);

/// A scalar that was typed elsewhere than in a text of YAML; `place` is its place. Throws InputError there for text that
/// is not one line of UTF-8 without control characters.
YamlNode typed_scalar(std::string text, bool quoted, const std::string& place);

/// The text of a file, or a little more than `bytes_max` of it. Throws InputError "PATH: ..." if the file
/// cannot be read or is a directory.
std::string read_yaml_text(const std::string& path, std::size_t bytes_max);

/// Throws as read_yaml_text() and parse_yaml().
YamlNode read_yaml_file(const std::string& path, std::size_t bytes_max = kYamlBytesMax);

}  // namespace corun::inline support
