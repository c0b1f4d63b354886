#include "lagtape/ops/recurrence/oracle/unroll.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/gradient_check.h"
#include "lagtape/ops/recurrence/step/draws.h"
#include "lagtape/ops/recurrence/step/step_tape.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

namespace lagtape {
namespace {

using namespace test;

/// h' = w h[-lag] + x, one unit.
StepProgram delayed_sum(std::int64_t lag) {
  StepTape tape(1);
  const StepVar h = tape.state("h", RowShape::vector(1));
  const StepVar next = tape.vector("w", 1) * tape.lag(h, lag) + tape.input();
  tape.set_next(h, next);
  tape.set_output(next);
  return tape.finish();
}

SequenceCase numbers(StepProgram program, std::initializer_list<double> w, std::initializer_list<double> x) {
  SequenceCase c;
  const Shape shape = program.weights[0].shape;
  c.stack.layers = {std::move(program)};
  c.weights = {Tensor::from(shape, w, Dtype::f64)};
  c.batch.x = Tensor::from({1, static_cast<std::int64_t>(x.size()), 1}, x, Dtype::f64);
  return c;
}

std::vector<double> list(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor.at(i));
  return values;
}

std::vector<double> outputs(const SequenceCase& c) { return list(named(run_unrolled(c), "outputs")); }

using List = std::vector<double>;

TEST_CASE("gradients of the unrolled tape agree with central differences") {
  const CaseLimits small{.steps = 8, .rows = 3, .width = 5, .layers = 2};
  for_each_seed(
      "gradients of the unrolled tape agree with central differences", 100, [&](std::uint64_t seed) {
        const SequenceCase c = random_case(seed, small);
        const auto report = check_gradients(
            [&](Tape& tape, std::span<const Var> inputs) { return scalar_unrolled(tape, c, inputs); },
            differentiable(c), {.step = 1e-3, .projections = 1, .elements = 2, .floor = 1e-5});
        return report.max_rel_error <= 1e-7 ? ""
                                            : text_of(report.worst, ", off by ", report.max_rel_error, "\n");
      });
}

TEST_CASE("unrolled: a lag reads the state so many steps before the present one") {
  CHECK(outputs(numbers(delayed_sum(0), {2}, {1, 10, 100, 1000})) == List{1, 12, 124, 1248});
  CHECK(outputs(numbers(delayed_sum(1), {2}, {1, 10, 100, 1000})) == List{1, 10, 102, 1020});
  CHECK(outputs(numbers(delayed_sum(2), {2}, {1, 10, 100, 1000})) == List{1, 10, 100, 1002});
  CHECK(outputs(numbers(delayed_sum(7), {2}, {1, 10, 100, 1000})) == List{1, 10, 100, 1000});
}

TEST_CASE("unrolled: a window is the oldest state first, and comes out again") {
  SequenceCase c = numbers(delayed_sum(2), {2}, {1, 10});
  c.initial = {Tensor::from({3, 1, 1}, {5, 6, 7}, Dtype::f64)};
  CHECK(outputs(c) == List{11, 22});
  CHECK(list(named(run_unrolled(c), "h[..T]")) == List{7, 11, 22});
}

TEST_CASE("unrolled: a real lag interpolates, and is clamped to 1 .. its largest") {
  StepTape tape(1);
  const StepVar h = tape.state("h", RowShape::vector(1));
  const StepVar read = tape.lag(h, tape.scalar("tau"), 3);
  tape.set_next(h, tape.input());
  tape.set_output(read);
  const StepProgram program = tape.finish();
  const auto at = [&](double tau) {
    SequenceCase c = numbers(program, {tau}, {0});
    c.initial = {Tensor::from({4, 1, 1}, {1000, 100, 10, 1}, Dtype::f64)};  // h[-3] .. h[0]
    Tape t;
    const Var w = t.variable(c.weights[0]), initial = t.variable(c.initial[0]);
    const Var y = unroll_outputs(t, c.stack, {&w, 1}, t.constant(c.batch.x), c.batch, {&initial, 1});
    t.backward(y);
    return List{y.value().item(), w.grad().item()};
  };
  CHECK(at(0.5) == List{10, 0});
  CHECK(at(1) == List{10, 90});
  CHECK(at(1.5) == List{55, 90});
  CHECK(at(2) == List{100, 900});
  CHECK(at(2.75) == List{775, 900});
  CHECK(at(3) == List{1000, 900});
  CHECK(at(9) == List{1000, 0});
}

TEST_CASE("unrolled: read-outs at every step, a row's last, the batch's last, and the mean") {
  SequenceCase c = numbers(delayed_sum(1), {0}, {1, 2, 3, 4});
  c.batch.x = Tensor::from({2, 4, 1}, {1, 2, 3, 4, 5, 6, 70, 80}, Dtype::f64);
  c.batch.lengths = {4, 2};
  const auto at = [&](ReadAt place) {
    c.stack.at = place;
    return outputs(c);
  };
  CHECK(at(ReadAt::every_step) == List{1, 2, 3, 4, 5, 6, 0, 0});
  CHECK(at(ReadAt::last_step) == List{4, 6});
  CHECK(at(ReadAt::last_padded_step) == List{4, 80});
  CHECK(at(ReadAt::mean) == List{2.5, 5.5});
}

TEST_CASE("unrolled: losses are means over what is scored") {
  SequenceCase c = numbers(delayed_sum(1), {0}, {0});
  c.batch.x = Tensor::from({2, 2, 1}, {1, 2, 3, 4}, Dtype::f64);
  c.batch.targets = Tensor::from({2, 2, 1}, {0, 0, 0, 9}, Dtype::f64);
  c.batch.lengths = {2, 1};
  c.stack.loss = Loss::mse;
  CHECK(named(run_unrolled(c), "loss").item() == doctest::Approx((1 + 4 + 9) / 3.0).epsilon(1e-14));
  CHECK(list(named(run_unrolled(c), "d x"))[3] == 0);

  c.batch.targets = Tensor::from({2, 2, 1}, {0, 1, 1, 0}, Dtype::f64);
  c.stack.loss = Loss::binary_cross_entropy;
  const double losses =
      std::log(1 + std::exp(1.0)) + std::log(1 + std::exp(-2.0)) + std::log(1 + std::exp(-3.0));
  CHECK(named(run_unrolled(c), "loss").item() == doctest::Approx(losses / 3).epsilon(1e-14));

  StepTape pair(1);
  pair.set_output(product(pair.matrix("W", 2, 1), pair.input()));
  c.stack.readout = pair.finish();
  c.weights.push_back(Tensor::from({2, 1}, {1, -1}, Dtype::f64));
  c.stack.loss = Loss::cross_entropy;
  c.batch.classes = {0, 1, 1, -7};
  const double surprises =
      std::log(1 + std::exp(-2.0)) + std::log(1 + std::exp(4.0)) + std::log(1 + std::exp(6.0));
  CHECK(named(run_unrolled(c), "loss").item() == doctest::Approx(surprises / 3).epsilon(1e-14));
}

TEST_CASE("unrolled: losses with settings are those of their formulas") {
  SequenceCase c = numbers(delayed_sum(1), {0}, {0});
  c.batch.x = Tensor::from({1, 2, 1}, {1, 2}, Dtype::f64);
  const auto loss_of = [&](LossFunction loss, std::vector<double> targets) {
    c.stack.loss = std::move(loss);
    c.batch.targets = Tensor::from({1, 2, 1}, targets, Dtype::f64);
    return named(run_unrolled(c), "loss").item();
  };
  CHECK(loss_of({Loss::huber, {.delta = 0.5}}, {0.75, 5}) ==
        doctest::Approx((0.03125 + 0.5 * (3 - 0.25)) / 2).epsilon(1e-14));
  CHECK(loss_of({Loss::quantile, {.levels = {0.9}}}, {2, 0}) ==
        doctest::Approx((0.9 + 0.2) / 2).epsilon(1e-14));
  CHECK(loss_of(Loss::mae, {0.75, 5}) == doctest::Approx((0.25 + 3) / 2).epsilon(1e-14));
  const double smoothed = 3 * (std::log(1 + std::exp(1.0)) - 0.9) + 2 * (std::log(1 + std::exp(2.0)) - 0.2);
  CHECK(loss_of({Loss::binary_cross_entropy, {.class_weights = {2, 3}, .label_smoothing = 0.2}}, {1, 0}) ==
        doctest::Approx(smoothed / 2).epsilon(1e-14));
  StepTape pair(1);
  pair.set_output(product(pair.matrix("W", 2, 1), pair.input()));
  c.stack.readout = pair.finish();
  c.weights.push_back(Tensor::from({2, 1}, {1, 0.5}, Dtype::f64));  // mean 1 and scale 0.5, then 2 and 1
  const double half = std::log(2 * std::acos(-1.0)) / 2;
  CHECK(loss_of(Loss::gaussian, {0.75, 5}) ==
        doctest::Approx((std::log(0.5) + 0.125 + 4.5 + 2 * half) / 2).epsilon(1e-14));
  CHECK(loss_of(Loss::gaussian, {std::nan(""), 5}) == doctest::Approx(4.5 + half).epsilon(1e-14));
}

TEST_CASE("unrolled: draws are those of their place in training, their evaluation value otherwise") {
  StepTape tape(1);
  const StepVar each = tape.draw(DrawDefinition::Kind::normal, RowShape::vector(2), true, 0.25);
  const StepVar once = tape.draw(DrawDefinition::Kind::uniform, RowShape::vector(2), false, 0.5);
  tape.set_output(tape.vector("w", 2) * each + once);
  SequenceCase c = numbers(tape.finish(), {10, 10}, {0, 0, 0});
  c.batch.first_step = 4;
  c.batch.draws = {1, 2, {30}};
  CHECK(outputs(c) == List{3, 3, 3, 3, 3, 3});
  c.batch.training = true;
  const auto draws = c.stack.layers[0].draws;
  List expected;
  for (int i = 0; i < 6; ++i)
    expected.push_back(10 * draw_at(draws[0], 1, 2, 30, 4 + i / 2, i % 2, 0, 0) +
                       draw_at(draws[1], 1, 2, 30, 0, i % 2, 0, 1));
  CHECK(outputs(c) == expected);
}

TEST_CASE("unrolled: what does not fit is refused") {
  const SequenceCase c = numbers(delayed_sum(1), {2}, {1});
  Tape tape;
  const Var x = tape.constant(c.batch.x), w = tape.variable(c.weights[0]);
  const std::vector<Var> two = {w, w};
  CHECK_THROWS_WITH_AS(unroll_outputs(tape, c.stack, {}, x, c.batch), "[unroll] a weight is missing: 'w'.",
                       InputError);
  CHECK_THROWS_WITH_AS(unroll_outputs(tape, c.stack, two, x, c.batch),
                       "[unroll] 1 weights more than the programs have.", InputError);
  CHECK_THROWS_WITH_AS(unroll_outputs(tape, c.stack, {&w, 1}, x, c.batch, two),
                       "[unroll] one window a state. Got 2 for 1.", InputError);
  CHECK_THROWS_WITH_AS(unroll_loss(tape, c.stack, {&w, 1}, x, c.batch),
                       "[unroll_loss] the stack has no loss.", InputError);
}

}  // namespace
}  // namespace lagtape
