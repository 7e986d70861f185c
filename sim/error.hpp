#pragma once

#include <stdexcept>
#include <string>

/// Kinds of errors.
///   InputError   a bad file, flag or value of the user. One line "place: found, expected, what to do";
///                the program exits with 2.
///   PolicyError  a policy's decision broke a rule of the control loop; names policy and rule.
///   DeviceError  GPU, driver or memory missing; the program exits with 3.
/// Programming mistakes are asserts and are unreachable from user input.
namespace corun::inline sim {

class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// `place` is "file:line:column", a flag, or empty.
  InputError(const std::string& place, const std::string& message)
      : std::runtime_error(place.empty() ? message : place + ": " + message) {}
};

class PolicyError : public std::runtime_error {
 public:
  PolicyError(std::string policy_name, const std::string& rule, const std::string& found)
      : std::runtime_error("policy '" + policy_name + "' broke the rule '" + rule + "': " + found),
        policy(std::move(policy_name)) {}
  std::string policy;
};

class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace corun::inline sim
