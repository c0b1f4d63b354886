#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

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

Task load_arrays(const Arrays& arrays, const std::string& more = "", const TaskHints& hints = {}) {
  TemporaryFolder folder;
  write_sample(folder.path() / "own.npz", zip(arrays));
  return load(text_of(R"({"task": "arrays", "path": "own.npz")", more, "}"), 0, folder.path(), hints);
}

const TaskHints kClasses = {.real_loss = false};

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
  CHECK(has(message({{"X.npy", kX.second}, {"x.npy", kX.second}, {"y.npy", y.second}}),
            "has 'X' and 'x', which mean the same"));
  CHECK(has(message({{"X.npy", kX.second}, {"y.npy", y.second}, kX, y}),
            "has 'X' and 'train_x', which both are inputs of the training"));
  CHECK(has(message({{"X.npy", kX.second}}), "own.npz: y: is missing"));
  CHECK(has(message({{"X.npy", kX.second}, {"y.npy", y.second}}),
            "2 sequences are too few: a share of 0.15 leaves none for valid"));
  CHECK(has(message({{"X.npy", kX.second}, {"y.npy", y.second}}, R"(, "valid": 0.5)"),
            "/data/test: the shares of train, valid and test add up to more than 1"));
  CHECK(has(message({kX, y}, R"(, "valid": -0.5)"), "/data/valid: expected a share of 0 to 1, or -1"));
  CHECK(has(message({kX, y}, R"(, "classes": [3])"), "/data/classes: expected at least two whole numbers"));
  CHECK(has(message({kX, y}, R"(, "classes": [1, 0.5])"),
            "/data/classes: expected at least two whole numbers"));
  CHECK(has(message({kX, y}, R"(, "classes": [1, 2])"), "train_y: expected one of the classes 1, 2. Got 0"));
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

namespace {

/// `count` sequences of `steps` steps of two inputs, whose number i has the inputs i and -i, and the class i % 3.
Arrays own(int count, int steps, const std::string& x = "X.npy", const std::string& y = "y.npy") {
  Tensor inputs({count, steps, 2}, Dtype::f32), targets({count}, Dtype::f64);
  for (int i = 0; i < count; ++i) {
    targets.set(i, i % 3);
    for (int n = 0; n < 2 * steps; ++n) inputs.set(2 * steps * i + n, n % 2 == 0 ? i : -i);
  }
  return {{x, serialize_npy(inputs)}, {y, serialize_npy(targets)}};
}

/// The class of each sequence of `own`, by its number.
std::map<int, int> classes_in(const Dataset& set) {
  const Batch batch = take(set, 0, set.size());
  std::map<int, int> found;
  for (std::int64_t i = 0; i < batch.size(); ++i)
    found[static_cast<int>(batch.x.at(i * batch.x.size(1) * 2))] = batch.classes[static_cast<std::size_t>(i)];
  return found;
}

std::string axes_of(const Tensor& x, const std::string& more = "", const Arrays& others = {}) {
  Tensor y({x.size(0)}, Dtype::f64);
  Arrays arrays = {{"X.npy", serialize_npy(x)}, {"y.npy", serialize_npy(y)}};
  arrays.insert(arrays.end(), others.begin(), others.end());
  const Task task = load_arrays(arrays, R"(, "train": 1, "valid": 0, "test": 0)" + more);
  return text_of(task.shape.length, " x ", task.shape.input);
}

}  // namespace

TEST_CASE("X and y alone are divided by the seed, with a like share of each class") {
  for (const auto& [x, y] : {std::pair("X.npy", "y.npy"), {"x.npy", "Y.npy"}, {"data.npy", "labels.npy"}}) {
    const Task task = load_arrays(own(60, 4, x, y), "", kClasses);
    CHECK(task.shape.classes == 3);
    CHECK(task.shape.class_names.empty());
    std::map<int, int> all;
    for (const auto& [set, size] : {std::pair(task.train, 42), {task.valid, 9}, {task.test, 9}}) {
      const std::map<int, int> classes = classes_in(*set);
      CHECK(std::ssize(classes) == size);
      for (int of = 0; of < 3; ++of)
        CHECK(3 * std::ranges::count_if(classes, [&](const auto& one) { return one.second == of; }) == size);
      for (const auto& [sequence, of] : classes) CHECK(of == sequence % 3);
      all.insert(classes.begin(), classes.end());
    }
    CHECK(all.size() == 60);
    CHECK(classes_in(*load_arrays(own(60, 4, x, y), R"(, "split_seed": 1)", kClasses).train) !=
          classes_in(*task.train));
  }
}

