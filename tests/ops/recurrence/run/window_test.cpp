#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

// Windows, through which the future depends on the past: carried windows, lengths, and their gradients.

namespace lagtape {
namespace {

using namespace test;

SequenceCase noisy(std::int64_t rows, std::int64_t steps) {
  StackDefinition stack;
  stack.layers = {
      tau_gru(7, 3, 5),
      equations(4, 7, {"W [units, units]", "D [units, units]", "U [units, input]"},
                {"h' = tanh(W @ h + D @ h[-12] + U @ x) * (0.5 + uniform(4)) + 0.1 * sin(0.3 * n)"})};
  stack.readout = linear_readout(4, 2);
  SequenceCase c = filled(stack, rows, steps, 1);
  add_initial(c, 2);
  return c;
}

/// The windows after a run, as initial ones.
std::vector<Tensor> windows(const Results& results) {
  std::vector<Tensor> found;
  for (const NamedTensor& result : results) {
    if (result.name.ends_with("[..T]")) found.push_back(result.tensor);
  }
  return found;
}

TEST_CASE("a sequence in two parts with its windows carried has the bits of the whole") {
  const SequenceCase whole = noisy(3, 50);
  const Results expected = run_evaluate(whole);
  for (const std::int64_t cut : {1, 4, 13, 16, 32, 49}) {
    CAPTURE(cut);
    const Results first = run_evaluate(only_steps(whole, 0, cut));
    SequenceCase rest = only_steps(whole, cut, 50);
    rest.initial = windows(first);
    const Results second = run_evaluate(rest);
    const Tensor& y = named(expected, "outputs");
    CHECK(bit_difference(named(first, "outputs"), part(y, 1, 0, cut)) == "");
    CHECK(bit_difference(named(second, "outputs"), part(y, 1, cut, 50)) == "");
    for (const NamedTensor& result : second) {
      if (result.name != "outputs") CHECK(bit_difference(result.tensor, named(expected, result.name)) == "");
    }
  }
}

TEST_CASE("training gives the final windows that evaluation gives") {
  SequenceCase c = noisy(5, 40);
  add_lengths(c, 3);
  const Results evaluated = run_evaluate(c);
  c.stack.loss = Loss::mse;
  c.batch.targets = Tensor({5, 40, 2}, Dtype::f64);
  const Results trained = run_op(c, {.chunk = 16});
  for (const NamedTensor& result : evaluated) {
    if (result.name != "outputs") CHECK(bit_difference(result.tensor, named(trained, result.name)) == "");
  }
}

TEST_CASE("the gradient of the initial windows is that of the steps before") {
  // d y / d x[0..k) of the whole is the gradient of the second part's windows, sent back through the first
  // part.
  SequenceCase whole = noisy(2, 20);
  whole.stack.at = ReadAt::last_step;
  whole.stack.layers.pop_back();
  whole.stack.readout = linear_readout(7, 2);
  whole = filled(whole.stack, 2, 20, 3);
  add_initial(whole, 4);
  const Results expected = run_op(whole);

  SequenceCase first = only_steps(whole, 0, 8), second = only_steps(whole, 8, 20);
  second.initial = windows(run_evaluate(first));
  const Tensor window_gradient = named(run_op(second), "d h[..0]");
  first.stack.readout = {};
  first.stack.at = ReadAt::every_step;
  first.weights.resize(first.stack.layers[0].weights.size());
  // The last min(8, 6) states of the window are outputs of the first part.
  Tape tape;
  ThreadPool pool(1);
  SequenceOp op(first.stack, Dtype::f64);
  std::vector<Var> inputs;
  for (const Tensor& tensor : differentiable(first)) inputs.push_back(tape.variable(tensor));
  const auto count = first.weights.size();
  const Var y = op.outputs(tape, std::span(inputs).first(count), inputs[count], first.batch, pool,
                           std::span(inputs).subspan(count + 1));
  Tensor seed(y.shape(), Dtype::f64);
  for (std::int64_t k = 0; k < 6; ++k) {
    for (std::int64_t row = 0; row < 2; ++row) {
      for (std::int64_t j = 0; j < 7; ++j)
        seed.set((row * 8 + 2 + k) * 7 + j, window_gradient.at((k * 2 + row) * 7 + j));
    }
  }
  tape.backward(y, seed);
  CHECK(difference(inputs[count].grad(), part(named(expected, "d x"), 1, 0, 8)).relative <= 1e-12);
  CHECK(difference(inputs[count + 1].grad(), named(expected, "d h[..0]")).relative <= 1e-12);
}

TEST_CASE("a padded row gives what the row alone gives, forward and backward") {
  for (const ReadAt at : {ReadAt::every_step, ReadAt::last_step, ReadAt::mean}) {
    SequenceCase c = noisy(6, 30);
    c.stack.at = at;
    add_lengths(c, 5);
    const Results evaluated = run_evaluate(c), results = run_op(c);
    for (std::int64_t row = 0; row < 6; ++row) {
      CAPTURE(row);
      const SequenceCase alone = only_row(c, row);
      CHECK(bit_differences(run_evaluate(alone), row_of(evaluated, c, row)) == "");
      const Tensor gradient = part(named(results, "d x"), 0, row, row + 1);
      for (std::int64_t i = c.batch.lengths[row] * 3; i < 30 * 3; ++i) CHECK(gradient.at(i) == 0);
    }
  }
}

TEST_CASE("gradients of a padded batch are the sums of its rows' gradients") {
  SequenceCase c = noisy(5, 30);
  c.stack.at = ReadAt::last_step;
  c.stack.loss = Loss::mse;
  c = filled(c.stack, 5, 30, 6);
  add_initial(c, 7);
  add_lengths(c, 8);
  const Results batch = run_op(c);
  Results sum;
  for (std::int64_t row = 0; row < 5; ++row) {
    const Results alone = run_op(only_row(c, row));
    if (row == 0) sum = alone;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      if (sum[i].tensor.shape() != batch[i].tensor.shape()) continue;  // x and the windows have rows
      for (std::int64_t e = 0; e < sum[i].tensor.numel(); ++e)
        sum[i].tensor.set(e, (row == 0 ? 0 : sum[i].tensor.at(e)) + alone[i].tensor.at(e) / 5);
    }
  }
  int compared = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (sum[i].tensor.shape() != batch[i].tensor.shape()) continue;
    CAPTURE(sum[i].name);
    CHECK(difference(sum[i].tensor, batch[i].tensor).relative <= 1e-12);
    ++compared;
  }
  CHECK(compared == 1 + static_cast<int>(c.weights.size()));
}

