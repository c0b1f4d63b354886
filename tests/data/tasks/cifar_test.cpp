#include "lagtape/data/formats/cifar10.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

constexpr std::int64_t kOfFile = 4;  // number of images in each sample file
const std::string kRoot = "cifar-10-batches-bin/";

/// The byte of channel c, row r, column k in image i; the test images are 20, 21, ...
int sample(std::int64_t i, std::int64_t c, std::int64_t r, std::int64_t k) {
  return static_cast<int>((i * 11 + c * 50 + r * 3 + k) % 256);
}

std::string records(std::int64_t first) {
  std::string bytes;
  for (std::int64_t i = first; i < first + kOfFile; ++i) {
    bytes += static_cast<char>(i % 10);
    for (std::int64_t n = 0; n < 3072; ++n)
      bytes += static_cast<char>(sample(i, n / 1024, n / 32 % 32, n % 32));
  }
  return bytes;
}

Files sample_files() {
  Files files = {{kRoot + "batches.meta.txt", "airplane\n"}, {kRoot + "test_batch.bin", records(20)}};
  for (int f = 5; f >= 1; --f)
    files.emplace_back(text_of(kRoot, "data_batch_", f, ".bin"), records(4 * (f - 1)));
  return files;
}

const std::string kSizes = R"("train": 15, "valid": 5, "test": 4)";

std::string task_text(const char* task, const std::string& more = "", const char* path = ".") {
  return text_of(R"({"task": ")", task, R"(", "path": ")", path, "\", ", kSizes, more, "}");
}

struct Samples {
  Samples() { write_samples(folder.path(), sample_files()); }
  Task task(const char* name, const std::string& more = "", std::uint64_t seed = 0) const {
    return load(task_text(name, more), seed, folder.path());
  }
  TemporaryFolder folder;
};

/// The sequences of a split in a training epoch.
Batch seen(const Dataset& split, std::int64_t epoch) {
  ThreadPool pool(1);
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < split.size(); ++i) indices.push_back(i);
  return gather(split, indices, Dtype::f64, pool, {}, epoch);
}

}  // namespace

TEST_CASE("CIFAR-10 is read from its folder and from its archive, files in order") {
  TemporaryFolder folder;
  write_samples(folder.path(), sample_files());
  write_sample(folder.path() / "cifar-10-binary.tar.gz", gzip(tar(sample_files())));
  for (const char* name : {"cifar-10-batches-bin", "cifar-10-binary.tar.gz"}) {
    const auto images = read_cifar10(folder.path() / name);
    REQUIRE(images->learning.size() == 20);
    REQUIRE(images->testing.size() == 4);
    for (std::int64_t i : {0, 7, 19}) {
      CHECK(images->learning.label(i) == i % 10);
      CHECK(images->learning.pixels(i)[1024 + 5 * 32 + 6] == sample(i, 1, 5, 6));
    }
    CHECK(images->testing.pixels(3)[3071] == sample(23, 2, 31, 31));
  }
}

TEST_CASE("scifar gives the colors of pixel after pixel, and the usual scaling beside them") {
  const Samples samples;
  const Task task = samples.task("scifar");
  CHECK(task.shape.classes == 10);
  const Batch batch = take(*task.test, 0, 4);
  REQUIRE(batch.x.shape() == Shape{4, 1024, 3});
  CHECK(batch.classes == std::vector<std::int32_t>{0, 1, 2, 3});
  bool equal = true;
  for (std::int64_t n = 0; n < 1024; ++n) {
    for (std::int64_t c = 0; c < 3; ++c) {
      equal = equal && batch.x.at((1024 + n) * 3 + c) == sample(21, c, n / 32, n % 32) / 255.0;
    }
  }
  CHECK(equal);
  CHECK(task.normalization.input.mean == std::vector<double>{0.4914, 0.4822, 0.4465});
  CHECK(task.normalization.input.scale == std::vector<double>{0.2023, 0.1994, 0.2010});
}

TEST_CASE("the other layout reads the bytes on, each scaled as its channel") {
  const Samples samples;
  const Task task = samples.task("scifar", R"(, "layout": "channels")");
  CHECK(task.normalization.input.mean.empty());
  const Batch batch = take(*task.test, 1, 1);
  const double means[] = {0.4914, 0.4822, 0.4465}, deviations[] = {0.2023, 0.1994, 0.2010};
  double worst = 0;
  for (std::int64_t n = 0; n < 3072; ++n) {
    const std::int64_t c = n / 1024;
    const double expected = (sample(21, c, n / 32 % 32, n % 32) / 255.0 - means[c]) / deviations[c];
    worst = std::max(worst, std::abs(batch.x.at(n) - expected));
  }
  CHECK(worst < 1e-14);
}

