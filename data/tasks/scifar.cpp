#include "lagtape/data/tasks/registry.h"

#include <array>
#include <vector>

#include "lagtape/core/json/options.h"
#include "lagtape/data/streams.h"
#include "lagtape/data/tasks/cifar_images.h"

namespace lagtape {

namespace {

constexpr std::int64_t kLargestShift = 4;
constexpr std::array kMean = {0.4914, 0.4822, 0.4465}, kDeviation = {0.2023, 0.1994, 0.2010};
constexpr DataShape kPixelShape{
    .length = CifarImages::kPixels, .input = CifarImages::kChannels, .classes = CifarImages::kClasses};

struct ScifarOptions {
  CifarOptions images;
  std::string layout = "rgb";
  bool augment = false;
};

/// A window onto a stored image: shifted, and possibly mirrored.
struct View {
  std::int64_t down = 0, right = 0;  ///< pixels by which the window is shifted
  bool mirrored = false;

  /// The pixel of the stored image seen at (row, column), or -1 outside it.
  std::int64_t source(std::int64_t row, std::int64_t column) const {
    row += down;
    column = (mirrored ? CifarImages::kSide - 1 - column : column) + right;
    const bool inside = row >= 0 && row < CifarImages::kSide && column >= 0 && column < CifarImages::kSide;
    return inside ? row * CifarImages::kSide + column : -1;
  }
};

class ScifarDataset final : public Dataset {
 public:
  ScifarDataset(std::shared_ptr<const Cifar10> owner, const CifarImages& images,
                std::vector<std::int64_t> chosen, bool channels, bool augment, std::uint64_t seed)
      : Dataset(kPixelShape),
        owner_(std::move(owner)),
        images_(images),
        chosen_(std::move(chosen)),
        channels_(channels),
        augment_(augment),
        seed_(seed) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(chosen_.size()); }

  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    const std::int64_t image = chosen_[static_cast<std::size_t>(index)];
    const auto pixels = images_.pixels(image);
    const View view = view_of(index, batch.epoch);
    with_scalar(batch.x.dtype(), [&]<class T>() {
      const auto x = batch.x.values<T>().subspan(
          static_cast<std::size_t>(row * CifarImages::kPixels * CifarImages::kChannels));
      for (std::int64_t n = 0; n < CifarImages::kPixels; ++n) {
        const std::int64_t source = view.source(n / CifarImages::kSide, n % CifarImages::kSide);
        for (std::int64_t c = 0; c < CifarImages::kChannels; ++c) {
          const std::uint8_t byte =
              source < 0 ? 0 : pixels[static_cast<std::size_t>(c * CifarImages::kPixels + source)];
          const auto channel = static_cast<std::size_t>(c);
          if (channels_) {
            const double scaled = (byte / 255.0 - kMean[channel]) / kDeviation[channel];
            x[static_cast<std::size_t>(c * CifarImages::kPixels + n)] = static_cast<T>(scaled);
          } else {
            x[static_cast<std::size_t>(n * CifarImages::kChannels + c)] = T(byte) / T(255);
          }
        }
      }
    });
    batch.classes[static_cast<std::size_t>(row)] = images_.label(image);
  }

 private:
  View view_of(std::int64_t index, std::int64_t epoch) const {
    if (!augment_ || epoch < 0) return {};
    RandomStream stream(seed_,
                        stream_name({static_cast<std::uint64_t>(DataStream::augmentation),
                                     static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(index)}));
    auto shift = [&] {
      return static_cast<std::int64_t>(stream.next_below(2 * kLargestShift + 1)) - kLargestShift;
    };
    View view;
    view.down = shift();
    view.right = shift();
    view.mirrored = stream.next_below(2) == 1;
    return view;
  }

  std::shared_ptr<const Cifar10> owner_;
  const CifarImages& images_;
  std::vector<std::int64_t> chosen_;
  bool channels_, augment_;
  std::uint64_t seed_;
};

Task load_scifar(const ScifarOptions& options, const TaskContext& context) {
  auto [images, split] = load_cifar10(options.images, context);
  const bool channels = options.layout == "channels";
  auto dataset = [&, owner = images](const CifarImages& part, const std::vector<std::int64_t>& chosen,
                                     bool augment) {
    return std::make_shared<ScifarDataset>(owner, part, chosen, channels, augment, context.seed);
  };
  Task task{.shape = kPixelShape,
            .train = dataset(images->learning, split.train, options.augment),
            .valid = dataset(images->learning, split.valid, false),
            .test = dataset(images->testing, split.test, false)};
  if (!channels) {
    task.normalization.input = {.mean = {kMean.begin(), kMean.end()},
                                .scale = {kDeviation.begin(), kDeviation.end()}};
  }
  return task;
}

constexpr Option kScifarRows[] = {
    rows_of<&ScifarOptions::images>(kCifarOptions),
    option<&ScifarOptions::layout>(
        "layout", {"rgb", "channels"},
        "a step is the three channels of a pixel, or three neighboring pixels of one channel"),
    option<&ScifarOptions::augment>("augment",
                                    "shift and mirror the training images at random, anew in every epoch"),
};

TaskLoader read_scifar_task(JsonReader& reader, const TaskHints&) {
  ScifarOptions options;
  read_options(reader, kScifarRows, options);
  return {.shape = kPixelShape, .load = std::bind_front(load_scifar, options)};
}

}  // namespace

/// Pixels in 0..1 are scaled by the usual mean and standard deviation of each channel. "channels": the bytes
/// [3, 32, 32] reshaped to [1024, 3]. With `augment`, training sees each image shifted by up to 4 pixels (the border is
/// black) and mirrored or not, drawn anew for every epoch.
constinit const TaskEntry kScifarTask = {
    .name = "scifar",
    .summary = "classify color images pixel by pixel (CIFAR-10)",
    .source = "Krizhevsky 2009; protocol of the tau-GRU paper",
    .equations =
        "x: [1024, 3], red, green and blue of one pixel per step, row by row, normalized\n"
        "y: the class of the image",
    .files = kCifarFiles,
    .read = read_scifar_task,
};

}  // namespace lagtape
