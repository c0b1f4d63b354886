#include "lagtape/cells/models/budget_shares.h"

namespace lagtape {

std::vector<std::int64_t> shares_of(std::int64_t bytes, std::span<const Need> needs) {
  double wanted = 0;
  for (const Need& need : needs) wanted += static_cast<double>(need.wanted);
  std::vector<std::int64_t> shares(needs.size(), -1);
  const auto in_proportion = [&](std::size_t i) {
    return static_cast<double>(bytes) * static_cast<double>(needs[i].wanted) / wanted;
  };
  for (std::size_t i = 0; i < needs.size();) {
    if (shares[i] >= 0 || in_proportion(i) >= static_cast<double>(needs[i].least)) {
      ++i;
      continue;
    }
    shares[i] = needs[i].least;
    bytes -= needs[i].least;
    wanted -= static_cast<double>(needs[i].wanted);
    i = 0;  // less is left for the others
  }
  for (std::size_t i = 0; i < needs.size(); ++i)
    if (shares[i] < 0) shares[i] = static_cast<std::int64_t>(in_proportion(i));
  return shares;
}

}  // namespace lagtape
