#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "lagtape/cells/lem.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/tests/theory/support/dynamics.h"

// Abilities of LEM: systems that it follows, and the LSTM that it contains. The paper approximates dynamical
// systems with gates that depend neither on the state nor on the input (Equation 72 for one time scale); the networks
// here are built in that way, for systems that are given.

namespace lagtape {
namespace {

using namespace test;

constexpr double kOpen = 40;  ///< the sigmoid of this number is 1 in f64

/// A matrix [rows][columns] with entries from U(-scale, scale).
Matrix random_matrix(std::size_t rows, std::size_t columns, double scale, std::uint64_t seed) {
  return random_inputs(static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), scale, seed);
}

void add_product(Vector& to, const Matrix& m, const double* v) {
  for (std::size_t i = 0; i < m.size(); ++i)
    for (std::size_t j = 0; j < m[i].size(); ++j) to[i] += m[i][j] * v[j];
}

Vector tanh_of(Vector v) {
  std::ranges::transform(v, v.begin(), [](double a) { return std::tanh(a); });
  return v;
}

/// Writes `scale` times a matrix into a weight, its first entry at (row, column).
void put(Dynamics& cell, const std::string& name, const Matrix& m, std::size_t row, std::size_t column,
         double scale = 1) {
  Tensor& w = cell.weight(name);
  const auto columns = static_cast<std::size_t>(w.size(1));
  for (std::size_t i = 0; i < m.size(); ++i)
    for (std::size_t j = 0; j < m[i].size(); ++j)
      w.set(static_cast<std::int64_t>((row + i) * columns + column + j), scale * m[i][j]);
}

/// LEM with dt = 1, all weights zero and both gates open at every unit.
Dynamics open_lem(std::int64_t units, std::int64_t input) {
  Dynamics cell(Lem{.units = units}.build(input), 0, 1);
  cell.fill("W1.bias", kOpen);
  cell.fill("W2.bias", kOpen);
  return cell;
}

/// Checks that errors fall with the square of a number that is halved from one to the next, and are seen.
void check_order_two(const Vector& errors) {
  CHECK(errors.front() > 1e-4);
  for (std::size_t i = 1; i < errors.size(); ++i)
    CHECK(std::log2(errors[i - 1] / errors[i]) == doctest::Approx(2).epsilon(0.1));
}

TEST_CASE(
    "Proposition 4.4, Equation 72: with open gates LEM follows phi' = C tanh(A phi + B u) as closely as one "
    "likes") {
  constexpr std::size_t kHidden = 7, kSize = 3, kInput = 2, kSteps = 15;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Matrix a = random_matrix(kHidden, kSize, 1, 10 * seed),
                 b = random_matrix(kHidden, kInput, 1, 20 * seed),
                 c = random_matrix(kSize, kHidden, 0.5, 30 * seed),
                 u = random_inputs(kSteps, kInput, 1, seed);
    Matrix phi = {Vector(kSize, 0)};
    for (const Vector& input : u) {
      Vector drive(kHidden, 0), next(kSize, 0);
      add_product(drive, a, phi.back().data());
      add_product(drive, b, input.data());
      add_product(next, c, tanh_of(drive).data());
      phi.push_back(next);
    }
    Vector errors;
    for (const double small : {0.1, 0.05, 0.025}) {
      // y = tanh(small C z) is nearly linear, so that y / small is phi.
      Dynamics cell = open_lem(kHidden, kInput);
      put(cell, "Wz", a, 0, 0, 1 / small);
      put(cell, "Vz", b, 0, 0);
      put(cell, "Wy", c, 0, 0, small);
      const Matrix states = cell.run(Vector(2 * kHidden, 0), u);
      double error = 0;
      for (std::size_t n = 0; n < kSteps; ++n)
        for (std::size_t i = 0; i < kSize; ++i)
          error = std::max(error, std::abs(states[n][kHidden + i] / small - phi[n + 1][i]));
      errors.push_back(error);
    }
    check_order_two(errors);
  }
}

