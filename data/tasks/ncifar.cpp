#include "lagtape/data/tasks/registry.h"

#include <algorithm>
#include <vector>

#include "lagtape/core/json/options.h"
#include "lagtape/data/streams.h"
#include "lagtape/data/tasks/cifar_images.h"

namespace lagtape {

namespace {

constexpr std::int64_t kWidth = CifarImages::kChannels * CifarImages::kSide;
constexpr std::int64_t kLength = 1000, kNoise = (kLength - CifarImages::kSide) * kWidth;
constexpr DataShape kRowsShape{.length = kLength, .input = kWidth, .classes = CifarImages::kClasses};

struct NcifarOptions {
  CifarOptions images;
  std::string noise = "fixed";
};

RandomStream noise_stream(std::uint64_t seed, std::uint64_t block) {
  return {seed, stream_name({static_cast<std::uint64_t>(DataStream::noise), block})};
}

class NcifarDataset final : public Dataset {
 public:
  /// `noise` is the block that all sequences share; without it, each sequence draws its own from seed, split
  /// and index.
  NcifarDataset(std::shared_ptr<const Cifar10> owner, const CifarImages& images,
                std::vector<std::int64_t> chosen, std::shared_ptr<const std::vector<double>> noise,
                std::uint64_t seed, Split split)
      : Dataset(kRowsShape),
        owner_(std::move(owner)),
        images_(images),
        chosen_(std::move(chosen)),
        noise_(std::move(noise)),
        seed_(seed),
        split_(split) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(chosen_.size()); }

  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    const std::int64_t image = chosen_[static_cast<std::size_t>(index)];
    const auto pixels = images_.pixels(image);
    with_scalar(batch.x.dtype(), [&]<class T>() {
      T* x = batch.x.values<T>().data() + row * kLength * kWidth;
      for (std::int64_t n = 0; n < CifarImages::kSide; ++n) {
        for (std::int64_t c = 0; c < CifarImages::kChannels; ++c) {
          const auto from =
              pixels.subspan(static_cast<std::size_t>((c * CifarImages::kSide + n) * CifarImages::kSide),
                             CifarImages::kSide);
          x = std::transform(from.begin(), from.end(), x, [](std::uint8_t byte) { return T(byte) / T(255); });
        }
      }
      if (noise_) {
        std::transform(noise_->begin(), noise_->end(), x, [](double value) { return static_cast<T>(value); });
      } else {
        RandomStream stream = sequence_stream(seed_, split_, index);
        std::generate_n(x, kNoise, [&] { return static_cast<T>(stream.next_normal()); });
      }
    });
    batch.classes[static_cast<std::size_t>(row)] = images_.label(image);
  }

 private:
  std::shared_ptr<const Cifar10> owner_;
  const CifarImages& images_;
  std::vector<std::int64_t> chosen_;
  std::shared_ptr<const std::vector<double>> noise_;
  std::uint64_t seed_;
  Split split_;
};

std::shared_ptr<const std::vector<double>> noise_block(const std::string& kind, std::uint64_t seed) {
  if (kind == "per_sample") return nullptr;
  auto block = std::make_shared<std::vector<double>>(static_cast<std::size_t>(kNoise));
  RandomStream stream = noise_stream(seed, 0);
  std::generate(block->begin(), block->end(),
                [&] { return kind == "uniform" ? stream.next_uniform() : stream.next_normal(); });
  return block;
}

Task load_ncifar(const NcifarOptions& options, const TaskContext& context) {
  const auto [images, split] = load_cifar10(options.images, context);
  const auto noise = noise_block(options.noise, context.seed);
  auto dataset = [&, owner = images](const CifarImages& part, const std::vector<std::int64_t>& chosen,
                                     Split name) {
    return std::make_shared<NcifarDataset>(owner, part, chosen, noise, context.seed, name);
  };
  return Task{.shape = kRowsShape,
              .train = dataset(images->learning, split.train, Split::train),
              .valid = dataset(images->learning, split.valid, Split::valid),
              .test = dataset(images->testing, split.test, Split::test)};
}

constexpr Option kNcifarRows[] = {
    rows_of<&NcifarOptions::images>(kCifarOptions),
    option<&NcifarOptions::noise>(
        "noise", {"fixed", "per_sample", "uniform"},
        "one block of N(0, 1) for all sequences, one for each, or one of U(0, 1) for all"),
};

TaskLoader read_ncifar_task(JsonReader& reader, const TaskHints&) {
  NcifarOptions options;
  read_options(reader, kNcifarRows, options);
  return {.shape = kRowsShape, .load = std::bind_front(load_ncifar, options)};
}

}  // namespace

/// A "fixed" block is drawn from the experiment's seed; a "per_sample" block from the seed, the split and the
/// index.
constinit const TaskEntry kNcifarTask = {
    .name = "ncifar",
    .summary = "classify an image that is read row by row and followed by noise (noise-padded CIFAR-10)",
    .source = "Krizhevsky 2009; Chang et al. 2019; protocol of Long Expressive Memory (LEM)",
    .equations =
        "x: [1000, 96]: the 32 rows of an image, red, green and blue, 0..1; then 968 steps of noise\n"
        "y: the class of the image",
    .files = kCifarFiles,
    .read = read_ncifar_task,
};

}  // namespace lagtape
