#include "lagtape/data/batches.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "lagtape/data/generators/forecast.h"
#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

/// Sequences 0..size-1 of two steps; s[n] = 10 index + n.
ForecastDataset counting(std::int64_t size, double odd_one = 0) {
  Tensor series({size, 3, 1}, Dtype::f64);
  for (std::int64_t i = 0; i < 3 * size; ++i) series.set(i, static_cast<double>(10 * (i / 3) + i % 3));
  if (odd_one != 0) series.set(3 * size - 2, odd_one);
  return ForecastDataset(series, 1);
}

std::vector<std::int64_t> epoch_of(TrainingOrder& order, std::int64_t epoch) {
  std::vector<std::int64_t> all;
  for (std::int64_t step = 0; step < order.steps_per_epoch(); ++step) {
    for (std::int64_t index : order.indices(epoch, step)) all.push_back(index);
  }
  return all;
}

/// Sequence i has i + 1 steps.
class Unequal : public Dataset {
 public:
  explicit Unequal(std::int64_t size) : Dataset({.length = size}), size_(size) {}
  std::int64_t size() const override { return size_; }
  std::int64_t length(std::int64_t index) const override { return index + 1; }
  void read(std::int64_t, Batch&, std::int64_t) const override {}

 private:
  std::int64_t size_;
};

}  // namespace

