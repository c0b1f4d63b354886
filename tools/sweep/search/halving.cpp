#include "lagtape/tools/sweep/search/halving.h"

#include <algorithm>
#include <cstdint>

#include "lagtape/core/error.h"

namespace lagtape::search {

const double* Halving::value_after(const Trial& trial, std::int64_t evaluations) {
  std::vector<double>& values = values_[trial.number];
  if (std::ssize(values) < evaluations) values = best_so_far(trial, plan_);
  return std::ssize(values) < evaluations ? nullptr : &values[static_cast<std::size_t>(evaluations) - 1];
}

std::string Halving::verdict(const Trial& trial, const std::vector<Trial>& all) {
  std::int64_t& judged = judged_[trial.number];
  const std::int64_t rung = judged == 0 ? plan_.first : judged * plan_.factor;
  const double* own = value_after(trial, rung);
  if (own == nullptr) return "";
  judged = rung;
  std::int64_t others = 0, better = 0;
  for (const Trial& other : all) {
    const double* value = other.number == trial.number ? nullptr : value_after(other, rung);
    if (value == nullptr) continue;
    ++others;
    if (is_better(plan_, *value, *own)) ++better;
  }
  const std::int64_t places = (others + 1) / plan_.factor;
  if (places == 0 || better < places) return "";
  return text_of("after ", rung, rung == 1 ? " evaluation " : " evaluations ", better, " of ", others,
                 " other runs were better");
}

}  // namespace lagtape::search
