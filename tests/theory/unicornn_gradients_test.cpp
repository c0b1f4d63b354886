#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "lagtape/cells/unicornn.h"
#include "lagtape/tests/theory/support/dynamics.h"

// How far back the gradients of stacked UnICORNN layers reach: what one step contributes to them, and how that falls
// with the time step.

namespace lagtape {
namespace {

using namespace test;

constexpr std::size_t kUnits = 3;
constexpr std::int64_t kInput = 2;
constexpr double kTarget = 1, kMove = 1e-3;

Vector positions(const Vector& state) { return {state.begin() + kUnits, state.end()}; }

/// Layers with the time step s = dt at every unit, over the time 0 .. 1. The input is that of the lowest one; a layer
/// reads the y of the one below, with residual stacking also y of layers further below (Appendix C.5).
class Stack {
 public:
  Stack(double dt, std::int64_t layers, std::int64_t skipped = 0) : skipped_(skipped) {
    const Unicornn options{.units = kUnits,
                           .layers = layers,
                           .dt = {dt},
                           .alpha = 1,
                           .dropout = 0,
                           .residual_stacking = skipped};
    std::uint64_t seed = 1;
    for (Layer& layer : options.build(kInput)) {
      layers_.emplace_back(std::move(layer), 1, seed++);
      layers_.back().fill("s", dt);
    }
    for (double t = 0; t < 1 - dt / 2; t += dt) x_.push_back({1 + std::sin(2 * t), std::cos(3 * t)});
    for (std::size_t l = 0; l < layers_.size(); ++l) add_layer(states_, l);
  }

  std::size_t steps() const { return x_.size(); }

  /// The change of the loss |y - target|^2 / 2 of the top layer's last y, for a unit change of a weight of the lowest
  /// layer in step k alone. With `all_paths`, through every path; else through those alone that go up at the last step,
  /// which are the ones with the paper's scalings.
  double contribution(const std::string& weight, std::size_t k, bool all_paths) {
    Tensor& w = layers_[0].weight(weight);
    const double value = w.at(0);
    double loss[2];
    for (const int side : {0, 1}) {
      const Vector before = k == 0 ? Vector(2 * kUnits, 0) : states_[0][k - 1];
      w.set(0, value + (side == 0 ? -kMove : kMove));
      const Vector moved = layers_[0].run(before, {x_[k]})[0];
      w.set(0, value);
      Matrix lowest = {moved};
      if (k + 1 < steps())
        for (Vector& state :
             layers_[0].run(moved, {x_.begin() + static_cast<std::ptrdiff_t>(k) + 1, x_.end()}))
          lowest.push_back(std::move(state));
      loss[side] = loss_of(all_paths ? up_all_the_way(lowest, k) : up_at_the_end(lowest.back()));
    }
    return std::abs(loss[1] - loss[0]) / (2 * kMove);
  }

  /// The same for a change in all steps: the gradient.
  double gradient(const std::string& weight) {
    Tensor& w = layers_[0].weight(weight);
    const double value = w.at(0);
    double loss[2];
    for (const int side : {0, 1}) {
      w.set(0, value + (side == 0 ? -kMove : kMove));
      loss[side] = loss_of(up_all_the_way(layers_[0].run(Vector(2 * kUnits, 0), x_), 0));
    }
    w.set(0, value);
    return std::abs(loss[1] - loss[0]) / (2 * kMove);
  }

 private:
  /// The input of layer l, in its order: y of the layer below, then of those that it or a layer above needs.
  Vector input_of(std::size_t l, const Matrix& ys, const Vector& x) const {
    Vector input = l == 0 ? x : ys[l - 1];
    const auto width = static_cast<std::size_t>(layers_[l].input());
    for (std::size_t below = l == 0 ? 0 : l - 1; input.size() < width && below-- > 0;) {
      const bool needed = below + 1 + static_cast<std::size_t>(skipped_) < layers_.size();
      if (needed) input.insert(input.end(), ys[below].begin(), ys[below].end());
    }
    if (input.size() < width) input.insert(input.end(), x.begin(), x.end());
    REQUIRE(input.size() == width);
    return input;
  }

  /// Runs layer l over the states of those below it, and adds its own.
  void add_layer(std::vector<Matrix>& states, std::size_t l) {
    Matrix inputs;
    for (std::size_t n = 0; n < steps(); ++n) inputs.push_back(input_of(l, ys_at(states, n), x_[n]));
    states.push_back(layers_[l].run(Vector(2 * kUnits, 0), inputs));
  }

