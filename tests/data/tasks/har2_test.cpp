#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/data/table/number_table.h"
#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

namespace fs = std::filesystem;

const char* const kSignals[] = {"body_acc_x",  "body_acc_y",  "body_acc_z",  "body_gyro_x", "body_gyro_y",
                                "body_gyro_z", "total_acc_x", "total_acc_y", "total_acc_z"};
const std::string kRoot = "UCI HAR Dataset/";

/// The value of signal s in window w at step n.
int sample(int s, int w, int n) { return 1000 * w + 10 * n + s; }

using Files = std::vector<std::pair<std::string, std::string>>;

/// The given number of windows, with the labels 1 2 3 4 5 6 1 ...
Files sample_files(int train, int test) {
  Files files = {{kRoot + "README.txt", "no numbers"}};
  for (auto [part, count] : {std::pair{std::string("train"), train}, std::pair{std::string("test"), test}}) {
    std::string labels;
    for (int w = 0; w < count; ++w) labels += text_of(w % 6 + 1, "\n");
    files.emplace_back(kRoot + part + "/y_" + part + ".txt", labels);
    for (int s = 0; s < 9; ++s) {
      std::string text;
      for (int w = 0; w < count; ++w) {
        for (int n = 0; n < 128; ++n) text += text_of(n % 2 ? " " : "  ", sample(s, w, n), ".0e+000");
        text += "\n";
      }
      files.emplace_back(text_of(kRoot, part, "/Inertial Signals/", kSignals[s], "_", part, ".txt"), text);
    }
  }
  return files;
}

const std::string kOptions = R"({"task": "har2", "path": ".", "train": 8, "valid": 2, "test": 6})";

std::string message(const Files& files) {
  TemporaryFolder folder;
  write_samples(folder.path(), files);
  return input_error_of([&] { load(kOptions, 0, folder.path()); });
}

}  // namespace

TEST_CASE("windows of nine signals are read in their published order, in two groups") {
  TemporaryFolder folder;
  const Files files = sample_files(10, 6);
  write_samples(folder.path(), files);
  write_sample(folder.path() / "har.zip", zip(files));
  for (const char* path : {".", "UCI HAR Dataset", "har.zip"}) {
    const Task task =
        load(text_of(R"({"task": "har2", "path": ")", path, R"(", "train": 8, "valid": 2, "test": 6})"), 0,
             folder.path());
    const Batch batch = take(*task.test, 0, 6);
    REQUIRE(batch.x.shape() == Shape{6, 128, 9});
    CHECK(batch.classes == std::vector<std::int32_t>{0, 1, 0, 1, 0, 1});
    bool equal = true;
    for (int w = 0; w < 6; ++w) {
      for (int n = 0; n < 128; ++n) {
        for (int s = 0; s < 9; ++s) equal = equal && batch.x.at((w * 128 + n) * 9 + s) == sample(s, w, n);
      }
    }
    CHECK(equal);
    CHECK(task.train->size() == 8);
    CHECK(task.valid->size() == 2);
  }
}

TEST_CASE("signals are scaled by the training windows alone") {
  TemporaryFolder folder;
  write_samples(folder.path(), sample_files(10, 6));
  const Task task = load(kOptions, 0, folder.path());
  const Batch train = take(*task.train, 0, 8);
  REQUIRE(task.normalization.input.mean.size() == 9);
  for (std::int64_t s : {0, 8}) {
    double sum = 0, square = 0;
    for (std::int64_t i = s; i < train.x.numel(); i += 9) sum += train.x.at(i);
    const double mean = sum / (8 * 128);
    for (std::int64_t i = s; i < train.x.numel(); i += 9) square += std::pow(train.x.at(i) - mean, 2);
    CHECK(std::abs(task.normalization.input.mean[static_cast<std::size_t>(s)] / mean - 1) < 1e-12);
    CHECK(
        std::abs(task.normalization.input.scale[static_cast<std::size_t>(s)] / std::sqrt(square / (8 * 128)) -
                 1) < 1e-12);
  }
}

TEST_CASE("HAR files that are missing, damaged or do not belong together are told") {
  const Files sound = sample_files(10, 6);
  CHECK(message(sound).empty());
  auto changed = [&](std::size_t file, const std::string& text) {
    Files files = sound;
    files[file].second = text;
    return message(files);
  };
  CHECK(has(changed(1, "1\n7\n"), "train/y_train.txt: label 1 is 7, expected 1..6"));
  CHECK(has(changed(1, "1\n2\n"), "contains 10 windows, expected 2, one for each label"));
  CHECK(has(changed(1, "1\n2 2\n"), "y_train.txt: line 2: expected 1 numbers, got 2"));
  CHECK(has(changed(2, "1 2 3\n"), "body_acc_x_train.txt: line 1: expected 128 numbers, got 3"));
  CHECK(has(changed(2, "1 2 x\n"), "line 1: expected a finite number, got 'x'"));
  CHECK(has(message({sound.begin(), sound.end() - 1}),
            "test/Inertial Signals/total_acc_z_test.txt: no such file"));
  CHECK(has(message(sample_files(9, 6)), "contains 9 windows for train and valid, expected at least 10"));
  Files twice = sound;
  twice.emplace_back("copy/train/y_train.txt", "1\n");
  CHECK(has(message(twice), "occurs twice"));
}

TEST_CASE("a table of numbers") {
  CHECK(parse_number_table("  1 -2.5e-001\r\n\n3\t4", 2, "t") == std::vector<float>{1, -0.25f, 3, 4});
  CHECK(has(input_error_of([] { parse_number_table("\n", 2, "t"); }), "t: no numbers"));
  CHECK(has(input_error_of([] { parse_number_table("1 inf", 2, "t"); }), "'inf'"));
}
