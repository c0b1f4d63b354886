#include "lagtape/ops/delay/delay_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

constexpr std::int64_t kMostPoints = std::int64_t{1} << 28;
constexpr std::int64_t kNoBreak = std::numeric_limits<std::int64_t>::max();

struct Candidate {
  Dual t;
  std::int64_t level;  ///< -1: a sample; kNoBreak: a multiple of h
};

/// Sorts by time and, among times that are equal, keeps the one with the lowest level.
void merge(std::vector<Candidate>& all, double tolerance) {
  std::ranges::stable_sort(all, {}, [](const Candidate& c) { return c.t.v; });
  std::vector<Candidate> kept;
  for (Candidate& c : all) {
    if (kept.empty() || c.t.v - kept.back().t.v > tolerance)
      kept.push_back(std::move(c));
    else if (c.level < kept.back().level)
      kept.back() = std::move(c);
  }
  all = std::move(kept);
}

Dual sum(const Dual& a, const Dual& b) {
  Dual result = a;
  result.v += b.v;
  for (std::size_t p = 0; p < a.d.size(); ++p) result.d[p] += b.d[p];
  return result;
}

/// The breaks before the end of the last step: the initial ones, and all that they travel to.
std::vector<Candidate> breaks_of(const GridParts& parts, double end, double tolerance) {
  std::vector<Candidate> all = {{{0, std::vector<double>(parts.h.d.size())}, -1}};
  for (const double sample : parts.samples)
    if (sample > tolerance && sample < end - tolerance)
      all.push_back({{sample, std::vector<double>(parts.h.d.size())}, -1});
  if (!parts.cut) return all;
  std::vector<Candidate> last = all;
  for (const Dual& at : parts.switches) {
    if (at.v < end - tolerance) last.push_back({at, 0});
    if (at.v > tolerance && at.v < end - tolerance) all.push_back({at, 0});
  }
  merge(all, tolerance);
  for (std::int64_t level = 1; level <= parts.levels && !last.empty(); ++level) {
    std::vector<Candidate> next;
    for (const Candidate& from : last)
      for (const std::vector<Dual>* lags : {&parts.lags, &parts.spread}) {
        if (lags == &parts.spread && level > kSpreadLevels) continue;
        for (const Dual& lag : *lags)
          if (const double t = from.t.v + lag.v; t > tolerance && t < end - tolerance)
            next.push_back({sum(from.t, lag), level});
      }
    merge(next, tolerance);
    all.insert(all.end(), next.begin(), next.end());
    merge(all, tolerance);
    if (static_cast<std::int64_t>(all.size()) > kMostPoints / 64)
      throw InputError({.item = "levels"}, Rule::no_memory, "there are too many breaks to follow",
                       text_of(all.size()), "Follow them less often: \"levels\": 1.");
    last = std::move(next);
  }
  return all;
}

}  // namespace

MovingGrid make_grid(const GridParts& parts) {
  constexpr double kNear = 1e-9;
  MovingGrid grid;
  grid.tolerance = std::max(kNear * parts.h.v, 16 * std::numeric_limits<double>::epsilon() * parts.end);
  const double steps = std::ceil((parts.end - grid.tolerance) / parts.h.v);
  if (!(steps < static_cast<double>(kMostPoints)))
    throw InputError({.item = "h"}, Rule::no_memory, "there are too many steps", text_of(steps));
  const auto multiples = std::max<std::int64_t>(1, static_cast<std::int64_t>(steps));
  std::vector<Candidate> all = breaks_of(parts, static_cast<double>(multiples) * parts.h.v, grid.tolerance);
  for (std::int64_t k = 1; k <= multiples; ++k) {
    Dual t{static_cast<double>(k) * parts.h.v, parts.h.d};
    for (double& d : t.d) d *= static_cast<double>(k);
    all.push_back({std::move(t), kNoBreak});
  }
  merge(all, grid.tolerance);
  for (Candidate& c : all) grid.points.push_back({std::move(c.t), c.level != kNoBreak});
  return grid;
}

}  // namespace lagtape
