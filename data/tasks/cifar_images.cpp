#include "lagtape/data/tasks/cifar_images.h"

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLearning = 50000, kTesting = 10000;

void require_images(std::int64_t wanted, const CifarImages& images, const fs::path& path,
                    const char* splits) {
  if (wanted <= images.size()) return;
  throw InputError(
      {path.string()}, Rule::out_of_range,
      text_of("contains ", images.size(), " images for ", splits, ", expected at least ", wanted, "."));
}

}  // namespace

void CifarOptions::read(JsonReader& reader) {
  reader.required("path", path,
                  "folder or archive of the six published files, relative to the experiment file");
  reader.optional("valid", valid, between(0, kLearning - 1), "number of validation images");
  train = kLearning - valid;
  reader.optional("train", train, between(1, kLearning), "number of training images; by default all others");
  reader.optional("test", test, between(0, kTesting), "number of test images, the first of the test file");
}

std::pair<std::shared_ptr<const Cifar10>, SplitIndices> load_cifar10(const CifarOptions& options,
                                                                     const TaskContext& context) {
  const fs::path path = (context.base / options.path).lexically_normal();
  auto images = read_cifar10(path);
  require_images(options.train + options.valid, images->learning, path, "train and valid");
  require_images(options.test, images->testing, path, "test");
  SplitIndices split = random_split(images->learning.size(), options.train, options.valid, 0, context.seed);
  split.test = in_order(options.test);
  return {std::move(images), std::move(split)};
}

}  // namespace lagtape
