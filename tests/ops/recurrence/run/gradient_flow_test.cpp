#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/step_tape.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

// Gradients go where values came from, and nowhere else: exact zeros elsewhere.

namespace lagtape {
namespace {

using namespace test;

/// The gradients of all inputs for one output element.
std::vector<Tensor> gradients_of(const SequenceCase& c, std::int64_t output,
                                 const SequenceSettings& settings = {}) {
  Tape tape;
  ThreadPool pool(2);
  SequenceOp op(c.stack, c.dtype(), settings);
  std::vector<Var> inputs;
  for (const Tensor& tensor : differentiable(c)) inputs.push_back(tape.variable(tensor));
  const std::size_t x = c.weights.size();
  const Var y = op.outputs(tape, std::span(inputs).first(x), inputs[x], c.batch, pool,
                           std::span(inputs).subspan(x + 1));
  Tensor seed(y.shape(), y.dtype());
  seed.set(output, 1);
  tape.backward(y, seed);
  std::vector<Tensor> gradients;
  for (const Var& input : inputs) gradients.push_back(input.grad());
  return gradients;
}

bool is_zero(const Tensor& tensor) {
  return difference(tensor, Tensor(tensor.shape(), tensor.dtype())).relative == 0;
}

TEST_CASE("an output depends on its own row and on no later step") {
  StackDefinition stack;
  stack.layers = {tau_gru(5, 3, 4), lstm(4, 5)};
  SequenceCase c = filled(stack, 10, 40, 1);
  add_initial(c, 2);
  for (const std::int64_t chunk : {0, 16}) {
    constexpr std::int64_t kRow = 7, kStep = 21;
    const std::vector<Tensor> gradients = gradients_of(c, (kRow * 40 + kStep) * 4 + 1, {.chunk = chunk});
    const Tensor& x = gradients[c.weights.size()];
    for (std::int64_t row = 0; row < 10; ++row) {
      for (std::int64_t n = 0; n < 40; ++n) {
        CAPTURE(row);
        CAPTURE(n);
        CHECK(is_zero(part(part(x, 0, row, row + 1), 1, n, n + 1)) == (row != kRow || n > kStep));
      }
    }
    for (std::size_t s = c.weights.size() + 1; s < gradients.size(); ++s) {
      for (std::int64_t row = 0; row < 10; ++row)
        CHECK(is_zero(part(gradients[s], 1, row, row + 1)) == (row != kRow));
    }
  }
}

TEST_CASE("a recurrence through its lag alone remembers every (m+1)-th step") {
  for (const std::int64_t m : {1, 3, 17}) {
    StackDefinition stack;
    stack.layers = {equations(5, 3, {"W [units, units]", "U [units, input]"},
                              {text_of("h' = tanh(W @ h[-", m, "] + U @ x)")})};
    const SequenceCase c = filled(stack, 1, 40, 3);
    const Tensor x = gradients_of(c, 39 * 5)[2];
    for (std::int64_t n = 0; n < 40; ++n) CHECK(is_zero(part(x, 1, n, n + 1)) == ((39 - n) % (m + 1) != 0));
  }
}

TEST_CASE("every weight has a gradient, but for those whose state is too old to be seen") {
  StackDefinition stack;
  stack.layers = {two_states(5, 3, 2, 9)};
  SequenceCase c = filled(stack, 2, 4, 4);
  const std::vector<Tensor> gradients = gradients_of(c, 3 * 2);
  for (std::size_t i = 0; i < c.weights.size(); ++i) {
    const std::string& name = stack.layers[0].weights[i].name;
    CAPTURE(name);
    CHECK(is_zero(gradients[i]) == (name == "E"));  // E reads y nine steps before
  }
}

TEST_CASE("nothing flows through sign, nor through relu at zero and below") {
  StepTape tape(3);
  const StepVar x = tape.input();
  tape.set_output(relu(x) + sign(x) + abs(tape.vector("w", 3) * x));
  StackDefinition stack;
  stack.layers = {tape.finish()};
  SequenceCase c = filled(stack, 1, 1, 5);
  c.weights[0] = Tensor::from({3}, {2, 2, 2}, Dtype::f64);
  c.batch.x = Tensor::from({1, 1, 3}, {-1, 0, 3}, Dtype::f64);
  CHECK(named(run_op(c), "outputs").at(0) == 1);
  CHECK(gradients_of(c, 0)[1].at(0) == -2);
  CHECK(gradients_of(c, 1)[1].at(1) == 0);
  CHECK(gradients_of(c, 2)[1].at(2) == 3);
}

TEST_CASE("of equal operands, minimum and maximum choose the first for the gradient") {
  StepTape tape(2);
  const StepVar x = tape.input();
  const StepVar v = tape.vector("v", 2), w = tape.vector("w", 2);
  tape.set_output(minimum(v * x, w * x) + 10 * maximum(v * x, w * x));
  StackDefinition stack;
  stack.layers = {tape.finish()};
  SequenceCase c = filled(stack, 1, 1, 6);
  c.weights = {Tensor::from({2}, {2, 1}, Dtype::f64), Tensor::from({2}, {2, 5}, Dtype::f64)};
  c.batch.x = Tensor::from({1, 1, 2}, {3, 3}, Dtype::f64);
  CHECK(gradients_of(c, 0)[0].at(0) == 33);
  CHECK(gradients_of(c, 0)[1].at(0) == 0);
  CHECK(gradients_of(c, 1)[0].at(1) == 3);
  CHECK(gradients_of(c, 1)[1].at(1) == 30);
}

TEST_CASE("inputs that are constants get no gradient and change none") {
  StackDefinition stack;
  stack.layers = {tau_gru(5, 3, 4), two_states(4, 5, 1, 3)};
  stack.loss = Loss::mse;
  SequenceCase c = filled(stack, 9, 30, 7);
  add_initial(c, 8);
  const Results all = run_op(c);
  const std::vector<Tensor> tensors = differentiable(c);
  ThreadPool pool(1);
  SequenceOp op(c.stack, c.dtype());
  for (std::size_t kept = 0; kept < tensors.size(); ++kept) {
    Tape tape;
    std::vector<Var> inputs;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      inputs.push_back(i == kept ? tape.variable(tensors[i]) : tape.constant(tensors[i]));
    const std::size_t x = c.weights.size();
    tape.backward(op.loss(tape, std::span(inputs).first(x), inputs[x], c.batch, pool,
                          std::span(inputs).subspan(x + 1)));
    CAPTURE(all[1 + kept].name);
    CHECK(bit_difference(inputs[kept].grad(), all[1 + kept].tensor) == "");
    CHECK(is_zero(inputs[kept == 0 ? 1 : 0].grad()));
  }
}

TEST_CASE("the loss's gradient is scaled by what comes back to it, and adds to what is there") {
  StackDefinition stack;
  stack.layers = {tau_gru(5, 3, 4)};
  stack.loss = Loss::mse;
  const SequenceCase c = filled(stack, 3, 20, 9);
  const Results once = run_op(c);
  Tape tape;
  ThreadPool pool(1);
  SequenceOp op(c.stack, c.dtype());
  std::vector<Var> weights;
  for (const Tensor& weight : c.weights) weights.push_back(tape.variable(weight));
  const Var x = tape.constant(c.batch.x);
  const Var first = op.loss(tape, weights, x, c.batch, pool),
            second = op.loss(tape, weights, x, c.batch, pool);
  const Var total =
      tape.record(Tensor::scalar(0, Dtype::f64), {first, second}, [](const Tensor&, InputGradients& to) {
        to.add(0, Tensor::scalar(4, Dtype::f64));
        to.add(1, Tensor::scalar(-2, Dtype::f64));
      });
  tape.backward(total);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Tensor doubled = once[1 + i].tensor.clone();
    for (std::int64_t e = 0; e < doubled.numel(); ++e) doubled.set(e, 2 * doubled.at(e));
    CHECK(difference(weights[i].grad(), doubled).relative <= 1e-14);
  }
}

}  // namespace
}  // namespace lagtape
