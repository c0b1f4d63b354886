#include "lagtape/tools/train/score/confusion.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"

using namespace lagtape;

namespace {

Batch of_classes(std::vector<std::int32_t> classes, std::vector<std::int64_t> lengths) {
  Batch batch;
  batch.classes = std::move(classes);
  batch.lengths = std::move(lengths);
  return batch;
}

std::vector<std::int64_t> counts(const Confusion& confusion) {
  std::vector<std::int64_t> all;
  for (std::int64_t a = 0; a < confusion.classes(); ++a) {
    for (std::int64_t p = 0; p < confusion.classes(); ++p) all.push_back(confusion.count(a, p));
  }
  return all;
}

}  // namespace

TEST_CASE("classes are counted by what they are and what they are taken for") {
  Confusion confusion(DataShape{.length = 1, .input = 1, .output = 0, .classes = 3, .every_step = false});
  confusion.add(Tensor::from({3, 3}, {9, 1, 2, 0, 5, 5.5, -3, -1, -2}, Dtype::f32),
                of_classes({0, 1, 1}, {4, 4, 4}));
  confusion.add(Tensor::from({1, 3}, {9, 1, 2}, Dtype::f32), of_classes({2}, {4}));
  CHECK(counts(confusion) == std::vector<std::int64_t>{1, 0, 0, 0, 1, 1, 1, 0, 0});
}

TEST_CASE("only a sequence's own steps are counted, and one logit tells two classes") {
  Confusion confusion(DataShape{.length = 3, .input = 1, .output = 0, .classes = 2, .every_step = true});
  confusion.add(Tensor::from({2, 3, 1}, {1, -1, 2, -4, 7, 7}, Dtype::f64),
                of_classes({1, 1, 0, 0, -1, -1}, {3, 1}));
  CHECK(counts(confusion) == std::vector<std::int64_t>{1, 1, 1, 1});
}

TEST_CASE("real targets have no confusion matrix") {
  CHECK_THROWS_WITH_AS(Confusion(DataShape{.length = 1, .input = 1, .output = 1}),
                       doctest::Contains("real numbers"), InputError);
}
