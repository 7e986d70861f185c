#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

/// The container of each job, as a CSV file:
///
///   job,image,command,args
///   resnet50-b,registry.example/resnet:2,python train.py,--batch 64 --name 'night run'
namespace corun::inline results {

/// The container of a job. Argo replaces its variables, such as "{{workflow.name}}", in all three.
struct ContainerSpec {
  std::string image;
  std::vector<std::string> command;  ///< empty: the image's own
  std::vector<std::string> args;
};

struct ContainerTable {
  std::string name;  ///< the file, for messages
  std::map<std::string, ContainerSpec, std::less<>> jobs;
};

/// The container of a job; InputError if the table lacks it.
const ContainerSpec& container_of(const ContainerTable& containers, const std::string& job);

/// Reads a CSV with the columns `job,image` and optionally `command,args`: words separated by
/// blanks, with quotes and backslashes as in a shell and no expansion. InputError at its place for
/// anything else, also for a job listed twice.
ContainerTable read_container_csv(const std::string& path);
ContainerTable read_container_csv(std::istream& in, const std::string& name);

}  // namespace corun::inline results