TEST_CASE("an epoch holds every sequence once, its last batch may be short") {
  const ForecastDataset dataset = counting(10);
  TrainingOrder order(dataset, 4, 1);
  CHECK(order.steps_per_epoch() == 3);
  CHECK(order.indices(0, 0).size() == 4);
  CHECK(order.indices(0, 2).size() == 2);
  std::vector<std::int64_t> all = epoch_of(order, 0);
  CHECK_FALSE(std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  CHECK(all == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(TrainingOrder(dataset, 5, 1).steps_per_epoch() == 2);
  CHECK(TrainingOrder(dataset, 50, 1).steps_per_epoch() == 1);
}

TEST_CASE("the order is a function of seed and epoch, wherever a run begins") {
  const ForecastDataset dataset = counting(30);
  TrainingOrder straight(dataset, 7, 1), resumed(dataset, 7, 1), other(dataset, 7, 2);
  const auto first = epoch_of(straight, 0), second = epoch_of(straight, 1);
  CHECK(first != second);
  CHECK(resumed.indices(1, 3) == straight.indices(1, 3));
  CHECK(epoch_of(resumed, 0) == first);
  CHECK(epoch_of(other, 0) != first);
}

TEST_CASE("the longest sequences of a batch come first, in the batches of equal ones") {
  const Unequal unequal(28);
  const ForecastDataset equal = counting(28);
  TrainingOrder order(unequal, 7, 1), drawn(equal, 7, 1);
  for (std::int64_t step = 0; step < order.steps_per_epoch(); ++step) {
    std::vector<std::int64_t> expected = drawn.indices(0, step);
    const std::vector<std::int64_t> batch = order.indices(0, step);
    CHECK(batch != expected);
    std::ranges::sort(expected, std::greater{});
    CHECK(batch == expected);
  }
}

TEST_CASE("an order needs sequences, a batch size and a step of the epoch") {
  const ForecastDataset dataset = counting(3), nothing = counting(0);
  CHECK_THROWS_AS(TrainingOrder(dataset, 0, 1), InputError);
  CHECK_THROWS_AS(TrainingOrder(nothing, 1, 1), InputError);
  TrainingOrder order(dataset, 2, 1);
  CHECK_THROWS_AS(order.indices(0, 2), InputError);
  CHECK_THROWS_AS(order.indices(-1, 0), InputError);
}

TEST_CASE("evaluation goes through a split in its own order") {
  const ForecastDataset dataset = counting(5);
  CHECK(indices_in_order(dataset, 0, 3) == std::vector<std::int64_t>{0, 1, 2});
  CHECK(indices_in_order(dataset, 3, 3) == std::vector<std::int64_t>{3, 4});
  CHECK(indices_in_order(dataset, 5, 3).empty());
}

TEST_CASE("a batch holds the sequences of its indices in both precisions, on any number of threads") {
  const ForecastDataset dataset = counting(5);
  const std::vector<std::int64_t> indices = {4, 0, 4};
  for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (int threads : {1, 2}) {
      ThreadPool pool(threads);
      const Batch batch = gather(dataset, indices, dtype, pool);
      CHECK(batch.x.dtype() == dtype);
      CHECK(batch.y.dtype() == dtype);
      CHECK(values_of(batch.x) == std::vector<double>{40, 41, 0, 1, 40, 41});
      CHECK(values_of(batch.y) == std::vector<double>{41, 42, 1, 2, 41, 42});
      CHECK(batch.lengths == std::vector<std::int64_t>{2, 2, 2});
      CHECK(batch.ids == indices);
    }
  }
}

TEST_CASE("a batch is normalized") {
  const ForecastDataset dataset = counting(2);
  ThreadPool pool(1);
  const auto two = [&](const Normalization& normalization) {
    return gather(dataset, indices_in_order(dataset, 0, 2), Dtype::f64, pool, normalization);
  };
  const Scaling one = {.mean = {1.0}, .scale = {2.0}}, none, wide = {.mean = {1.0, 2.0}, .scale = {2.0, 1.0}};
  CHECK(values_of(two({one, none}).x) == std::vector<double>{-0.5, 0, 4.5, 5});
  CHECK(values_of(two({one, none}).y) == std::vector<double>{1, 2, 11, 12});
  CHECK(values_of(two({none, one}).x) == std::vector<double>{0, 1, 10, 11});
  CHECK(values_of(two({none, one}).y) == std::vector<double>{0, 0.5, 5, 5.5});
  CHECK_THROWS_AS(two({wide, none}), InputError);
  CHECK_THROWS_WITH_AS(two({none, wide}),
                       "[normalization] expected a mean and a scale for each of 1 outputs, or none, got 2 "
                       "means, 2 scales",
                       InputError);
}

TEST_CASE("a number that is not finite is refused with its place") {
  ThreadPool pool(2);
  for (double odd : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const ForecastDataset dataset = counting(3, odd);
    const std::string message =
        input_error_of([&] { gather(dataset, indices_in_order(dataset, 0, 3), Dtype::f32, pool); });
    CHECK(has(message, "sequence 2, step 1, input 0"));
  }
}

TEST_CASE("an index that the set does not have is refused") {
  const ForecastDataset dataset = counting(3);
  ThreadPool pool(1);
  const std::vector<std::int64_t> above = {0, 3}, below = {-1};
  CHECK_THROWS_AS(gather(dataset, above, Dtype::f32, pool), InputError);
  CHECK_THROWS_AS(gather(dataset, below, Dtype::f32, pool), InputError);
}

TEST_CASE("in length buckets every sequence comes once and batches need little padding") {
  const Unequal dataset(203);
  TrainingOrder mixed(dataset, 4, 1), buckets(dataset, {.batch = 4, .length_buckets = true}, 1);
  const auto padding = [&](TrainingOrder& order) {
    std::int64_t steps = 0;
    for (std::int64_t step = 0; step < order.steps_per_epoch(); ++step) {
      const std::vector<std::int64_t> indices = order.indices(0, step);
      for (const std::int64_t index : indices) steps += indices.front() - index;  // the longest comes first
    }
    return steps;
  };
  CHECK(padding(buckets) < padding(mixed) / 10);
  std::vector<std::int64_t> all = epoch_of(buckets, 0);
  CHECK(all != epoch_of(buckets, 1));
  std::vector<std::int64_t> firsts;
  for (std::size_t i = 0; i < all.size(); i += 4) firsts.push_back(all[i]);
  CHECK_FALSE(std::is_sorted(firsts.begin(), firsts.end()));
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
  CHECK(all.size() == 203);
}

TEST_CASE("a balanced epoch draws all classes equally often") {
  const Unequal dataset(100);
  std::vector<std::int32_t> classes(100, 0);
  classes[7] = 1;
  classes[30] = classes[31] = 2;
  TrainingOrder order(dataset, {.batch = 10, .classes = classes}, 1);
  const std::vector<std::int64_t> all = epoch_of(order, 0);
  std::vector<std::int64_t> counts(3), of_sequence(100);
  for (const std::int64_t index : all) {
    counts[static_cast<std::size_t>(classes[static_cast<std::size_t>(index)])] += 1;
    of_sequence[static_cast<std::size_t>(index)] += 1;
  }
  CHECK(all.size() == 100);
  CHECK(*std::ranges::max_element(counts) - *std::ranges::min_element(counts) <= 1);
  CHECK(std::abs(of_sequence[30] - of_sequence[31]) <= 1);
  std::int64_t rare_in_first_half = 0;
  for (std::size_t i = 0; i < 50; ++i) rare_in_first_half += all[i] == 7 ? 1 : 0;
  CHECK(rare_in_first_half > 8);
  CHECK(rare_in_first_half < 26);
  CHECK(epoch_of(order, 1) != all);
  const ForecastDataset numbers = counting(10);
  ThreadPool pool(1);
  CHECK(has(input_error_of([&] { classes_of(numbers, pool); }), "only sequences with one class each"));
}
