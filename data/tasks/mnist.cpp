#include "lagtape/data/tasks/registry.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/json/options.h"
#include "lagtape/data/formats/idx.h"
#include "lagtape/data/permutations.h"
#include "lagtape/data/splits.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSide = 28, kPixels = kSide * kSide, kDigits = 10, kTrainingDigits = 60000;
constexpr DataShape kDigitShape{.length = kPixels, .input = 1, .classes = kDigits};

struct Digits {
  Idx images;  ///< [N, 28, 28]
  Idx labels;  ///< [N]
};

/// The path of a published file, plain or with .gz.
fs::path published_file(const fs::path& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    fs::path path = folder / (name + ending);
    std::error_code error;
    if (fs::exists(path, error)) return path;
  }
  throw InputError(
      {(folder / name).string()}, Rule::missing,
      "no such file, nor with .gz. The task mnist reads train-images-idx3-ubyte, train-labels-idx1-ubyte, "
      "t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, plain or .gz, from the folder data.path.");
}

std::shared_ptr<const Digits> read_digits(const fs::path& folder, const std::string& part) {
  const fs::path images = published_file(folder, part + "-images-idx3-ubyte");
  const fs::path labels = published_file(folder, part + "-labels-idx1-ubyte");
  auto digits = std::make_shared<Digits>(Digits{read_idx(images, 3), read_idx(labels, 1)});
  const Shape& shape = digits->images.shape;
  if (shape[1] != kSide || shape[2] != kSide) {
    throw InputError({images.string()}, Rule::shape,
                     text_of("contains ", to_string(shape), ", expected images of 28 x 28."));
  }
  if (digits->labels.shape[0] != shape[0]) {
    throw InputError({labels.string()}, Rule::shape,
                     text_of("contains ", digits->labels.shape[0], " labels, expected ", shape[0],
                             ", one for each image of ", images.string(), "."));
  }
  const auto values = digits->labels.values();
  const auto foreign =
      std::find_if(values.begin(), values.end(), [](std::uint8_t v) { return v >= kDigits; });
  if (foreign != values.end()) {
    throw InputError({labels.string()}, Rule::out_of_range,
                     text_of("label ", foreign - values.begin(), " is ", int{*foreign}, ", expected 0..9."));
  }
  return digits;
}

class MnistDataset final : public Dataset {
 public:
  MnistDataset(std::shared_ptr<const Digits> digits, std::vector<std::int64_t> chosen,
               std::vector<std::int64_t> pixel_order)
      : Dataset(kDigitShape),
        digits_(std::move(digits)),
        chosen_(std::move(chosen)),
        pixel_order_(std::move(pixel_order)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(chosen_.size()); }

  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    const auto digit = static_cast<std::size_t>(chosen_[static_cast<std::size_t>(index)]);
    const auto pixels = digits_->images.values().subspan(digit * kPixels, kPixels);
    with_scalar(batch.x.dtype(), [&]<class T>() {
      std::transform(pixel_order_.begin(), pixel_order_.end(), batch.x.values<T>().begin() + row * kPixels,
                     [&](std::int64_t k) { return T(pixels[static_cast<std::size_t>(k)]) / T(255); });
    });
    batch.classes[static_cast<std::size_t>(row)] = digits_->labels.values()[digit];
  }

 private:
  std::shared_ptr<const Digits> digits_;
  std::vector<std::int64_t> chosen_, pixel_order_;
};

struct MnistOptions {
  std::string path;
  std::string order = "sequential";
  std::int64_t permutation = 5544;
  std::int64_t train = kTrainingDigits, valid = 3000, test = 10000;
};

std::vector<std::int64_t> pixel_order(const MnistOptions& options) {
  if (options.order == "permuted") {
    const auto seed = static_cast<std::uint32_t>(options.permutation);
    return seed == 92916 ? numpy_permutation(seed, kPixels) : torch_permutation(seed, kPixels);
  }
  return in_order(kPixels);
}

Task load_mnist(const MnistOptions& options, const TaskContext& context) {
  const fs::path folder = (context.base / options.path).lexically_normal();
  auto learning = read_digits(folder, "train"), testing = read_digits(folder, "t10k");
  const SplitIndices split =
      published_split({options.train, options.valid, options.test}, learning->images.shape[0],
                      testing->images.shape[0], "digits", folder, context.seed);
  const std::vector<std::int64_t> order = pixel_order(options);
  return Task{.shape = kDigitShape,
              .train = std::make_shared<MnistDataset>(learning, split.train, order),
              .valid = std::make_shared<MnistDataset>(learning, split.valid, order),
              .test = std::make_shared<MnistDataset>(testing, split.test, order)};
}

void train_on_other_digits(MnistOptions& options) { options.train = kTrainingDigits - options.valid; }

constexpr Option kMnistRows[] = {
    required<&MnistOptions::path>("path",
                                  "folder of the four published files, relative to the experiment file")
        .at_least_one(),
    option<&MnistOptions::order>("order", {"sequential", "permuted"},
                                 "pixels row by row, or in a fixed permutation"),
    option<&MnistOptions::permutation>(
        "permutation", between(0, 1e9),
        "seed of the permutation: 5544 or 12008 (torch.randperm), 92916 (numpy RandomState)"),
    option<&MnistOptions::valid>("valid", between(0, kTrainingDigits - 1), "number of validation digits"),
    option<&MnistOptions::train>("train", between(1, kTrainingDigits),
                                 "number of training digits; by default all others")
        .after<train_on_other_digits>(),
    option<&MnistOptions::test>("test", between(0, 10000),
                                "number of test digits, the first of the test files"),
};

void check_mnist(const MnistOptions& options, JsonReader& reader) {
  if (options.permutation != 5544 && options.permutation != 12008 && options.permutation != 92916) {
    reader.error("permutation", text_of("must be 5544, 12008 or 92916. Got ", options.permutation, "."));
  }
}

TaskLoader read_mnist_task(JsonReader& reader, const TaskHints&) {
  MnistOptions options;
  read_options(reader, checked<check_mnist>(kMnistRows), options);
  return {.shape = kDigitShape, .load = std::bind_front(load_mnist, options)};
}

}  // namespace

/// In a permutation p, step k shows pixel p[k]. The experiment's seed splits the 60000 digits of the training files at
/// random into training and validation.
constinit const TaskEntry kMnistTask = {
    .name = "mnist",
    .summary = "classify handwritten digits pixel by pixel, row by row or permuted",
    .source = "LeCun et al. 1998; protocol of Long Expressive Memory (LEM)",
    .equations = "x: [784, 1], one pixel per step, 0..1; y: the digit",
    .files =
        "http://yann.lecun.com/exdb/mnist/ or https://ossci-datasets.s3.amazonaws.com/mnist/, .gz or "
        "unpacked:\n"
        "train-images-idx3-ubyte.gz  MD5 f68b3c2dcbeaaa9fbdd348bbdeb94873\n"
        "train-labels-idx1-ubyte.gz  MD5 d53e105ee54ea40749a09fcbcd1e9432\n"
        "t10k-images-idx3-ubyte.gz   MD5 9fb629c4189551a2d022fa330f9573f3\n"
        "t10k-labels-idx1-ubyte.gz   MD5 ec29112dd5afa0611ce80d1b7f02629c",
    .read = read_mnist_task,
};

}  // namespace lagtape
