#include "traces/tables/predictions_csv.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <stdexcept>
#include <string_view>

#include "sim/base/csv_text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {

namespace {

constexpr std::array<std::string_view, 4> kPredicted{"pred_norm_a", "pred_norm_b", "pred_sd_a",
                                                     "pred_sd_b"};
constexpr std::array<std::string_view, 2> kPredictedOfLine{"pred_norm", "pred_sd"};

}  // namespace

void write_predictions(std::ostream& out, const Measurements& table,
                       std::span<const std::vector<double>> predictions) {
  const bool of_lines = !table.lines.empty();
  const std::size_t rows = of_lines ? table.lines.size() : table.speeds.rows.size();
  const bool as_read = !table.header.empty();
  const std::span<const std::string_view> added =
      of_lines ? std::span<const std::string_view>(kPredictedOfLine) : kPredicted;
  if (predictions.size() != rows || table.fields.size() != (as_read ? rows : 0) ||
      std::ranges::any_of(predictions, [&](const auto& p) { return p.size() != added.size(); })) {
    throw std::invalid_argument("write_predictions: not one prediction and one line per row");
  }
  for (const std::string_view name : added) {
    if (std::ranges::find(table.header, name) == table.header.end()) continue;
    throw InputError(table.source + ":1:1", "the header has a column '" + std::string(name) +
                                                "' already, expected none of a prediction's; "
                                                "remove or rename it");
  }
  if (as_read) {
    for (const std::string& name : table.header) out << csv_text(name) << ',';
  } else {
    out << "job_a,job_b,norm_a,norm_b,";
  }
  for (std::size_t i = 0; i < added.size(); ++i) out << (i > 0 ? "," : "") << added[i];
  out << '\n';
  for (std::size_t r = 0; r < rows; ++r) {
    if (as_read) {
      for (const std::string& field : table.fields[r]) out << csv_text(field) << ',';
    } else {
      const SpeedTable::Row& row = table.speeds.rows[r];
      out << csv_text(table.names[row.a]) << ',' << csv_text(table.names[row.b]) << ','
          << csv_number(row.speed_a) << ',' << csv_number(row.speed_b) << ',';
    }
    for (std::size_t i = 0; i < predictions[r].size(); ++i) {
      out << (i > 0 ? "," : "") << csv_number(predictions[r][i]);
    }
    out << '\n';
  }
}

}  // namespace corun::inline traces
