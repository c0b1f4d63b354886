#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/core/gradient_check.h"
#include "lagtape/ops/recurrence/step/step_tape.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

// Each piece of the step language by itself: the sequence op against the unrolled tape and central
// differences.

namespace lagtape {
namespace {

using namespace test;

void check_step(const StepProgram& program, std::int64_t steps = 19) {
  StackDefinition stack;
  stack.layers = {program};
  stack.loss = Loss::mse;
  SequenceCase c = filled(stack, 3, steps, 1);
  add_initial(c, 2);
  const Results expected = run_unrolled(c);
  for (const MemoryPlan plan : {MemoryPlan::full, MemoryPlan::states})
    CHECK(differences(run_op(c, {.plan = plan, .chunk = 16}, 2), expected, 1e-12) == "");
  for (const NamedTensor& result : expected) {
    CAPTURE(result.name);
    CHECK(difference(Tensor(result.tensor.shape(), Dtype::f64), result.tensor).relative ==
          1);  // no value is unused
  }
  ThreadPool pool(1);
  SequenceOp op(c.stack, Dtype::f64);
  const auto report = check_gradients(
      [&](Tape& tape, std::span<const Var> inputs) { return scalar_op(tape, c, inputs, op, pool); },
      differentiable(c), {.step = 2e-4, .projections = 2, .elements = 6});
  CHECK_MESSAGE(report.max_rel_error <= 1e-7, report.worst);
}

TEST_CASE("step: grouped states, products of every group, and sums within groups") {
  check_step(equations_of(
      3, 2, {"h [4, units]"}, {"W [units, units]", "U [units, input]", "b [units]", "w [4]"}, {},
      {"mixed = h @ W.T + w[:, None] * sin(h)", "total = sum(mixed, 1)[:, None]",
       "d = (sum(U @ x + b) * w)[:, None]", "h' = tanh(mixed - total / 3) * 0.9 + 0.1 * d * cos(h)"},
      "h'"));
}

TEST_CASE("step: softmax attention over the groups of a state") {
  check_step(
      equations_of(4, 2, {"h [units]"}, {"K [3, units]", "V [2, 2]", "U [units, input]"}, {},
                   {"k = reshape(h, 2, 2)", "e = exp(k @ V.T)", "share = e / sum(e, 1)[:, None]",
                    "read = sum(share * k, 1)", "h' = tanh(0.5 * h + U @ x) * mean(read)", "o = K @ h'"},
                   "o"));
}

TEST_CASE("step: several outputs, one after the other, of states and of the input") {
  check_step(equations_of(19, 2, {"h [units]", "c [5]"}, {"W [units, 5]", "V [5, units]", "U [units, input]"},
                          {}, {"c' = 0.5 * c + tanh(V @ h)", "h' = tanh(W @ c' + U @ x)"},
                          "concat(h', x, c', sum(h[-2]))"));
}

TEST_CASE("step: values that are joined or cut apart go on into the states") {
  check_step(equations_of(
      21, 3, {"h [units]"}, {"W [units, 25]", "V [4, 17]", "b [2]", "a []"}, {},
      {"all = concat(h, slice(x, 1, 3), b)", "part = V @ slice(h, 3, 20)",
       "mixed = concat(part, slice(h[-2], 0, 16), a)", "h' = tanh(W @ all + 0.3 * mixed) + 0.1 * sum(x)"},
      "slice(h', 2, 20)"));
}

TEST_CASE("step: comparisons choose between values, and pass no gradient on themselves") {
  check_step(
      equations(3, 2, {"W [units, units]", "U [units, input]", "w [units]"},
                {"v = tanh(W @ h + U @ x)", "up = (v > -3) * w", "c = (n % 4 < 2) * (1 - (v >= 3))",
                 "h' = where(c, v, 0.5 * h + up) + 0.1 * (v <= 3) * v + mod(v + 26.5, 20 + 0.1 * w)"}));
}

TEST_CASE("step: a choice keeps what is no number out of values and gradients") {
  check_step(equations(3, 2, {"W [units, units]", "U [units, input]", "w [units]", "c [units]"},
                       {"v = tanh(W @ h + U @ x)", "s = where(w > 0, sqrt(w), 0.1 * w)",
                        "r = where(c > 0, log(c) * v, v / (1 + sqrt(-c))) + where(w < 0, 2 ** log(-w), w)",
                        "h' = 0.5 * tanh(r + s)"}));
}

Results gradients_of(const StepProgram& program) {
  StackDefinition stack;
  stack.layers = {program};
  stack.loss = Loss::mse;
  SequenceCase c = filled(stack, 3, 19, 1);
  add_initial(c, 2);
  return run_op(c, {.plan = MemoryPlan::full, .chunk = 16}, 2);
}

TEST_CASE("step: a matrix that multiplies what is no number, where that is not taken, has its own gradient") {
  const auto program = [](const std::string& other) {
    return equations(3, 2, {"W [units, units]", "U [units, input]"},
                     {"v = W @ h", text_of("h' = tanh(", other, " + U @ x)")});
  };
  CHECK(differences(gradients_of(program("where(n > 1000, W @ sqrt(-1 - h * h), v)")),
                    gradients_of(program("v")), 1e-12) == "");
}

TEST_CASE("step: stop and surrogate pass on the gradients that they declare") {
  const auto gradients = [](const std::string& f) {
    return gradients_of(equations(3, 2, {"W [units, units]", "U [units, input]"},
                                  {"v = W @ h + U @ x", text_of("h' = 0.2 * h + ", f)}));
  };
  const Results declared = gradients("surrogate(0.3 * v, sin(v))");
  CHECK(differences(declared, gradients("stop(0.3 * v - sin(v)) + sin(v)"), 1e-12) == "");
  CHECK(differences(declared, gradients("0.3 * v"), 1e-3) != "");
}

TEST_CASE("step: spikes have the gradients of their surrogates, by formulas of their own") {
  const std::pair<std::string, std::string> surrogates[] = {
      {"'fast_sigmoid'", "1 / (1 + 25 * abs(u)) ** 2"},
      {"'fast_sigmoid', 2", "1 / (1 + 2 * abs(u)) ** 2"},
      {"'sigmoid', 3", "3 * sigmoid(3 * u) * (1 - sigmoid(3 * u))"},
      {"'atan', 2", "1 / (1 + (3.141592653589793 * u) ** 2)"},
      {"'triangle'", "maximum(0, 1 - abs(u))"},
  };
  for (const auto& [name, slope] : surrogates) {
    CAPTURE(name);
    const auto gradients = [&](const std::string& spike) {
      return gradients_of(equations(3, 2, {"W [units, units]", "U [units, input]"},
                                    {"u = W @ h + U @ x - 0.2", text_of("h' = 0.5 * h + ", spike)}));
    };
    const std::string by_hand = text_of("stop((u > 0) - (", slope, ") * u) + stop(", slope, ") * u");
    CHECK(differences(gradients(text_of("spike(u, ", name, ")")), gradients(by_hand), 1e-10) == "");
  }
}

TEST_CASE("step: loops, complex values and lags of the input that are trained") {
  check_step(equations(
      3, 2, {"W [units, units]", "U [units, input]", "b [units]"},
      {"s = h", "for k in 0..3: f = tanh(W @ s + U @ x + k * b)\n s = s + 0.3 * (f - s)", "h' = s"}));
  check_step(equations_of(
      3, 2, {"a [units]", "c [units]"},
      {"nu [units]", "theta [units]", "B [units, input]", "D [units, input]", "C [units, units]"}, {},
      {"z = exp(-exp(nu) + 1j * theta) * complex(a, c) + complex(B, D) @ x", "a' = real(z)", "c' = imag(z)"},
      "real(complex(C, 0.5 * C) @ z) + abs(z)"));
}

TEST_CASE("step: the input of steps before, and a product in every group") {
  check_step(equations_of(6, 2, {"h [units]"}, {"R [2, 3, 3]", "V [units, input]", "U [units, input]"}, {},
                          {"r = R @ reshape(h, 2, 3)",
                           "h' = tanh(reshape(r, units) + U @ x + V @ x[-3]) * (1 + 0.1 * sum(x[-1]))"},
                          "concat(h', x[-2])"),
             30);
}

TEST_CASE("step: a matrix that the step computes, and one that it remembers: fast weights, a neural CDE") {
  check_step(equations_of(4, 3, {"A [units, 5]", "h [units]"},
                          {"K [5, input]", "Q [5, input]", "V [units, input]", "F [12, units]"}, {},
                          {"A' = 0.7 * A + outer(V @ x, tanh(K @ x))", "read = A' @ tanh(Q @ x)",
                           "h' = 0.5 * h + tanh(reshape(F @ h, units, input)) @ (x - x[-1]) + 0.2 * read"},
                          "h'"));
}

TEST_CASE("step: a first state that is trained, and steps of a length that the data give") {
  check_step(equations(3, 2, {"W [units, units]", "U [units, input]", "first [units]"},
                       {"dt = 0.5 + 0.1 * sum(slice(x, 1, 2))", "s = where(n < 1, first, h)",
                        "h' = s + dt * tanh(W @ s + U @ x) + 0.1 * h"}));
}

TEST_CASE("step: scalars, as state and as weight") {
  check_step(equations_of(3, 2, {"s []", "h [units]"}, {"a []", "W [units, units]", "U [units, input]"}, {},
                          {"s' = 0.5 * s + a * mean(h[-2])", "h' = tanh(W @ h + U @ x) * (1 + s')"}, "h'"));
}

TEST_CASE("step: a real lag for all units, trained") {
  check_step(equations_of(3, 2, {"h [units]"}, {"theta []", "W [units, units]", "U [units, input]"},
                          {"theta at most 6"}, {"h' = tanh(W @ h[-theta] + U @ x)"}, "h'"));
}

TEST_CASE("step: a real lag for every unit, trained, beside whole lags") {
  const StepProgram program = equations_of(
      5, 2, {"h [units]"}, {"theta [units]", "W [units, units]", "V [units, units]", "U [units, input]"},
      {"theta at most 9"}, {"h' = tanh(W @ h[-theta] + V @ h[-3] + 0.3 * h[-theta] + U @ x)"}, "h'");
  StackDefinition stack;
  stack.layers = {program};
  stack.loss = Loss::mse;
  for (const bool clamped : {false, true}) {
    SequenceCase c = filled(stack, 3, 30, 3);
    for (std::size_t i = 0; i < c.weights.size(); ++i) {
      if (program.weights[i].name != "theta") continue;
      c.weights[i] = clamped ? Tensor::from({5}, {0.5, 1, 4.25, 9, 11}, Dtype::f64)
                             : Tensor::from({5}, {1.3, 2.7, 4.5, 7.2, 8.6}, Dtype::f64);
    }
    CHECK(differences(run_op(c), run_unrolled(c), 1e-12) == "");
    const Tensor gradient = named(run_op(c), "d theta");
    for (const int unit : {0, 4}) CHECK((gradient.at(unit) == 0) == clamped);
    for (const int unit : {1, 2, 3}) CHECK(gradient.at(unit) != 0);
  }
}

TEST_CASE("step: the step index, counted from the first step") {
  const StepProgram program =
      equations(3, 2, {"W [units, units]", "U [units, input]"}, {"h' = tanh(W @ h + U @ x) * cos(0.2 * n)"});
  check_step(program, 40);
  SequenceCase c;
  c.stack.layers = {equations(1, 1, {"w [1]"}, {"h' = n + 0 * w * (h + x)"})};
  c.weights = {Tensor({1}, Dtype::f32)};
  c.batch.x = Tensor({1, 20, 1}, Dtype::f32);
  c.batch.first_step = 1000;
  const Tensor y = named(run_evaluate(c), "outputs");
  for (int n = 0; n < 20; ++n) CHECK(y.at(n) == 1000 + n);
}

TEST_CASE("step: uniform and normal draws, every step and once a sequence") {
  for (const std::string draw :
       {"uniform(units)", "normal(units)", "uniform_once(units)", "normal_once(units)"}) {
    CAPTURE(draw);
    check_step(equations(4, 2, {"W [units, units]", "U [units, input]"},
                         {text_of("h' = tanh(W @ h + U @ x) * ", draw, " + 0.1 * h")}));
  }
}

TEST_CASE("step: several states that feed one another, two of them with different lags") {
  check_step(two_states(4, 2, 1, 5), 30);
  check_step(two_states(4, 2, 17, 2), 40);
}

TEST_CASE("step: next values that are other states or the input: shift registers") {
  check_step(equations_of(3, 3, {"a [units]", "b [units]", "c [units]"}, {"W [units, units]"}, {},
                          {"a' = x", "b' = a", "c' = 0.5 * c[-2] + b", "o = tanh(W @ c + c' * b[-1])"}, "o"));
}

TEST_CASE("step: a state's new value used by another in the same step, several levels deep") {
  check_step(equations_of(
      3, 2, {"a [units]", "b [4]", "c [units]"},
      {"A [units, units]", "B [4, units]", "C [units, 4]", "D [units, units]", "U [units, input]"}, {},
      {"a' = tanh(A @ a + U @ x)", "b' = sin(B @ a' + b)", "c' = tanh(C @ (b' * b) + D @ c)",
       "o = D @ tanh(A @ c')"},
      "o"));
}

TEST_CASE("step: values that feed the output alone, and an output that is a state before the step") {
  check_step(equations(4, 2, {"W [units, units]", "U [units, input]", "V [2, units]"},
                       {"h' = tanh(W @ h + U @ x)", "o = exp(V @ sin(h')) + V @ h[-3]"}, "o"));
  check_step(equations(4, 2, {"W [units, units]", "U [units, input]"}, {"h' = tanh(W @ h + U @ x)"}, "h"));
}

TEST_CASE("step: one weight in several products, and one product used twice") {
  check_step(equations(4, 2, {"W [units, units]", "U [units, input]"},
                       {"p = W @ h", "h' = tanh(p + W @ h[-2] + W @ tanh(p) + U @ x)"}));
}

void check_function(const std::string& f) {
  CAPTURE(f);
  check_step(equations(3, 2, {"U [units, input]", "w [units]", "W [units, units]"},
                       {"v = tanh(U @ x + W @ h)", text_of("h' = 0.2 * h * w + 0.3 * ", f)}),
             5);
}

TEST_CASE("step: every element-wise function") {
  for (const ElementFunction& function : kElementFunctions) {
    if (function.notation != ElementNotation::function || function.domain == ElementDomain::declared)
      continue;
    if (function.arrays == 2) {
      check_function(text_of(function.name, "(v, 3 + v * v)"));
      check_function(text_of(function.name, "(3 + v * v, v)"));
      continue;
    }
    // Some functions are constant, or zero, on one side of zero; there v passes a gradient on.
    switch (function.domain) {
      case ElementDomain::real: check_function(text_of(function.name, "(v)")); break;
      case ElementDomain::nonzero:
        check_function(text_of("(2 * v + ", function.name, "(v - 3) * v)"));
        check_function(text_of("(2 * v + ", function.name, "(v + 3) * v)"));
        break;
      case ElementDomain::positive: check_function(text_of(function.name, "(v + 3)")); break;
      case ElementDomain::fraction:
        check_function(text_of("v * ", function.name, "(2.5 + 0.4 * v)"));
        check_function(text_of("v * ", function.name, "(0.4 * v - 1.5)"));
        break;
      case ElementDomain::declared: break;
    }
  }
}

TEST_CASE("step: signs, functions of two numbers, and numbers on either side") {
  for (const std::string f : {"-v", "v / (4 + v)", "maximum(w * h - 9, v)", "3 - v", "2 / (4 + v)",
                              "minimum(v, 3)", "maximum(v, -3)", "v * w", "v + w", "w - v"})
    check_function(f);
}

TEST_CASE("step: a program without states") {
  check_step(equations_of(3, 2, {}, {"A [units, input]", "B [4, units]", "b [4]"}, {}, {"k = tanh(A @ x)"},
                          "B @ k + b"));
}

TEST_CASE("step: the gradient of x stands when x is seen through everything at once") {
  check_step(equations(3, 3, {"W [units, units]", "w [units]"},
                       {"h' = tanh(W @ h + x) * x + w * x", "o = h' + x * mean(x)"}, "o"));
}

}  // namespace
}  // namespace lagtape
