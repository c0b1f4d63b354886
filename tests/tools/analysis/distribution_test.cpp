#include "lagtape/tools/analysis/distribution.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "lagtape/core/error.h"
#include "lagtape/core/random.h"

namespace lagtape {

TEST_CASE("every finite number is in one bin") {
  std::vector<double> values;
  const RandomStream random(1, 2);
  for (std::uint64_t i = 0; i < 1000; ++i) values.push_back(random.normal_at(i));
  values.push_back(std::numeric_limits<double>::quiet_NaN());
  values.push_back(std::numeric_limits<double>::infinity());
  const Distribution found = distribution_of(values, 17);
  CHECK(found.count == 1000);
  CHECK(found.not_finite == 2);
  CHECK(found.counts.size() == 17);
  CHECK(found.edges.size() == 18);
  CHECK(std::accumulate(found.counts.begin(), found.counts.end(), std::int64_t{0}) == 1000);
  CHECK(found.edges.front() == found.min);
  CHECK(found.edges.back() == doctest::Approx(found.max));
  CHECK_FALSE(found.log);
}

TEST_CASE("quantiles and the mean are those of the numbers") {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  const Distribution found = distribution_of(values, 10);
  CHECK(found.low == doctest::Approx(5));
  CHECK(found.median == 50);
  CHECK(found.high == doctest::Approx(95));
  CHECK(found.mean == doctest::Approx(50));
  CHECK(found.counts == std::vector<std::int64_t>{10, 10, 10, 10, 10, 10, 10, 10, 10, 11});
}

TEST_CASE("two clusters of time scales stand out, on a logarithmic scale when they are far apart") {
  std::vector<double> values;
  const RandomStream random(3, 4);
  for (std::uint64_t i = 0; i < 4000; ++i)
    values.push_back((i % 2 == 0 ? 1 : 0.02) * std::exp(0.15 * random.normal_at(i)));
  values.push_back(0.001);
  const Distribution found = distribution_of(values, 60);
  CHECK(found.log);
  REQUIRE(found.peaks.size() == 2);
  CHECK(std::abs(std::log(found.peaks[0] / 0.02)) < 0.15);
  CHECK(std::abs(std::log(found.peaks[1] / 1.0)) < 0.15);
  REQUIRE(found.peak_shares.size() == 2);
  for (const double share : found.peak_shares) {  // a bin is as wide as 0.77 of the deviation
    CHECK(share > 0.1);
    CHECK(share < 0.2);
  }
  values.push_back(0);
  CHECK_FALSE(distribution_of(values, 60).log);
}

TEST_CASE("equal numbers, and none, are distributions too") {
  const Distribution same = distribution_of({2, 2, 2}, 4);
  CHECK(same.counts == std::vector<std::int64_t>{0, 0, 3, 0});
  CHECK(same.peaks == std::vector<double>{2});
  CHECK(same.peak_shares == std::vector<double>{1});
  CHECK((same.edges[2] < 2 && 2 < same.edges[3] && same.edges.back() < 3));
  CHECK(same.median == 2);
  CHECK(distribution_of({}, 4).counts.empty());
  CHECK_THROWS_AS(distribution_of({1}, 0), InputError);
}

}  // namespace lagtape
