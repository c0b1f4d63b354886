#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/io/npy.h"
#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

/// A file of the rows "t, 10 t, -t" for t = 0 .. rows - 1.
std::string sample_csv(int rows, bool header = true) {
  std::string text = header ? "time,load,heat\n" : "";
  for (int t = 0; t < rows; ++t) text += text_of(t, ",", 10 * t, ",", -t, "\n");
  return text;
}

std::string series(const std::string& more, const std::string& path = "own.csv") {
  return text_of(R"({"task": "series", "path": ")", path, "\", ", more, "}");
}

/// A folder with own.csv of 100 rows.
struct Samples {
  Samples() { write_sample(folder.path() / "own.csv", sample_csv(100)); }
  Task task(const std::string& more, const std::string& path = "own.csv") const {
    return load(series(more, path), 0, folder.path());
  }
  std::string message(const std::string& more, const std::string& path = "own.csv") const {
    return input_error_of([&] { task(more, path); });
  }
  TemporaryFolder folder;
};

using Values = std::vector<double>;

}  // namespace

TEST_CASE("windows of a series with one target each, `horizon` steps after the last") {
  const Samples samples;
  const Task task = samples.task(R"("input": ["load", 0], "target": ["heat"], "window": 3, "horizon": 2)");
  CHECK(task.shape.input == 2);
  CHECK(task.shape.output == 1);
  CHECK(task.shape.length == 3);
  CHECK_FALSE(task.shape.every_step);
  const Batch batch = take(*task.train, 4, 1);
  CHECK(values_of(batch.x) == Values{40, 4, 50, 5, 60, 6});
  CHECK(values_of(batch.y) == Values{-8});
}

TEST_CASE("windows of a series with a target at every step") {
  const Samples samples;
  const Task task = samples.task(R"("input": ["time"], "window": 4, "every_step": true)");
  const Batch batch = take(*task.train, 1, 1);  // windows follow one another
  CHECK(values_of(batch.x) == Values{4, 5, 6, 7});
  CHECK(values_of(batch.y) == Values{5, 6, 7, 8});
  const Task dense = samples.task(R"("input": ["time"], "window": 4, "every_step": true, "stride": 1)");
  CHECK(values_of(take(*dense.train, 1, 1).x) == Values{1, 2, 3, 4});
}

TEST_CASE("a target at every step follows the read-out unless said otherwise") {
  const auto filled = [](bool every_step) {
    TaskHints hints;
    hints.every_step = every_step;
    return task_from(series(R"("window": 7)"), hints).filled;
  };
  CHECK(filled(true)["every_step"] == true);
  CHECK(filled(true)["stride"] == "auto");
}

TEST_CASE("rows train first, then validate, then test, and no window reaches over a cut") {
  const Samples samples;
  const Task task = samples.task(
      R"("input": ["time"], "window": 5, "horizon": 2, "train": 0.5, "valid": 0.3, "test": 0.2)");
  struct Bounds {
    const Dataset* split;
    double first, last;
  };
  for (const Bounds& bounds :
       {Bounds{task.train.get(), 0, 49}, Bounds{task.valid.get(), 50, 79}, Bounds{task.test.get(), 80, 99}}) {
    CHECK(bounds.split->size() == bounds.last - bounds.first + 1 - 6);
    CHECK(take(*bounds.split, 0, 1).x.at(0) == bounds.first);
    CHECK(take(*bounds.split, bounds.split->size() - 1, 1).y.at(0) == bounds.last);
  }
}

TEST_CASE("a recording to be scored is not cut, and may be as short as one window") {
  const Samples samples;
  const std::string options = R"("input": ["time"], "window": 5, "horizon": 2)";
  const Task all = load_to_score(series(options), samples.folder.path());
  REQUIRE(all.test->size() == 94);
  CHECK(take(*all.test, 0, 1).x.at(0) == 0);
  CHECK(take(*all.test, 93, 1).y.at(0) == 99);
  CHECK(all.normalization.input.mean.empty());
  write_sample(samples.folder.path() / "short.csv", sample_csv(7));
  CHECK(load_to_score(series(options, "short.csv"), samples.folder.path()).test->size() == 1);
  CHECK(has(samples.message(options, "short.csv"), "too short for train"));
  write_sample(samples.folder.path() / "shorter.csv", sample_csv(6));
  CHECK(has(input_error_of([&] { load_to_score(series(options, "shorter.csv"), samples.folder.path()); }),
            "too short for a window"));
}

TEST_CASE("inputs are scaled by the training rows alone") {
  const Samples samples;
  const std::string options =
      R"("input": ["time", "load"], "window": 2, "train": 0.4, "valid": 0.3, "test": 0.3)";
  const Task task = samples.task(options);
  REQUIRE(task.normalization.input.mean.size() == 2);
  CHECK(std::abs(task.normalization.input.mean[0] - 19.5) < 1e-12);
  CHECK(std::abs(task.normalization.input.mean[1] - 195) < 1e-11);
  const double deviation = std::sqrt((40.0 * 40.0 - 1) / 12);
  CHECK(std::abs(task.normalization.input.scale[0] - deviation) < 1e-12);
  CHECK(std::abs(task.normalization.input.scale[1] - 10 * deviation) < 1e-11);
  CHECK(samples.task(options + R"(, "normalize": false)").normalization.input.mean.empty());
}

