#include "lagtape/ops/recurrence/jit/stage_compiler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/recurrence/run/interpreter.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"
#include "lagtape/tests/ops/recurrence/support/random_stage.h"

// Compiled stages against interpreted ones, bit for bit. (Where two NaNs meet, which of them continues is left
// to whoever orders the operands of a sum, so that any NaN counts as any other.)

namespace lagtape {
namespace {

using namespace recurrence;
using namespace test;

ElementInstruction plain(ElementOp element, int out, int a, int b, std::int64_t width) {
  ElementInstruction t;
  t.element = element;
  t.out = out;
  t.a = a;
  t.b = b;
  t.width = width;
  return t;
}

/// Levels that stages are compiled for here: none in a build without the compiler.
std::vector<SimdLevel> compiled_levels() {
  ElementStage copy;
  copy.operands = {{Operand::Kind::array, 0, 0, 16}, {Operand::Kind::array, 0, 1, 16}};
  copy.register_width = 16;
  copy.instructions.push_back(plain(ElementOp::copy, 1, 0, -1, 16));
  std::vector<SimdLevel> levels;
  for (const SimdLevel level : supported_levels())
    if (CompiledStage::compile<float>(copy, {{Array::Kind::state}}, level) != nullptr)
      levels.push_back(level);
  return levels;
}

/// Numbers of every kind, and of every size.
template <class T>
T random_number(RandomStream& random) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {0,
                       -T(0),
                       1,
                       -1,
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       -Limits::quiet_NaN(),
                       Limits::denorm_min(),
                       -Limits::min() / 3,
                       Limits::max(),
                       Limits::min()};
  const double choice = random.next_uniform();
  if (choice < 0.1) return special[random.next_below(std::size(special))];
  const double x = random.next_normal();
  return static_cast<T>(choice < 0.3 ? x * std::exp(20 * random.next_normal()) : x);
}

/// The bytes of all arrays after the stage.
template <class T>
std::vector<T> run_stage(StageCase& c, SimdLevel level, std::uint64_t seed) {
  const FlushSubnormals flush;
  RandomStream random(seed, 2);
  const Kernels<T>& table = kernels<T>(level);
  LayerWeights<T> weights(c.program, c.schedule, table);
  std::vector<Tensor> numbers;
  for (const auto& w : c.program.weights) {
    numbers.emplace_back(w.shape, dtype_of<T>);
    for (T& x : numbers.back().template values<T>()) x = random_number<T>(random);
  }
  weights.load(numbers);
  Interpreter<T> interpreter(c.program, c.schedule, weights, table);
  const std::int64_t block = c.rows * padded<T>(c.schedule.arrays.front().width);
  const auto arrays = static_cast<std::int64_t>(c.schedule.arrays.size());
  Tensor memory({arrays * kStageSteps * block}, dtype_of<T>), tile({c.schedule.largest_tile}, dtype_of<T>);
  const auto values = memory.values<T>();
  for (T& x : values) x = random_number<T>(random);
  for (int a = 0; a < arrays; ++a)
    interpreter.array(a) = {values.data() + a * kStageSteps * block, 0,
                            c.schedule.arrays[a].kind == Array::Kind::step
                                ? 0
                                : space_of<T>(block, c.schedule.arrays[a].rounded)};
  interpreter.set_tile(tile.values<T>().data());
  interpreter.set_rows(c.rows);
  interpreter.run(c.schedule.forward.step, c.step, c.count);
  std::vector<T> result(values.begin(), values.end());
  for (int a = 0; a < arrays; ++a) {  // Any NaN counts as any other here too.
    if (!c.schedule.arrays[a].rounded) continue;
    std::vector<T> restored(static_cast<std::size_t>(kStageSteps * block));
    const auto from = values.begin() + a * kStageSteps * block;
    table.restore(restored.data(), reinterpret_cast<const SavedElement<T>*>(&*from), std::ssize(restored));
    std::fill_n(result.begin() + a * kStageSteps * block, std::ssize(restored), T(0));
    result.insert(result.end(), restored.begin(), restored.end());
  }
  return result;
}

template <class T>
std::string difference_of(const std::vector<T>& actual, const std::vector<T>& expected) {
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (std::memcmp(&actual[i], &expected[i], sizeof(T)) != 0 &&
        !(std::isnan(actual[i]) && std::isnan(expected[i])))
      return text_of("element ", i, " is ", actual[i], ", interpreted ", expected[i], "\n");
  return "";
}

template <class T>
void check_random_stages(const std::string& name) {
  for (const SimdLevel level : compiled_levels()) {
    int compiled = 0, stages = 0;
    for_each_seed(name, 500, [&](std::uint64_t seed) {
      StageCase c = random_stage<T>(seed);
      const std::vector<T> expected = run_stage<T>(c, level, seed);
      compile_stages<T>(c.schedule, level);
      ++stages;
      if (c.stage().compiled != nullptr) ++compiled;
      return difference_of(run_stage<T>(c, level, seed), expected);
    });
    CHECK(compiled == stages);
  }
}

TEST_CASE("random stages of floats have the same bits compiled and interpreted") {
  check_random_stages<float>("random stages of floats have the same bits compiled and interpreted");
}

TEST_CASE("random stages of doubles have the same bits compiled and interpreted") {
  check_random_stages<double>("random stages of doubles have the same bits compiled and interpreted");
}

TEST_CASE("the comparison sees the order of a sum") {
  for (const SimdLevel level : compiled_levels()) {
    StageCase c;
    c.rows = 3;
    c.schedule.arrays.assign(4, {Array::Kind::state, 0, 16});
    ElementStage stage;
    for (int a = 0; a < 4; ++a) stage.operands.push_back({Operand::Kind::array, a, 0, 16});
    stage.register_width = 16;
    stage.instructions = {plain(ElementOp::add, 3, 0, 1, 16), plain(ElementOp::add, 3, 3, 2, 16)};
    c.schedule.largest_tile = 16;
    c.schedule.largest_stage = 4;
    c.schedule.forward.step.push_back(stage);
    const std::vector<float> expected = run_stage<float>(c, level, 1);
    compile_stages<float>(c.schedule, level);
    REQUIRE(c.stage().compiled != nullptr);
    CHECK(difference_of(run_stage<float>(c, level, 1), expected) == "");
    std::swap(c.stage().instructions[0].a, c.stage().instructions[1].b);
    compile_stages<float>(c.schedule, level);
    CHECK(difference_of(run_stage<float>(c, level, 1), expected) != "");
  }
}

// ---- steps on the grid ----

/// Rows of increments and of doubles on the grid, every pair of the numbers where a step may go wrong.
template <class T>
struct GridStage {
  static constexpr int kIncrements = 0, kView = 1, kGrid = 2;

