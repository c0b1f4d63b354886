#include "lagtape/tools/train/metrics.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"

using namespace lagtape;

namespace {

Batch numbers(Tensor y, std::vector<std::int64_t> lengths) {
  Batch batch;
  batch.y = std::move(y);
  batch.lengths = std::move(lengths);
  return batch;
}

Batch of_classes(std::vector<std::int32_t> classes, std::vector<std::int64_t> lengths) {
  Batch batch;
  batch.classes = std::move(classes);
  batch.lengths = std::move(lengths);
  return batch;
}

double value(const char* name, const Scores& scores) { return metric(name).value(scores); }

}  // namespace

TEST_CASE("mse, rmse and nrmse have their closed forms") {
  Scores scores;
  const Tensor outputs = Tensor::from({2, 2}, {1, 2, 3, 5}, Dtype::f64);
  add_scores(scores, Loss::mse, outputs, numbers(Tensor::from({2, 2}, {1, 4, 0, 4}, Dtype::f64), {7, 7}));
  const double squares = 0 + 4 + 9 + 1, targets = 1 + 16 + 0 + 16;
  CHECK(value("mse", scores) == squares / 4);
  CHECK(value("rmse", scores) == std::sqrt(squares / 4));
  CHECK(value("nrmse", scores) == std::sqrt(squares / targets));
  CHECK(loss_value(scores) == squares / 4);
}

TEST_CASE("metrics are in the units of the data, the loss in those of training") {
  Scores scores;
  const Scaling scaling = {.mean = {10, -1}, .scale = {2, 0.5}};
  const Tensor outputs = Tensor::from({2, 2}, {1, 2, 3, 5}, Dtype::f64);
  const Tensor targets = Tensor::from({2, 2}, {1, 4, 0, 4}, Dtype::f64);
  add_scores(scores, Loss::mse, outputs, numbers(targets, {7, 7}), scaling);
  const double squares = 0 + 4 * 0.25 + 9 * 4 + 1 * 0.25, target_squares = 12 * 12 + 1 + 10 * 10 + 1;
  CHECK(value("mse", scores) == squares / 4);
  CHECK(value("rmse", scores) == std::sqrt(squares / 4));
  CHECK(value("nrmse", scores) == std::sqrt(squares / target_squares));
  CHECK(loss_value(scores) == (0 + 4 + 9 + 1) / 4.0);
}

TEST_CASE("only a sequence's own steps are scored") {
  Scores scores;
  const Tensor outputs = Tensor::from({2, 3, 1}, {1, 1, 1, 1, 100, 100}, Dtype::f32);
  const Tensor targets = Tensor::from({2, 3, 1}, {0, 2, 4, 3, 0, 0}, Dtype::f32);
  add_scores(scores, Loss::mse, outputs, numbers(targets, {3, 1}));
  CHECK(scores.elements == 4);
  CHECK(value("mse", scores) == (1 + 1 + 9 + 4) / 4.0);
}

TEST_CASE("cross-entropy and accuracy follow the softmax") {
  Scores scores;
  const Tensor logits = Tensor::from({2, 3}, {1, 2, 4, 0, 5, 5.5}, Dtype::f64);
  add_scores(scores, Loss::cross_entropy, logits, of_classes({2, 1}, {4, 4}));
  const double first = -std::log(std::exp(4) / (std::exp(1) + std::exp(2) + std::exp(4)));
  const double second = -std::log(std::exp(5) / (1 + std::exp(5) + std::exp(5.5)));
  CHECK(value("cross_entropy", scores) == doctest::Approx((first + second) / 2).epsilon(1e-14));
  CHECK(value("accuracy", scores) == 0.5);
  CHECK(value("bits_per_character", scores) ==
        doctest::Approx((first + second) / 2 / std::log(2)).epsilon(1e-14));
  CHECK(value("perplexity", scores) ==
        doctest::Approx(std::sqrt(std::exp(first) * std::exp(second))).epsilon(1e-14));
}

