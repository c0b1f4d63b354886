#include "lagtape/data/tasks/cifar_images.h"

#include "lagtape/core/json/options.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLearning = 50000, kTesting = 10000;

void train_on_the_others(CifarOptions& options) { options.train = kLearning - options.valid; }

constexpr Option kCifarImagesRows[] = {
    required<&CifarOptions::path>(
        "path", "folder or archive of the six published files, relative to the experiment file")
        .at_least_one(),
    option<&CifarOptions::valid>("valid", between(0, kLearning - 1), "number of validation images"),
    option<&CifarOptions::train>("train", between(1, kLearning),
                                 "number of training images; by default all others")
        .after<train_on_the_others>(),
    option<&CifarOptions::test>("test", between(0, kTesting),
                                "number of test images, the first of the test file"),
};

}  // namespace

constinit const OptionTable kCifarOptions = kCifarImagesRows;

std::pair<std::shared_ptr<const Cifar10>, SplitIndices> load_cifar10(const CifarOptions& options,
                                                                     const TaskContext& context) {
  const fs::path path = (context.base / options.path).lexically_normal();
  auto images = read_cifar10(path);
  SplitIndices split = published_split({options.train, options.valid, options.test}, images->learning.size(),
                                       images->testing.size(), "images", path, context.seed);
  return {std::move(images), std::move(split)};
}

}  // namespace lagtape
