#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Named objects that programs on several machines share. Every write is whole: a reader sees all bytes of an object, or
/// none.
namespace corun::inline support {

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  /// Where it is, for messages.
  virtual const std::string& place() const = 0;
  /// The names that begin with `prefix`, in ascending order.
  virtual std::vector<std::string> list(std::string_view prefix) = 0;
  /// The bytes of an object; nothing if there is none of that name.
  virtual std::optional<std::string> get(const std::string& name) = 0;
  virtual bool has(const std::string& name) = 0;
  /// Makes an object if there is none of that name. False if there is one, which stays.
  virtual bool put_once(const std::string& name, std::string_view bytes) = 0;
  /// Makes an object or replaces it.
  virtual void put(const std::string& name, std::string_view bytes) = 0;
  /// Removes an object, if there is one.
  virtual void remove(const std::string& name) = 0;
};

/// The store in a folder: a file per object. InputError, which begins with `flag`, if the path is no folder or cannot be
/// written; `make`: a folder that does not exist is made. All functions of the store throw InputError with the system's
/// reason.
std::unique_ptr<ObjectStore> open_folder_store(const std::string& path, const std::string& flag,
                                               bool make);

/// The store at a place that a user gave: a folder, or a bucket ("s3://BUCKET/PREFIX", which `make` does not make).
/// InputError as the functions that open it.
std::unique_ptr<ObjectStore> open_object_store(const std::string& place, const std::string& flag,
                                               bool make);

}  // namespace corun::inline support
