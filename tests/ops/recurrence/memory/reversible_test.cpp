#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/reversible.h"
#include "lagtape/ops/recurrence/step/step_tape.h"
#include "lagtape/ops/recurrence/stream/stream.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/compare.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

using namespace lagtape;
using namespace lagtape::test;

namespace {

constexpr CaseLimits kLimits{
    .steps = 120, .rows = 6, .width = 9, .layers = 3, .values = 30, .reversible = true};

std::string message_of(const StackDefinition& stack, MemoryPlan plan) {
  try {
    SequenceOp(stack, Dtype::f32, {.plan = plan});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("running backwards in time gives the bits of every other plan") {
  for_each_seed("running backwards in time gives the bits of every other plan", 300, [](std::uint64_t seed) {
    SequenceCase c = random_case(seed, kLimits);
    if (seed % 2 == 0) c = converted(c, Dtype::f32);
    const Results expected = run_op(c, {.plan = MemoryPlan::full});
    std::string text;
    const auto compare = [&](const std::string& what, const SequenceSettings& settings, int threads) {
      const std::string lines = bit_differences(run_op(c, settings, threads), expected);
      if (!lines.empty()) text += what + ": " + lines;
    };
    compare("reversible", {.plan = MemoryPlan::reversible}, 1);
    compare("reversible, chunks of 16", {.plan = MemoryPlan::reversible, .chunk = 16}, 2);
    compare("reversible, interpreted", {.plan = MemoryPlan::reversible, .chunk = 48, .compile_stages = false},
            1);
    compare("states", {.plan = MemoryPlan::states, .chunk = 32}, 2);
    compare("checkpoint",
            {.plan = MemoryPlan::checkpoint, .chunk = 16, .checkpoint_interval = 16, .levels = 2}, 1);
    return text;
  });
}

TEST_CASE("states on the grid agree with the unrolled tape") {
  // Increments that are summed in another order may be rounded to the grid's next number.
  for_each_seed("states on the grid agree with the unrolled tape", 200, [](std::uint64_t seed) {
    SequenceCase c = random_case(seed, {.steps = 30, .rows = 4, .width = 8, .reversible = true});
    return differences(run_op(c, {.plan = MemoryPlan::reversible, .chunk = 16}), run_unrolled(c), 1e-7);
  });
}

TEST_CASE("a state on the grid hands its gradient on when what is added to it has none") {
  StepProgram step = equations_of(2, 3, {"a [units]", "h [3]"}, {"W [2, 3]"}, {},
                                  {"a' = a + 0.3 * tanh(W @ h)", "h' = h + 0.3 * normal(3)"}, "a'");
  for (StateDefinition& state : step.states) state.arithmetic = Arithmetic::grid;
  SequenceCase c =
      filled({.layers = {step}, .readout = {}, .at = ReadAt::every_step, .loss = Loss::mse}, 2, 20, 1);
  add_initial(c, 2);
  CHECK(differences(run_op(c, {.plan = MemoryPlan::reversible}), run_unrolled(c), 1e-7) == "");
}

TEST_CASE("a thousand steps there and back end where they began") {
  SequenceCase c = filled(
      {.layers = {oscillators(8, 2)}, .readout = {}, .at = ReadAt::last_step, .loss = Loss::mse}, 3, 1000, 5);
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const SequenceCase own = converted(c, dtype);
    const Results there = run_op(own, {.plan = MemoryPlan::full});
    CHECK(bit_differences(run_op(own, {.plan = MemoryPlan::reversible}), there) == "");
    // Every number of a window is on the grid.
    const Tensor& z = named(there, "z[..T]");
    CHECK(z.dtype() == Dtype::f64);
    for (std::int64_t i = 0; i < z.numel(); ++i) CHECK(z.at(i) * 0x1p32 == std::nearbyint(z.at(i) * 0x1p32));
  }
}

TEST_CASE("memory of the reversible plan does not grow with the sequence") {
  const StackDefinition stack{.layers = {oscillators(16, 2), oscillators(16, 16)},
                              .readout = {},
                              .at = ReadAt::last_step,
                              .loss = Loss::mse};
  const SequenceOp op(stack, Dtype::f32, {.plan = MemoryPlan::reversible});
  CHECK(op.choose(4, 1000, 1).bytes == op.choose(4, 1'000'000, 1).bytes);
  CHECK(op.choose(4, 1000, 1).bytes <
        SequenceOp(stack, Dtype::f32, {.plan = MemoryPlan::states}).choose(4, 1000, 1).bytes);
  CHECK(op.choose(4, 1000, 1).extra_flops > 0);
}

TEST_CASE("a state that leaves the grid is not a number") {
  SequenceCase c = converted(
      filled({.layers = {oscillators(2, 1)}, .readout = {}, .at = ReadAt::last_step, .loss = Loss::mse}, 1,
             40, 1),
      Dtype::f32);
  for (Tensor& weight : c.weights) weight = Tensor::full(weight.shape(), weight.dtype(), 100);
  const Results results = run_op(c, {.plan = MemoryPlan::full});
  CHECK(!std::isfinite(results.front().tensor.item()));
}

TEST_CASE("a window with a number beyond the grid is refused, by the op, a stream and the oracle") {
  const StackDefinition stack{.layers = {tau_gru(2, 1, 1), oscillators(3, 2)},
                              .readout = {},
                              .at = ReadAt::every_step,
                              .loss = Loss::mse};
  SequenceCase c = filled(stack, 2, 20, 1);
  add_initial(c, 2);
  Stream<double> stream(stack, c.weights, 2);
  const auto refusals = [&](double value) {
    c.initial[2].set(4, value);  // z of the layer above: row 1, unit 1
    std::string all;
    for (const std::function<void()>& use : std::initializer_list<std::function<void()>>{
             [&] { run_op(c); }, [&] { run_evaluate(c); }, [&] { stream.restore({c.initial}, 0); },
             [&] { run_unrolled(c); }}) {
      try {
        use();
      } catch (const InputError& error) {
        all += error.what() + std::string("\n");
      }
    }
    return all;
  };
  const std::string rest =
      " for state z of layer 1, row 1, unit 1. This state is on the grid, which ends at 2^18 = 262144\n";
  for (const auto& [value, text] : {std::pair(0x1p19, "524288"), std::pair(-0x1p19, "-524288")})
    CHECK(refusals(value) == text_of("[sequence] the window holds ", text, rest,
                                     "[sequence] the window holds ", text, rest, "[stream] the window holds ",
                                     text, rest, "[unroll] the window holds ", text, rest));
  CHECK(refusals(std::numeric_limits<double>::infinity()).find("[stream] the window holds inf") !=
        std::string::npos);
  CHECK(refusals(0x1p18) == "");
  CHECK(refusals(-0x1p18) == "");
  // A state that left the grid in an earlier part of the sequence stays NaN.
  CHECK(refusals(std::numeric_limits<double>::quiet_NaN()) == "");
}

TEST_CASE(
    "states that cannot be on the grid, and steps that cannot run backwards, are refused with the reason") {
  StepTape gated(1);
  const StepVar h = gated.state("h", RowShape::vector(2), Arithmetic::grid);
  gated.set_next(h, 0.5 * h);
  gated.set_output(h);
  CHECK(message_of({.layers = {gated.finish()}, .readout = {}}, MemoryPlan::full) ==
        "[grid] a state on the grid is updated as h' = h + ... or h - ... Use \"arithmetic\": \"float\" for "
        "others");

  StepTape lagged(1);
  const StepVar g = lagged.state("g", RowShape::vector(2), Arithmetic::grid);
  lagged.set_next(g, g + 0.1 * lagged.lag(g, 3));
  lagged.set_output(g);
  CHECK(message_of({.layers = {lagged.finish()}, .readout = {}}, MemoryPlan::full) ==
        "[grid] a state on the grid has no lags or dilations. Got g[-3]. Use \"arithmetic\": \"float\" for "
        "others");

  StepTape damped(2);
  const StepVar d = damped.state("d", RowShape::vector(2), Arithmetic::grid);
  damped.set_next(d, d - 0.1 * d);
  damped.set_output(d);
  const StackDefinition stack{.layers = {oscillators(2, 1), damped.finish()}, .readout = {}};
  CHECK(message_of(stack, MemoryPlan::full).empty());
  CHECK(message_of(stack, MemoryPlan::reversible) ==
        "[memory] plan reversible runs every layer backwards in time. Layer 1: the increment of state d "
        "depends "
        "on states that cannot be undone before it");

  CHECK(message_of({.layers = {tau_gru(4, 1, 2)}, .readout = {}}, MemoryPlan::reversible) ==
        "[memory] plan reversible runs every layer backwards in time. Layer 0: state h is not on the grid");
}

TEST_CASE("a stream of states on the grid gives the bits of the whole sequence") {
  const SequenceCase c = converted(
      filled({.layers = {oscillators(5, 2), oscillators(4, 5)}, .readout = {}, .at = ReadAt::every_step}, 2,
             50, 3),
      Dtype::f32);
  const Results whole = run_evaluate(c);
  Stream<float> stream(c.stack, c.weights, 2);
  const Tensor& outputs = whole.front().tensor;
  std::vector<float> y(2 * 4), x(2 * 2);
  for (std::int64_t n = 0; n < 50; ++n) {
    if (n == 20) {  // saved and restored half-way
      const Window window = stream.window();
      stream.reset();
      stream.restore(window, n);
    }
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t i = 0; i < 2; ++i)
        x[static_cast<std::size_t>(r * 2 + i)] = static_cast<float>(c.batch.x.at((r * 50 + n) * 2 + i));
    stream.step(x.data(), y.data());
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t i = 0; i < 4; ++i)
        CHECK(y[static_cast<std::size_t>(r * 4 + i)] == static_cast<float>(outputs.at((r * 50 + n) * 4 + i)));
  }
}
