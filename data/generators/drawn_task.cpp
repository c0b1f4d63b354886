#include "lagtape/data/generators/drawn_task.h"

#include "lagtape/core/json/json_reader.h"
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

void read_scored_sets(JsonReader& reader, DrawnSets& sets) {
  reader.optional("valid", sets.valid, between(0, kMostSequences), "number of validation sequences");
  reader.optional("test", sets.test, between(0, kMostSequences), "number of test sequences");
}

}  // namespace

void read_drawn_sets(JsonReader& reader, DrawnSets& sets) {
  reader.optional("train", sets.train, between(1, kMostSequences), "number of training sequences");
  read_scored_sets(reader, sets);
}

void read_fresh_sets(JsonReader& reader, DrawnSets& sets) {
  reader.optional("fresh", sets.fresh,
                  "draw new training sequences for every step, and count `train.steps`; false: draw `train` "
                  "sequences once, and count `train.epochs`");
  if (!sets.fresh) return read_drawn_sets(reader, sets);
  if (reader.has("train")) {
    reader.raw("train", "number of training sequences");
    reader.error("train", "a fresh task has no training set: leave it out, or set \"fresh\": false.");
  }
  read_scored_sets(reader, sets);
}

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
                .fresh = sets.fresh,
                .normalization = {}};
  };
  return loader;
}

}  // namespace lagtape
