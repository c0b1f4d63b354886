#include "lagtape/data/series/naive_errors.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tests/data/support/own_recording.h"

using namespace lagtape;

namespace {

Column column_of(std::vector<double> values) {
  const std::int64_t rows = std::ssize(values);
  return {.name = "y", .values = Tensor::from({rows}, values, Dtype::f64)};
}

}  // namespace

TEST_CASE("naive errors are those of the value a season before in the same part, where both were measured") {
  Column column = column_of({1, 4, 2, 8, 5, 7, 100, 101});
  const std::vector<RowRange> parts = {{0, 6}, {6, 2}};
  CHECK(naive_errors(column, parts, 1).absolute == (3 + 2 + 6 + 3 + 2 + 1) / 6.0);
  CHECK(naive_errors(column, parts, 1).squared == (9 + 4 + 36 + 9 + 4 + 1) / 6.0);
  CHECK(naive_errors(column, parts, 2).absolute == (1 + 4 + 3 + 1) / 4.0);
  column.filled = {false, false, true, false, false, false, false, false};
  CHECK(naive_errors(column, parts, 1).absolute == (3 + 3 + 2 + 1) / 4.0);
  CHECK(std::isnan(naive_errors(column, parts, 6).absolute));
  CHECK(std::isnan(naive_errors(column, parts, 6).squared));
}

TEST_CASE("each window has the naive errors of the training rows of its series, by the season of its times") {
  const TemporaryFolder folder;
  for (const int level : {1, 10}) {
    std::string rows = "time,a,b\n";
    for (int day = 1; day <= 28; ++day)
      rows +=
          text_of("2024-02-", day < 10 ? "0" : "", day, ",", level * day, ",", day % 7 == 0 ? 3 : 0, "\n");
    write_sample(folder.path() / text_of(level, ".csv"), rows);
  }
  const Task task =
      load(R"({"task": "series", "path": ["1.csv", "10.csv"], "time": "time", "target": ["a", "b"],
                             "split": "time", "window": 3, "train": 0.5, "valid": 0.25, "test": 0.25})",
           0, folder.path());
  for (const auto& set : {task.train, task.test}) {
    const auto first = set->naive_errors(0), last = set->naive_errors(set->size() - 1);
    REQUIRE(first.size() == 2);
    REQUIRE(last.size() == 2);
    CHECK(first[0].absolute == 7);  // a week of days
    CHECK(first[0].squared == 49);
    CHECK(first[1].absolute == 0);
    CHECK(last[0].absolute == 70);
  }
}
