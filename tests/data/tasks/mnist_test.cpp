#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "lagtape/data/formats/idx.h"
#include "lagtape/data/permutations.h"
#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

namespace fs = std::filesystem;

std::string mnist(const std::string& more) { return R"({"task": "mnist", "path": ".", )" + more + "}"; }

const std::string kSizes = R"("train": 20, "valid": 10, "test": 5)";

/// The sample digit in a row of a batch, recognized by its first pixel.
std::int64_t sample_of(const Batch& batch, std::int64_t row) {
  const auto first = std::lround(batch.x.at(row * 784) * 255);
  std::int64_t n = 0;
  while (sample_pixel(n, 0) != first) ++n;
  return n;
}

}  // namespace

TEST_CASE("MNIST is read as sequences of 784 pixels, plain or gzip") {
  for (bool compressed : {false, true}) {
    TemporaryFolder folder;
    write_sample_mnist(folder.path(), 30, 5, compressed);
    const Task task = load(mnist(kSizes), 0, folder.path());
    CHECK(task.shape.classes == 10);
    CHECK_FALSE(task.fresh);
    const Batch batch = take(*task.test, 0, 5);
    REQUIRE(batch.x.shape() == Shape{5, 784, 1});
    REQUIRE(batch.classes.size() == 5);
    for (std::int64_t n = 0; n < 5; ++n) {
      CHECK(batch.classes[static_cast<std::size_t>(n)] == sample_label(n));
      for (std::int64_t k = 0; k < 784; ++k) CHECK(batch.x.at(n * 784 + k) == sample_pixel(n, k) / 255.0);
    }
    CHECK(take(*task.test, 0, 1, Dtype::f32).x.at(1) == double(1.0f / 255.0f));
  }
}

TEST_CASE("training and validation digits share no digit and change with the seed") {
  TemporaryFolder folder;
  write_sample_mnist(folder.path(), 30, 5, false);
  auto digits = [&](std::uint64_t seed, const char* split) {
    const Task task = load(mnist(kSizes), seed, folder.path());
    const Batch batch = take(task.split(split), 0, task.split(split).size());
    std::vector<std::int64_t> found;
    for (std::int64_t row = 0; row < batch.size(); ++row) {
      found.push_back(sample_of(batch, row));
      CHECK(batch.classes[static_cast<std::size_t>(row)] == sample_label(found.back()));
    }
    return found;
  };
  const auto train = digits(0, "train"), valid = digits(0, "valid");
  CHECK(train.size() == 20);
  CHECK(valid.size() == 10);
  std::set<std::int64_t> both(train.begin(), train.end());
  both.insert(valid.begin(), valid.end());
  CHECK(both.size() == 30);
  CHECK(digits(0, "valid") == valid);
  CHECK(digits(1, "valid") != valid);
}

TEST_CASE("element k of a permuted digit is pixel p[k]") {
  TemporaryFolder folder;
  write_sample_mnist(folder.path(), 30, 5, false);
  for (auto [seed, order] :
       {std::pair{5544, torch_permutation(5544, 784)}, std::pair{12008, torch_permutation(12008, 784)},
        std::pair{92916, numpy_permutation(92916, 784)}}) {
    const Task task =
        load(mnist(text_of(kSizes, R"(, "order": "permuted", "permutation": )", seed)), 0, folder.path());
    const Batch batch = take(*task.test, 3, 1);
    for (std::int64_t k = 0; k < 784; ++k) {
      CHECK(batch.x.at(k) == sample_pixel(3, order[static_cast<std::size_t>(k)]) / 255.0);
    }
  }
}

TEST_CASE("the options of mnist are checked and filled in") {
  CHECK(task_from(R"({"task": "mnist", "path": "digits"})").filled ==
        parse_json(
            R"({"task": "mnist", "path": "digits", "order": "sequential", "permutation": 5544, "valid": 3000,
                       "train": 57000, "test": 10000})",
            ""));
  CHECK(has(input_error_of([] { task_from(R"({"task": "mnist"})"); }), "path"));
  CHECK(has(input_error_of([] { task_from(mnist(R"("order": "permutted")")); }), "'permuted'"));
  CHECK(has(input_error_of([] { task_from(mnist(R"("permutation": 1)")); }), "5544, 12008 or 92916"));
}

