#include "lagtape/tools/forecast/predicted_targets.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace lagtape {
namespace {

Tensor numbers(Shape shape, std::vector<double> values) {
  return Tensor::from(std::move(shape), std::move(values), Dtype::f64);
}

std::vector<double> list(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor.at(i));
  return values;
}

TEST_CASE("outputs of several models are their mean between the smallest and the largest") {
  PredictedTargets predicted{.targets = {"a", "b"}};
  const Tensor outputs[] = {numbers({1, 2}, {1, 8}), numbers({1, 2}, {3, 2}), numbers({1, 2}, {8, 2})};
  put_outputs(predicted, outputs, Loss::mse);
  CHECK(list(predicted.prediction) == std::vector<double>{4, 4});
  CHECK(list(predicted.low) == std::vector<double>{1, 2});
  CHECK(list(predicted.high) == std::vector<double>{8, 8});
  CHECK(list(outputs[0]) == std::vector<double>{1, 8});
}

TEST_CASE("quantiles are the mean of the models' and do not cross") {
  PredictedTargets predicted{.targets = {"a", "b"}};
  const LossFunction loss{Loss::quantile, {.levels = {0.1, 0.6, 0.9}}};
  const Tensor outputs[] = {numbers({1, 6}, {1, 2, 3, 9, 5, 7}), numbers({1, 6}, {3, 2, 7, 9, 5, 7})};
  put_outputs(predicted, outputs, loss);
  REQUIRE(predicted.quantiles.size() == 3);
  CHECK(list(predicted.quantiles[0]) == std::vector<double>{2, 5});
  CHECK(list(predicted.quantiles[1]) == std::vector<double>{2, 7});
  CHECK(list(predicted.quantiles[2]) == std::vector<double>{5, 9});
  CHECK(list(predicted.prediction) == std::vector<double>{2, 7});
  CHECK(predicted.low.empty());
}

TEST_CASE("quantiles of paths are those of all paths of all models") {
  PredictedTargets predicted{.targets = {"a"}};
  const LossFunction loss{Loss::quantile, {.levels = {0.25, 0.5, 0.75}}};
  const Tensor drawn[] = {numbers({2, 2, 1}, {4, 10, 1, 10}), numbers({2, 2, 1}, {2, 10, 3, 20})};
  put_paths(predicted, drawn, loss);
  CHECK(predicted.quantiles[0].at(0) == 1.5);
  CHECK(predicted.quantiles[1].at(0) == 2.5);
  CHECK(predicted.quantiles[2].at(0) == 3.5);
  CHECK(predicted.prediction.at(0) == 2.5);
  CHECK(predicted.quantiles[2].at(1) == 15);
}

TEST_CASE("a chart has a band for each interval of a target") {
  PredictedTargets predicted{.targets = {"a"}};
  const LossFunction loss{Loss::quantile, {.levels = {0.1, 0.25, 0.75, 0.9}}};
  const Tensor outputs = numbers({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  put_outputs(predicted, std::span(&outputs, 1), loss);
  Plot plot;
  add_prediction(plot, predicted, 0, std::vector<double>{1, 2});
  REQUIRE(plot.bands.size() == 2);
  CHECK(plot.bands[0].name == "q0.1 to q0.9");
  CHECK(plot.bands[0].low == std::vector<double>{1, 5});
  CHECK(plot.bands[0].high == std::vector<double>{4, 8});
  CHECK(plot.bands[1].low == std::vector<double>{2, 6});
  CHECK(plot.bands[1].x == std::vector<double>{1, 2});
}

}  // namespace
}  // namespace lagtape