TEST_CASE("a training set of its own gives a validation set only where a share of it is asked for") {
  Arrays arrays = own(30, 4, "X_train.npy", "y_train.npy");
  for (auto& array : own(6, 4, "X_test.npy", "y_test.npy")) arrays.push_back(array);
  const Task whole = load_arrays(arrays, "", kClasses);
  CHECK(whole.train->size() == 30);
  CHECK(whole.valid->size() == 0);
  CHECK(whole.test->size() == 6);
  const Task divided = load_arrays(arrays, R"(, "valid": 0.2)", kClasses);
  CHECK(divided.train->size() == 24);
  CHECK(classes_in(*divided.valid).size() == 6);
  CHECK(divided.test->size() == 6);
  Arrays mixed = own(30, 4);
  for (auto& array : own(6, 4, "x_val.npy", "val_labels.npy")) mixed.push_back(array);
  const Task two = load_arrays(mixed, "", kClasses);
  CHECK(two.train->size() == 30);
  CHECK(two.valid->size() == 6);
}

TEST_CASE("one-hot targets and whole numbers are classes of a loss of classes") {
  const std::string all = R"(, "train": 1, "valid": 0, "test": 0)";
  const auto loaded = [&](const std::string& y, const std::string& more = "") {
    return load_arrays({{"X.npy", npy({3, 4, 1}, {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3})}, {"y.npy", y}},
                       all + more, kClasses);
  };
  using Classes = std::vector<std::int32_t>;
  const auto classes = [](const Task& task) { return take(*task.train, 0, 3).classes; };
  const std::string one_hot = npy({3, 2}, {0, 1, 1, 0, 0, 1});
  CHECK(classes(loaded(one_hot)) == Classes{1, 0, 1});
  CHECK(classes(loaded(one_hot, R"(, "classes": 2)")) == Classes{1, 0, 1});
  CHECK_THROWS_AS(loaded(one_hot, R"(, "classes": 3)"), InputError);
  const Task named = loaded(npy({3}, {1, -1, 1}));
  CHECK(classes(named) == Classes{1, 0, 1});
  CHECK(named.shape.class_names == std::vector<std::string>{"-1", "1"});
  CHECK(classes(loaded(npy({3, 1}, {1, 2, 1}), R"(, "classes": ["2", 1])")) == Classes{1, 0, 1});
  CHECK(loaded(npy({3}, {1, 0.5, 1})).shape.classes == 0);
  const Task steps =
      loaded(npy({3, 4, 2}, {1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0}));
  CHECK(steps.shape.every_step);
  CHECK(steps.shape.classes == 2);
}

TEST_CASE("the axes of inputs are found by a rule, and a key decides") {
  const auto of = [](std::int64_t a, std::int64_t b) {
    Tensor x({4, a, b}, Dtype::f64);
    for (std::int64_t i = 0; i < x.numel(); ++i) x.set(i, static_cast<double>(i));
    return x;
  };
  CHECK(axes_of(of(3, 500)) == "500 x 3");
  CHECK(axes_of(of(3, 500), R"(, "layout": "time_first")") == "3 x 500");
  CHECK(axes_of(of(500, 3)) == "500 x 3");
  CHECK(axes_of(of(500, 3), R"(, "layout": "channels_first")") == "3 x 500");
  CHECK(axes_of(of(20, 30)) == "20 x 30");
  CHECK(axes_of(of(20, 30), "", {{"lengths.npy", npy({4}, {25, 30, 1, 2})}}) == "30 x 20");
  CHECK(axes_of(of(7, 20), "", {{"lengths.npy", npy({4}, {7, 3, 1, 2})}}) == "20 x 7");
  Tensor two({4, 9}, Dtype::f64);
  CHECK(axes_of(two) == "9 x 1");
  // The numbers themselves: input i at step t of [N, input, T] is number i * T + t.
  const Task turned = load_arrays({{"X.npy", serialize_npy(of(2, 4))}, {"y.npy", npy({4}, {0, 1, 2, 3})}},
                                  R"(, "train": 1, "valid": 0, "test": 0)");
  CHECK(values_of(take(*turned.train, 1, 1).x) == Values{8, 12, 9, 13, 10, 14, 11, 15});
  CHECK(std::ranges::any_of(turned.notes, [](const std::string& note) {
    return has(note, "X [4, 2, 4] is read as 4 steps of 2 inputs: channels first");
  }));
  CHECK(turned.found == std::vector<std::pair<std::string, std::string>>{{"layout", "channels_first"}});
  // `lagtape data` writes [N, T, input], with a note where that is unlikely.
  const Task plain =
      load_arrays({{"train_x.npy", serialize_npy(of(3, 500))}, {"train_y.npy", npy({4}, {0, 1, 2, 3})}});
  CHECK(plain.shape.length == 3);
  CHECK(has(plain.notes.at(0), R"("layout": "channels_first")"));
}

TEST_CASE("arrays that no name explains are named, and all of X and y are scored as new data") {
  Arrays arrays = own(30, 4);
  arrays.emplace_back("subject.npy", npy({1}, {3}));
  CHECK(load_arrays(arrays, "", kClasses).notes ==
        std::vector<std::string>{"arrays that are not read: subject"});
  TemporaryFolder folder;
  write_sample(folder.path() / "new.npz", zip(arrays));
  const Task all = load_to_score(R"({"task": "arrays", "path": "new.npz", "classes": 3})", folder.path());
  CHECK(all.test->size() == 30);
  CHECK(all.train->size() == 0);
}
