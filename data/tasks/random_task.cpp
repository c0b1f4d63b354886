#include "lagtape/data/tasks/random_task.h"

#include <algorithm>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/streams.h"

namespace lagtape {

namespace {

constexpr double kMostSequences = 1e9;

class RandomDataset final : public Dataset {
 public:
  RandomDataset(const DataShape& shape, bool random_lengths, std::int64_t size, std::uint64_t seed,
                Split split)
      : Dataset(shape), random_lengths_(random_lengths), size_(size), seed_(seed), split_(split) {}

  std::int64_t size() const override { return size_; }

  std::int64_t length(std::int64_t index) const override {
    if (!random_lengths_) return shape().length;
    RandomStream stream = sequence_stream(seed_, split_, index);
    return 1 + static_cast<std::int64_t>(stream.next_below(static_cast<std::uint64_t>(shape().length)));
  }

  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    RandomStream stream = sequence_stream(seed_, split_, index);
    if (random_lengths_) stream.next_below(static_cast<std::uint64_t>(shape().length));
    const std::int64_t length = batch.lengths[static_cast<std::size_t>(row)], padded = batch.x.size(1);
    if (shape().tokens > 0) {
      for (std::int64_t n = 0; n < length; ++n)
        batch.x.set(row * padded + n,
                    static_cast<double>(stream.next_below(static_cast<std::uint64_t>(shape().tokens))));
    } else {
      fill_normal(batch.x, row * padded * shape().input, length * shape().input, stream);
    }
    const std::int64_t targets = shape().every_step ? length : 1;
    const std::int64_t first = row * (shape().every_step ? padded : 1);
    if (shape().classes == 0) {
      fill_normal(batch.y, first * shape().output, targets * shape().output, stream);
    } else {
      std::generate_n(batch.classes.begin() + first, targets, [&] {
        return static_cast<std::int32_t>(stream.next_below(static_cast<std::uint64_t>(shape().classes)));
      });
    }
  }

 private:
  static void fill_normal(Tensor& tensor, std::int64_t first, std::int64_t count, RandomStream& stream) {
    with_scalar(tensor.dtype(), [&]<class T>() {
      std::generate_n(tensor.values<T>().begin() + first, count,
                      [&] { return static_cast<T>(stream.next_normal()); });
    });
  }

  bool random_lengths_;
  std::int64_t size_;
  std::uint64_t seed_;
  Split split_;
};

struct RandomOptions {
  DataShape shape{.length = 1, .input = 1, .output = 0, .classes = 0, .every_step = false};
  std::string lengths = "equal";
  std::int64_t train = 1, valid = 0, test = 0;
};

/// Reads whether the inputs are tokens or real numbers.
void read_input(JsonReader& reader, DataShape& shape) {
  reader.optional("tokens", shape.tokens, between(0, 1 << 24),
                  "inputs are the tokens 0..`tokens`-1, one per step; 0: inputs are real numbers");
  const std::string type = "integer >= 1 and <= 1000000";
  if (shape.tokens == 0 && !reader.has("input")) {
    reader.raw("input", "numbers per step; or give `tokens`", type);
    reader.error("input", Problem{.rule = Rule::missing, .expected = type});
  } else if (shape.tokens == 0) {
    reader.required("input", shape.input, between(1, 1'000'000), "numbers per step; or give `tokens`");
  } else if (reader.has("input")) {
    reader.required("input", shape.input, between(1, 1), "numbers per step; 1 for tokens");
  }
}

/// Reads the targets: exactly one of `output` and `classes` must be given.
void read_target(JsonReader& reader, DataShape& shape) {
  const bool output = reader.has("output"), classes = reader.has("classes");
  const std::string about = "real numbers per target; or give `classes`",
                    type = "integer >= 1 and <= 1000000";
  if (output || !classes) shape.output = 1;
  if (output) {
    reader.required("output", shape.output, between(1, 1'000'000), about);
  } else {
    reader.raw("output", about, type);
  }
  if (!output && !classes) reader.error("output", Problem{.rule = Rule::missing, .expected = type});
  if (!classes) {
    reader.raw("classes", "number of classes; or give `output`", "integer >= 2 and <= 1000000");
  } else {
    shape.classes = 2;
    reader.required("classes", shape.classes, between(2, 1'000'000), "number of classes; or give `output`");
    if (output)
      reader.error("classes", "targets are real numbers (`output`) or classes (`classes`), not both.");
  }
}

TaskLoader read_random_task(JsonReader& reader, const TaskHints& hints) {
  RandomOptions options;
  options.train = hints.batch;
  options.shape.every_step = hints.every_step;
  reader.required("length", options.shape.length, between(1, 10'000'000), "steps of a sequence");
  read_input(reader, options.shape);
  read_target(reader, options.shape);
  reader.optional("every_step", options.shape.every_step,
                  "a target at every step; by default if the read-out is at every step");
  reader.choice("lengths", options.lengths, {"equal", "random"},
                "all sequences have `length` steps, or uniformly 1..`length`");
  reader.optional("train", options.train, between(1, kMostSequences),
                  "number of training sequences; by default one batch, train.batch");
  reader.optional("valid", options.valid, between(0, kMostSequences), "number of validation sequences");
  reader.optional("test", options.test, between(0, kMostSequences), "number of test sequences");

  TaskLoader loader;
  loader.shape = options.shape;
  loader.load = [options](const TaskContext& context) {
    auto split = [&](Split name, std::int64_t size) {
      return std::make_shared<RandomDataset>(options.shape, options.lengths == "random", size, context.seed,
                                             name);
    };
    return Task{.shape = options.shape,
                .train = split(Split::train, options.train),
                .valid = split(Split::valid, options.valid),
                .test = split(Split::test, options.test),
                .fresh = false,
                .normalization = {}};
  };
  return loader;
}

}  // namespace

constinit const TaskEntry kRandomTask = {
    .name = "random",
    .summary = "random inputs and targets of a given shape, for timing",
    .source = "",
    .equations = "x and y: N(0, 1), or tokens and classes, all equally likely",
    .read = read_random_task,
};

}  // namespace lagtape
