#include "lagtape/ops/recurrence/step/step_tape.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

const RowShape kUnits = RowShape::vector(3);

/// A gated step, recorded in the order written or with everything declared and computed in another.
StepProgram gated_step(bool other_order) {
  StepTape tape(2);
  const StepVar h = tape.state("h", kUnits);
  StepMatrix W, U;
  StepVar bias, pre, g;
  if (other_order) {
    tape.constant(17);  // needed by nothing
    bias = tape.vector("W.bias", 3);
    U = tape.matrix("U", 3, 2);
    const StepVar from_input = product(U, tape.input());
    W = tape.matrix("W", 3, 3);
    g = sigmoid(tape.lag(h, 4));
    pre = (product(W, h) + bias) + from_input;
  } else {
    W = tape.matrix("W", 3, 3);
    bias = tape.vector("W.bias", 3);
    U = tape.matrix("U", 3, 2);
    pre = (product(W, h) + bias) + product(U, tape.input());
    g = sigmoid(tape.lag(h, 4));
  }
  const StepVar next = (1 - g) * h + g * tanh(pre);
  if (other_order) tape.set_output(next);
  tape.set_next(h, next);
  if (!other_order) tape.set_output(next);
  return tape.finish();
}

constexpr const char* kGatedStep = R"(input x [2]
state h [3]
weight W [3, 3]
weight W.bias [3]
weight U [3, 2]
%2 = sigmoid(h[-4])
%3 = 1 - %2
%5 = %3 * h
%6 = W @ h
%8 = %6 + W.bias
%10 = U @ x
%11 = %8 + %10
%12 = tanh(%11)
%13 = %2 * %12
%14 = %5 + %13
h' = %14
output h'
)";

/// The program of one value computed from a state of three units.
template <class Compute>
std::string printed(Compute compute) {
  StepTape tape(1);
  const StepVar h = tape.state("h", kUnits);
  tape.set_output(compute(tape, h));
  tape.set_next(h, h);
  const std::string text = to_string(tape.finish());
  return text.substr(text.find("state h [3]\n") + 12);
}

TEST_CASE("a program prints as its equations, leaves in place") {
  CHECK(to_string(gated_step(false)) == kGatedStep);
}

TEST_CASE("the order of recording does not change the program") {
  const StepProgram one = gated_step(false), other = gated_step(true);
  CHECK(to_string(one) == to_string(other));
  CHECK(one.values == other.values);
}

TEST_CASE("equal operations on equal operands are one value, and operands are not reordered") {
  CHECK(printed([](StepTape&, StepVar h) { return tanh(h) * tanh(h); }) ==
        "%1 = tanh(h)\n%2 = %1 * %1\nh' = h\noutput %2\n");
  CHECK(printed([](StepTape&, StepVar h) { return (h + tanh(h)) * (tanh(h) + h); }) ==
        "%1 = tanh(h)\n%2 = h + %1\n%3 = %1 + h\n%4 = %2 * %3\nh' = h\noutput %4\n");
}

TEST_CASE("numbers are folded, and factors of one dropped") {
  const auto number = [](auto compute) { return printed([&](StepTape& t, StepVar) { return compute(t); }); };
  CHECK(number([](StepTape& t) { return (t.constant(2) + 3) * 4 - 1; }) == "h' = h\noutput 19\n");
  CHECK(number([](StepTape& t) { return -(minimum(t.constant(0.25), t.constant(2)) / 2); }) ==
        "h' = h\noutput -0.125\n");
  CHECK(number([](StepTape& t) { return sqrt(abs(t.constant(-16))) + cos(t.constant(0)); }) ==
        "h' = h\noutput 5\n");
  CHECK(printed([](StepTape&, StepVar h) { return 1 * h * 1 / 1; }) == "h' = h\noutput h'\n");
  CHECK(printed([](StepTape&, StepVar h) { return 1 / h; }) == "%2 = 1 / h\nh' = h\noutput %2\n");
  CHECK(printed([](StepTape&, StepVar h) { return h + 0; }) == "%2 = h + 0\nh' = h\noutput %2\n");
  CHECK(printed([](StepTape&, StepVar h) { return 0 * h; }) == "%2 = 0 * h\nh' = h\noutput %2\n");
  CHECK_THROWS_WITH_AS(number([](StepTape& t) { return t.constant(1) / 0; }),
                       "[constant] a number must be finite. Got inf.", InputError);
}

