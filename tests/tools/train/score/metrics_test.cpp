#include "lagtape/tools/train/score/metrics.h"

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

TEST_CASE("mse, rmse, nrmse, esr and dc have their closed forms") {
  Scores scores;
  const Tensor outputs = Tensor::from({2, 2}, {1, 2, 3, 5}, Dtype::f64);
  add_scores(scores, Loss::mse, outputs, numbers(Tensor::from({2, 2}, {1, 4, 0, 4}, Dtype::f64), {7, 7}));
  const double squares = 0 + 4 + 9 + 1, targets = 1 + 16 + 0 + 16;
  CHECK(value("mse", scores) == squares / 4);
  CHECK(value("rmse", scores) == std::sqrt(squares / 4));
  CHECK(value("nrmse", scores) == std::sqrt(squares / targets));
  CHECK(value("esr", scores) == squares / targets);
  const double errors = 0 - 2 + 3 + 1;
  CHECK(value("dc", scores) == doctest::Approx((errors / 4) * (errors / 4) / (targets / 4)));
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
  CHECK(value("esr", scores) == squares / target_squares);
  const double errors = 0 - 2 * 0.5 + 3 * 2 + 1 * 0.5;
  CHECK(value("dc", scores) == doctest::Approx(errors * errors / 4 / target_squares));
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
  CHECK(metric_names(Loss::mse) ==
        std::vector<std::string>{"mse", "rmse", "nrmse", "esr", "dc", "mae", "mape", "r2"});
  CHECK(metric_names(Loss::cross_entropy) == std::vector<std::string>{"accuracy", "f1", "auc", "top_5",
                                                                      "cross_entropy", "bits_per_character",
                                                                      "perplexity"});
}

TEST_CASE("mae, mape and r2 have their closed forms, and leave missing targets out") {
  Scores scores;
  const Scaling scaling = {.mean = {10, -1}, .scale = {2, 0.5}};
  const double none = std::nan("");
  const Tensor outputs = Tensor::from({3, 2}, {1, 2, 3, 5, 7, 7}, Dtype::f64);
  const Tensor targets = Tensor::from({3, 2}, {1, 4, -5, 2, none, 3}, Dtype::f64);
  add_scores(scores, Loss::mse, outputs, numbers(targets, {7, 7, 7}), scaling);
  // In the units of the data: rows of targets 12, 1 | 0, 0 | none, 0.5; errors 0, -1 | 16, 1.5 | none, 2.
  CHECK(scores.elements == 5);
  CHECK(value("mae", scores) == (0 + 16 + 1 + 1.5 + 2) / 5);
  CHECK(value("mape", scores) == doctest::Approx((0.0 / 12 + 1.0 / 1 + 2 / 0.5) / 3));
  const double first = 12.0 * 12 / 2, second = 1 + 0 + 0.25 - 1.5 * 1.5 / 3;
  CHECK(value("r2", scores) == doctest::Approx(1 - (256 + 1 + 2.25 + 4) / (first + second)));
  CHECK(loss_value(scores) == (0 + 4 + 64 + 9 + 16) / 5.0);
}

TEST_CASE("f1 is the mean over the classes that occur, or that of class 1 for one logit") {
  Scores scores;
  const Tensor logits =
      Tensor::from({5, 4}, {9, 0, 0, 0, 9, 0, 0, 0, 0, 9, 0, 0, 0, 0, 9, 0, 0, 9, 0, 0}, Dtype::f64);
  add_scores(scores, Loss::cross_entropy, logits, of_classes({0, 1, 1, 2, -1}, {1, 1, 1, 1, 1}));
  // predicted 0 0 1 2: class 0 has precision 1/2 and recall 1, class 1 precision 1 and recall 1/2, class 2 is right.
  CHECK(value("f1", scores) == doctest::Approx((2.0 / 3 + 2.0 / 3 + 1) / 3));
  CHECK(value("accuracy", scores) == 0.75);
  Scores logit;
  add_scores(logit, Loss::binary_cross_entropy, Tensor::from({4, 1}, {1, 1, -1, -1}, Dtype::f64),
             of_classes({1, 0, 1, 0}, {1, 1, 1, 1}));
  CHECK(value("f1", logit) == 0.5);
}

TEST_CASE("auc is the share of pairs in their order, and top_5 looks at five classes") {
  const std::vector<double> logits = {0.3, 2, -1, 0.3, 0.7, 5, 0.3};
  const std::vector<std::int32_t> classes = {1, 0, 0, 0, 1, 1, 1};
  double won = 0, pairs = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    for (std::size_t k = 0; k < logits.size(); ++k) {
      if (classes[i] != 1 || classes[k] != 0) continue;
      pairs += 1;
      won += logits[i] > logits[k] ? 1 : logits[i] == logits[k] ? 0.5 : 0;
    }
  }
  Scores scores;
  scores.keep_ranks = true;
  add_scores(scores, Loss::binary_cross_entropy, Tensor::from({7, 1}, logits, Dtype::f64),
             of_classes(classes, std::vector<std::int64_t>(7, 1)));
  CHECK(value("auc", scores) == doctest::Approx(won / pairs));
  CHECK(won / pairs != 0.5);
  Scores several;
  several.keep_ranks = true;
  const Tensor rows =
      Tensor::from({3, 6}, {6, 5, 4, 3, 2, 1, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6}, Dtype::f64);
  add_scores(several, Loss::cross_entropy, rows, of_classes({0, 5, 5}, {1, 1, 1}));
  CHECK(value("top_5", several) == doctest::Approx(2.0 / 3));
  // class 0 is ahead of one of two others and level with the other; of class 5 one is ahead of the other and one level.
  CHECK(value("auc", several) == doctest::Approx((0.75 + 0.75) / 2));
}
