#include "lagtape/tools/train/score/metrics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "lagtape/core/error.h"
#include "lagtape/tools/train/score/scores.h"

using namespace lagtape;

namespace {

Batch numbers(Tensor y, std::vector<std::int64_t> lengths) {
  Batch batch;
  batch.y = std::move(y);
  batch.ids.resize(lengths.size());
  std::iota(batch.ids.begin(), batch.ids.end(), 0);
  batch.lengths = std::move(lengths);
  return batch;
}

Batch of_classes(std::vector<std::int32_t> classes, std::vector<std::int64_t> lengths) {
  Batch batch;
  batch.classes = std::move(classes);
  batch.ids.resize(lengths.size());
  batch.lengths = std::move(lengths);
  return batch;
}

/// The windows of two series, each a sequence, with two targets: sequence 1 is of the second one.
class TwoSeries final : public Dataset {
 public:
  TwoSeries() : Dataset({}) {}
  std::int64_t size() const override { return 2; }
  void read(std::int64_t, Batch&, std::int64_t) const override {}
  std::span<const NaiveErrors> naive_errors(std::int64_t index) const override {
    return std::span(naive_).subspan(index == 1 ? 2 : 0, 2);
  }

 private:
  std::vector<NaiveErrors> naive_ = {{2, 16}, {4, 64}, {8, 4}, {0.5, 0.25}};
};
const TwoSeries kTwoSeries;

/// Scores by all metrics that go with the loss.
Scores scores_by(const LossFunction& loss, const Scaling& scaling = {}) {
  return Scores(loss, metric_names(loss), scaling, {}, &kTwoSeries);
}

double value(const char* name, const Scores& scores, Loss loss) {
  const std::vector<std::string> names = metric_names(loss);
  return scores.values().at(static_cast<std::size_t>(std::ranges::find(names, name) - names.begin()));
}

}  // namespace

TEST_CASE("mse, rmse, nrmse, esr and dc have their closed forms") {
  Scores scores = scores_by(Loss::mse);
  const Tensor outputs = Tensor::from({2, 2}, {1, 2, 3, 5}, Dtype::f64);
  scores.add(outputs, numbers(Tensor::from({2, 2}, {1, 4, 0, 4}, Dtype::f64), {7, 7}));
  const double squares = 0 + 4 + 9 + 1, targets = 1 + 16 + 0 + 16;
  CHECK(value("mse", scores, Loss::mse) == squares / 4);
  CHECK(value("rmse", scores, Loss::mse) == std::sqrt(squares / 4));
  CHECK(value("nrmse", scores, Loss::mse) == std::sqrt(squares / targets));
  CHECK(value("esr", scores, Loss::mse) == squares / targets);
  const double errors = 0 - 2 + 3 + 1;
  CHECK(value("dc", scores, Loss::mse) == doctest::Approx((errors / 4) * (errors / 4) / (targets / 4)));
  CHECK(scores.loss() == squares / 4);
}

TEST_CASE("metrics are in the units of the data, the loss in those of training") {
  const Scaling scaling = {.mean = {10, -1}, .scale = {2, 0.5}};
  Scores scores = scores_by(Loss::mse, scaling);
  const Tensor outputs = Tensor::from({2, 2}, {1, 2, 3, 5}, Dtype::f64);
  const Tensor targets = Tensor::from({2, 2}, {1, 4, 0, 4}, Dtype::f64);
  scores.add(outputs, numbers(targets, {7, 7}));
  const double squares = 0 + 4 * 0.25 + 9 * 4 + 1 * 0.25, target_squares = 12 * 12 + 1 + 10 * 10 + 1;
  CHECK(value("mse", scores, Loss::mse) == squares / 4);
  CHECK(value("rmse", scores, Loss::mse) == std::sqrt(squares / 4));
  CHECK(value("nrmse", scores, Loss::mse) == std::sqrt(squares / target_squares));
  CHECK(value("esr", scores, Loss::mse) == squares / target_squares);
  const double errors = 0 - 2 * 0.5 + 3 * 2 + 1 * 0.5;
  CHECK(value("dc", scores, Loss::mse) == doctest::Approx(errors * errors / 4 / target_squares));
  CHECK(scores.loss() == (0 + 4 + 9 + 1) / 4.0);
}

