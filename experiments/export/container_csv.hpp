#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

/// Which container runs a job, as a readable file.
///
///   job,image,command,args
///   resnet50-b,registry.example/resnet:2,python train.py,--batch 64 --name 'night run'
namespace corun {

/// How a job is run. Argo replaces its variables, "{{workflow.name}}", in all three.
struct ContainerSpec {
  std::string image;
  std::vector<std::string> command;  ///< empty: the image's own
  std::vector<std::string> args;
};

struct ContainerTable {
  std::string name;  ///< the file, for messages
  std::map<std::string, ContainerSpec, std::less<>> jobs;
};

/// CSV with the columns `job,image` and, where wanted, `command,args`: words between blanks, where
/// quotes and backslashes work as in a shell and nothing is expanded. InputError with its place for
/// anything else, a job that is listed twice included.
ContainerTable read_container_csv(const std::string& path);
ContainerTable read_container_csv(std::istream& in, const std::string& name);

}  // namespace corun
