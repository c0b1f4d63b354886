#include "lagtape/ops/distribution.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "lagtape/ops/special_functions.h"

namespace lagtape {
namespace {

struct Known {
  const TargetDistribution* distribution;
  std::vector<double> parameters;
  double y, loss;
  std::vector<double> slopes;
  double crps, upper;  ///< upper: the quantile of the level 0.9
};

/// The values are mpmath's with 40 digits, and SciPy's quantiles and integrals of its distribution functions.
// clang-format off
const std::vector<Known> kKnown = {
    {&kGaussian, {1.5, 0.7}, 2.3, 1.215324813755736,
     {-1.6326530612244896, -0.4373177842565592}, 0.49327034572015827, 2.39708609588122},
    {&kGaussian, {0.0, 100.0}, -30.0, 5.5691087191927641,
     {0.003, 0.0091}, 26.93329006866635, 128.15515655446004},
    {&kStudentT, {1.5, 0.7, 3.2}, 2.3, 1.3580369332694958,
     {-1.5217391304347826, -0.31055900621117976, -0.042468546014209461}, 0.48971706642083124, 2.6273501341139873},
    {&kStudentT, {1.5, 0.7, 2.0}, -20.0, 9.9206854243787887,
     {0.13923968654879865, -2.8480760868559588, 2.2739470645193536}, 20.745274116844808, 2.819932658214889},
    {&kStudentT, {0.0, 1.0, 40.0}, 0.5, 1.0529141525384037,
     {-0.5093167701863354, 0.7453416149068323, -0.00022415617109532478}, 0.3334014370881323, 1.3030770526071949},
    {&kStudentT, {0.0, 1.0, 1000000.0}, 3.0, 5.418923033305922,
     {-2.9999760002159981, -7.9999280006479942, 1.549979750209598e-11}, 2.436574258011297, 1.281552412129939},
    {&kNegativeBinomial, {3.3, 0.4}, 5.0, 2.4614055860914742,
     {-0.22204806687565312, 0.68081381029226833}, 1.2950134803592603, 7.0},
    {&kNegativeBinomial, {3.3, 0.4}, 0.0, 2.1039179641955464,
     {0.43103448275862069, -1.7037604277302453}, 1.8302509140675154, 7.0},
    {&kNegativeBinomial, {120.0, 1e-05}, 140.0, 4.9701521991543964,
     {-0.16646690637901185, -129.59192585085038}, 14.158254778367745, 134.0},
    {&kNegativeBinomial, {0.01, 5.0}, 3.0, 11.573743810508086,
     {-284.76190476190476, -0.31996026457543529}, 2.9800951514611933, 0.0},
    {&kNegativeBinomial, {2.0, 3.0}, 40.0, 10.262119096891076,
     {-2.7142857142857143, -1.2683178127662429}, 36.490077888599465, 6.0},
};
// clang-format on

/// The same number except for a relative rounding error.
bool is_near(double value, double expected, double error) {
  return std::abs(value - expected) <= error * std::abs(expected);
}

TEST_CASE("likelihoods, their slopes, quantiles and scores of distributions are the known ones") {
  for (const auto& [distribution, parameters, y, loss, slopes, crps, upper] : kKnown) {
    CAPTURE(loss);
    REQUIRE(parameters.size() == distribution->parameters.size());
    std::vector<double> found(parameters.size());
    CHECK(is_near(distribution->negative_log_likelihood(parameters.data(), y, found.data()), loss, 1e-12));
    CHECK(distribution->negative_log_likelihood(parameters.data(), y, nullptr) ==
          distribution->negative_log_likelihood(parameters.data(), y, found.data()));
    for (std::size_t i = 0; i < slopes.size(); ++i) CHECK(is_near(found[i], slopes[i], 1e-8));
    CHECK(is_near(distribution->crps(parameters.data(), y), crps, 1e-9));
    CHECK(is_near(distribution->quantile(parameters.data(), 0.9), upper, 1e-10));
  }
}

TEST_CASE("slopes of likelihoods agree with central differences") {
  for (const Known& known : kKnown) {
    CAPTURE(known.loss);
    for (std::size_t i = 0; i < known.parameters.size(); ++i) {
      const double step = 1e-5 * std::max(std::abs(known.parameters[i]), 1e-3);
      const auto at = [&](double change) {
        std::vector<double> changed = known.parameters;
        changed[i] += change;
        return known.distribution->negative_log_likelihood(changed.data(), known.y, nullptr);
      };
      const double slope = (at(step) - at(-step)) / (2 * step);
      CHECK(std::abs(slope - known.slopes[i]) <= 1e-5 * std::max(1.0, std::abs(known.slopes[i])));
    }
  }
}

TEST_CASE("limits of the parameters leave losses and slopes finite") {
  struct Limit {
    const TargetDistribution* distribution;
    std::vector<double> parameters;
    double y;
  };
  const std::vector<Limit> limits = {
      {&kGaussian, {0, kLeastDeviation}, 1e4},    {&kGaussian, {0, 1e30}, 1e-30},
      {&kStudentT, {0, kLeastDeviation, 2}, 1e4}, {&kStudentT, {0, 1e30, 1e30}, 1},
      {&kStudentT, {1e8, 1, 2 + 1e-12}, 0},       {&kNegativeBinomial, {1e-6, 1e-6}, 0},
      {&kNegativeBinomial, {1e-6, 1e-6}, 1e6},    {&kNegativeBinomial, {1e9, 1e-6}, 0},
      {&kNegativeBinomial, {1e9, 1e9}, 1e9},
  };
  for (const auto& [distribution, parameters, y] : limits) {
    CAPTURE(y);
    CAPTURE(parameters[0]);
    std::vector<double> slopes(parameters.size());
    CHECK(std::isfinite(distribution->negative_log_likelihood(parameters.data(), y, slopes.data())));
    for (const double slope : slopes) CHECK(std::isfinite(slope));
    CHECK(distribution->crps(parameters.data(), y) >= 0);
    CHECK(distribution->quantile(parameters.data(), 0.1) <= distribution->quantile(parameters.data(), 0.9));
  }
}

TEST_CASE("without dispersion the negative binomial distribution is that of Poisson") {
  const double parameters[] = {4.5, 1e-6};
  for (const double y : {0.0, 3.0, 11.0})
    CHECK(kNegativeBinomial.negative_log_likelihood(parameters, y, nullptr) ==
          doctest::Approx(4.5 - y * std::log(4.5) + std::lgamma(y + 1)).epsilon(1e-5));
}

TEST_CASE(
    "the probabilities of all counts are 1 in sum, and quantiles are the counts that reach their level") {
  const double parameters[] = {3.3, 0.4};
  double sum = 0;
  for (double y = 0; y < 400; ++y) {
    const double before = sum;
    sum += std::exp(-kNegativeBinomial.negative_log_likelihood(parameters, y, nullptr));
    if (sum - before < 1e-6) continue;
    CHECK(kNegativeBinomial.quantile(parameters, before + 0.01 * (sum - before)) == y);
    CHECK(kNegativeBinomial.quantile(parameters, sum - 0.01 * (sum - before)) == y);
  }
  CHECK(sum == doctest::Approx(1).epsilon(1e-13));
}

TEST_CASE("the score of a wide distribution of counts, summed over parts, is near that of all counts") {
  const double parameters[] = {5e4, 0.3};
  CHECK(kNegativeBinomial.crps(parameters, 20000) == doctest::Approx(16284.449114206527).epsilon(3e-4));
  const double narrow[] = {3.3, 0.4};
  CHECK(kNegativeBinomial.crps(narrow, 5000) == doctest::Approx(5000 - 3.3 - 1.2).epsilon(2e-4));  // far away
}

TEST_CASE("gamma functions and their relatives are those of the C library") {
  for (const double x : {1e-6, 0.3, 1.0, 2.5, 15.999, 16.0, 170.0, 1e6})
    for (const double k : {0.5, 1.0, 7.0, 1e3}) {
      CAPTURE(x);
      CAPTURE(k);
      const double size = std::abs(std::lgamma(x + k)) + std::abs(std::lgamma(x)) + 1;
      CHECK(std::abs(log_gamma_ratio(x, k) - (std::lgamma(x + k) - std::lgamma(x))) < 1e-14 * size);
      const double step = 1e-4 * x;
      const double slope = (log_gamma_ratio(x + step, k) - log_gamma_ratio(x - step, k)) / (2 * step);
      CHECK(digamma_difference(x, k) == doctest::Approx(slope).epsilon(1e-5));
    }
  CHECK(digamma_difference(1, 4) == doctest::Approx(1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0).epsilon(1e-14));
  for (const double x : {0.001, 0.3, 0.5, 0.9999}) {
    CHECK(beta_share(1, 4, x) == doctest::Approx(1 - std::pow(1 - x, 4)).epsilon(1e-13));
    CHECK(beta_share(2, 1, x) == doctest::Approx(x * x).epsilon(1e-13));
    CHECK(beta_share(3.5, 0.2, x) == doctest::Approx(1 - beta_share(0.2, 3.5, 1 - x)).epsilon(1e-12));
  }
  CHECK(beta_share(2, 3, 0) == 0);
  CHECK(beta_share(2, 3, 1) == 1);
  for (const double p : {1e-12, 0.001, 0.25, 0.5, 0.9, 1 - 1e-9})
    CHECK(std::erfc(-normal_quantile(p) / std::sqrt(2)) / 2 == doctest::Approx(p).epsilon(1e-13));
}

}  // namespace
}  // namespace lagtape
