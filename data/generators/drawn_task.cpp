#include "lagtape/data/generators/drawn_task.h"

#include "lagtape/core/json/options.h"
#include "lagtape/data/streams.h"

namespace lagtape {

namespace {

constexpr double kMostSequences = 1e9;

class DrawnDataset final : public Dataset {
 public:
  DrawnDataset(const DataShape& shape, std::int64_t size, std::uint64_t seed, Split split, DrawSequence draw)
      : Dataset(shape), size_(size), seed_(seed), split_(split), draw_(std::move(draw)) {}

  std::int64_t size() const override { return size_; }

  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    draw_(index, sequence_stream(seed_, split_, index), batch, row);
  }

 private:
  std::int64_t size_;
  std::uint64_t seed_;
  Split split_;
  DrawSequence draw_;
};

constexpr Range kDrawn = between(0, kMostSequences);

constexpr Option kFreshRows[] = {
    option<&DrawnSets::fresh>(
        "fresh",
        "draw new training sequences for every step, and count `train.steps`; false: draw `train` sequences "
        "once, and count `train.epochs`"),
    option<&DrawnSets::train>("train", between(1, kMostSequences), "number of training sequences")
        .unless<&DrawnSets::fresh>(
            "a fresh task has no training set: leave it out, or set \"fresh\": false."),
    option<&DrawnSets::valid>("valid", kDrawn, "number of validation sequences"),
    option<&DrawnSets::test>("test", kDrawn, "number of test sequences"),
};

}  // namespace

constinit const OptionTable kDrawnSets = {kFreshRows + 1, std::size(kFreshRows) - 1};
constinit const OptionTable kFreshSets = kFreshRows;

TaskLoader drawn_task(const DataShape& shape, const DrawnSets& sets, DrawSequence draw) {
  TaskLoader loader;
  loader.shape = shape;
  loader.fresh = sets.fresh;
  loader.load = [shape, sets, draw = std::move(draw)](const TaskContext& context) {
    auto split = [&](Split name, std::int64_t size) {
      return std::make_shared<DrawnDataset>(shape, size, context.seed, name, draw);
    };
    return Task{.shape = shape,
                .train = split(Split::train, sets.fresh ? Dataset::kUnlimited : sets.train),
                .valid = split(Split::valid, sets.valid),
                .test = split(Split::test, sets.test),
                .fresh = sets.fresh};
  };
  return loader;
}

}  // namespace lagtape