TEST_CASE("scalars and groups spread over the last axis by broadcasts of one axis each") {
  CHECK(printed([](StepTape& t, StepVar h) { return t.scalar("a") * h; }) ==
        "weight a []\n%2 = broadcast(a, [3])\n%3 = %2 * h\nh' = h\noutput %3\n");
  CHECK(printed([](StepTape& t, StepVar h) {
          const StepVar y = t.reshape(h, RowShape::grouped(3, 1));
          return t.step_index() + (y - t.reshape(sum(y), RowShape::grouped(3, 1)));
        }) ==
        "%2 = broadcast(n, [3])\n%3 = broadcast(%2, [3, 1])\n%4 = reshape(h, [3, 1])\n%5 = sum(%4)\n"
        "%6 = reshape(%5, [3, 1])\n%7 = %4 - %6\n%8 = %3 + %7\nh' = h\noutput %8\n");
}

TEST_CASE("a mean is a sum times one over the number of elements") {
  CHECK(printed([](StepTape&, StepVar h) { return mean(h); }) ==
        "%1 = sum(h)\n%3 = %1 * 0.3333333333333333\nh' = h\noutput %3\n");
  CHECK(printed([](StepTape& t, StepVar h) { return mean(t.reshape(h, RowShape::grouped(3, 1))); }) ==
        "%1 = reshape(h, [3, 1])\n%2 = sum(%1)\nh' = h\noutput %2\n");
}

TEST_CASE("a product of a grouped operand acts on each group") {
  StepTape tape(6);
  const StepVar x = tape.reshape(tape.input(), RowShape::grouped(2, 3));
  const StepVar y = product(tape.matrix("W", 5, 3), x);
  CHECK(y.shape() == RowShape::grouped(2, 5));
  tape.set_output(y);
  CHECK(tape.finish().product_flops() == 2 * 2 * 5 * 3);
}

TEST_CASE("lags, real lags and draws print with what they depend on") {
  StepTape tape(1);
  const StepVar h = tape.state("h", kUnits);
  const StepVar z = tape.state("z", kUnits, Arithmetic::grid);
  const StepVar unused = tape.draw(DrawDefinition::Kind::normal, kUnits, true, 0);
  const StepVar mask = tape.draw(DrawDefinition::Kind::uniform, kUnits, false, 0.5);
  const StepVar theta = tape.scalar("theta");
  tape.set_next(h, z);
  tape.set_next(z, tape.lag(h, theta, 64) * mask + tape.lag(h, 7));
  tape.set_output(tape.lag(z, 0));
  CHECK(unused.id() != mask.id());
  CHECK(tape.lag(z, 0).id() == z.id());
  const StepProgram program = tape.finish();
  CHECK(to_string(program) == R"(input x [1]
state h [3]
state z [3] on the grid
weight theta []
draw0 = uniform[3] every sequence, 0.5 in evaluation
%2 = h[-theta], at most 64
%4 = %2 * draw0
%6 = %4 + h[-7]
h' = z
z' = %6
output h'
)");
  CHECK(program.draws.size() == 1);
  CHECK(program.history(0) == 64);
  CHECK(program.history(1) == 0);
  CHECK(program.largest_lag() == 64);
}

TEST_CASE("equal draws stay two draws") {
  StepTape tape(1);
  const auto draw = [&] { return tape.draw(DrawDefinition::Kind::normal, kUnits, true, 0); };
  const StepVar a = draw(), b = draw();
  tape.set_output(a + b);
  CHECK(tape.finish().draws.size() == 2);
}

