#include "runner/config/config_checks.hpp"

#include <string>

#include <gtest/gtest.h>

#include "tests/runner/config/config_test_support.hpp"

namespace corun::config_checks_test {
namespace {

using namespace config_test;  // NOLINT: its own tests

class RefusedTogether : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedTogether, NamesPlaceAndHintOnOneLine) { expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rounds, RefusedTogether,
    testing::Values(
        Refusal{"rounds_of_no_length", "control: {mode: rounds}", "c.yaml:1:17",
                "found control.round_s: null, expected their length"},
        Refusal{"rounds_too_short", "control: {mode: rounds, round_s: 1e-4}", "c.yaml:1:34",
                "found control.round_s: 0.0001, expected their length, 0.001 or more"},
        Refusal{"rounds_join", "control: {mode: rounds, round_s: 60, start: join}", "c.yaml:1:45",
                "control.start: found join, expected group with control.mode: rounds"},
        Refusal{"rounds_tick", "control: {mode: rounds, round_s: 60, tick_s: 5}", "c.yaml:1:46",
                "control.tick_s: found 5, expected null"},
        Refusal{"rounds_profiling",
                "control: {mode: rounds, round_s: 60}\nprofiling: {mode: minute}\n", "c.yaml:2:19",
                "profiling.mode: found minute, expected none or predictor"},
        Refusal{"rounds_probing", "control: {mode: rounds, round_s: 60}\nprobing: {probes: 2}\n",
                "c.yaml:2:19", "probing.probes: found 2, expected 0"},
        Refusal{"rounds_starts",
                "control: {mode: rounds, round_s: 60}\ncluster: {start: {cost_s: 20}}\n",
                "c.yaml:2:27", "cluster.start.cost_s: found 20, expected 0"},
        Refusal{"rounds_stragglers",
                "control: {mode: rounds, round_s: 60}\nworld: {stragglers: 0.1}\n", "c.yaml:2:21",
                "world.stragglers: found 0.1, expected 0"},
        Refusal{"mode_unknown", "control: {mode: round}", "c.yaml:1:17", "did you mean 'rounds'?"}),
    named);

INSTANTIATE_TEST_SUITE_P(
    Probing, RefusedTogether,
    testing::Values(
        Refusal{"probes_negative", "probing: {probes: -1}", "c.yaml:1:19", "from 0 to 1000"},
        Refusal{"probes_of_no_length", "probing: {seconds: 0}", "c.yaml:1:20", "a number from"},
        Refusal{"probes_join", "probing: {probes: 1}\ncontrol: {start: join}", "c.yaml:1:19",
                "found control.start: join, expected group"},
        Refusal{"probes_once", "control: {plan: once}\nprobing:\n  probes: 1\n", "c.yaml:3:11",
                "found control.plan: once, expected online"},
        Refusal{"probes_single", "probing: {probes: 1}\ncluster: {max_jobs_per_gpu: 1}",
                "c.yaml:1:19", "found cluster.max_jobs_per_gpu: 1"}),
    named);

INSTANTIATE_TEST_SUITE_P(
    RealClusters, RefusedTogether,
    testing::Values(Refusal{"notice_at_ticks",
                            "control: {tick_s: 5, tick_rule: progress, notice_s: 3}", "c.yaml:1:53",
                            "control.notice_s: found 3, expected 0"},
                    Refusal{"costs_without_seconds", "cluster: {start: {costs: LM}}", "c.yaml:1:26",
                            "found 'LM', expected WORKLOAD=SECONDS"},
                    Refusal{"costs_below_0", "cluster: {start: {costs: LM=-1}}", "c.yaml:1:26",
                            "found 'LM=-1', expected WORKLOAD=SECONDS from 0 to 1e9"},
                    Refusal{"costs_of_nothing", "cluster: {start: {costs: 'LM=1,=2'}}",
                            "c.yaml:1:26", "found '=2', expected WORKLOAD=SECONDS"},
                    Refusal{"costs_twice", "cluster: {start: {costs: 'LM=1,LM=2'}}", "c.yaml:1:26",
                            "'LM' has two costs, expected one"},
                    Refusal{"more_than_all_are_stragglers", "world: {stragglers: 1.5}",
                            "c.yaml:1:21", "from 0 to 1"}),
    named);

}  // namespace
}  // namespace corun::config_checks_test
