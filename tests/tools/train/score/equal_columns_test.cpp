#include "lagtape/tools/train/score/equal_columns.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <utility>

using namespace lagtape;

namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
constexpr std::size_t kAll = 1'000'000;

/// The pairs that are equal at every step at which the target is a number, of which there is one.
Pairs compared(const std::vector<std::vector<double>>& x, const std::vector<std::vector<double>>& y) {
  Pairs pairs;
  for (std::size_t i = 0; i < x[0].size(); ++i)
    for (std::size_t k = 0; k < y[0].size(); ++k) {
      bool known = false, equal = true;
      for (std::size_t n = 0; n < x.size(); ++n) {
        if (std::isnan(y[n][k])) continue;
        known = true;
        equal = equal && x[n][i] == y[n][k];
      }
      if (known && equal) pairs.emplace_back(i, k);
    }
  return pairs;
}

}  // namespace

TEST_CASE("equal columns are those of a comparison of all pairs, with gaps of the targets too") {
  std::uint64_t state = 1;
  const auto draw = [&](std::uint64_t count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % count;
  };
  std::size_t found = 0;
  for (int round = 0; round < 300; ++round) {
    const std::size_t inputs = 1 + draw(12), targets = 1 + draw(8), steps = 1 + draw(8);
    const std::uint64_t values = 1 + draw(3), gaps = draw(3);
    std::vector<std::vector<double>> x(steps), y(steps);
    EqualColumns columns(static_cast<std::int64_t>(inputs), static_cast<std::int64_t>(targets));
    for (std::size_t n = 0; n < steps; ++n) {
      for (std::size_t i = 0; i < inputs; ++i) x[n].push_back(static_cast<double>(draw(values)));
      if (draw(20) == 0) x[n][draw(inputs)] = std::numeric_limits<double>::quiet_NaN();
      for (std::size_t k = 0; k < targets; ++k)
        y[n].push_back(draw(4) < gaps ? std::numeric_limits<double>::quiet_NaN() : x[n][k % inputs]);
      columns.add(x[n], y[n]);
    }
    const Pairs pairs = compared(x, y);
    CHECK(columns.pairs(kAll) == pairs);
    CHECK(columns.count() == std::ssize(pairs));
    CHECK(columns.given_up() == 0);
    found += pairs.size();
  }
  CHECK(found > 1000);
}

TEST_CASE("columns that all agree are found without comparing all pairs") {
  const std::vector<double> ones(200'000, 1.0);
  EqualColumns columns(std::ssize(ones), std::ssize(ones));
  for (int n = 0; n < 3; ++n) columns.add(ones, ones);
  CHECK(columns.count() == std::ssize(ones) * std::ssize(ones));
  CHECK(columns.pairs(2) == Pairs{{0, 0}, {0, 1}});
}
