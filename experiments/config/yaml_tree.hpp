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
/// characters, tabs never indent. Numbers are text until a reader who knows what is wanted looks.
namespace corun {

/// Where text came from: a file, whose places are "NAME:LINE:COLUMN" (1-based, columns in
/// characters), or an option of the command line, whose only place is NAME.
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
  std::vector<YamlNode> children;  ///< of a sequence or a map, in the order of the file
  std::string key;                 ///< of a child of a map
  std::size_t key_offset = 0;
  std::size_t offset = 0;
  std::shared_ptr<const YamlSource> source;  ///< empty: nobody wrote it, it is a default

  std::string place() const { return source ? source->place(offset) : std::string(); }
  std::string key_place() const { return source ? source->place(key_offset) : std::string(); }

  /// The child of that key, or nullptr; also for a node that is not a map.
  const YamlNode* find(std::string_view wanted) const;
  YamlNode* find(std::string_view wanted);

  /// For error messages: "'many'", "the quoted text '5'", "nothing (null)", "a list", "a map".
  std::string description() const;
};

/// The largest configuration in bytes (other files say their own), and the deepest nesting of lists
/// and maps.
inline constexpr std::size_t kYamlBytesMax = std::size_t{1} << 20U;
inline constexpr int kYamlDepthMax = 16;

/// `name` is what places begin with; `has_lines` false makes it the whole place. InputError with
/// place and hint for anything that the tree does not hold, an empty text included.
YamlNode parse_yaml(std::string_view text, const std::string& name, bool has_lines = true,
                    std::size_t bytes_max = kYamlBytesMax);

/// InputError "PATH: ..." when it cannot be read or is a directory, else as parse_yaml.
YamlNode read_yaml_file(const std::string& path, std::size_t bytes_max = kYamlBytesMax);

}  // namespace corun
