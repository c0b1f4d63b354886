#include "lagtape/ops/loss_rows.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

// The losses with settings: closed forms, and gradients against central differences.

namespace lagtape::test {
namespace {

using Row = std::function<double(const double* outputs, double scale, double* gradient)>;

/// The largest difference of a row's gradient from central differences; the gradient is scaled by 0.5.
double gradient_error(const Row& row, std::vector<double> outputs) {
  std::vector<double> gradient(outputs.size());
  row(outputs.data(), 0.5, gradient.data());
  double worst = 0, largest = 0;
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    constexpr double kStep = 1e-6;
    const double at = outputs[j];
    outputs[j] = at + kStep;
    const double above = row(outputs.data(), 1, nullptr);
    outputs[j] = at - kStep;
    const double below = row(outputs.data(), 1, nullptr);
    outputs[j] = at;
    worst = std::max(worst, std::abs(gradient[j] - 0.5 * (above - below) / (2 * kStep)));
    largest = std::max(largest, std::abs(gradient[j]));
  }
  CHECK(largest > 0.01);
  return worst;
}

const double kNone = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("huber is quadratic up to delta and linear beyond") {
  const double target[] = {0, 0, 0, kNone};
  const double y[] = {0.25, -0.5, 3, 7};
  double gradient[4];
  CHECK(huber_row(y, target, 4, 0.5, 2.0, gradient) == 0.03125 + 0.125 + 0.5 * (3 - 0.25));
  CHECK(gradient[0] == 0.5);
  CHECK(gradient[1] == -1);
  CHECK(gradient[2] == 1);
  CHECK(gradient[3] == 0);
  const Row row = [&](const double* outputs, double scale, double* to) {
    return huber_row(outputs, target, 4, 0.5, scale, to);
  };
  CHECK(gradient_error(row, {0.25, -0.4, 3, 7}) < 1e-9);
}

TEST_CASE("huber with a large delta is half the square") {
  const float target[] = {1, -2}, y[] = {0.5f, 3};
  float one[2], two[2];
  CHECK(huber_row(y, target, 2, 100, 2, one) == mse_row(y, target, 2, 1, two) / 2);
  CHECK(one[0] == two[0]);
  CHECK(one[1] == two[1]);
}

TEST_CASE("mae is the absolute error, with a slope of one") {
  const double target[] = {0, 0, 2, kNone}, y[] = {0.25, -0.5, 2, 7};
  double gradient[4];
  CHECK(mae_row(y, target, 4, 2.0, gradient) == 0.75);
  const double expected[] = {2, -2, 0, 0};
  for (int j = 0; j < 4; ++j) CHECK(gradient[j] == expected[j]);
  const Row row = [&](const double* outputs, double scale, double* to) {
    return mae_row(outputs, target, 4, scale, to);
  };
  CHECK(gradient_error(row, {0.25, -0.4, 3, 7}) < 1e-9);
}

TEST_CASE("the likelihood of a row is that of its targets, each with its own parameters") {
  const double target[] = {0.3, kNone, -4}, y[] = {0.1, 0.5, 2.5, 9, 9, 9, -3, 2, 7};
  double expected = 0;
  for (const int i : {0, 2}) expected += kStudentT.negative_log_likelihood(y + 3 * i, target[i], nullptr);
  double gradient[9];
  CHECK(likelihood_row(y, target, 3, kStudentT, 1.0, gradient) == expected);
  for (int j = 3; j < 6; ++j) CHECK(gradient[j] == 0);
  const Row row = [&](const double* outputs, double scale, double* to) {
    return likelihood_row(outputs, target, 3, kStudentT, scale, to);
  };
  CHECK(gradient_error(row, {y, y + 9}) < 1e-8);
}

TEST_CASE("the likelihood of counts in units is that of the counts") {
  const double target[] = {30, kNone, 4, 25, 2, 0.5}, y[] = {1.2, 0.3, 1, 1, 6, 0.7},
               restored[] = {30, 0.3, 2, 1, 3, 0.7};
  double gradient[6], of_counts[6];
  CHECK(
      likelihood_row(y, target, 3, kNegativeBinomial, 1.0, gradient, target + 3) ==
      doctest::Approx(likelihood_row(restored, target, 3, kNegativeBinomial, 1.0, of_counts)).epsilon(1e-14));
  CHECK(gradient[0] == doctest::Approx(25 * of_counts[0]).epsilon(1e-14));
  CHECK(gradient[1] == of_counts[1]);
  CHECK(gradient[4] == doctest::Approx(0.5 * of_counts[4]).epsilon(1e-14));
  const Row row = [&](const double* outputs, double scale, double* to) {
    return likelihood_row(outputs, target, 3, kNegativeBinomial, scale, to, target + 3);
  };
  CHECK(gradient_error(row, {y, y + 6}) < 1e-8);
}

TEST_CASE("the quantile loss weighs what lies above and below by the level") {
  const double levels[] = {0.1, 0.5, 0.9}, target[] = {2, kNone};
  const double y[] = {1, 2, 4, 0, 0, 0};
  double gradient[6];
  const double loss = quantile_row(y, target, 2, levels, 3, 10.0, gradient);
  CHECK(loss == doctest::Approx(0.1 * 1 + 0 + 0.1 * 2).epsilon(1e-14));
  CHECK(gradient[0] == doctest::Approx(-1).epsilon(1e-14));
  CHECK(gradient[1] == 0);
  CHECK(gradient[2] == doctest::Approx(1).epsilon(1e-14));
  for (int j = 3; j < 6; ++j) CHECK(gradient[j] == 0);
  const double known[] = {2, -1};
  const Row row = [&](const double* outputs, double scale, double* to) {
    return quantile_row(outputs, known, 2, levels, 3, scale, to);
  };
  CHECK(gradient_error(row, {1, 2.5, 4, -3, -0.5, 2}) < 1e-9);
}

TEST_CASE("the constant with the smallest quantile loss is the quantile of the targets") {
  const double level[] = {0.3};
  const auto loss = [&](double guess) {
    double sum = 0;
    for (int i = 0; i < 100; ++i) {
      const double target = i * i;
      sum += quantile_row(&guess, &target, 1, level, 1, 1, static_cast<double*>(nullptr));
    }
    return sum;
  };
  double best = 0;
  for (double guess = 0; guess < 10000; guess += 5)
    if (loss(guess) < loss(best)) best = guess;
  CHECK(best >= 29 * 29);
  CHECK(best <= 30 * 30);
}

TEST_CASE("smoothed cross-entropy is the cross-entropy with the smoothed probabilities, times the weight") {
  const double logits[] = {0.3, -1.2, 2.0};
  const double smoothing = 0.3, wanted[] = {0.1, 0.8, 0.1};
  double sum = 0, expected = 0;
  for (const double logit : logits) sum += std::exp(logit);
  for (int j = 0; j < 3; ++j) expected -= wanted[j] * std::log(std::exp(logits[j]) / sum);
  const Row row = [&](const double* outputs, double scale, double* to) {
    return smoothed_cross_entropy_row(outputs, 3, 1, 2.5, smoothing, scale, to);
  };
  CHECK(row(logits, 1, nullptr) == doctest::Approx(2.5 * expected).epsilon(1e-14));
  CHECK(gradient_error(row, {0.3, -1.2, 2.0}) < 1e-9);
  double plain[3], same[3];
  CHECK(smoothed_cross_entropy_row(logits, 3, 1, 1.0, 0.0, 0.7, same) ==
        doctest::Approx(cross_entropy_row(logits, 3, 1, 0.7, plain)).epsilon(1e-14));
  for (int j = 0; j < 3; ++j) CHECK(same[j] == doctest::Approx(plain[j]).epsilon(1e-14));
}

TEST_CASE("smoothed binary cross-entropy is that of two classes with logits 0 and z") {
  for (const double z : {-30.0, -0.4, 0.0, 1.7, 800.0}) {
    for (const std::int32_t target : {0, 1}) {
      const double logits[] = {0, z};
      double one = 0, two[2] = {};
      CHECK(
          smoothed_binary_cross_entropy_row(&z, target, 1.5, 0.2, 0.5, &one) ==
          doctest::Approx(smoothed_cross_entropy_row(logits, 2, target, 1.5, 0.2, 0.5, two)).epsilon(1e-12));
      CHECK(one == doctest::Approx(two[1]).epsilon(1e-8));
      CHECK(one != 0);
    }
  }
  const Row row = [](const double* outputs, double scale, double* to) {
    return smoothed_binary_cross_entropy_row(outputs, 1, 3, 0.1, scale, to);
  };
  CHECK(gradient_error(row, {0.6}) < 1e-9);
}

}  // namespace
}  // namespace lagtape::test
