#include <array>

#include "experiments/base/atomic_file.hpp"
#include "experiments/commands/model_commands.hpp"
#include "experiments/commands/subcommands.hpp"
#include "sim/error.hpp"

/// `corun model fit | predict | eval`: what pairs of jobs cost each other, learnt from measured pairs.
namespace corun {

std::string model_output_option(const boost::program_options::variables_map& values,
                                const CommonOptions& common, const std::string& command,
                                const std::string& example) {
  if (values.count("out") != 0 && common.output) {
    throw InputError("--out", "is another name of --output; give one of them");
  }
  if (values.count("out") == 0 && !common.output) {
    throw InputError(command, "where to? Give --out " + example);
  }
  return checked_output_path(
      values.count("out") != 0 ? values["out"].as<std::string>() : *common.output, "--out");
}

int model_command(const std::vector<std::string>& arguments) {
  static constexpr std::array<Subcommand, 3> kAll{{
      {"fit", "from tables of measured pairs to a model", model_fit_command},
      {"predict", "a table of pairs in, the same with predicted speeds out", model_predict_command},
      {"eval", "how well interference models predict what they have not seen", model_eval_command},
  }};
  return run_subcommand({.name = "corun model",
                         .usage = "fit|predict|eval",
                         .about = "What pairs of jobs cost each other, learnt from measured pairs.",
                         .more = "",
                         .examples = "  corun model eval\n",
                         .noun = "action"},
                        kAll, arguments);
}

}  // namespace corun
