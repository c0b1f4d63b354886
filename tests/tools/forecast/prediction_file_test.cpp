#include "lagtape/tools/forecast/prediction_file.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/json/json.h"

namespace lagtape {
namespace {

Tensor numbers(Shape shape, std::vector<double> values, Dtype dtype = Dtype::f64) {
  return Tensor::from(std::move(shape), std::move(values), dtype);
}

PredictedTargets two_rows(Dtype dtype = Dtype::f64) {
  PredictedTargets predicted{.targets = {"load, MW", "heat"},
                             .leading = {{"step", std::vector<std::int64_t>{1, 2}}}};
  const Tensor outputs = numbers({2, 2}, {1.5, 2, 0.1, 4}, dtype);
  put_outputs(predicted, std::span(&outputs, 1), Loss::mse);
  predicted.truth = numbers({2, 2}, {0.25, std::nan(""), 1, 2});
  return predicted;
}

TEST_CASE("the table has a column for each part of each target, and nothing where there is no number") {
  PredictedTargets predicted = two_rows();
  CHECK(csv_of(predicted) ==
        "step,\"load, MW prediction\",\"load, MW truth\",heat prediction,heat truth\n"
        "1,1.5,0.25,2,\n"
        "2,0.1,1,4,2\n");
  predicted.labels = {"2024-01-01", "2024-01-02"};
  predicted.leading = {{"series", std::vector<std::string>{"a", "b, c"}}};
  CHECK(csv_of(predicted).starts_with("time,series,\"load"));
  CHECK(csv_of(predicted).find("\n2024-01-02,\"b, c\",0.1,") != std::string::npos);
}

TEST_CASE("JSON has a list for each column, and the digits of the table") {
  PredictedTargets predicted = two_rows(Dtype::f32);
  predicted.labels = {"2024-01-01", "2024-01-02"};
  CHECK(Json::parse(file_of(predicted, ".json")) == Json::parse(R"({
    "time": ["2024-01-01", "2024-01-02"], "step": [1, 2],
    "targets": {"load, MW": {"prediction": [1.5, 0.1], "truth": [0.25, 1]},
                "heat": {"prediction": [2, 4], "truth": [null, 2]}}})"));
}

}  // namespace
}  // namespace lagtape
