#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/io/npy.h"
#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

using Values = std::vector<double>;

std::string npy(const Shape& shape, std::initializer_list<double> values, Dtype dtype = Dtype::f64) {
  return serialize_npy(Tensor::from(shape, values, dtype));
}

using Arrays = std::vector<std::pair<std::string, std::string>>;

Task load_arrays(const Arrays& arrays, const std::string& more = "") {
  TemporaryFolder folder;
  write_sample(folder.path() / "own.npz", zip(arrays));
  return load(text_of(R"({"task": "arrays", "path": "own.npz")", more, "}"), 0, folder.path());
}

std::string message(const Arrays& arrays, const std::string& more = "") {
  return input_error_of([&] { load_arrays(arrays, more); });
}

const std::pair<std::string, std::string> kX = {"train_x.npy", npy({2, 3, 1}, {1, 2, 3, 4, 5, 6})};

}  // namespace

TEST_CASE("sequences with one real target are taken as they are") {
  for (const std::string& y : {npy({2, 1}, {7, 8}), npy({2}, {7, 8})}) {
    const Task task = load_arrays({kX, {"train_y.npy", y}});
    CHECK(task.shape.output == 1);
    CHECK_FALSE(task.shape.every_step);
    const Batch batch = take(*task.train, 1, 1);
    CHECK(values_of(batch.x) == Values{4, 5, 6});
    CHECK(values_of(batch.y) == Values{8});
    CHECK(task.valid->size() == 0);
  }
}

TEST_CASE("sequences of unequal length with targets at every step") {
  const Task task = load_arrays({kX,
                                 {"train_y.npy", npy({2, 3, 2}, {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6})},
                                 {"train_lengths.npy", npy({2}, {3, 2})}});
  CHECK(task.shape.every_step);
  CHECK(take(*task.train, 0, 2).lengths == std::vector<std::int64_t>{3, 2});
  CHECK(values_of(take(*task.train, 1, 1).x) == Values{4, 5});
  CHECK(values_of(take(*task.train, 1, 1).y) == Values{4, 4, 5, 5});
}

TEST_CASE("classes once a sequence or at every step") {
  const Task once = load_arrays({kX, {"train_y.npy", npy({2}, {2, 0})}}, R"(, "classes": 3)");
  CHECK(take(*once.train, 0, 2).classes == std::vector<std::int32_t>{2, 0});
  const Task column = load_arrays({kX, {"train_y.npy", npy({2, 1}, {2, 0})}}, R"(, "classes": 3)");
  CHECK_FALSE(column.shape.every_step);
  CHECK(take(*column.train, 0, 2).classes == std::vector<std::int32_t>{2, 0});
  CHECK(has(message({kX,
                     {"train_y.npy", npy({2, 3}, {0, 1, 2, 1, 1, 1})},
                     {"test_x.npy", kX.second},
                     {"test_y.npy", npy({2, 1}, {2, 0})}},
                    R"(, "classes": 3)"),
            "test_y: expected [2, 3]. Got [2, 1]"));
  const Task steps = load_arrays(
      {kX, {"train_y.npy", npy({2, 3}, {0, 1, 2, 1, -1, -1})}, {"train_lengths.npy", npy({2}, {3, 1})}},
      R"(, "classes": 3)");
  CHECK(take(*steps.train, 0, 2).classes == std::vector<std::int32_t>{0, 1, 2, 1, -1, -1});
}

TEST_CASE("arrays of tokens") {
  const std::pair<std::string, std::string> y = {"train_y.npy", npy({2}, {0, 1})};
  const Task task = load_arrays({kX, y}, R"(, "classes": 2, "tokens": 7)");
  CHECK(task.shape.tokens == 7);
  CHECK(values_of(take(*task.train, 1, 1).x) == Values{4, 5, 6});
  CHECK(message({kX, y, {"train_lengths.npy", npy({2}, {3, 2})}}, R"(, "classes": 2, "tokens": 6)").empty());
  CHECK(has(message({kX, y}, R"(, "classes": 2, "tokens": 6)"),
            "train_x: expected tokens 0..5. Got 6 in sequence 1, step 2"));
  CHECK(has(message({{"train_x.npy", npy({2, 1, 1}, {1, 0.5})}, y}, R"(, "tokens": 6)"), "Got 0.5"));
  CHECK(has(message({{"train_x.npy", npy({2, 1, 2}, {1, 0, 1, 1})}, y}, R"(, "tokens": 6)"),
            "train_x: expected [N, T, 1], one token per step. Got [2, 1, 2]"));
  CHECK(has(message({kX, y}, R"(, "tokens": 7, "normalize": true)"),
            "/data/normalize: applies to real inputs"));
}

