#include "lagtape/cells/s4d.h"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>

#include "lagtape/core/error.h"
#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;
using Complex = std::complex<double>;

constexpr int kModes = 2;

/// y[n] of a channel: its convolution with K[l] = 2 Re(sum of C (exp(A dt) - 1) / A exp(A dt l)), and D x[n].
Vector convolved(int channel, const std::vector<Vector>& x) {
  const double dt = std::exp(weight_of("log_dt", kUnits)[channel]);
  Vector y;
  for (std::size_t n = 0; n < x.size(); ++n) {
    double sum = weight_of("D", kUnits)[channel] * x[n][channel];
    for (std::size_t l = 0; l <= n; ++l) {
      for (int k = channel * kModes; k < (channel + 1) * kModes; ++k) {
        const auto number = [&](const char* name) { return weight_of(name, kUnits * kModes)[k]; };
        const Complex A(-std::exp(number("log_A")), number("A_imag")), C(number("C_re"), number("C_im"));
        const Complex kernel = C * (std::exp(A * dt) - 1.0) / A * std::exp(A * dt * static_cast<double>(l));
        sum += 2 * kernel.real() * x[n - l][channel];
      }
    }
    y.push_back(sum);
  }
  return y;
}

double gelu(double a) { return 0.5 * a * (1 + std::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a))); }

TEST_CASE("s4d is the convolution with its kernel, mapped, gated, added and normalized") {
  std::vector<Vector> x = sequence(), wanted;
  for (Vector& v : x) v.push_back(0.5 * v[0] * v[1] - 0.2);
  const std::vector<Vector> y = {convolved(0, x), convolved(1, x), convolved(2, x)};
  for (int n = 0; n < kSteps; ++n) {
    const Vector g = {gelu(y[0][n]), gelu(y[1][n]), gelu(y[2][n])};
    Vector r(kUnits), out(kUnits);
    double mean = 0, variance = 0;
    for (int i = 0; i < kUnits; ++i) r[i] = x[n][i] + affine("W1", g, i) * sigmoid(affine("W2", g, i));
    for (const double a : r) mean += a / kUnits;
    for (const double a : r) variance += (a - mean) * (a - mean) / kUnits;
    for (int i = 0; i < kUnits; ++i)
      out[i] = weight_of("scale", kUnits)[i] * (r[i] - mean) / std::sqrt(variance + 1e-5) +
               weight_of("shift", kUnits)[i];
    wanted.push_back(out);
  }
  const Layer layer = S4d{.units = kUnits, .states = 2 * kModes}.build(kUnits);
  check_equal(evaluate(
                  layer.program, [&](const std::string& name) { return step_weight(layer, name); }, x),
              wanted);
}

TEST_CASE("s4d starts from decays of one half and the frequencies pi k") {
  for (const ParameterDefinition& p : S4d{.units = 3, .states = 6}.build(3).parameters) {
    Tensor value(p.shape, Dtype::f64);
    initialize(value, p.initializer, 1, p.name);
    if (p.name == "log_A") CHECK(std::exp(value.at(4)) == doctest::Approx(0.5));
    if (p.name == "A_imag") CHECK(value.at(5) == doctest::Approx(2 * M_PI));
    if (p.name == "log_dt") CHECK((std::exp(value.at(1)) > 0.001 && std::exp(value.at(1)) < 0.1));
  }
}

TEST_CASE("s4d wants as many channels as it has units, and says how to get them") {
  CHECK_THROWS_WITH_AS(
      (S4d{.units = 4}.build(3)),
      "the input has 3 channels, not 4. A layer {\"layer\": \"linear\", \"units\": 4} before this gives "
      "them.",
      InputError);
}

}  // namespace
}  // namespace lagtape