TEST_CASE("a long chain is numbered without recursion") {
  StepTape tape(1);
  StepVar v = tape.input();
  for (int i = 0; i < 200'000; ++i) v = v + 2;
  tape.set_output(v);
  CHECK(tape.finish().output == 200'001);
}

TEST_CASE("errors of a step name the rule and the shapes") {
  StepTape tape(2);
  const StepVar x = tape.input();
  const StepVar h = tape.state("h", kUnits);
  const StepMatrix W = tape.matrix("W", 3, 4);
  const StepVar tau = tape.vector("tau", 2);
  CHECK_THROWS_WITH_AS(x + h,
                       "[add] shapes must agree or broadcast as in NumPy, aligned at the last axis. "
                       "Got [2] and [3].",
                       InputError);
  CHECK_THROWS_WITH_AS(product(W, h),
                       "[@] a matrix [out, in] multiplies a vector [in] or [g, in]. Got W [3, 4] and [3].",
                       InputError);
  CHECK_THROWS_WITH_AS(sum(sum(h)), "[sum] there must be an axis to sum over. Got a scalar [].", InputError);
  CHECK_THROWS_WITH_AS(
      tape.broadcast(x, kUnits),
      "[broadcast] a value spreads over the last axis only: [] to [n], [g] to [g, n]. Got [2] and [3].",
      InputError);
  CHECK_THROWS_WITH_AS(tape.reshape(h, RowShape::grouped(2, 2)),
                       "[reshape] the number of elements must stay the same. Got [3] and [2, 2].",
                       InputError);
  CHECK_THROWS_WITH_AS(tape.lag(h, -1), "[lag] a lag must be at least 0. Got -1.", InputError);
  CHECK_THROWS_WITH_AS(tape.lag(x, 1), "[lag] only a state has past values. Got input.", InputError);
  CHECK_THROWS_WITH_AS(tape.lag(h, x, 9), "[lag] a real lag must be a weight. Got input.", InputError);
  CHECK_THROWS_WITH_AS(tape.lag(h, tau, 9),
                       "[lag] a real lag must be a scalar or one per unit. Got the lag [2] of a state [3].",
                       InputError);
  CHECK_THROWS_WITH_AS(tape.state("W", kUnits), "[step] the name 'W' is taken.", InputError);
  CHECK_THROWS_WITH_AS(tape.vector("h", 3), "[step] the name 'h' is taken.", InputError);
  CHECK_THROWS_WITH_AS(tape.vector("v", 0), "[weight v] an extent must be at least 1. Got 0.", InputError);
  CHECK_THROWS_WITH_AS(tape.set_next(h, x),
                       "[set_next] the next value of a state must have its shape. Got h [3] and [2].",
                       InputError);
  CHECK_THROWS_WITH_AS(tape.finish(), "[finish] the step has no output.", InputError);
  tape.set_output(x);
  CHECK_THROWS_WITH_AS(tape.finish(), "[finish] state 'h' has no next value.", InputError);
  tape.set_next(h, h);
  CHECK_THROWS_WITH_AS(tape.set_next(h, h), "[set_next] the next value of state 'h' is set already.",
                       InputError);
  CHECK_THROWS_WITH_AS(tape.finish(),
                       "[finish] every weight must reach a next value or the output. Unused: W, tau.",
                       InputError);
}

TEST_CASE("nothing is recorded on a finished step, nor with values of another") {
  StepTape tape(1), other(1);
  tape.set_output(tape.input());
  tape.finish();
  CHECK_THROWS_AS(tape.constant(3), Error);
  CHECK_THROWS_AS(tape.finish(), Error);
  StepTape third(1);
  CHECK_THROWS_AS(third.input() + other.input(), Error);
}

}  // namespace
}  // namespace lagtape