TEST_CASE("augmented images are shifted and mirrored anew in every epoch of training, and nowhere else") {
  const Samples samples;
  const Task plain = samples.task("scifar"), task = samples.task("scifar", R"(, "augment": true)");
  CHECK(values_of(seen(*plain.train, 3).x) == values_of(seen(*plain.train, -1).x));
  CHECK(values_of(seen(*task.train, -1).x) == values_of(seen(*plain.train, -1).x));
  CHECK(values_of(seen(*task.valid, 3).x) == values_of(seen(*plain.valid, -1).x));
  const Batch first = seen(*task.train, 0), stored = seen(*plain.train, -1);
  CHECK(values_of(first.x) != values_of(stored.x));
  CHECK(values_of(first.x) == values_of(seen(*task.train, 0).x));
  CHECK(values_of(first.x) != values_of(seen(*task.train, 1).x));

  // Each image is one of the 9 x 9 x 2 views, and not all are the same one.
  std::set<int> views;
  for (std::int64_t i = 0; i < first.size(); ++i) {
    int found = -1;
    for (int view = 0; view < 162 && found < 0; ++view) {
      const int down = view / 18 - 4, right = view / 2 % 9 - 4;
      bool equal = true;
      for (int n = 0; n < 1024 && equal; ++n) {
        const int row = n / 32 + down, column = (view % 2 ? 31 - n % 32 : n % 32) + right;
        const bool inside = row >= 0 && row < 32 && column >= 0 && column < 32;
        for (int c = 0; c < 3; ++c) {
          const double expected = inside ? stored.x.at((i * 1024 + row * 32 + column) * 3 + c) : 0;
          equal = equal && first.x.at((i * 1024 + n) * 3 + c) == expected;
        }
      }
      if (equal) found = view;
    }
    CHECK(found >= 0);
    views.insert(found);
  }
  CHECK(views.size() > 8);
  const auto mirrored = std::count_if(views.begin(), views.end(), [](int view) { return view % 2 == 1; });
  CHECK(mirrored > 0);
  CHECK(mirrored < static_cast<std::ptrdiff_t>(views.size()));
}

TEST_CASE("ncifar gives the rows of an image and then noise, the same for all") {
  const Samples samples;
  const Task task = samples.task("ncifar");
  const Batch test = take(*task.test, 0, 4), train = take(*task.train, 0, 2);
  REQUIRE(test.x.shape() == Shape{4, 1000, 96});
  for (std::int64_t r : {0, 31}) {
    for (std::int64_t c = 0; c < 3; ++c) {
      CHECK(test.x.at((2 * 1000 + r) * 96 + c * 32 + 9) == sample(22, c, r, 9) / 255.0);
    }
  }
  double sum = 0, square = 0, difference = 0;
  constexpr std::int64_t kImage = 32 * 96, kCount = 968 * 96;
  for (std::int64_t n = kImage; n < kImage + kCount; ++n) {
    sum += test.x.at(n);
    square += test.x.at(n) * test.x.at(n);
    difference += std::abs(test.x.at(n) - test.x.at(96000 + n)) + std::abs(test.x.at(n) - train.x.at(n));
  }
  CHECK(difference == 0);
  CHECK(std::abs(sum / kCount) < 4 / std::sqrt(double(kCount)));
  CHECK(std::abs(square / kCount - 1) < 4 * std::sqrt(2.0 / kCount));
  CHECK(take(*samples.task("ncifar", "", 1).test, 0, 1).x.at(kImage) != test.x.at(kImage));
}

TEST_CASE("the noise of ncifar may be uniform, or another one for every sequence") {
  const Samples samples;
  auto noise = [&](const char* kind) {
    const Task task = samples.task("ncifar", text_of(R"(, "noise": ")", kind, "\""));
    const auto values = values_of(take(*task.test, 0, 2).x);
    return std::pair{std::vector<double>(values.begin() + 32 * 96, values.begin() + 96000),
                     std::vector<double>(values.begin() + 96000 + 32 * 96, values.end())};
  };
  const auto [uniform, other] = noise("uniform");
  CHECK(uniform == other);
  const auto [least, largest] = std::minmax_element(uniform.begin(), uniform.end());
  CHECK(*least >= 0);
  CHECK(*least < 0.01);
  CHECK(*largest < 1);
  CHECK(*largest > 0.99);
  const auto [one, two] = noise("per_sample");
  CHECK(one != two);
  CHECK(noise("per_sample").first == one);
  CHECK(*std::max_element(one.begin(), one.end()) > 3);
}

TEST_CASE("files of CIFAR-10 that are missing, cut short or foreign are told") {
  auto message = [](const Files& files, const char* sizes = nullptr) {
    TemporaryFolder folder;
    write_samples(folder.path(), files);
    return input_error_of([&] {
      load(sizes ? text_of(R"({"task": "ncifar", "path": ".", )", sizes, "}") : task_text("scifar"), 0,
           folder.path());
    });
  };
  const Files sound = sample_files();
  CHECK(message(sound).empty());
  CHECK(has(message({sound.begin(), sound.end() - 1}), "data_batch_1.bin: no such file"));
  Files files = sound;
  files[1].second.pop_back();
  CHECK(has(message(files),
            "test_batch.bin: expected a multiple of 3073 bytes, one record an image, got 12291"));
  files = sound;
  files[2].second[3073] = 10;
  CHECK(has(message(files), "data_batch_5.bin: label of image 1: expected 0..9, got 10"));
  files[2].second[3073] = '\xff';
  CHECK(has(message(files), "got 255"));
  files = sound;
  files.emplace_back("other/test_batch.bin", sound[1].second);
  CHECK(has(message(files), "occurs twice"));
  CHECK(has(message(sound, R"("train": 16, "valid": 5, "test": 4)"),
            "contains 20 images for train and valid, expected at least 21"));
  CHECK(has(message(sound, R"("train": 16, "valid": 4)"),
            "contains 4 images for test, expected at least 10000"));
}
