#include "lagtape/tools/view/report/worst_mistakes.h"

#include <doctest/doctest.h>

#include <cmath>

namespace lagtape::report {

namespace {

Batch batch_of(Tensor x, Tensor y, std::vector<std::int64_t> lengths, std::vector<std::int64_t> ids) {
  Batch batch;
  batch.x = std::move(x);
  batch.y = std::move(y);
  batch.lengths = std::move(lengths);
  batch.ids = std::move(ids);
  return batch;
}

}  // namespace

TEST_CASE("the largest errors come first, over a sequence's own steps, in the units of the data") {
  WorstMistakes mistakes({.length = 3, .input = 1, .output = 1, .every_step = true},
                         {.input = {}, .output = {.mean = {10}, .scale = {2}}}, Loss::mse);
  const Tensor x = Tensor::from({2, 3, 1}, {1, 2, 3, 4, 5, 6}, Dtype::f64);
  mistakes.add(Tensor::from({2, 3, 1}, {1, 2, 9, 1, 1, 5}, Dtype::f64),
               batch_of(x, Tensor::from({2, 3, 1}, {1, 3, 0, 1, 1, 1}, Dtype::f64), {2, 3}, {7, 8}));
  REQUIRE(mistakes.all().size() == 2);
  const Mistake& first = mistakes.all()[0];
  CHECK(first.sequence == 8);
  CHECK(first.error == doctest::Approx(std::sqrt(64 / 3.0)));  // one step of three is 2 * 4 off
  CHECK(first.predictions == std::vector<double>{12, 12, 20});
  CHECK(first.truths == std::vector<double>{12, 12, 12});
  CHECK(first.inputs == std::vector<std::vector<double>>{{4, 5, 6}});
  CHECK(mistakes.all()[1].sequence == 7);
  CHECK(mistakes.all()[1].error == doctest::Approx(std::sqrt(4 / 2.0)));  // the third step is padding
  CHECK(chart_of(first, {}).lines.size() == 2);
}

TEST_CASE("of classes the probability of the wrong one is the error, and right ones are none") {
  WorstMistakes mistakes({.length = 1, .input = 1, .output = 2, .classes = 2, .every_step = false}, {},
                         Loss::cross_entropy);
  const Tensor x = Tensor::from({2, 1, 1}, {1, 2}, Dtype::f64);
  Batch batch = batch_of(x, {}, {1, 1}, {0, 1});
  batch.classes = {0, 0};
  mistakes.add(Tensor::from({2, 2}, {2, 0, 0, std::log(3.0)}, Dtype::f64), batch);
  REQUIRE(mistakes.all().size() == 1);
  const Mistake& wrong = mistakes.all()[0];
  CHECK(wrong.sequence == 1);
  CHECK(wrong.actual == 0);
  CHECK(wrong.predicted == 1);
  CHECK(wrong.error == doctest::Approx(0.75));
  CHECK(has_chart(wrong));
  CHECK(chart_of(wrong, {.classes = 2}).title == "sequence 1: class 0, taken for 1 (0.75)");
  CHECK(chart_of(wrong, {.classes = 2, .class_names = {"ok", "fault"}}).title ==
        "sequence 1: class ok, taken for fault (0.75)");
}

}  // namespace lagtape::report