TEST_CASE("large logits do not overflow") {
  Scores scores;
  add_scores(scores, Loss::cross_entropy, Tensor::from({1, 2}, {1000, -1000}, Dtype::f32),
             of_classes({1}, {1}));
  CHECK(value("cross_entropy", scores) == doctest::Approx(2000));
  Scores logit;
  add_scores(logit, Loss::binary_cross_entropy, Tensor::from({1, 1}, {-1000}, Dtype::f32),
             of_classes({1}, {1}));
  CHECK(value("binary_cross_entropy", logit) == doctest::Approx(1000));
}

TEST_CASE("one logit is scored by its sigmoid, for classes and for targets 0 and 1") {
  const Tensor logits = Tensor::from({3, 1}, {2, -1, 0.5}, Dtype::f64);
  const auto minus_log = [](double p) { return -std::log(p); };
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double expected = (minus_log(sigmoid(2)) + minus_log(sigmoid(-1)) + minus_log(1 - sigmoid(0.5))) / 3;
  for (const bool classes : {true, false}) {
    Scores scores;
    const Batch batch = classes ? of_classes({1, 1, 0}, {1, 1, 1})
                                : numbers(Tensor::from({3, 1}, {1, 1, 0}, Dtype::f64), {1, 1, 1});
    add_scores(scores, Loss::binary_cross_entropy, logits, batch);
    CHECK(value("binary_cross_entropy", scores) == doctest::Approx(expected).epsilon(1e-14));
    CHECK(value("accuracy", scores) == doctest::Approx(1.0 / 3));
  }
}

TEST_CASE("the size of batches changes no bit") {
  const std::int64_t rows = 37, steps = 11;
  Tensor outputs({rows, steps, 1}, Dtype::f32), targets({rows, steps, 1}, Dtype::f32);
  for (std::int64_t i = 0; i < outputs.numel(); ++i) {
    outputs.set(i, std::sin(0.1 * static_cast<double>(i)));
    targets.set(i, std::cos(0.3 * static_cast<double>(i)));
  }
  const auto scored_by = [&](std::int64_t batch) {
    Scores scores;
    for (std::int64_t first = 0; first < rows; first += batch) {
      const std::int64_t count = std::min(batch, rows - first);
      const auto part = [&](const Tensor& whole) {
        Tensor some({count, steps, 1}, Dtype::f32);
        for (std::int64_t i = 0; i < some.numel(); ++i) some.set(i, whole.at(first * steps + i));
        return some;
      };
      add_scores(scores, Loss::mse, part(outputs),
                 numbers(part(targets), std::vector<std::int64_t>(count, steps)));
    }
    return scores;
  };
  const Scores whole = scored_by(rows);
  for (const std::int64_t batch : {1, 2, 5, 36}) {
    CHECK(scored_by(batch).squared_error == whole.squared_error);
    CHECK(scored_by(batch).squared_target == whole.squared_target);
  }
}

TEST_CASE("outputs that do not fit the targets are refused with their shapes") {
  Scores scores;
  const Batch batch = numbers(Tensor({2, 3, 1}, Dtype::f32), {3, 3});
  CHECK_THROWS_WITH_AS(add_scores(scores, Loss::mse, Tensor({2, 1}, Dtype::f32), batch),
                       doctest::Contains("outputs [2, 1], targets [2, 3, 1]"), InputError);
  CHECK_THROWS_AS(add_scores(scores, Loss::cross_entropy, Tensor({2, 3, 1}, Dtype::f32), batch), InputError);
}

TEST_CASE("metrics are found by name and know which way is better") {
  CHECK(metric("accuracy").larger_is_better);
  CHECK_FALSE(metric("rmse").larger_is_better);
  CHECK_THROWS_WITH_AS(metric("rmsee"), doctest::Contains("did you mean 'rmse'"), InputError);
  CHECK(metric_names(Loss::mse) == std::vector<std::string>{"mse", "rmse", "nrmse"});
  CHECK(metric_names(Loss::cross_entropy) ==
        std::vector<std::string>{"accuracy", "cross_entropy", "bits_per_character", "perplexity"});
}