TEST_CASE("only a sequence's own steps are scored") {
  Scores scores = scores_by(Loss::mse);
  const Tensor outputs = Tensor::from({2, 3, 1}, {1, 1, 1, 1, 100, 100}, Dtype::f32);
  const Tensor targets = Tensor::from({2, 3, 1}, {0, 2, 4, 3, 0, 0}, Dtype::f32);
  scores.add(outputs, numbers(targets, {3, 1}));
  CHECK(value("mse", scores, Loss::mse) == (1 + 1 + 9 + 4) / 4.0);
}

TEST_CASE("cross-entropy and accuracy follow the softmax") {
  Scores scores = scores_by(Loss::cross_entropy);
  const Tensor logits = Tensor::from({2, 3}, {1, 2, 4, 0, 5, 5.5}, Dtype::f64);
  scores.add(logits, of_classes({2, 1}, {4, 4}));
  const double first = -std::log(std::exp(4) / (std::exp(1) + std::exp(2) + std::exp(4)));
  const double second = -std::log(std::exp(5) / (1 + std::exp(5) + std::exp(5.5)));
  CHECK(value("cross_entropy", scores, Loss::cross_entropy) ==
        doctest::Approx((first + second) / 2).epsilon(1e-14));
  CHECK(value("accuracy", scores, Loss::cross_entropy) == 0.5);
  CHECK(value("bits_per_character", scores, Loss::cross_entropy) ==
        doctest::Approx((first + second) / 2 / std::log(2)).epsilon(1e-14));
  CHECK(value("perplexity", scores, Loss::cross_entropy) ==
        doctest::Approx(std::sqrt(std::exp(first) * std::exp(second))).epsilon(1e-14));
}

TEST_CASE("large logits do not overflow") {
  Scores scores = scores_by(Loss::cross_entropy);
  scores.add(Tensor::from({1, 2}, {1000, -1000}, Dtype::f32), of_classes({1}, {1}));
  CHECK(value("cross_entropy", scores, Loss::cross_entropy) == doctest::Approx(2000));
  Scores logit = scores_by(Loss::binary_cross_entropy);
  logit.add(Tensor::from({1, 1}, {-1000}, Dtype::f32), of_classes({1}, {1}));
  CHECK(value("binary_cross_entropy", logit, Loss::binary_cross_entropy) == doctest::Approx(1000));
}

TEST_CASE("one logit is scored by its sigmoid, for classes and for targets 0 and 1") {
  const Tensor logits = Tensor::from({3, 1}, {2, -1, 0.5}, Dtype::f64);
  const auto minus_log = [](double p) { return -std::log(p); };
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double expected = (minus_log(sigmoid(2)) + minus_log(sigmoid(-1)) + minus_log(1 - sigmoid(0.5))) / 3;
  for (const bool classes : {true, false}) {
    Scores scores = scores_by(Loss::binary_cross_entropy);
    const Batch batch = classes ? of_classes({1, 1, 0}, {1, 1, 1})
                                : numbers(Tensor::from({3, 1}, {1, 1, 0}, Dtype::f64), {1, 1, 1});
    scores.add(logits, batch);
    CHECK(value("binary_cross_entropy", scores, Loss::binary_cross_entropy) ==
          doctest::Approx(expected).epsilon(1e-14));
    CHECK(value("accuracy", scores, Loss::binary_cross_entropy) == doctest::Approx(1.0 / 3));
  }
}

TEST_CASE("the size of batches changes no bit") {
  const std::int64_t rows = 37, steps = 11;
  Tensor outputs({rows, steps, 1}, Dtype::f32), targets({rows, steps, 1}, Dtype::f32);
  for (std::int64_t i = 0; i < outputs.numel(); ++i) {
    outputs.set(i, std::sin(0.1 * static_cast<double>(i)));
    targets.set(i, std::cos(0.3 * static_cast<double>(i)));
  }
  const auto scored_by = [&](std::int64_t at_once) {
    Scores scores = scores_by(Loss::mse);
    for (std::int64_t first = 0; first < rows; first += at_once) {
      const std::int64_t count = std::min(at_once, rows - first);
      const auto part = [&](const Tensor& whole) {
        Tensor some({count, steps, 1}, Dtype::f32);
        for (std::int64_t i = 0; i < some.numel(); ++i) some.set(i, whole.at(first * steps + i));
        return some;
      };
      Batch batch = numbers(part(targets), std::vector<std::int64_t>(count, steps));
      std::iota(batch.ids.begin(), batch.ids.end(), first);
      scores.add(part(outputs), batch);
    }
    return scores;
  };
  const Scores whole = scored_by(rows);
  for (const std::int64_t at_once : {1, 2, 5, 36}) {
    CHECK(scored_by(at_once).loss() == whole.loss());
    CHECK(scored_by(at_once).values() == whole.values());
  }
}

