#include "models/interference/gp/partner_order.hpp"

namespace corun::gp {

std::size_t PartnerOrder::add(const Rows& rows) {
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
  column(own_column_, owns_, x.own);
  const std::size_t partner = column(partner_column_, partners_, x.partner);
  first_.resize(partners_.size() + 1, static_cast<std::uint32_t>(order_.size()));
  const std::size_t at = first_[partner + 1];
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at),
                static_cast<std::uint32_t>(observation));
  for (std::size_t p = partner + 1; p < first_.size(); ++p) ++first_[p];
  return at;
}

}  // namespace corun::gp
