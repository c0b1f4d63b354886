#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"
#include "lagtape/tests/ops/recurrence/support/streamed.h"

// Streams whose wide products are quantized to eight bits.

namespace lagtape {
namespace {

using namespace test;

SequenceCase case_of(StackDefinition stack, std::int64_t rows, std::int64_t steps) {
  SequenceCase c = filled(std::move(stack), rows, steps, 3);
  c.batch.training = false;
  return converted(c, Dtype::f32);
}

/// h' = W h + x
SequenceCase sums(std::int64_t units, std::int64_t rows, std::int64_t steps) {
  StackDefinition stack;
  stack.layers = {equations(units, units, {"W [units, units]"}, {"h' = W @ h + x"})};
  return case_of(std::move(stack), rows, steps);
}

StackDefinition tall() {
  StackDefinition stack;
  stack.layers = {lstm(64, 3), tau_gru(70, 64, 5), two_states(66, 70, 2, 19), lstm(16, 2)};
  stack.readout = linear_readout(16, 2);
  return stack;
}

OperandRanges ranges_of(const SequenceCase& c) {
  Stream<float> stream = stream_of<float>(c);
  const Tensor x = steps_first(c.batch.x);
  return stream.operand_ranges(x.values<float>().data(), c.batch.x.size(1));
}

Stream<float> quantized(SequenceCase c, const OperandRanges& ranges, SimdLevel level = best_level()) {
  c.stack.products = ProductFormat::int8;
  return Stream<float>(c.stack, c.weights, c.rows(), level, {}, {}, {}, ranges);
}

/// h' = W h + x in plain quantized arithmetic.
Tensor plain(const SequenceCase& c, float range) {
  const Tensor& w = c.weights.front();
  const std::int64_t units = w.size(0), rows = c.rows(), steps = c.batch.x.size(1);
  const auto nearest = [](float x) { return std::clamp(std::nearbyint(x), -127.0F, 127.0F); };
  const auto weight = [&](std::int64_t i, std::int64_t j) { return static_cast<float>(w.at(i * units + j)); };
  Tensor y({steps, rows, units}, Dtype::f32);
  const auto h = y.values<float>();
  for (std::int64_t n = 0; n < steps; ++n)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t i = 0; i < units; ++i) {
        float most = 0, sum = 0;
        for (std::int64_t j = 0; j < units; ++j) most = std::max(most, std::abs(weight(i, j)));
        const float scale = most / 127;
        for (std::int64_t j = 0; n > 0 && j < units; ++j)
          sum += nearest(weight(i, j) / scale) * nearest(h[((n - 1) * rows + r) * units + j] * (127 / range));
        const auto x = static_cast<float>(c.batch.x.at((r * steps + n) * units + i));
        h[(n * rows + r) * units + i] = sum * (scale * (range / 127)) + x;
      }
  return y;
}

const std::vector<std::vector<std::int64_t>> kBlocks = {{1}, {1, 1, 1, 2}, {3, 1}, {1, 1, 17, 1, 40}};

TEST_CASE("a stream in int8 has the bits of plain quantized arithmetic") {
  for (const std::int64_t units : {64, 70, 130})
    for (const std::int64_t rows : {1, 3}) {
      CAPTURE(units);
      CAPTURE(rows);
      const SequenceCase c = sums(units, rows, 30);
      const OperandRanges ranges = ranges_of(c);
      REQUIRE(ranges.size() == 1);
      const Tensor expected = plain(c, ranges[0][0]);
      for (const SimdLevel level : supported_levels())
        for (const auto& blocks : kBlocks) {
          Stream<float> stream = quantized(c, ranges, level);
          CHECK(bit_difference(streamed(stream, c.batch.x, blocks), expected) == "");
        }
      Stream<float> exact = stream_of<float>(c);
      CHECK(bit_difference(streamed(exact, c.batch.x, {1}), expected) != "");
      CHECK(bit_difference(plain(c, ranges[0][0] * 1.1F), expected) != "");
    }
}

TEST_CASE("the ranges of operands are their largest magnitudes, and none for what is not quantized") {
  const SequenceCase c = sums(64, 2, 20);
  Stream<float> exact = stream_of<float>(c);
  const Tensor h = streamed(exact, c.batch.x, {1});
  double most = 0;  // the last step's states have not been multiplied
  for (std::int64_t i = 0; i < h.numel() - 2 * 64; ++i) most = std::max(most, std::abs(h.at(i)));
  CHECK(ranges_of(c)[0][0] == most);
  const OperandRanges narrow = ranges_of(sums(63, 1, 5));
  for (const float range : narrow[0]) CHECK(range == -1);
}

TEST_CASE("in int8 steps, blocks, rows and SIMD levels give the same bits") {
  const SequenceCase c = case_of(tall(), 5, 45);
  const OperandRanges ranges = ranges_of(c);
  for (const SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    Stream<float> whole = quantized(c, ranges, level);
    const Tensor expected = streamed(whole, c.batch.x, {45});
    if (level != SimdLevel::generic) {
      Stream<float> best = quantized(c, ranges);
      CHECK(bit_difference(streamed(best, c.batch.x, {1}), expected) == "");
    }
    for (const std::int64_t row : {0, 4}) {
      const SequenceCase one = only_row(c, row);
      Tensor of_row({45, 1, 2}, Dtype::f32);
      for (std::int64_t n = 0; n < 45; ++n)
        for (std::int64_t q = 0; q < 2; ++q) of_row.set(n * 2 + q, expected.at((n * 5 + row) * 2 + q));
      for (const auto& blocks : kBlocks) {
        Stream<float> stream = quantized(one, ranges, level);
        CHECK(bit_difference(streamed(stream, one.batch.x, blocks), of_row) == "");
      }
    }
  }
}

TEST_CASE("a stream in int8 is copied, saved and restored") {
  const SequenceCase c = only_row(case_of(tall(), 1, 40), 0);
  Stream<float> stream = quantized(c, ranges_of(c));
  const float* x = c.batch.x.values<float>().data();
  float y[2], again[2], copied[2];
  for (int n = 0; n < 20; ++n) stream.step(x + 3 * n, y);
  const Window window = stream.window();
  Stream<float> copy = stream;
  for (int n = 20; n < 40; ++n) stream.step(x + 3 * n, y);
  for (int n = 20; n < 40; ++n) copy.step(x + 3 * n, copied);
  stream.restore(window, 20);
  for (int n = 20; n < 40; ++n) stream.step(x + 3 * n, again);
  for (int q = 0; q < 2; ++q) {
    CHECK(y[q] == again[q]);
    CHECK(y[q] == copied[q]);
  }
}

TEST_CASE("a number that is not finite makes the sums of a stream in int8 NaN") {
  SequenceCase c = sums(64, 1, 4);
  const OperandRanges ranges = ranges_of(c);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    c.batch.x.set(70, bad);  // unit 6 in the second step
    for (const auto& blocks : kBlocks) {
      Stream<float> stream = quantized(c, ranges);
      const Tensor h = streamed(stream, c.batch.x, blocks);
      for (std::int64_t i = 0; i < 64; ++i) {
        CHECK(std::isfinite(h.at(64 + i)) == (i != 6));
        CHECK(std::isnan(h.at(128 + i)));
      }
    }
  }
}

TEST_CASE("layers that int8 does not take keep the bits of f32") {
  StackDefinition stack;
  stack.layers = {lstm(16, 3), tau_gru(63, 16, 5)};
  stack.readout = linear_readout(63, 2);
  const SequenceCase c = case_of(std::move(stack), 1, 20);
  Stream<float> own = stream_of<float>(c), other = quantized(c, ranges_of(c));
  CHECK(bit_difference(streamed(own, c.batch.x, {1}), streamed(other, c.batch.x, {1})) == "");
}

}  // namespace
}  // namespace lagtape