TEST_CASE("outputs that do not fit the targets are refused with their shapes") {
  Scores scores = scores_by(Loss::mse);
  const Batch batch = numbers(Tensor({2, 3, 1}, Dtype::f32), {3, 3});
  CHECK_THROWS_WITH_AS(scores.add(Tensor({2, 1}, Dtype::f32), batch),
                       doctest::Contains("outputs [2, 1], targets [2, 3, 1]"), InputError);
  CHECK_THROWS_AS(scores_by(Loss::cross_entropy).add(Tensor({2, 3, 1}, Dtype::f32), batch), InputError);
}

TEST_CASE("metrics are found by name and know which way is better") {
  CHECK(metric("accuracy").larger_is_better);
  CHECK_FALSE(metric("rmse").larger_is_better);
  CHECK_THROWS_WITH_AS(metric("rmsee"), doctest::Contains("did you mean 'rmse'"), InputError);
  CHECK(metric_names(Loss::mse) == std::vector<std::string>{"mse", "rmse", "nrmse", "esr", "dc", "mae",
                                                            "mape", "smape", "mase", "rmsse", "r2"});
  CHECK(metric_names(Loss::cross_entropy) == std::vector<std::string>{"accuracy", "f1", "auc", "top_5",
                                                                      "cross_entropy", "bits_per_character",
                                                                      "perplexity"});
}

TEST_CASE("a metric of one class is named by its number or its name") {
  const std::vector<std::string> names = {"ok", "fault [2]"};
  CHECK(metric("f1[fault [2]]", names).of_class == 1);
  CHECK(metric("recall[ok]", names).of_class == 0);
  CHECK(metric("recall_1", names).of_class == 1);
  CHECK(metric("precision[no]", names).of_class == -1);
  CHECK(metric("precision[no]").is_of_class());
  CHECK_FALSE(metric("f1", names).is_of_class());
  for (const char* wrong : {"f1[]", "f1[ok", "f1_[ok]", "f1ok]", "auc[ok]"}) {
    CAPTURE(wrong);
    CHECK_FALSE(find_metric(wrong, names));
  }
  const std::vector<std::string> wanted = {"f1[fault [2]]", "f1_1", "recall[ok]", "f1[no]"};
  Scores scores(Loss::cross_entropy, wanted, {}, names);
  Batch batch;
  batch.lengths = {1, 1, 1};
  batch.classes = {0, 1, 1};
  scores.add(Tensor::from({3, 2}, {0, 1, 0, 1, 1, 0}, Dtype::f64), batch);
  CHECK(scores.values()[0] == 0.5);
  CHECK(scores.values()[1] == 0.5);
  CHECK(scores.values()[2] == 0);
  CHECK(std::isnan(scores.values()[3]));
}

TEST_CASE("mae, mape and r2 have their closed forms, and leave missing targets out") {
  const Scaling scaling = {.mean = {10, -1}, .scale = {2, 0.5}};
  Scores scores = scores_by(Loss::mse, scaling);
  const double none = std::nan("");
  const Tensor outputs = Tensor::from({3, 2}, {1, 2, 3, 5, 7, 7}, Dtype::f64);
  const Tensor targets = Tensor::from({3, 2}, {1, 4, -5, 2, none, 3}, Dtype::f64);
  scores.add(outputs, numbers(targets, {7, 7, 7}));
  // In the units of the data: rows of targets 12, 1 | 0, 0 | none, 0.5; errors 0, -1 | 16, 1.5 | none, 2.
  CHECK(value("mae", scores, Loss::mse) == (0 + 16 + 1 + 1.5 + 2) / 5);
  CHECK(value("mape", scores, Loss::mse) == doctest::Approx((0.0 / 12 + 1.0 / 1 + 2 / 0.5) / 3));
  const double first = 12.0 * 12 / 2, second = 1 + 0 + 0.25 - 1.5 * 1.5 / 3;
  CHECK(value("r2", scores, Loss::mse) == doctest::Approx(1 - (256 + 1 + 2.25 + 4) / (first + second)));
  CHECK(scores.loss() == (0 + 4 + 64 + 9 + 16) / 5.0);
}

TEST_CASE("smape has its closed form, and is 0 where target and prediction are") {
  Scores scores = scores_by(Loss::mse, {.mean = {10}, .scale = {2}});
  scores.add(Tensor::from({3, 1}, {-3, 1, -5}, Dtype::f64),
             numbers(Tensor::from({3, 1}, {-6, 0, -5}, Dtype::f64), {1, 1, 1}));
  // targets -2, 10, 0; predictions 4, 12, 0
  CHECK(value("smape", scores, Loss::mse) == doctest::Approx((2 * 6.0 / 6 + 2 * 2.0 / 22 + 0) / 3));
}

