#include "lagtape/core/normalization.h"

#include <doctest/doctest.h>

#include <memory>

#include "lagtape/core/error.h"
#include "lagtape/tests/tools/train/training.h"
#include "lagtape/tools/train/streaming.h"

using namespace lagtape;

namespace {

/// The targets of a set, times four.
class Fourfold : public Dataset {
 public:
  explicit Fourfold(std::shared_ptr<const Dataset> whole)
      : Dataset(whole->shape()), whole_(std::move(whole)) {}
  std::int64_t size() const override { return whole_->size(); }
  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    whole_->read(index, batch, row);
    const std::int64_t count = batch.y.numel() / batch.size();
    for (std::int64_t i = row * count; i < (row + 1) * count; ++i) batch.y.set(i, 4 * batch.y.at(i));
  }

 private:
  std::shared_ptr<const Dataset> whole_;
};

}  // namespace

TEST_CASE("a stream in the user's numbers gives the bits of predict") {
  Run run(kSmallSeries);
  run.model.normalization() = {.input = {.mean = {0.9}, .scale = {0.3}},
                               .output = {.mean = {0.1}, .scale = {2}}};
  Tensor x({3, 25, 1}, Dtype::f64);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set(i, 0.5 + 0.01 * static_cast<double>(i * i % 97));
  const Tensor whole = run.model.predict(x), streamed = predict_by_stream(run.model, x);
  REQUIRE(whole.shape() == Shape{3, 25, 1});
  CHECK(same_bits(whole, streamed));
  CHECK(whole.at(0) != whole.at(24));
  CHECK_THROWS_WITH_AS(run.model.predict(Tensor({5, 2}, Dtype::f32)),
                       "[predict] x is [T, 1] or [B, T, 1]. Got [5, 2].", InputError);
}

TEST_CASE("scaled targets train as targets of that scale do, and metrics keep the data's units") {
  Run plain(kSmallSeries), scaled(kSmallSeries);
  scaled.task.train = std::make_shared<Fourfold>(scaled.task.train);
  scaled.task.valid = std::make_shared<Fourfold>(scaled.task.valid);
  scaled.task.normalization.output = {.mean = {0}, .scale = {4}};
  Trainer trainer(scaled.experiment, scaled.task, scaled.model, scaled.pool);
  std::vector<EvaluationReport> reports;
  trainer.run({.evaluated = [&](const EvaluationReport& report) { reports.push_back(report); }});
  const std::vector<EvaluationReport> expected = plain.train();
  CHECK(same_bits(plain.model.parameters(), scaled.model.parameters()));
  REQUIRE(reports.size() == expected.size());
  for (std::size_t i = 0; i < reports.size(); ++i) {
    CHECK(reports[i].train_loss == expected[i].train_loss);
    CHECK(value_of(reports[i].valid, "loss") == value_of(expected[i].valid, "loss"));
    CHECK(value_of(reports[i].valid, "rmse") == 4 * value_of(expected[i].valid, "rmse"));
  }
  Tensor x({25, 1}, Dtype::f32);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set(i, 0.9 + 0.01 * static_cast<double>(i));
  const Tensor own = scaled.model.predict(x), unscaled = plain.model.predict(x);
  for (std::int64_t i = 0; i < own.numel(); ++i) CHECK(own.at(i) == 4 * unscaled.at(i));
}
