#include "support/yaml_tree.hpp"

#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/runner/config/config_test_support.hpp"

namespace corun::yaml_tree_test {
namespace {

using namespace config_test;  // NOLINT: its own tests

class RefusedText : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedText, NamesPlaceAndHintOnOneLine) { expect_refused(GetParam()); }

std::string list_in_list(std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += "- ";
  return text + "1";
}

std::string nested(std::size_t depth) {
  return "seed: " + std::string(depth, '[') + std::string(depth, ']');
}

INSTANTIATE_TEST_SUITE_P(
    Text, RefusedText,
    testing::Values(
        Refusal{"empty", "", "c.yaml:1:1", "nothing but space and comments"},
        Refusal{"blank", "\n\n  \n", "c.yaml:1:1", "nothing but"},
        Refusal{"comments", "# seed: 1\n# none\n", "c.yaml:1:1", "nothing but"},
        Refusal{"empty_document", "---\n", "c.yaml:1:1", "nothing but"},
        Refusal{"binary", std::string("\x00\x01\x02\xff", 4), "c.yaml:1:1", "0x00"},
        Refusal{"nul", std::string("seed: 1\nse\0ed", 13), "c.yaml:2:3", "a binary file?"},
        Refusal{"not_utf8", "seed: 1 # \xff\n", "c.yaml:1:11", "0xff"},
        Refusal{"overlong_utf8", "# \xc0\xaf\n", "c.yaml:1:3", "UTF-8"},
        Refusal{"surrogate", "# \xed\xa0\x80\n", "c.yaml:1:3", "UTF-8"},
        Refusal{"cut_utf8", "seed: 1 # \xe2\x82", "c.yaml:1:11", "UTF-8"},
        Refusal{"utf16", std::string("\xff\xfes\0e\0", 6), "c.yaml:1:1", "0xff"},
        Refusal{"end_of_transmission", "seed: 1\n\x04nodes: 2\n", "c.yaml:2:1", "0x04"},
        Refusal{"lone_return", "seed: 1\rreplications: 2\n", "c.yaml:1:8", "0x0d"},
        Refusal{"line_separator", "seed: 1 # \xe2\x80\xa8\n", "c.yaml:1:11", "control"},
        Refusal{"tab", "cluster:\n\tnodes: 1\n", "c.yaml:2:1", "found a tab as indentation"},
        Refusal{"tab_after_spaces", "cluster:\n  \tnodes: 1\n", "c.yaml:2:3", "expected spaces"},
        Refusal{"anchor", "seed: &x 1\n", "c.yaml:1:7", "found an anchor"},
        Refusal{"anchor_of_nothing", "seed: &x\n", "c.yaml:1:7", "found an anchor"},
        Refusal{"anchor_of_map", "cluster: &x\n  nodes: 1\n", "c.yaml:1:10", "write it out"},
        Refusal{"alias", "seed: 1\nreplications: *x\n", "c.yaml:2:15", "anchor is not defined"},
        Refusal{"merge", "cluster:\n  <<: {nodes: 1}\n", "c.yaml:2:3", "found a merge key"},
        Refusal{"tag", "seed: !!int 1\n", "c.yaml:1:7", "leave the tag out"},
        Refusal{"local_tag", "seed: !x 1\n", "c.yaml:1:7", "found a tag"},
        Refusal{"bare_tag", "seed: ! 1\n", "c.yaml:1:7", "found a tag"},
        Refusal{"tagged_map", "cluster: !!map {nodes: 1}\n", "c.yaml:1:10", "found a tag"},
        Refusal{"two_documents", "seed: 1\n---\nseed: 2\n", "c.yaml:2:1", "a second document"},
        Refusal{"document_mark_after", "seed: 1\n---\n", "c.yaml:2:1", "a second document"},
        Refusal{"after_end", "seed: 1\n...\nseed: 2\n", "c.yaml:3:1", "more text after the end"},
        Refusal{"two_maps", "{seed: 1} {seed: 2}\n", "c.yaml:1:11", "more text after the end"},
        Refusal{"list_and_map", "- a\nseed: 1\n", "c.yaml:2:1", "check indentation"},
        Refusal{"unterminated", "workload: {source: 'jrs-queue\n", "c.yaml:1:20",
                "unterminated text, expected a closing '"},
        Refusal{"unterminated_block", "workload:\n  source: 'jrs-queue\n", "c.yaml:2:11",
                "unterminated"},
        Refusal{"unterminated_double", "workload:\n  source: \"jrs-queue\n", "c.yaml:2:11",
                "closing \""},
        Refusal{"unterminated_escape", "workload:\n  source: \"jrs\\\"\n", "c.yaml:2:11",
                "unterminated"},
        Refusal{"unterminated_twin", "workload:\n  source: 'it''\n", "c.yaml:2:11", "unterminated"},
        Refusal{"unterminated_last_line", "workload: {source: 'jrs", "c.yaml:1:20", "unterminated"},
        Refusal{"unterminated_key", "'seed: 1\n", "c.yaml:1:1", "unterminated"},
        Refusal{"open_map", "cluster: {nodes: 1\n", "c.yaml:2:1", "not valid YAML"},
        Refusal{"open_list", "policies: [fcfs\n", "c.yaml:2:1", "brackets"},
        Refusal{"stray_bracket", "seed: 1\n]\n", "c.yaml:2:1", "not valid YAML"},
        Refusal{"indentation", "seed: 1\n  replications: 2\n", "c.yaml:2:15", "indentation"},
        Refusal{"two_colons", "seed: 1: 2\n", "c.yaml:1:8", "not valid YAML"},
        Refusal{"bad_escape", "workload: {source: \"\\q\"}\n", "c.yaml:1:23", "quotes"},
        Refusal{"too_deep", nested(40), "c.yaml:1:22", "nested more than 16 deep"},
        Refusal{"deep_block", list_in_list(20000), "c.yaml:1:33", "nested more than 16 deep"},
        Refusal{"far_too_deep", nested(200000), "c.yaml:1:22", "nested more than 16 deep"},
        Refusal{"too_large", "seed: 1 #" + std::string(kYamlBytesMax, 'x'), "c.yaml:1:1",
                "larger than 1048576 bytes"}),
    named);

std::string repeated(std::string_view unit, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += unit;
  return out;
}

// The time to refuse these must be linear in their size.
INSTANTIATE_TEST_SUITE_P(
    Large, RefusedText,
    testing::Values(
        Refusal{"long_name", "policies: [" + std::string(5000, 'x') + "]", "c.yaml:1:12",
                "xxx...'"},
        Refusal{"many_policies", "policies: [" + repeated("fcfs, ", 150000) + "fcfs]",
                "c.yaml:1:11", "found a list of 150001, expected at most 1000 policies"},
        Refusal{"many_lines", repeated("a\n", 500000), "c.yaml:1:1", "expected a map of keys"},
        Refusal{"many_nulls", repeated("-\n", 500000), "c.yaml:1:1", "expected a map of keys"},
        Refusal{"many_wide",
                "policies: [{name: max-packing, bin: [" + repeated("ä, ", 200000) + "]}]",
                "c.yaml:1:41", "each job once"}),
    named);

}  // namespace
}  // namespace corun::yaml_tree_test
