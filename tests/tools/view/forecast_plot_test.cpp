#include "lagtape/tools/view/forecast_plot.h"

#include <doctest/doctest.h>

#include <numeric>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

Batch batch_of(Tensor y, std::vector<std::int64_t> lengths, std::vector<std::int64_t> ids) {
  Batch batch;
  batch.y = std::move(y);
  batch.lengths = std::move(lengths);
  batch.ids = std::move(ids);
  return batch;
}

}  // namespace

TEST_CASE("a forecast is drawn over the truth, in the units of the data") {
  ForecastPlot forecast({.length = 3, .input = 1, .output = 2, .every_step = true},
                        {.mean = {10, 0}, .scale = {2, 1}});
  forecast.add(
      Tensor::from({2, 3, 2}, {1, 5, 2, 6, 9, 9, 8, 8, 8, 8, 8, 8}, Dtype::f64),
      batch_of(Tensor::from({2, 3, 2}, {3, 7, 4, 8, 9, 9, 8, 8, 8, 8, 8, 8}, Dtype::f64), {2, 3}, {4, 5}));
  const Plot plot = forecast.plot("title");
  REQUIRE(plot.lines.size() == 4);
  CHECK(plot.lines[0].name == "truth 0");
  CHECK(plot.lines[0].broad);
  CHECK(plot.lines[0].y == std::vector<double>{16, 18});  // the first sequence's own two steps
  CHECK(plot.lines[1].name == "prediction 0");
  CHECK_FALSE(plot.lines[1].broad);
  CHECK(plot.lines[1].y == std::vector<double>{12, 14});
  CHECK(plot.lines[2].y == std::vector<double>{7, 8});
  CHECK(plot.lines[0].color == plot.lines[1].color);
  CHECK(plot.lines[0].color != plot.lines[2].color);
  CHECK(plot.lines[3].y == std::vector<double>{5, 6});
  CHECK(plot.lines[3].x == std::vector<double>{0, 1});
}

TEST_CASE("a forecast takes some rows of a batch") {
  const Tensor y = Tensor::from({4, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8}, Dtype::f64);
  const Batch batch = batch_of(y, {2, 2, 2, 2}, {0, 1, 2, 3});
  ForecastPlot forecast({.length = 2, .input = 1, .output = 1, .every_step = true}, {});
  forecast.add(y, batch, 2, 2);
  forecast.add(y, batch, 2, 4);
  CHECK(forecast.plot("title").lines[0].y == std::vector<double>{5, 6});
  ForecastPlot of_ends({.length = 2, .input = 1, .output = 1}, {});
  const Tensor ends = Tensor::from({4, 1}, {1, 2, 3, 4}, Dtype::f64);
  of_ends.add(ends, batch_of(ends, {2, 2, 2, 2}, {0, 1, 2, 3}), 1, 3);
  CHECK(of_ends.plot("title").lines[0].y == std::vector<double>{2, 3});
}

TEST_CASE("a sequence that comes in stretches is one line, of its last steps") {
  ForecastPlot forecast({.length = 2000, .input = 1, .output = 1, .every_step = true}, {});
  for (std::int64_t first = 0; first < 2000; first += 500) {
    std::vector<double> values(500);
    std::iota(values.begin(), values.end(), static_cast<double>(first));
    const Tensor y = Tensor::from({1, 500, 1}, values, Dtype::f64);
    forecast.add(y, batch_of(y, {500}, {7}));
  }
  forecast.add(Tensor::from({1, 1, 1}, {-5}, Dtype::f64),
               batch_of(Tensor::from({1, 1, 1}, {-5}, Dtype::f64), {1}, {8}));
  const PlotLine line = forecast.plot("title").lines[0];
  CHECK(line.x.size() == ForecastPlot::kMost);
  CHECK(line.x.front() == 2000 - ForecastPlot::kMost);
  CHECK(line.y.back() == 1999);
  CHECK(line.y == line.x);
}

TEST_CASE("with a target a sequence a forecast has a point for each of the first sequences") {
  ForecastPlot forecast({.length = 9, .input = 1, .output = 1}, {});
  for (std::int64_t id = 0; id < 2 * ForecastPlot::kMost; id += 2) {
    const Tensor y = Tensor::from({2, 1}, {static_cast<double>(id), static_cast<double>(id + 1)}, Dtype::f32);
    forecast.add(y, batch_of(y, {9, 9}, {id, id + 1}));
  }
  const Plot plot = forecast.plot("title");
  CHECK(plot.lines[0].x.size() == ForecastPlot::kMost);
  CHECK(plot.lines[0].y.back() == ForecastPlot::kMost - 1);
  CHECK(plot.lines[1].y == plot.lines[0].y);
}

TEST_CASE("classes have no forecast to draw") {
  CHECK_THROWS_WITH_AS(ForecastPlot({.length = 1, .input = 1, .classes = 3}, {}),
                       doctest::Contains("got 3 classes"), InputError);
}

}  // namespace lagtape