TEST_CASE("a distribution is scored in the units of the data") {
  const std::vector<std::string> names = {"nll", "crps", "pinball", "coverage", "rmse"};
  Scores scores({Loss::gaussian, {.levels = {0.25, 0.75}}}, names, {.mean = {10}, .scale = {4}});
  scores.add(Tensor::from({2, 2}, {0.5, 0.25, -1, 0.5}, Dtype::f64),
             numbers(Tensor::from({2, 1}, {0.625, 1}, Dtype::f64), {1, 1}));
  // means 12 and 6, scales 1 and 2, targets 12.5 and 14: z is 0.5 and 4
  const double half = std::log(2 * std::acos(-1.0)) / 2, quarter = 0.6744897501960817;
  CHECK(scores.values()[0] == doctest::Approx((0.125 + half + std::log(2) + 8 + half) / 2).epsilon(1e-12));
  CHECK(scores.loss() == doctest::Approx(scores.values()[0] - std::log(4)).epsilon(1e-12));
  const auto crps = [](double z) {  // Gneiting and Raftery 2007, equation 21
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0));
    return z * std::erf(z / std::sqrt(2)) + 2 * density - 1 / std::sqrt(std::acos(-1.0));
  };
  CHECK(scores.values()[1] == doctest::Approx((crps(0.5) + 2 * crps(4)) / 2).epsilon(1e-12));
  const double first = 0.25 * (0.5 + quarter) + 0.25 * (quarter - 0.5);
  const double second = 2 * (0.25 * (4 + quarter) + 0.75 * (4 - quarter));
  CHECK(scores.values()[2] == doctest::Approx((first + second) / 4).epsilon(1e-12));
  CHECK(scores.values()[3] == 0.5);
  CHECK(scores.values()[4] == doctest::Approx(std::sqrt((0.25 + 64) / 2)));
}

TEST_CASE("mase and rmsse divide by the naive errors of the sequence's series and the target's column") {
  const double none = std::nan("");
  const Scaling scaling = {.mean = {1, 1}, .scale = {2, 10}};
  const Batch batch = numbers(Tensor::from({2, 2}, {0, 0, none, 0}, Dtype::f64), {1, 1});
  const Tensor outputs = Tensor::from({2, 2}, {3, -1, 5, 0.5}, Dtype::f64);  // errors 6, -10, none, 5
  Scores scores = scores_by(Loss::mse, scaling);
  scores.add(outputs, batch);
  CHECK(value("mase", scores, Loss::mse) == doctest::Approx((6.0 / 2 + 10.0 / 4 + 5 / 0.5) / 3));
  CHECK(value("rmsse", scores, Loss::mse) ==
        doctest::Approx(std::sqrt((36.0 / 16 + 100.0 / 64 + 25 / 0.25) / 3)));
  const std::vector<std::string> names = {"mase", "rmsse"};
  Scores unknown(Loss::mse, names, scaling);
  unknown.add(outputs, batch);
  CHECK(std::isnan(unknown.values()[0]));
  CHECK(std::isnan(unknown.values()[1]));
}

TEST_CASE("f1 is the mean over the classes that occur, or that of class 1 for one logit") {
  Scores scores = scores_by(Loss::cross_entropy);
  const Tensor logits =
      Tensor::from({5, 4}, {9, 0, 0, 0, 9, 0, 0, 0, 0, 9, 0, 0, 0, 0, 9, 0, 0, 9, 0, 0}, Dtype::f64);
  scores.add(logits, of_classes({0, 1, 1, 2, -1}, {1, 1, 1, 1, 1}));
  // predicted 0 0 1 2: class 0 has precision 1/2 and recall 1, class 1 precision 1 and recall 1/2, class 2 is right.
  CHECK(value("f1", scores, Loss::cross_entropy) == doctest::Approx((2.0 / 3 + 2.0 / 3 + 1) / 3));
  CHECK(value("accuracy", scores, Loss::cross_entropy) == 0.75);
  Scores logit = scores_by(Loss::binary_cross_entropy);
  logit.add(Tensor::from({4, 1}, {1, 1, -1, -1}, Dtype::f64), of_classes({1, 0, 1, 0}, {1, 1, 1, 1}));
  CHECK(value("f1", logit, Loss::binary_cross_entropy) == 0.5);
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
  Scores scores = scores_by(Loss::binary_cross_entropy);
  scores.add(Tensor::from({7, 1}, logits, Dtype::f64), of_classes(classes, std::vector<std::int64_t>(7, 1)));
  CHECK(value("auc", scores, Loss::binary_cross_entropy) == doctest::Approx(won / pairs));
  CHECK(won / pairs != 0.5);
  Scores several = scores_by(Loss::cross_entropy);
  const Tensor rows =
      Tensor::from({3, 6}, {6, 5, 4, 3, 2, 1, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6}, Dtype::f64);
  several.add(rows, of_classes({0, 5, 5}, {1, 1, 1}));
  CHECK(value("top_5", several, Loss::cross_entropy) == doctest::Approx(2.0 / 3));
  // class 0 is ahead of one of two others and level with the other; of class 5 one is ahead of the other and one level.
  CHECK(value("auc", several, Loss::cross_entropy) == doctest::Approx((0.75 + 0.75) / 2));
}

