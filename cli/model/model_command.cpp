#include <array>

#include "cli/cli.hpp"
#include "cli/model/model_commands.hpp"
#include "cli/subcommands.hpp"

/// `corun model fit | predict | suggest | eval`: interference models of pairs of jobs.
namespace corun::inline cli {

int model_command(const std::vector<std::string>& arguments) {
  static constexpr std::array<Subcommand, 4> kAll{{
      {"fit", "from tables of measured pairs to a model", model_fit_command},
      {"predict", "a table of pairs in, the same with predicted speeds out", model_predict_command},
      {"suggest", "which pairs of a queue to measure next", model_suggest_command},
      {"eval", "how well interference models predict what they have not seen", model_eval_command},
  }};
  return run_subcommand(
      {.name = "corun model",
       .usage = "fit|predict|suggest|eval",
       .about = "What pairs of jobs cost each other, learnt from measured pairs.",
       .more = "; `--model prefitted` comes with corun, for a start\nwithout measurements",
       .examples = "  corun model eval\n",
       .noun = "action"},
      kAll, arguments);
}

}  // namespace corun::inline cli
