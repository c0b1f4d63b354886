#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/tests/ops/recurrence/support/allocations.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"
#include "lagtape/tests/ops/recurrence/support/streamed.h"

// A stream gives the bits of the sequence op, however its steps are fed.

namespace lagtape {
namespace {

using namespace test;

SequenceCase two_layers(std::int64_t rows, std::int64_t steps, Dtype dtype) {
  StackDefinition stack;
  stack.layers = {tau_gru(13, 3, 5), two_states(6, 13, 2, 19)};
  stack.readout = linear_readout(stack.output_width(), 4);
  SequenceCase c = filled(stack, rows, steps, 1);
  c.batch.training = false;
  return converted(c, dtype);
}

TEST_CASE_TEMPLATE("steps and blocks of odd sizes give the bits of evaluate", T, float, double) {
  for (const std::int64_t rows : {1, 3}) {
    const SequenceCase c = two_layers(rows, 70, dtype_of<T>);
    for (const SimdLevel level : supported_levels()) {
      CAPTURE(name_of(level));
      const Tensor expected = steps_first(named(run_evaluate(c, {.level = level}), "outputs"));
      for (const std::vector<std::int64_t>& blocks :
           {std::vector<std::int64_t>{1}, {2}, {7}, {16}, {33}, {70}, {1, 20, 3, 13}}) {
        CAPTURE(blocks[0]);
        Stream<T> stream = stream_of<T>(c, level);
        CHECK(bit_difference(streamed(stream, c.batch.x, blocks), expected) == "");
        CHECK(stream.steps() == 70);
      }
    }
  }
}

TEST_CASE("random stacks stream with the bits of evaluate") {
  for_each_seed("random stacks stream with the bits of evaluate", 200, [](std::uint64_t seed) {
    SequenceCase c = converted(random_case(seed), Dtype::f32);
    c.batch.training = false;
    c.batch.lengths.clear();
    c.batch.first_step = 0;
    c.initial.clear();
    c.stack.at = ReadAt::every_step;
    c.stack.loss = Loss::none;
    Stream<float> stream = stream_of<float>(c);
    const Results expected = run_evaluate(c);
    const Tensor y = streamed(stream, c.batch.x, {1, 1, 5});
    std::string text = bit_difference(y, steps_first(named(expected, "outputs")));
    const Window window = stream.window();
    for (std::size_t s = 0; s < window.states.size(); ++s)
      text += bit_difference(window.states[s], expected[s + 1].tensor);
    return text.empty() ? text : text + "\n";
  });
}

TEST_CASE("the mean so far is the mean over a sequence that ends now") {
  for (const bool with_readout : {true, false}) {
    SequenceCase c = two_layers(2, 9, Dtype::f32);
    c.stack.at = ReadAt::mean;
    if (!with_readout) {
      c.stack.readout = {};
      c.weights.resize(c.weights.size() - 2);
    }
    Stream<float> stream = stream_of<float>(c);
    const Tensor y = streamed(stream, c.batch.x, {1, 3});
    for (std::int64_t n = 0; n < 9; ++n) {
      const Tensor expected = named(run_evaluate(only_steps(c, 0, n + 1)), "outputs");
      CHECK(bit_difference(part(y, 0, n, n + 1).reshaped(expected.shape()), expected) == "");
    }
  }
}

TEST_CASE("the mean of a layer whose output is its state leaves the state as it is") {
  StackDefinition stack;
  stack.layers = {tau_gru(13, 3, 5)};
  stack.at = ReadAt::mean;
  SequenceCase c = filled(stack, 2, 9, 1);
  c.batch.training = false;
  c = converted(c, Dtype::f32);
  for (const std::vector<std::int64_t>& blocks : {std::vector<std::int64_t>{1}, {1, 3}, {9}}) {
    Stream<float> stream = stream_of<float>(c);
    const Tensor y = streamed(stream, c.batch.x, blocks);
    for (std::int64_t n = 0; n < 9; ++n) {
      const Tensor expected = named(run_evaluate(only_steps(c, 0, n + 1)), "outputs");
      CHECK(bit_difference(part(y, 0, n, n + 1).reshaped(expected.shape()), expected) == "");
    }
  }
}

TEST_CASE("a mean goes on from a saved window") {
  SequenceCase c = two_layers(2, 40, Dtype::f32);
  c.stack.at = ReadAt::mean;
  Stream<float> stream = stream_of<float>(c), restored = stream_of<float>(c);
  const Tensor all = streamed(stream, c.batch.x, {1});
  stream.reset();
  streamed(stream, only_steps(c, 0, 17).batch.x, {3});
  const Window window = stream.window();
  const StepProgram& top = c.stack.layers.back();
  CHECK(window.states.back().shape() == Shape{2, top.values[top.output].shape.width()});
  restored.restore(window, 17);
  const SequenceCase rest = only_steps(c, 17, 40);
  CHECK(bit_difference(streamed(restored, rest.batch.x, {1}), part(all, 0, 17, 40)) == "");
  Window without_sum = window;
  without_sum.states.pop_back();
  CHECK_THROWS_AS(restored.restore(without_sum, 17), InputError);
}

TEST_CASE("a read-out at the last step is read at every step of a stream") {
  SequenceCase c = two_layers(2, 9, Dtype::f32);
  const Tensor expected = steps_first(named(run_evaluate(c), "outputs"));
  c.stack.at = ReadAt::last_step;
  Stream<float> stream = stream_of<float>(c);
  CHECK(bit_difference(streamed(stream, c.batch.x, {1}), expected) == "");
}

TEST_CASE("a copy of a stream goes on by itself") {
  const SequenceCase c = two_layers(2, 60, Dtype::f32);
  const Tensor expected = steps_first(named(run_evaluate(c), "outputs"));
  const SequenceCase first = only_steps(c, 0, 25), rest = only_steps(c, 25, 60);
  Stream<float> stream = stream_of<float>(c);
  streamed(stream, first.batch.x, {1});
  Stream<float> copy = stream, assigned = stream_of<float>(two_layers(1, 1, Dtype::f32));
  assigned = stream;
  Tensor other = rest.batch.x.clone();
  other.fill(3);
  streamed(copy, other, {4});
  const Tensor tail = part(expected, 0, 25, 60);
  CHECK(bit_difference(streamed(stream, rest.batch.x, {9}), tail) == "");
  CHECK(bit_difference(streamed(assigned, rest.batch.x, {1}), tail) == "");
  CHECK(copy.steps() == 60);
}

TEST_CASE("a window carries a sequence from the op to a stream, and between streams") {
  SequenceCase c = two_layers(2, 60, Dtype::f32);
  c.stack.layers[0] = equations(13, 3, {"W [units, units]", "D [units, units]", "U [units, input]"},
                                {"h' = tanh(W @ h + D @ h[-5] + U @ x + 0.1 * sin(0.3 * n))"});
  c = filled(c.stack, 2, 60, 4);
  c.batch.training = false;
  c = converted(c, Dtype::f32);
  const Tensor tail = part(steps_first(named(run_evaluate(c), "outputs")), 0, 25, 60);
  const SequenceCase first = only_steps(c, 0, 25), rest = only_steps(c, 25, 60);

  const Results evaluated = run_evaluate(first);
  Window window;
  for (std::size_t s = 1; s < evaluated.size(); ++s) window.states.push_back(evaluated[s].tensor);
  Stream<float> stream = stream_of<float>(c);
  stream.restore(window, 25);
  CHECK(stream.steps() == 25);
  CHECK(bit_difference(streamed(stream, rest.batch.x, {7}), tail) == "");

  stream.reset();
  CHECK(stream.steps() == 0);
  streamed(stream, first.batch.x, {1});
  const Window saved = stream.window();
  for (std::size_t s = 0; s < saved.states.size(); ++s)
    CHECK(bit_difference(saved.states[s], window.states[s]) == "");
  Stream<float> another = stream_of<float>(c);
  streamed(another, c.batch.x, {11});
  another.restore(saved, 25);
  CHECK(bit_difference(streamed(another, rest.batch.x, {1}), tail) == "");
}

TEST_CASE("reset leads back to the start") {
  const SequenceCase c = two_layers(2, 30, Dtype::f64);
  Stream<double> stream = stream_of<double>(c);
  const Tensor first = streamed(stream, c.batch.x, {1});
  stream.reset();
  CHECK(stream.steps() == 0);
  for (const Tensor& state : stream.window().states)
    CHECK(difference(state, Tensor(state.shape(), state.dtype())).relative == 0);
  CHECK(bit_difference(streamed(stream, c.batch.x, {8}), first) == "");
}

/// The normalization of three inputs and four outputs.
Normalization own_units() {
  return {.input = {.mean = {0.25, -3, 100}, .scale = {0.7, 2, 30}},
          .output = {.mean = {1, -2, 0, 1e6}, .scale = {3, 0.1, 1, 1e3}}};
}

TEST_CASE("a stream takes and gives the user's numbers") {
  const Normalization n = own_units();
  for (std::int64_t rows : {1, 2}) {
    const SequenceCase c = two_layers(rows, 30, Dtype::f32);
    Tensor x = c.batch.x.clone();
    for (std::int64_t i = 0; i < x.numel(); ++i)
      x.set(i, static_cast<float>((x.at(i) - n.input.mean[i % 3]) / n.input.scale[i % 3]));
    Stream<float> plain = stream_of<float>(c);
    Tensor expected = streamed(plain, x, {1});
    for (std::int64_t i = 0; i < expected.numel(); ++i)
      expected.set(i, static_cast<float>(expected.at(i) * n.output.scale[i % 4] + n.output.mean[i % 4]));
    for (const std::vector<std::int64_t>& blocks : {std::vector<std::int64_t>{1}, {30}, {1, 7}}) {
      Stream<float> stream(c.stack, c.weights, rows, best_level(), {}, n), copy = stream;
      CHECK(bit_difference(streamed(stream, c.batch.x, blocks), expected) == "");
      CHECK(bit_difference(streamed(copy, c.batch.x, blocks), expected) == "");
    }
  }
}

TEST_CASE("a normalization that does not fit is refused") {
  const SequenceCase c = two_layers(1, 1, Dtype::f32);
  const auto stream = [&](const Normalization& n) {
    return Stream<float>(c.stack, c.weights, 1, best_level(), {}, n);
  };
  CHECK_THROWS_WITH_AS(stream({.input = {{0, 0}, {1, 1}}, .output = {}}),
                       "[normalization] expected a mean and a scale for each of 3 inputs, or none, got 2 "
                       "means, 2 scales",
                       InputError);
  CHECK_THROWS_WITH_AS(stream({.input = {}, .output = {{0, 0, 0, 0}, {}}}),
                       doctest::Contains("of 4 outputs, or none, got 4 means, 0 scales"), InputError);
  CHECK_THROWS_WITH_AS(
      stream({.input = {{0, 0, 0}, {1, 0, 1}}, .output = {}}),
      "[normalization] scale of input 1: expected a number from 1.17549e-38 to 3.40282e+38, got 0",
      InputError);
}

TEST_CASE("stepping a stream allocates nothing") {
  const SequenceCase c = two_layers(2, 100, Dtype::f32);
  Stream<float> stream(c.stack, c.weights, 2, best_level(), {}, own_units());
  const Tensor x = steps_first(c.batch.x);
  Tensor y({100, 2, 4}, Dtype::f32);
  const float* input = x.values<float>().data();
  float* output = y.values<float>().data();
  const std::int64_t before = allocations();
  for (int n = 0; n < 60; ++n) stream.step(input + n * 6, output + n * 8);
  stream.block(input + 360, output + 480, 40);
  stream.reset();
  CHECK(allocations() == before);
  const Tensor counted({1}, Dtype::f32);
  CHECK(allocations() > before);
}

TEST_CASE("stepping a stream of a cell with arrays of several axes allocates nothing") {
  const StepProgram program =
      equations_of(4, 2, {"S [2, units, units]", "h [units]"}, {"U [units, input]", "W [units, units]"}, {},
                   {"u = U @ x", "S' = 0.9 * S + u[None, :, None] * softmax(h)[None, None, :]",
                    "h' = tanh(W @ h + cumsum(einsum('gij,j->i', S', roll(u, 1))) + S'[1, ::-1, 0])"},
                   "h'");
  StackDefinition stack;
  stack.layers = {program};
  std::vector<Tensor> weights;
  for (const WeightDefinition& weight : program.weights)
    weights.push_back(Tensor::full(weight.shape, Dtype::f32, 0.25));
  Stream<float> stream(stack, weights, 1, best_level());
  float input[2] = {0.5F, -0.25F}, output[4] = {};
  stream.step(input, output);
  const std::int64_t before = allocations();
  for (int n = 0; n < 60; ++n) stream.step(input, output);
  CHECK(allocations() == before);
  CHECK(output[0] != 0);
}

TEST_CASE("rows and steps beyond any memory are refused") {
  const SequenceCase c = two_layers(1, 1, Dtype::f32);
  for (const int exponent : {50, 58, 62})
    CHECK_THROWS_WITH_AS(Stream<float>(c.stack, c.weights, std::int64_t{1} << exponent),
                         doctest::Contains("do not fit into half of the memory"), InputError);
  Stream<float> stream = stream_of<float>(c);
  const Window window = stream.window();
  for (const std::int64_t steps :
       {std::int64_t{-1}, (std::int64_t{1} << 62) + 1, std::numeric_limits<std::int64_t>::max()})
    CHECK_THROWS_WITH_AS(stream.restore(window, steps), doctest::Contains("steps from 0 to 2^62"),
                         InputError);
  stream.restore(window, std::int64_t{1} << 62);
  CHECK(stream.steps() == std::int64_t{1} << 62);
}

TEST_CASE("a stream tells whether its states are finite") {
  const SequenceCase c = two_layers(1, 8, Dtype::f32);
  Stream<float> stream = stream_of<float>(c);
  CHECK(stream.is_finite());
  streamed(stream, c.batch.x, {1});
  CHECK(stream.is_finite());
  const std::vector<float> x(3, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> y(4);
  stream.step(x.data(), y.data());
  CHECK_FALSE(stream.is_finite());
  stream.reset();
  CHECK(stream.is_finite());
}

TEST_CASE("weights and windows that do not fit are refused") {
  const SequenceCase c = two_layers(2, 1, Dtype::f32);
  CHECK_THROWS_AS(Stream<float>(c.stack, std::span(c.weights).first(3)), InputError);
  CHECK_THROWS_AS(Stream<double>(c.stack, c.weights), InputError);
  CHECK_THROWS_AS(Stream<float>(c.stack, c.weights, 0), InputError);
  Stream<float> stream = stream_of<float>(c);
  Window window = stream.window();
  window.states.pop_back();
  CHECK_THROWS_AS(stream.restore(window, 0), InputError);
  window = stream.window();
  window.states[0] = Tensor({6, 1, 13}, Dtype::f32);
  CHECK_THROWS_AS(stream.restore(window, 0), InputError);
}

}  // namespace
}  // namespace lagtape