  static Matrix ys_at(const std::vector<Matrix>& states, std::size_t n) {
    Matrix ys;
    for (const Matrix& layer : states) ys.push_back(positions(layer[n]));
    return ys;
  }

  /// The top layer's last y when the lowest layer's states from step k on are these.
  Vector up_all_the_way(const Matrix& lowest, std::size_t k) {
    std::vector<Matrix> states = {states_[0]};
    std::ranges::copy(lowest, states[0].begin() + static_cast<std::ptrdiff_t>(k));
    for (std::size_t l = 1; l < layers_.size(); ++l) add_layer(states, l);
    return positions(states.back().back());
  }

  /// The same when layers above see a change at the last step alone.
  Vector up_at_the_end(const Vector& lowest) {
    Matrix ys = {positions(lowest)};
    for (std::size_t l = 1; l < layers_.size(); ++l)
      ys.push_back(positions(layers_[l].run(states_[l][steps() - 2], {input_of(l, ys, x_.back())})[0]));
    return ys.back();
  }

  static double loss_of(const Vector& y) {
    double loss = 0;
    for (const double value : y) loss += (value - kTarget) * (value - kTarget) / 2;
    return loss;
  }

  std::int64_t skipped_;
  std::vector<Dynamics> layers_;
  Matrix x_;
  std::vector<Matrix> states_;  ///< [layer][step][state]
};

/// The powers of dt with which the contribution of the step at time `t` falls, from one halving of dt to the next.
Vector orders(const std::string& weight, double t, std::int64_t layers, std::int64_t skipped,
              bool all_paths) {
  Vector values, found;
  const int first = all_paths ? 128 : 16;  // high powers of dt need large steps, to be seen above rounding
  for (const int steps : {first, 2 * first, 4 * first}) {
    Stack stack(1.0 / steps, layers, skipped);
    values.push_back(stack.contribution(weight, static_cast<std::size_t>(t * steps), all_paths));
    REQUIRE(values.back() > 0);
  }
  for (std::size_t i = 1; i < values.size(); ++i) found.push_back(std::log2(values[i - 1] / values[i]));
  return found;
}

TEST_CASE("Proposition 3.2: the contribution of a step long ago is of order dt, however long ago") {
  for (const char* weight : {"w", "V.bias"})
    for (const double t : {0.25, 0.5})
      for (const double order : orders(weight, t, 1, 0, true))
        CHECK(order == doctest::Approx(1).epsilon(0.1));
  Stack stack(1.0 / 256, 1);
  const double early = stack.contribution("V.bias", 8, true), late = stack.contribution("V.bias", 128, true);
  CHECK(
      early >
      late);  // what 248 steps ago was done counts more than what was done 128 steps ago: it has moved y longer
}

TEST_CASE(
    "Equation 74: through L layers, along paths that go up at the last step, it is of order dt^(2L - 1)") {
  for (const std::int64_t layers : {1, 2, 3})
    for (const double order : orders("V.bias", 0.25, layers, 0, false))
      CHECK(order == doctest::Approx(2.0 * static_cast<double>(layers) - 1).epsilon(0.1));
}

TEST_CASE(
    "Equation 74 leaves out the paths that go up before the last step: with all, it is of order dt at any "
    "depth") {
  for (const std::int64_t layers : {1, 2, 3})
    for (const double order : orders("V.bias", 0.25, layers, 0, true))
      CHECK(order == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("Equation 80: a connection over S layers saves powers of dt, those of S + 1 layers but one") {
  // Lambda of layer 4 reads y of layer 1 (S = 2). In place of the plain stack's 2L - 1 = 7 there are 3: dt^2 for the
  // connection and dt below it, which is 2L - 2 nu S - 1 with nu = 1 connection. The exponent printed,
  // 2 nu + 2L - 2 nu S - 1 = 5, is that of connections which span S layers instead of S + 1.
  for (const double order : orders("V.bias", 0.25, 4, 2, false))
    CHECK(order == doctest::Approx(3).epsilon(0.1));
}

TEST_CASE("Proposition 3.1: with dt = T / N gradients do not grow with the number of steps N") {
  for (const std::int64_t layers : {1, 2}) {
    Vector gradients;
    for (const int steps : {32, 64, 128, 256}) {
      Stack stack(1.0 / steps, layers);
      gradients.push_back(stack.gradient("V.bias"));
    }
    CHECK(gradients.back() > 0.01);
    for (std::size_t i = 1; i < gradients.size(); ++i)
      CHECK(gradients[i] / gradients[i - 1] == doctest::Approx(1).epsilon(0.08));
  }
}

}  // namespace
}  // namespace lagtape
