#include "models/interference/gp/co_runner_order.hpp"

namespace corun::inline models::gp {

std::size_t CoRunnerOrder::add(const Rows& rows) {
  const std::size_t observation = order_.size();
  const Rows::Observation& x = rows.observations[observation];
  const auto column = [&](std::vector<std::int32_t>& columns, std::vector<std::uint32_t>& jobs,
                          std::uint32_t job) {
    columns.resize(rows.places.size(), kNew);
    if (columns[job] == kNew) {
      columns[job] = static_cast<std::int32_t>(jobs.size());
      jobs.push_back(job);
    }
    return static_cast<std::size_t>(columns[job]);
  };
  column(slowed_column_, slowed_, x.own);
  const std::size_t co_runner = column(co_runner_column_, co_runners_, x.co_runner);
  first_.resize(co_runners_.size() + 1, static_cast<std::uint32_t>(order_.size()));
  const std::size_t at = first_[co_runner + 1];
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at),
                static_cast<std::uint32_t>(observation));
  for (std::size_t p = co_runner + 1; p < first_.size(); ++p) ++first_[p];
  return at;
}

}  // namespace corun::inline models::gp