  GridStage(std::int64_t width, double sign) : width(width) {
    using Limits = std::numeric_limits<T>;
    const T longest = 0x1p18;
    const T steps[] = {0,
                       T(0x1p-33),
                       T(3 * 0x1p-33),
                       1,
                       -T(1.5),
                       T(0x1p-40),
                       Limits::denorm_min(),
                       longest,
                       -longest,
                       std::nextafter(longest, T(0)),
                       std::nextafter(longest, Limits::max()),
                       2 * longest,
                       Limits::max(),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN()};
    const double starts[] = {0,          -0.0,   0x1p-32, -3 * 0x1p-32,    0x1p17,
                             0x1p18 - 1, 0x1p18, -0x1p18, 0x1p18 - 0x1p-32};
    for (const double start : starts)
      for (const T step : steps) {
        from.push_back(start);
        increments.push_back(step);
      }
    c.rows = std::ssize(from) / width;
    from.resize(static_cast<std::size_t>(c.rows * width));
    c.schedule.arrays = {
        {Array::Kind::state, 0, width}, {Array::Kind::state, 0, width}, {Array::Kind::grid, 0, width}};
    c.schedule.grid_arrays = {kGrid};
    ElementStage stage;
    stage.operands = {{Operand::Kind::array, kIncrements, 0, width},
                      {Operand::Kind::array, kView, 0, width},
                      {Operand::Kind::grid, 0, 0, width},
                      {Operand::Kind::grid, 0, 1, width}};
    stage.register_width = width;
    stage.tile_rows = 1;
    ElementInstruction t;
    t.kind = Op::Kind::grid_update;
    t.a = 0;
    t.out = 1;
    t.b = 2;
    t.c = 3;
    t.k = sign;
    t.width = width;
    stage.instructions.push_back(t);
    c.schedule.largest_stage = stage.operands.size();
    c.schedule.forward.step.push_back(stage);
  }

