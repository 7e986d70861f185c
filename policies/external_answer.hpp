#pragma once

#include <string>

#include <nlohmann/json.hpp>

/// An answer of an external program as JSON.
namespace corun {

/// Throws ExternalError if the line is no JSON, if an object has a key twice, or if brackets are nested too
/// deep for any valid answer; the message is what was expected.
nlohmann::ordered_json parse_answer(const std::string& line);

}  // namespace corun
