#include "lagtape/tools/train/segments.h"

#include <doctest/doctest.h>

using namespace lagtape;

namespace {

/// A batch with rows of 3, 7 and 5 steps; x is 100 times the row plus 10 times the step plus the input.
SequenceBatch counted() {
  SequenceBatch batch;
  batch.x = Tensor({3, 7, 2}, Dtype::f32);
  batch.targets = Tensor({3, 7, 1}, Dtype::f32);
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t n = 0; n < 7; ++n) {
      for (std::int64_t i = 0; i < 2; ++i) batch.x.set((row * 7 + n) * 2 + i, 100.0 * row + 10.0 * n + i);
      batch.targets.set(row * 7 + n, -100.0 * row - n);
      batch.classes.push_back(static_cast<std::int32_t>(10 * row + n));
    }
  }
  batch.lengths = {3, 7, 5};
  batch.draws = {.seed = 5, .epoch = 2, .sequences = {40, 41, 42}};
  batch.training = true;
  return batch;
}

}  // namespace

TEST_CASE("a segment holds the rows that are not over and their next steps") {
  const Segment segment = segment_of(counted(), 3, 3);
  CHECK(segment.rows == std::vector<std::int64_t>{1, 2});
  const SequenceBatch& batch = segment.batch;
  CHECK(batch.x.shape() == Shape{2, 3, 2});
  CHECK(batch.x.at(0) == 130);
  CHECK(batch.x.at(6 + 2) == 240);
  CHECK(batch.lengths == std::vector<std::int64_t>{3, 2});
  CHECK(batch.targets.at(3) == -203);
  CHECK(batch.classes == std::vector<std::int32_t>{13, 14, 15, 23, 24, 25});
  CHECK(batch.first_step == 3);
  CHECK(batch.draws.sequences == std::vector<std::int64_t>{41, 42});
  CHECK(batch.draws.epoch == 2);
  CHECK(batch.training);
}

TEST_CASE("the last segment is as long as its longest row") {
  const Segment segment = segment_of(counted(), 6, 3);
  CHECK(segment.rows == std::vector<std::int64_t>{1});
  CHECK(segment.batch.x.shape() == Shape{1, 1, 2});
  CHECK(segment.batch.x.at(1) == 161);
  CHECK(segment_of(counted(), 9, 3).rows.empty());
}

TEST_CASE("windows go on with the rows that are left") {
  Window window;
  window.states.push_back(Tensor({2, 3, 2}, Dtype::f64));
  for (std::int64_t i = 0; i < 12; ++i) window.states[0].set(i, static_cast<double>(i));
  const std::vector<std::int64_t> from = {4, 6, 9}, to = {4, 9};
  const Window left = carry(window, from, to);
  CHECK(left.states[0].shape() == Shape{2, 2, 2});
  const double expected[] = {0, 1, 4, 5, 6, 7, 10, 11};
  for (std::int64_t i = 0; i < 8; ++i) CHECK(left.states[0].at(i) == expected[i]);
}

TEST_CASE("a segment of sequences with one target each has all of it") {
  SequenceBatch batch = counted();
  batch.targets = Tensor({3, 2}, Dtype::f32);
  for (std::int64_t i = 0; i < 6; ++i) batch.targets.set(i, 100.0 + i);
  batch.classes = {7, 8, 9};
  const Segment segment = segment_of(batch, 4, 2);
  CHECK(segment.batch.targets.shape() == Shape{2, 2});
  CHECK(segment.batch.targets.at(0) == 102);
  CHECK(segment.batch.targets.at(3) == 105);
  CHECK(segment.batch.classes == std::vector<std::int32_t>{8, 9});
}