TEST_CASE("targets are scaled by the training rows alone, unless they are 0 and 1") {
  const Samples samples;
  const std::string options =
      R"("input": ["time"], "target": ["heat", "load"], "window": 2, "train": 0.4, "valid": 0.3, "test": 0.3)";
  const Scaling scaling = samples.task(options).normalization.output;
  REQUIRE(scaling.mean.size() == 2);
  const double deviation = std::sqrt((40.0 * 40.0 - 1) / 12);
  CHECK(std::abs(scaling.mean[0] + 19.5) < 1e-12);
  CHECK(std::abs(scaling.mean[1] - 195) < 1e-11);
  CHECK(std::abs(scaling.scale[0] - deviation) < 1e-12);
  CHECK(std::abs(scaling.scale[1] - 10 * deviation) < 1e-11);
  CHECK(samples.task(options + R"(, "normalize_target": false)").normalization.output.mean.empty());

  TaskHints classes;
  classes.real_loss = false;
  CHECK(task_from(series(R"("window": 7)"), classes).filled["normalize_target"] == false);
  CHECK(has(input_error_of([&] { task_from(series(R"("window": 7, "normalize_target": true)"), classes); }),
            "/data/normalize_target: needs the loss mse. Expected false with a loss for classes."));
}

TEST_CASE("a column that never changes is shifted and not scaled") {
  TemporaryFolder folder;
  std::string text;
  for (int t = 0; t < 20; ++t) text += "3.7,1e9\n";
  write_sample(folder.path() / "own.csv", text);
  const Task task = load(series(R"("window": 1)"), 0, folder.path());
  CHECK(task.normalization.input.mean == Values{3.7, 1e9});
  CHECK(task.normalization.input.scale == Values{1, 1});
}

TEST_CASE("NPY and NPZ files hold one series or several") {
  const Samples samples;
  Tensor values({10, 6, 2}, Dtype::f32);
  for (std::int64_t i = 0; i < values.numel(); ++i) values.set(i, static_cast<double>(i));
  write_npy(samples.folder.path() / "several.npy", values);
  const std::string shares = R"("window": 4, "train": 0.6, "valid": 0.2, "test": 0.2)";
  CHECK(has(samples.message(shares, "several.npy"), "\"split\": \"series\" keeps whole series apart"));
  const Task task = samples.task(shares + R"(, "split": "series")", "several.npy");
  CHECK(task.train->size() == 6 * 2);  // 2 windows of 4 + 1 in 6 rows
  CHECK(task.valid->size() == 2 * 2);
  CHECK(values_of(take(*task.test, 1, 1).x) == Values{98, 99, 100, 101, 102, 103, 104, 105});
  CHECK(values_of(take(*task.test, 1, 1).y) == Values{106, 107});

  write_npy(samples.folder.path() / "one.npy", Tensor::from({6}, {0, 1, 2, 3, 4, 5}, Dtype::f64));
  const Task one = samples.task(R"("window": 2, "train": 1, "valid": 0, "test": 0)", "one.npy");
  CHECK(values_of(take(*one.train, 3, 1).y) == Values{5});

  const std::string npy = serialize_npy(Tensor::from({6}, {9, 8, 7, 6, 5, 4}, Dtype::f64));
  write_sample(samples.folder.path() / "own.npz", zip({{"a.npy", npy}, {"b.npy", npy}}));
  const char* sizes = R"("window": 2, "train": 1, "valid": 0, "test": 0)";
  CHECK(has(samples.message(sizes, "own.npz"), "several arrays. Choose one with data.array: a, b"));
  CHECK(has(samples.message(text_of(sizes, R"(, "array": "c")"), "own.npz"), "unknown array 'c'"));
  CHECK(values_of(take(*samples.task(text_of(sizes, R"(, "array": "b")"), "own.npz").train, 0, 1).x) ==
        Values{9, 8});
}

TEST_CASE("the options of series are checked") {
  const Samples samples;
  CHECK(has(samples.message(R"("input": ["laod"], "window": 3)"), "'load'"));
  CHECK(has(samples.message(R"("input": [3], "window": 3)"), "columns are 0..2. Got 3"));
  CHECK(samples.message(R"("input": [], "target": "load", "window": 3)").empty());
  CHECK(has(samples.message(R"("input": ["load", "load"], "window": 3)"), "twice"));
  CHECK(has(samples.message(R"("target": true, "window": 3)"), "/data/target: expected a column or a list"));
  CHECK(samples.message(R"("input": "time", "target": "load", "window": 3)").empty());
  CHECK(has(samples.message(R"("horizon": 1)"), "/data/window"));
  CHECK(has(samples.message(R"("window": 3, "train": 0.9)"), "more than 1"));
  CHECK(has(samples.message(R"("window": 15)"),
            "too short for valid: its share is 1 series of 15 rows, expected at least 1 of 16"));
  CHECK(samples.message(R"("window": 14)").empty());
}

TEST_CASE("files of a series that are missing, foreign or not finite are told") {
  const Samples samples;
  CHECK(has(samples.message(R"("window": 3)", "nowhere.csv"), "nowhere.csv"));
  CHECK(has(samples.message(R"("window": 3)", "own.dat"), ".csv, .npy or .npz"));
  write_sample(samples.folder.path() / "bare.csv", sample_csv(100, false));
  CHECK(has(samples.message(R"("input": ["load"], "window": 3)", "bare.csv"), "its columns have no names"));
  write_sample(samples.folder.path() / "broken.csv", sample_csv(10) + "10,x,3\n");
  CHECK(has(samples.message(R"("window": 3)", "broken.csv"), "line 12, column 2"));
  Tensor values({8, 2}, Dtype::f64);
  values.set(7, std::nan(""));
  write_npy(samples.folder.path() / "nan.npy", values);
  CHECK(has(samples.message(R"("window": 1)", "nan.npy"), "row 3, column 1"));
  write_npy(samples.folder.path() / "deep.npy", Tensor({2, 2, 2, 2}, Dtype::f64));
  CHECK(has(samples.message(R"("window": 1)", "deep.npy"), "got [2, 2, 2, 2]"));
}
