#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>

#include "lagtape/cells/written/cfc.h"
#include "lagtape/cells/written/d_linoss.h"
#include "lagtape/cells/written/gated_deltanet.h"
#include "lagtape/cells/written/linoss.h"
#include "lagtape/cells/written/lru.h"
#include "lagtape/cells/written/mamba.h"
#include "lagtape/cells/written/mlstm.h"
#include "lagtape/cells/written/rg_lru.h"
#include "lagtape/cells/written/slstm.h"
#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/reversible.h"

// First values that papers print as properties of a step, such as the moduli of its eigenvalues.

namespace lagtape {
namespace {

/// The first values of a layer by name.
std::map<std::string, Tensor> started(const Layer& layer) {
  std::map<std::string, Tensor> values;
  for (const ParameterDefinition& p : layer.parameters) {
    Tensor value(p.shape, Dtype::f64);
    initialize(value, p.initializer, 7, p.draws_of.empty() ? p.name : p.draws_of);
    values[p.name] = value;
  }
  return values;
}

double softplus(double a) { return std::log1p(std::exp(a)); }
double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

/// Whether the numbers lie between two and reach the outer twentieths of what is between.
void check_spread(const std::vector<double>& numbers, double low, double high) {
  const auto [least, most] = std::ranges::minmax_element(numbers);
  CHECK(*least >= low);
  CHECK(*most <= high);
  CHECK(*least < low + (high - low) / 20);
  CHECK(*most > high - (high - low) / 20);
}

TEST_CASE("lru starts from eigenvalues on a ring, with the gains that belong to them") {
  auto values =
      started(Lru{.units = 3, .states = 200, .r_min = 0.6, .r_max = 0.9, .max_phase = 0.5}.build(2));
  std::vector<double> squares, angles;
  for (std::int64_t k = 0; k < 200; ++k) {
    const double r = std::exp(-std::exp(values["nu_log"].at(k)));
    squares.push_back(r * r);
    angles.push_back(std::exp(values["theta_log"].at(k)));
    CHECK(std::exp(values["gamma_log"].at(k)) == doctest::Approx(std::sqrt(1 - r * r)).epsilon(1e-12));
  }
  check_spread(squares, 0.36, 0.81);
  check_spread(angles, 0, 0.5);
}

TEST_CASE("d_linoss starts from eigenvalues of its steps on a ring, at any angle") {
  auto values = started(DLinoss{.units = 3, .oscillators = 200}.build(2));
  std::vector<double> squares, angles;
  for (std::int64_t k = 0; k < 200; ++k) {
    const double dt = sigmoid(values["s"].at(k)), A = values["a"].at(k), w = 1 + dt * values["g"].at(k);
    const double trace = 1 / w + 1 - dt * dt * A / w, determinant = 1 / w;
    const std::complex<double> root =
        (trace + std::sqrt(std::complex<double>(trace * trace - 4 * determinant))) / 2.0;
    squares.push_back(std::norm(root));
    angles.push_back(std::abs(std::arg(root)));
    // Inside of the clamp, so that a has a gradient.
    CHECK(A * dt * dt > std::pow(std::sqrt(w) - 1, 2) * (1 - 1e-12));
    CHECK(A * dt * dt < std::pow(std::sqrt(w) + 1, 2) * (1 + 1e-12));
  }
  check_spread(squares, 0.81, 1);
  check_spread(angles, 0, 3.1415926536);
}

TEST_CASE("gates and steps start from the decays and sizes of their papers") {
  auto griffin = started(RgLru{.units = 200}.build(2));
  auto mamba = started(Mamba{.units = 200, .states = 3}.build(2));
  auto delta = started(GatedDeltanet{.units = 200, .heads = 200}.build(2));
  std::vector<double> decays, steps, rates;
  for (std::int64_t k = 0; k < 200; ++k) {
    decays.push_back(std::exp(-8 * softplus(griffin["L"].at(k))));
    steps.push_back(std::log(softplus(mamba["W_dt.bias"].at(k))));
    rates.push_back(std::exp(delta["A_log"].at(k)));
    CHECK(std::exp(mamba["A_log"].at(k)) == doctest::Approx(1 + k % 3));
  }
  check_spread(decays, 0.9, 0.999);
  check_spread(steps, std::log(0.001), std::log(0.1));
  check_spread(rates, 0, 16);
}

TEST_CASE("xLSTM's forget gates start from its ramps, one over the heads and one in each head") {
  auto matrix = started(Mlstm{.units = 8, .heads = 4}.build(2));
  for (int k = 0; k < 4; ++k) CHECK(matrix["W_f.bias"].at(k) == doctest::Approx(3 + k));
  auto scalar = started(Slstm{.units = 6, .heads = 2}.build(2));
  for (int k : {0, 3}) CHECK(scalar["W_f.bias"].at(k) == 5);
  for (int k : {2, 5}) CHECK(scalar["W_f.bias"].at(k) == -7);
  CHECK(scalar["W_f.bias"].at(1) == doctest::Approx(5 - 12 * std::pow(0.5, 0.3)));
  CHECK(scalar["R_f.1"].at(2) == 0);
}

TEST_CASE("linoss runs backwards on the grid with the method IMEX, and IM says why not") {
  for (const std::string method : {"im", "imex"}) {
    Layer layer = Linoss{.units = 3, .oscillators = 4, .method = method}.build(2);
    for (StateDefinition& state : layer.program.states) state.arithmetic = Arithmetic::grid;
    if (method == "imex") {
      check_grid(layer.program);
      CHECK(undo_order(layer.program).obstacle == "");
    } else {
      CHECK_THROWS_WITH_AS(check_grid(layer.program),
                           doctest::Contains("a state on the grid is updated as z' = z + ..."), InputError);
    }
  }
}

TEST_CASE("heads that do not divide the units, and a time without other inputs, are refused") {
  CHECK_THROWS_WITH_AS((Mlstm{.units = 4, .heads = 3}.build(2)),
                       "mlstm: /heads: must divide the 4 units, got 3.", InputError);
  CHECK_THROWS_WITH_AS(
      (Cfc{.units = 4, .elapsed = true}.build(1)),
      "the last input is the time since the step before, so another is needed. Got input [1].", InputError);
}

}  // namespace
}  // namespace lagtape