TEST_CASE("missing files are named together with the published names") {
  TemporaryFolder folder;
  write_sample_mnist(folder.path(), 30, 5, false);
  fs::remove(folder.path() / "t10k-labels-idx1-ubyte");
  const std::string message = input_error_of([&] { load(mnist(kSizes), 0, folder.path()); });
  CHECK(has(message, (folder.path() / "t10k-labels-idx1-ubyte").string() + ": no such file"));
  CHECK(has(message, "train-images-idx3-ubyte"));
  const std::string elsewhere = input_error_of([&] { load(mnist(kSizes), 0, folder.path() / "nowhere"); });
  CHECK(has(elsewhere, "nowhere"));
}

TEST_CASE("files that do not belong together are refused") {
  TemporaryFolder folder;
  auto message = [&](const char* name, const std::string& bytes) {
    write_sample_mnist(folder.path(), 30, 5, false);
    write_sample(folder.path() / name, bytes);
    const std::string text = input_error_of([&] { load(mnist(kSizes), 0, folder.path()); });
    CHECK(has(text, name));
    return text;
  };
  CHECK(has(message("train-labels-idx1-ubyte", idx_bytes({29}, std::string(29, '\1'))),
            "29 labels, expected 30"));
  CHECK(has(message("train-labels-idx1-ubyte", idx_bytes({30}, std::string(30, '\12'))), "label 0 is 10"));
  CHECK(has(message("t10k-images-idx3-ubyte", idx_bytes({5, 2, 2}, std::string(20, '\1'))), "28 x 28"));
  CHECK(has(message("t10k-images-idx3-ubyte", idx_bytes({5, 28, 28}, "abc")), "3 bytes follow"));
}

TEST_CASE("asking for more digits than there are is refused") {
  TemporaryFolder folder;
  write_sample_mnist(folder.path(), 30, 5, false);
  auto message = [&](const char* sizes) {
    return input_error_of([&] { load(mnist(sizes), 0, folder.path()); });
  };
  CHECK(has(message(R"("train": 25, "valid": 10, "test": 5)"),
            "contains 30 digits for train and valid, expected at least 35"));
  CHECK(has(message(R"("train": 20, "valid": 10, "test": 6)"), "contains 5 digits for test"));
  CHECK(has(message(R"("test": 5)"), "expected at least 60000"));
}

TEST_CASE("the published files of MNIST are read") {
  const fs::path folder = fs::path(__FILE__).parent_path() / "../../../../shared/data/mnist";
  if (!fs::exists(folder)) {
    MESSAGE("skipped: no MNIST at ", folder.lexically_normal().string());
    return;
  }
  const Idx labels = read_idx(folder / "train-labels-idx1-ubyte.gz", 1);
  CHECK(std::vector<int>(labels.values().begin(), labels.values().begin() + 10) ==
        std::vector<int>{5, 0, 4, 1, 9, 2, 1, 3, 1, 4});
  const Idx images = read_idx(folder / "train-images-idx3-ubyte.gz", 3);
  double sum = 0;
  for (std::uint8_t v : images.values()) sum += v;
  CHECK(std::abs(sum / 255 / static_cast<double>(images.values().size()) - 0.13066) < 5e-6);

  const Task task = load(R"({"task": "mnist", "path": "mnist"})", 0, folder.parent_path());
  CHECK(task.train->size() == 57000);
  CHECK(task.valid->size() == 3000);
  CHECK(task.test->size() == 10000);
  CHECK(take(*task.test, 0, 10).classes == std::vector<std::int32_t>{7, 2, 1, 0, 4, 1, 4, 9, 5, 9});
}
