#include "support/objects/object_store.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/objects/s3_store.hpp"

namespace corun::inline support {

namespace {

namespace fs = std::filesystem;

class FolderStore final : public ObjectStore {
 public:
  explicit FolderStore(std::string path) : path_(std::move(path)) {}

  const std::string& place() const override { return path_; }

  std::vector<std::string> list(std::string_view prefix) override {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entry(path_, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::string name = entry->path().filename().string();
      if (name.starts_with(prefix) && name.find(kTemporaryMark) == std::string::npos) {
        names.push_back(std::move(name));
      }
    }
    if (error) throw InputError(path_, "cannot be read: " + error.message());
    std::ranges::sort(names);
    return names;
  }

  std::optional<std::string> get(const std::string& name) override {
    std::ifstream in(path_of(name), std::ios::binary);
    if (!in) {
      if (!has(name)) return std::nullopt;
      throw InputError(path_of(name), "cannot be read");
    }
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (in.bad()) throw InputError(path_of(name), "cannot be read to its end");
    return bytes;
  }

  bool has(const std::string& name) override {
    std::error_code error;
    return fs::exists(path_of(name), error);
  }

  bool put_once(const std::string& name, std::string_view bytes) override {
    // A look first: where there is one, nothing is written.
    return !has(name) && write_new_file(path_of(name), bytes);
  }

  void put(const std::string& name, std::string_view bytes) override {
    write_file_atomically(path_of(name), bytes);
  }

  void remove(const std::string& name) override {
    std::error_code error;
    if (fs::remove(path_of(name), error) || !error) return;
    throw InputError(path_of(name), "cannot be removed: " + error.message());
  }

 private:
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }

  std::string path_;
};

}  // namespace

std::unique_ptr<ObjectStore> open_folder_store(const std::string& path, const std::string& flag,
                                               bool make) {
  std::error_code error;
  if (make) fs::create_directories(path, error);
  if (!fs::is_directory(path, error)) {
    throw InputError(flag, "'" + printable(path) + "' is no folder" +
                               (make ? "; give a folder that all workers see"
                                     : ", expected the store of a sweep; give the folder that its "
                                       "workers were given"));
  }
  if (make && ::access(path.c_str(), W_OK | X_OK) != 0) {
    throw InputError(
        flag, "cannot write in '" + printable(path) + "'; give a folder that you may write to");
  }
  return std::make_unique<FolderStore>(path);
}

std::unique_ptr<ObjectStore> open_object_store(const std::string& place, const std::string& flag,
                                               bool make) {
  return is_s3_place(place) ? open_s3_store(place, flag) : open_folder_store(place, flag, make);
}

}  // namespace corun::inline support
