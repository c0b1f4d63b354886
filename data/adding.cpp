#include "lagtape/data/adding.h"

#include "lagtape/data/streams.h"

namespace lagtape {

namespace {

constexpr double kMostSequences = 1e9;

class AddingDataset final : public Dataset {
 public:
  AddingDataset(const DataShape& shape, std::int64_t size, std::uint64_t seed, Split split)
      : Dataset(shape), size_(size), seed_(seed), split_(split) {}

  std::int64_t size() const override { return size_; }

  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    const std::int64_t length = shape().length, half = length / 2;
    RandomStream stream = sequence_stream(seed_, split_, index);
    const auto first = static_cast<std::int64_t>(stream.next_below(static_cast<std::uint64_t>(half)));
    const auto second =
        half + static_cast<std::int64_t>(stream.next_below(static_cast<std::uint64_t>(length - half)));
    const std::int64_t at = row * batch.x.size(1) * 2;
    with_scalar(batch.x.dtype(), [&]<class T>() {
      T* x = batch.x.values<T>().data() + at;
      for (std::int64_t n = 0; n < length; ++n) x[2 * n] = static_cast<T>(stream.next_uniform());
      x[2 * first + 1] = x[2 * second + 1] = 1;
      batch.y.values<T>()[static_cast<std::size_t>(row)] = x[2 * first] + x[2 * second];
    });
  }

 private:
  std::int64_t size_;
  std::uint64_t seed_;
  Split split_;
};

struct AddingOptions {
  std::int64_t length = 2000;
  bool fresh = true;
  std::int64_t train = 1000, valid = 1000, test = 1000;
};

}  // namespace

TaskPlan read_adding(JsonReader& reader, const TaskHints&) {
  AddingOptions options;
  reader.optional("length", options.length, between(2, 10'000'000), "steps of a sequence");
  reader.optional("fresh", options.fresh,
                  "new training sequences for every step; false: a set of `train` sequences");
  if (!options.fresh) {
    reader.optional("train", options.train, between(1, kMostSequences), "training sequences");
  } else if (reader.has("train")) {
    reader.raw("train", "training sequences");
    reader.error("train", "a fresh task has no training set: leave it out, or set \"fresh\": false.");
  }
  reader.optional("valid", options.valid, between(0, kMostSequences), "validation sequences");
  reader.optional("test", options.test, between(0, kMostSequences), "test sequences");

  TaskPlan plan;
  plan.shape =
      DataShape{.length = options.length, .input = 2, .output = 1, .classes = 0, .every_step = false};
  plan.fresh = options.fresh;
  plan.load = [options, shape = *plan.shape](const TaskContext& context) {
    auto split = [&](Split name, std::int64_t size) {
      return std::make_shared<AddingDataset>(shape, size, context.seed, name);
    };
    return Task{.shape = shape,
                .train = split(Split::train, options.fresh ? Dataset::kUnlimited : options.train),
                .valid = split(Split::valid, options.valid),
                .test = split(Split::test, options.test),
                .fresh = options.fresh,
                .normalization = {}};
  };
  return plan;
}

}  // namespace lagtape
