#include <array>

#include "cli/cli.hpp"
#include "cli/predictor/predictor_commands.hpp"
#include "cli/subcommands.hpp"

/// `corun predictor fit | apply | eval`: predictors of memory, time and utilisation of jobs.
namespace corun::inline cli {

int predictor_command(const std::vector<std::string>& arguments) {
  static constexpr std::array<Subcommand, 3> kAll{{
      {"fit", "from a table of measured jobs to a predictor", predictor_fit_command},
      {"apply", "a table of jobs in, the same with predictions out", predictor_apply_command},
      {"eval", "how well predictors predict jobs, models, GPUs that they have not seen",
       predictor_eval_command},
  }};
  return run_subcommand({.name = "corun predictor",
                         .usage = "fit|apply|eval",
                         .about = "Memory, time of a step and GPU utilisation of a job before it "
                                  "has run, learnt from measured jobs.",
                         .more = "; `corun predict` predicts one model on GPU types",
                         .examples = "  corun predictor fit --target memory --jobs "
                                     "examples/measured_jobs.csv --out memory.predictor\n",
                         .noun = "action"},
                        kAll, arguments);
}

}  // namespace corun::inline cli