TEST_CASE("rows that would overflow after their end do no harm") {
  StackDefinition stack;
  stack.layers = {equations(3, 1, {"W [units, units]", "U [units, input]"},
                            {"h' = 0.5 * (W @ h) + 100 * h * h + U @ x"})};
  stack.at = ReadAt::last_step;
  stack.loss = Loss::mse;
  SequenceCase c = filled(stack, 6, 600, 9);
  for (std::int64_t i = 0; i < c.batch.x.numel(); ++i) {
    if (i % 600 >= 5 || i / 600 % 2 == 0) c.batch.x.set(i, 0);  // every other row stays at zero
  }
  c.batch.lengths = {600, 5, 600, 5, 600, 5};
  const Results results = run_op(c);
  for (const NamedTensor& result : results) {
    CAPTURE(result.name);
    CHECK(difference(result.tensor, result.tensor).relative == 0);  // infinite unless all is finite
  }
  CHECK(differences(results, run_unrolled(c), 1e-12) == "");

  c.batch.lengths.clear();  // without lengths they do overflow
  const Tensor overflown = named(run_op(c), "d W");
  CHECK(difference(overflown, overflown).relative != 0);
}

TEST_CASE("zero windows are the start without windows") {
  SequenceCase c = noisy(3, 20);
  c.initial.clear();
  const Results without = run_evaluate(c);
  for (const Tensor& zeros : zero_window(c.stack.layers, 3, Dtype::f64).states) c.initial.push_back(zeros);
  CHECK(bit_differences(run_evaluate(c), without) == "");
}

}  // namespace
}  // namespace lagtape