TEST_CASE(
    "Proposition 4.5, Equation 118: one LEM follows slow and fast variables whatever their time scales, "
    "which biases of gates "
    "alone set") {
  // Slow: phi_i' = (1 - r_i) phi_i + r_i tanh(A phi + B psi + E u)_i. Fast: psi' = C tanh(D phi + F psi + G u).
  constexpr std::size_t kSlow = 3, kFast = 2, kHidden = 4, kInput = 2, kUnits = kSlow + kHidden;
  const Matrix from_phi = random_matrix(kUnits, kSlow, 1, 1), from_psi = random_matrix(kUnits, kFast, 0.5, 2),
               from_u = random_matrix(kUnits, kInput, 1, 3), c = random_matrix(kFast, kHidden, 0.3, 4);
  Vector at_smallest_step;
  for (const double rate : {0.1, 0.01, 0.001}) {
    CAPTURE(rate);
    const Vector rates = {rate, rate / 3, rate / 10};
    const auto steps = static_cast<std::int64_t>(2 / rate);
    const Matrix u = random_inputs(steps, kInput, 1, 5);
    Matrix truth;  // phi and psi after every step
    Vector now(kSlow + kFast, 0);
    for (const Vector& input : u) {
      Vector drive(kUnits, 0), next(kFast, 0);
      add_product(drive, from_phi, now.data());
      add_product(drive, from_psi, now.data() + kSlow);
      add_product(drive, from_u, input.data());
      const Vector wish = tanh_of(drive);
      add_product(next, c, wish.data() + kSlow);
      for (std::size_t i = 0; i < kSlow; ++i) now[i] += rates[i] * (wish[i] - now[i]);
      std::ranges::copy(next, now.begin() + kSlow);
      truth.push_back(now);
    }
    Vector errors;
    for (const double small : {0.2, 0.1, 0.05}) {
      // z holds phi and the hidden layer of psi; y is `small` times phi and psi.
      Dynamics cell = open_lem(kUnits, kInput);
      put(cell, "Wz", from_phi, 0, 0, 1 / small);
      put(cell, "Wz", from_psi, 0, kSlow, 1 / small);
      put(cell, "Vz", from_u, 0, 0);
      put(cell, "Wy", {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 0, 0, small);
      put(cell, "Wy", c, kSlow, kSlow, small);
      for (std::size_t i = 0; i < kSlow; ++i)
        cell.weight("W1.bias").set(static_cast<std::int64_t>(i), std::log(rates[i] / (1 - rates[i])));
      const Matrix states = cell.run(Vector(2 * kUnits, 0), u);
      double error = 0;
      for (std::size_t n = 0; n < u.size(); ++n)
        for (std::size_t i = 0; i < kSlow + kFast; ++i)
          error = std::max(error, std::abs(states[n][kUnits + i] / small - truth[n][i]));
      errors.push_back(error);
    }
    check_order_two(errors);
    at_smallest_step.push_back(errors.back());
  }
  // The error does not depend on the time scales, though the longest run has a hundred times the steps.
  const auto [least, most] = std::ranges::minmax_element(at_smallest_step);
  CHECK(*most < 3 * *least);
}

// ---- Equation 93: a system and what is seen of it ----

/// Rows of hidden units whose second differences are squares: tanh(s a - bend) + tanh(-s a - bend) - 2 tanh(-bend) is
/// s^2 a^2 tanh''(-bend) up to s^4, for a = m phi + b u with a row of each matrix.
struct Squares {
  Matrix of_state, of_input;
  Vector bias, share;  ///< the share of a hidden unit in the sum of all squares
  double constant = 0;

  Squares(const Matrix& m, const Matrix& b, double s) {
    const double bend = 0.7, t = std::tanh(bend), curvature = 2 * t * (1 - t * t);
    for (std::size_t i = 0; i < m.size(); ++i) {
      for (const double sign : {1.0, -1.0}) {
        of_state.push_back(scaled(m[i], sign * s));
        of_input.push_back(scaled(b[i], sign * s));
        bias.push_back(-bend);
        share.push_back(1 / (s * s * curvature));
      }
      constant += 2 * t / (s * s * curvature);
    }
  }

  static Vector scaled(Vector row, double by) {
    for (double& value : row) value *= by;
    return row;
  }
};

TEST_CASE(
    "Proposition 4.4, Equation 93: LEM follows phi' = M phi + B u and shows |phi|^2, in a unit of y that "
    "nothing reads") {
  constexpr std::size_t kSize = 2, kInput = 1, kHidden = 3 * kSize, kSteps = 60;
  const Matrix m = {{0.9, 0.3}, {-0.3, 0.9}}, b = {{0.1}, {-0.2}};  // a damped rotation
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Matrix u = random_inputs(kSteps, kInput, 1, seed);
    Matrix phi = {Vector(kSize, 0)};
    for (const Vector& input : u) {
      Vector next(kSize, 0);
      add_product(next, m, phi.back().data());
      add_product(next, b, input.data());
      phi.push_back(next);
    }
    Vector errors;
    double most = 0;
    for (const double small : {0.08, 0.04, 0.02}) {
      // z: a nearly linear unit for each of phi', and two for each of its squares. y: `small` times phi', and
      // small^2 times what is seen.
      Dynamics cell = open_lem(kHidden, kInput);
      const Squares squares(m, b, small);
      put(cell, "Wz", m, 0, 0, 1);
      put(cell, "Vz", b, 0, 0, small);
      put(cell, "Wz", squares.of_state, kSize, 0, 1 / small);
      put(cell, "Vz", squares.of_input, kSize, 0);
      for (std::size_t i = 0; i < squares.bias.size(); ++i)
        cell.weight("Wz.bias").set(static_cast<std::int64_t>(kSize + i), squares.bias[i]);
      put(cell, "Wy", {{1, 0}, {0, 1}}, 0, 0);
      put(cell, "Wy", {squares.share}, kSize, kSize, small * small);
      cell.weight("Wy.bias").set(kSize, small * small * squares.constant);
      const Matrix states = cell.run(Vector(2 * kHidden, 0), u);
      double error = 0;
      for (std::size_t n = 0; n < kSteps; ++n) {
        const double seen = states[n][kHidden + kSize] / (small * small),
                     truth = phi[n + 1][0] * phi[n + 1][0] + phi[n + 1][1] * phi[n + 1][1];
        error = std::max(error, std::abs(seen - truth));
        most = std::max(most, truth);
      }
      errors.push_back(error);
    }
    CHECK(most > 0.2);
    check_order_two(errors);
  }
}