TEST_CASE("every metric is the same when the sequences are scored apart and merged") {
  // Whole numbers and powers of two, so that no order of summation rounds.
  const Tensor numbers_out = Tensor::from({4, 2}, {1, 2, 3, 5, 7, 7, -1, 0}, Dtype::f64);
  const Tensor numbers_of = Tensor::from({4, 2}, {1, 4, -5, 2, 8, 3, 2, -4}, Dtype::f64);
  const Tensor logits = Tensor::from({4, 3}, {0, 0, 8, 0, 0, -8, 8, 0, 0, 0, 8, 0}, Dtype::f64);
  const Tensor levels = Tensor::from({4, 3}, {0, 1, 2, 0, 4, 8, 2, 3, 4, -8, 0, 8}, Dtype::f64);
  LossFunction quantile(Loss::quantile);
  quantile.options.levels = {0.25, 0.5, 0.75};
  struct Case {
    LossFunction loss;
    Tensor outputs;
    Batch batch;
  };
  const std::vector<std::int64_t> lengths(4, 1);
  const std::vector<Case> cases = {
      {Loss::mse, numbers_out, numbers(numbers_of, lengths)},
      {Loss::esr, numbers_out, numbers(numbers_of, lengths)},
      {Loss::gaussian, Tensor::from({4, 2}, {1, 2, 0, 4, 3, 1, -8, 8}, Dtype::f64),
       numbers(Tensor::from({4, 1}, {1, 9, 3, -4}, Dtype::f64), lengths)},
      {quantile, levels, numbers(Tensor::from({4, 1}, {1, 9, 3, -4}, Dtype::f64), lengths)},
      {Loss::cross_entropy, logits, of_classes({2, 0, 0, 2}, lengths)},
      {Loss::binary_cross_entropy, Tensor::from({4, 1}, {8, -8, 8, 8}, Dtype::f64),
       of_classes({1, 0, 0, 1}, lengths)}};
  for (const auto& [loss, outputs, batch] : cases) {
    CAPTURE(name_of(loss));
    const auto add_rows = [&](Scores& scores, std::int64_t first, std::int64_t end) {
      for (std::int64_t row = first; row < end; ++row) {
        const auto row_of = [&](const Tensor& all) {
          Tensor one({1, all.size(1)}, Dtype::f64);
          for (std::int64_t i = 0; i < one.numel(); ++i) one.set(i, all.at(row * one.numel() + i));
          return one;
        };
        scores.add(row_of(outputs), batch.y.empty()
                                        ? of_classes({batch.classes[static_cast<std::size_t>(row)]}, {1})
                                        : numbers(row_of(batch.y), {1}));
      }
    };
    Scores whole = scores_by(loss), first = scores_by(loss), rest = scores_by(loss);
    add_rows(whole, 0, 4);
    add_rows(first, 0, 1);
    add_rows(rest, 1, 4);
    const std::vector<double> alone = first.values();
    first.merge(rest);
    CHECK(first.loss() == doctest::Approx(whole.loss()).epsilon(1e-14));
    const std::vector<double> merged = first.values(), expected = whole.values();
    const std::vector<std::string> names = metric_names(loss);
    for (std::size_t i = 0; i < names.size(); ++i) {
      CAPTURE(names[i]);
      CHECK(merged[i] == doctest::Approx(expected[i]).epsilon(1e-14));
      CHECK((names[i] == "top_5" || merged[i] != alone[i]));  // else it would not show what merge forgets
    }
  }
}
