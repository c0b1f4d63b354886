#include "lagtape/data/series/series_scaling.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/json/normalization_json.h"
#include "lagtape/data/series/windows.h"
#include "lagtape/tests/data/support/own_recording.h"

using namespace lagtape;

namespace {

/// Two series of 20 rows, n and 1000 + 10 n, with a static column.
Own two_series() {
  std::string text = "id,v,size\n";
  for (int n = 0; n < 20; ++n) text += text_of("a,", n, ",1\nb,", 1000 + 10 * n, ",2\n");
  return Own(text);
}

Task task_of(const Own& own, const std::string& more, const SeriesNormalizations* known = nullptr) {
  const auto loader = task_from(
      text_of(R"({"task": "series", "path": "own.csv", "series": "id", "target": "v", "static": "size", )",
              R"("window": 2, "train": 0.5, "valid": 0, "test": 0.5, "every_step": true)", more, "}"),
      {.real_loss = true});
  ThreadPool pool(1);
  return loader.loader.load({.base = own.folder.path(), .seed = 0, .pool = pool, .known = known});
}

Batch scaled(const Task& task, const Dataset& set, std::int64_t index) {
  ThreadPool pool(1);
  return gather(set, {&index, 1}, Dtype::f64, pool, task.normalization);
}

}  // namespace

TEST_CASE("each series is scaled by its training rows, and static columns by those of all") {
  const Own own = two_series();
  const Task task = task_of(own, "");
  REQUIRE(task.series.size() == 2);
  const double deviation = std::sqrt((100.0 - 1) / 12);
  const Normalization &a = task.series.at("a"), &b = task.series.at("b");
  CHECK(std::abs(a.output.mean[0] - 4.5) < 1e-3 * deviation);
  CHECK(std::abs(a.output.scale[0] - deviation) < 1e-3 * deviation);
  CHECK(std::abs(b.output.mean[0] - 1045) < 1e-2 * deviation);
  CHECK(std::abs(b.output.scale[0] - 10 * deviation) < 1e-2 * deviation);
  CHECK(a.input.mean[1] == task.normalization.input.mean[1]);
  CHECK(b.input.scale[1] == task.normalization.input.scale[1]);
  // The numbers of a batch are those of the own series: the first of both series are alike.
  const std::int64_t windows = task.train->size() / 2;
  const Batch first = scaled(task, *task.train, 0), second = scaled(task, *task.train, windows);
  CHECK(std::abs(first.x.at(0) - (0 - a.input.mean[0]) / a.input.scale[0]) < 1e-12);
  CHECK(std::abs(second.x.at(0) - (1000 - b.input.mean[0]) / b.input.scale[0]) < 1e-12);
  CHECK(std::abs(first.x.at(0) - second.x.at(0)) < 2e-3);
  CHECK(first.normalization(0, {}) == a);
  CHECK(second.normalization(0, {}) == b);
  CHECK(task.found == std::vector<std::pair<std::string, std::string>>{{"normalize", "series"},
                                                                       {"normalize_target", "series"}});
}

TEST_CASE("all series have one scaling where they are asked to, or kept apart") {
  const Own own = two_series();
  for (const char* more : {R"(, "normalize": "all", "normalize_target": "all")", R"(, "split": "series")"}) {
    const Task task = task_of(own, more);
    CHECK(task.series.empty());
    CHECK(task.train->normalization(0) == nullptr);
  }
  const Task targets = task_of(own, R"(, "normalize": "all", "normalize_target": "series")");
  REQUIRE(targets.series.size() == 2);
  CHECK(targets.series.at("b").input == targets.normalization.input);
  CHECK(targets.series.at("b").output != targets.normalization.output);
}