// ---- Appendix D: LEM and the LSTM ----

constexpr std::size_t kUnits = 5;

/// LEM with dt = 1, Wy = I, Vy = by = 0 and else random weights.
Dynamics lem_like_an_lstm(std::uint64_t seed) {
  Dynamics lem(Lem{.units = kUnits}.build(3), 1, seed);
  for (const char* name : {"Wy", "Wy.bias", "Vy", "Vy.bias"}) lem.fill(name, 0);
  for (std::size_t i = 0; i < kUnits; ++i) lem.weight("Wy").set(static_cast<std::int64_t>(i * kUnits + i), 1);
  return lem;
}

/// Copies `sign` times the weights of a gate of LEM, with its biases, to one of the LSTM.
void copy_gate(Dynamics& lem, const std::string& from, Dynamics& lstm, const std::string& to,
               double sign = 1) {
  for (const std::string suffix : {"", ".bias"}) {
    for (const auto& [map, as] : {std::pair{"W", "W_"}, {"V", "U_"}}) {
      Tensor &source = lem.weight(map + from + suffix), &target = lstm.weight(as + to + suffix);
      for (std::int64_t i = 0; i < source.numel(); ++i) target.set(i, sign * source.at(i));
    }
  }
}

/// The largest difference between (z, y) of LEM and (c, h) of an LSTM with f = 1 - i, over some steps.
double apart(Dynamics& lem, std::uint64_t seed) {
  Dynamics lstm(Lstm{.units = kUnits}.build(3), 0, 1);
  copy_gate(lem, "1", lstm, "i");
  copy_gate(lem, "1", lstm, "f", -1);
  copy_gate(lem, "z", lstm, "g");
  copy_gate(lem, "2", lstm, "o");
  const Matrix x = random_inputs(40, 3, 1, seed), a = lem.run(Vector(2 * kUnits, 0), x),
               b = lstm.run(Vector(2 * kUnits, 0), x);
  double most = 0;
  for (std::size_t n = 0; n < x.size(); ++n) {
    for (std::size_t i = 0; i < kUnits; ++i) {
      most = std::max(most, std::abs(a[n][i] - b[n][kUnits + i]));  // the LSTM's states are h and c
      most = std::max(most, std::abs(a[n][kUnits + i] - b[n][i]));
    }
  }
  return most;
}

TEST_CASE(
    "Appendix D: LEM with dt = 1, Wy = I, Vy = by = 0 and an open output gate is the LSTM with f = 1 - i") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Dynamics lem = lem_like_an_lstm(seed);
    for (const char* name : {"W2", "V2"}) lem.fill(name, 0);
    lem.fill("W2.bias", kOpen);
    CHECK(apart(lem, seed) < 1e-13);
    lem.fill("Vy.bias", 0.1);  // each of the conditions is needed
    CHECK(apart(lem, seed) > 0.01);
    lem.fill("Vy.bias", 0);
    lem.weight("Wy").set(0, 0.9);
    CHECK(apart(lem, seed) > 1e-3);
  }
}

TEST_CASE(
    "Appendix D: with a learned output gate o LEM's y keeps the share 1 - o, which the LSTM's h forgets") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Dynamics lem = lem_like_an_lstm(seed);
    CHECK(apart(lem, seed) > 0.01);
    const Matrix x = random_inputs(40, 3, 1, seed);
    const Vector start(2 * kUnits, 0);
    const Matrix states = lem.run(start, x), gate = lem.named("dt2", start, x);
    for (std::size_t n = 1; n < x.size(); ++n) {
      for (std::size_t i = 0; i < kUnits; ++i) {
        const double o = gate[n][i], c = states[n][i], kept = states[n - 1][kUnits + i];
        CHECK(states[n][kUnits + i] == doctest::Approx(o * std::tanh(c) + (1 - o) * kept).epsilon(1e-12));
      }
    }
  }
}

}  // namespace
}  // namespace lagtape