TEST_CASE("inputs of arrays are scaled by the steps that sequences have") {
  const Task task =
      load_arrays({kX, {"train_y.npy", npy({2}, {0, 0})}, {"train_lengths.npy", npy({2}, {1, 1})}},
                  R"(, "normalize": true)");
  CHECK(task.normalization.input.mean == Values{2.5});
  CHECK(task.normalization.input.scale == Values{1.5});
}

TEST_CASE("targets of arrays are scaled by the steps that sequences have") {
  const std::string scaled = R"(, "normalize_target": true)";
  const Task steps = load_arrays(
      {kX, {"train_y.npy", npy({2, 3, 1}, {1, 3, 5, 7, 100, 100})}, {"train_lengths.npy", npy({2}, {3, 1})}},
      scaled);
  CHECK(steps.normalization.output.mean == Values{4});
  CHECK(steps.normalization.output.scale == Values{std::sqrt(5.0)});
  CHECK(steps.normalization.input.mean.empty());
  const Task once = load_arrays({kX, {"train_y.npy", npy({2, 2}, {1, 10, 3, 30})}}, scaled);
  CHECK(once.normalization.output.mean == Values{2, 20});
  CHECK(once.normalization.output.scale == Values{1, 10});
  CHECK(has(message({kX, {"train_y.npy", npy({2, 1}, {1, NAN})}}, scaled),
            "own.npz: train_y: numbers must be finite. Got nan in sequence 1, step 0, number 0."));
  CHECK(has(message({kX, {"train_y.npy", npy({2}, {0, 1})}}, R"(, "classes": 2, "normalize_target": true)"),
            "/data/normalize_target: applies to real targets. Expected false with 2 classes."));
}

TEST_CASE("arrays to be scored need no training sequences") {
  const Arrays arrays = {{"test_x.npy", kX.second}, {"test_y.npy", npy({2}, {7, 8})}};
  TemporaryFolder folder;
  write_sample(folder.path() / "new.npz", zip(arrays));
  const Task all =
      load_to_score(R"({"task": "arrays", "path": "new.npz", "normalize": true})", folder.path());
  REQUIRE(all.test->size() == 2);
  CHECK(values_of(take(*all.test, 1, 1).x) == Values{4, 5, 6});
  CHECK(has(message(arrays), "contains no train_x"));
}

TEST_CASE("arrays that do not belong together are refused by name") {
  const std::pair<std::string, std::string> y = {"train_y.npy", npy({2}, {0, 1})};
  CHECK(message({kX, y}).empty());
  CHECK(has(message({kX}), "train_y: is missing"));
  CHECK(has(message({y}), "train_x: is missing"));
  CHECK(has(message({{"x.npy", kX.second}, y}), "train_x: is missing"));
  CHECK(has(message({kX, y, {"other.npy", kX.second}}), "other: is unknown. Expected SPLIT_x"));
  CHECK(has(message({kX, {"train_y.npy", npy({3}, {0, 1, 2})}}), "train_y: expected [2, 1]. Got [3]"));
  CHECK(has(message({{"train_x.npy", y.second}, y}), "train_x: expected [N, T, input]. Got [2]"));
  CHECK(has(message({kX, y, {"valid_x.npy", npy({1, 1, 2}, {0, 1})}, {"valid_y.npy", npy({1}, {0})}}),
            "valid_x: expected 1 inputs as in training. Got 2"));
  CHECK(
      has(message({kX, y, {"train_lengths.npy", npy({2}, {3, 4})}}), "expected 1..3. Got 4 for sequence 1"));
  CHECK(has(message({kX, y}, R"(, "classes": 2)"), ""));
  CHECK(has(message({kX, {"train_y.npy", npy({2}, {0, 2})}}, R"(, "classes": 2)"),
            "expected classes 0..1. Got 2"));
  CHECK(
      has(message({kX, {"train_y.npy", npy({2}, {0, 0.5})}}, R"(, "classes": 2)"), "Got 0.5 in sequence 1"));
  CHECK(has(message({{"train_x.npy", "\x93NUMPY no"}, y}), "own.npz: train_x.npy"));
}