TEST_CASE("a trained model scales the series that it knows, and others by their own rows before") {
  const Own own = two_series();
  SeriesNormalizations known = task_of(own, "").series;
  known.at("a").output.mean[0] = 77;
  known.erase("b");
  const Task task = task_of(own, "", &known);
  CHECK(task.test->normalization(0)->output.mean[0] == 77);
  CHECK(std::abs(task.test->normalization(task.test->size() - 1)->output.mean[0] - 1045) < 0.1);
  CHECK(task.series.empty());
  // Without training rows the first window scales a series, and is not scored.
  const Task apart = task_of(own, R"(, "split": "series", "normalize": "series")");
  const auto& test = dynamic_cast<const WindowDataset&>(*apart.test);
  CHECK(test.first_row(0) == 20 + 2);
  CHECK(std::abs(test.normalization(0)->input.mean[0] - 1005) < 0.1);
}

TEST_CASE("the series of a model are written and read as they are") {
  const Normalization all{{{1, 2, 3}, {4, 5, 6}}, {{1, 1}, {4, 4}}};
  SeriesNormalizations series = {{"a", all}, {"b \"quoted\"", all}};
  series.at("a").input.mean[0] = 0.125;
  series.at("a").output.mean[0] = series.at("a").output.mean[1] = 0.125;
  series.at("b \"quoted\"").input.scale[2] = 1e-9;
  const std::string text = json_of(series, all);
  CHECK(series_normalizations_from(text, all, "file") == series);
  CHECK(text.size() < 120);  // one pair of numbers stands for the three columns that are alike
  for (const char* wrong :
       {"{}", R"({"columns": [0], "series": {}})", R"({"columns": [0,0,0,0,-2], "series": {}})",
        R"({"columns": [0,0,0,0,0], "series": {"a": [1]}})"})
    CHECK_THROWS_AS(series_normalizations_from(wrong, all, "file"), InputError);
}

TEST_CASE("windows of validation and test of several series read the rows before them") {
  std::string text = "id,v\n";
  for (int n = 0; n < 20; ++n) text += text_of("a,", n, "\nb,", 100 + n, "\n");
  const Own own(text);
  const auto test_of = [&](const std::string& more) {
    return load(
               text_of(
                   R"({"task": "series", "path": "own.csv", "series": "id", "target": "v", "normalize": false, )",
                   R"("normalize_target": false, "train": 0.75, "valid": 0, "test": 0.25, "window": 8, )",
                   more, "}"),
               0, own.folder.path())
        .test;
  };
  const auto steps = test_of(R"("every_step": true)");
  REQUIRE(steps->size() == 2);  // 5 rows of each
  const Batch batch = take(*steps, 0, 1);
  CHECK(values_of(batch.x) == Values{11, 12, 13, 14, 15, 16, 17, 18});
  for (int n = 0; n < 3; ++n) CHECK(std::isnan(batch.y.at(n)));
  for (int n = 3; n < 8; ++n) CHECK(batch.y.at(n) == 12 + n);
  const auto once = test_of(R"("every_step": false)");
  REQUIRE(once->size() == 10);
  CHECK(values_of(take(*once, 0, 1).y) == Values{15});
  CHECK(values_of(take(*once, 9, 1).y) == Values{119});
}

TEST_CASE("with equal weights of series each has as many windows, which change from epoch to epoch") {
  std::string text = "id,v\n";
  for (int n = 0; n < 13; ++n) text += text_of("a,", n, "\n");
  for (int n = 0; n < 4; ++n) text += text_of("b,", 100 + n, "\n");
  const Own own(text);
  const Task task =
      own.task(R"("series": "id", "target": "v", "window": 1, "stride": 1, "weight": "series")");
  REQUIRE(task.train->size() == 2 * 8);  // 12 and 3 windows
  std::vector<int> counts(104);
  ThreadPool pool(1);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch)
    for (std::int64_t index = 0; index < 16; ++index) {
      const Batch batch = gather(*task.train, {&index, 1}, Dtype::f64, pool, {}, epoch);
      ++counts[static_cast<std::size_t>(batch.x.at(0))];
    }
  for (int n = 0; n < 12; ++n) CHECK(counts[static_cast<std::size_t>(n)] == 2);
  for (int n = 100; n < 103; ++n) CHECK(counts[static_cast<std::size_t>(n)] == 8);
}