  /// The grid and its view after the step.
  std::pair<std::vector<double>, std::vector<T>> run(SimdLevel level) {
    const Kernels<T>& table = kernels<T>(level);
    LayerWeights<T> weights(c.program, c.schedule, table);
    Interpreter<T> interpreter(c.program, c.schedule, weights, table);
    const std::int64_t block = c.rows * width;
    Tensor numbers({2 * block}, dtype_of<T>), grid({2 * block}, Dtype::f64);
    const auto values = numbers.values<T>();
    const auto doubles = grid.values<double>();
    std::copy_n(increments.begin(), block, values.begin());
    std::copy_n(from.begin(), block, doubles.begin());
    interpreter.array(kIncrements) = {values.data(), 0, 0};
    interpreter.array(kView) = {values.data() + block, 0, 0};
    interpreter.array(kGrid) = {reinterpret_cast<T*>(doubles.data()), 0, block * kDoubleWidth<T>};
    interpreter.set_rows(c.rows);
    interpreter.run(c.schedule.forward.step, 0, 1);
    return {{doubles.begin() + block, doubles.end()}, {values.begin() + block, values.end()}};
  }

  std::int64_t width;
  std::vector<double> from;
  std::vector<T> increments;
  StageCase c;
};

TEST_CASE_TEMPLATE("steps on the grid have the same bits compiled and interpreted, where they leave it too",
                   T, float, double) {
  int compiled = 0;
  for (const SimdLevel level : compiled_levels())
    for (const std::int64_t width : {16, 32, 48, 64})
      for (const double sign : {1.0, -1.0}) {
        CAPTURE(width);
        GridStage<T> stage(width, sign);
        const auto expected = stage.run(level);
        compile_stages<T>(stage.c.schedule, level);
        if (stage.c.stage().compiled != nullptr) ++compiled;
        const auto found = stage.run(level);
        CHECK(difference_of(found.first, expected.first) == "");
        CHECK(difference_of(found.second, expected.second) == "");
        const auto lost = std::ranges::count_if(expected.first, [](double v) { return std::isnan(v); });
        CHECK(lost > 0);
        CHECK(lost < std::ssize(expected.first) * 2 / 3);
      }
  CHECK((compiled > 0 || compiled_levels().empty() || compiled_levels().back() != SimdLevel::avx512));
}

TEST_CASE("stages of other work, of two widths and at the generic level are left to the interpreter") {
  for (const SimdLevel level : compiled_levels()) {
    const auto compiles = [&](auto change) {
      StageCase c = random_stage<float>(1);
      change(c.stage());
      return CompiledStage::compile<float>(c.stage(), c.schedule.arrays, level) != nullptr;
    };
    CHECK(compiles([](ElementStage&) {}));
    CHECK_FALSE(compiles([](ElementStage& s) { s.instructions.back().kind = Op::Kind::draw; }));
    CHECK_FALSE(compiles([](ElementStage& s) {
      s.instructions.back().kind = Op::Kind::element;
      s.instructions.back().element = ElementOp::sin;
    }));
    CHECK_FALSE(compiles([](ElementStage& s) { s.instructions.back().width += 16; }));
  }
  StageCase c = random_stage<float>(1);
  CHECK(CompiledStage::compile<float>(c.stage(), c.schedule.arrays, SimdLevel::generic) == nullptr);
}

// ---- whole ops ----

std::string op_difference(const SequenceCase& c, SimdLevel level) {
  return bit_differences(run_op(c, {.level = level}), run_op(c, {.level = level, .compile_stages = false}));
}

TEST_CASE("loss and gradients of known cells have the same bits compiled and interpreted") {
  for (const StepProgram& cell :
       {tau_gru(16, 3, 5), lstm(20, 3), delay_gru(37, 3, 5), tau_gru(37, 1, 5), lstm(16, 2)}) {
    StackDefinition stack;
    stack.layers = {cell};
    stack.readout = linear_readout(stack.output_width(), 2);
    stack.loss = Loss::mse;
    const SequenceCase c = filled(stack, 21, 40, 1);
    for (const Dtype dtype : {Dtype::f32, Dtype::f64})
      for (const SimdLevel level : supported_levels()) CHECK(op_difference(converted(c, dtype), level) == "");
  }
}

TEST_CASE("loss and gradients of random stacks have the same bits compiled and interpreted") {
  const std::string name = "loss and gradients of random stacks have the same bits compiled and interpreted";
  for_each_seed(name, 200, [](std::uint64_t seed) {
    const SequenceCase c = random_case(seed);
    const std::vector<SimdLevel> levels = supported_levels();
    return op_difference(seed % 2 == 0 ? c : converted(c, Dtype::f32), levels[seed % levels.size()]);
  });
}

}  // namespace
}  // namespace lagtape
