#include "lagtape/data/tasks/registry.h"

#include <algorithm>

#include "lagtape/core/json/options.h"
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
  std::int64_t length = 1, tokens = 0, input = 0, output = 0, classes = 0;
  bool every_step = false;
  std::string lengths = "equal";
  std::int64_t train = 1, valid = 0, test = 0;
};

constexpr Range kSequences = between(0, kMostSequences);

// Either `input` or `tokens` is given, and either `output` or `classes`; 0: not given.
constexpr Option kRandomTaskRows[] = {
    required<&RandomOptions::length>("length", between(1, 10'000'000), "steps of a sequence"),
    option<&RandomOptions::tokens>(
        "tokens", between(0, 1 << 24),
        "inputs are the tokens 0..`tokens`-1, one per step; 0: inputs are real numbers"),
    option<&RandomOptions::input>("input", between(1, 1'000'000), "numbers per step; or give `tokens`")
        .open(),
    option<&RandomOptions::output>("output", between(1, 1'000'000),
                                   "real numbers per target; or give `classes`")
        .open(),
    option<&RandomOptions::classes>("classes", between(2, 1'000'000), "number of classes; or give `output`")
        .open(),
    option<&RandomOptions::every_step>("every_step",
                                       "a target at every step; by default if the read-out is at every step"),
    option<&RandomOptions::lengths>("lengths", {"equal", "random"},
                                    "all sequences have `length` steps, or uniformly 1..`length`"),
    option<&RandomOptions::train>("train", between(1, kMostSequences),
                                  "number of training sequences; by default one batch, train.batch"),
    option<&RandomOptions::valid>("valid", kSequences, "number of validation sequences"),
    option<&RandomOptions::test>("test", kSequences, "number of test sequences"),
};

void check_random_task(const RandomOptions& options, JsonReader& reader) {
  const Problem missing = {.rule = Rule::missing, .expected = "integer >= 1 and <= 1000000"};
  const bool output = reader.has("output"), classes = reader.has("classes");
  if (options.tokens == 0 && !reader.has("input")) reader.error("input", missing);
  if (options.tokens > 0 && options.input > 1)
    reader.error("input", text_of("expected 1 number per step for tokens, got ", options.input));
  if (!output && !classes) reader.error("output", missing);
  if (output && classes)
    reader.error("classes", "targets are real numbers (`output`) or classes (`classes`), not both.");
}

TaskLoader read_random_task(JsonReader& reader, const TaskHints& hints) {
  RandomOptions options;
  options.train = hints.batch;
  options.every_step = hints.every_step;
  read_options(reader, checked<check_random_task>(kRandomTaskRows), options);
  const DataShape shape{.length = options.length,
                        .input = std::max<std::int64_t>(1, options.input),
                        .output = options.classes > 0 ? 0 : std::max<std::int64_t>(1, options.output),
                        .classes = options.classes,
                        .every_step = options.every_step,
                        .tokens = options.tokens};
  TaskLoader loader;
  loader.shape = shape;
  loader.load = [options, shape](const TaskContext& context) {
    auto split = [&](Split name, std::int64_t size) {
      return std::make_shared<RandomDataset>(shape, options.lengths == "random", size, context.seed, name);
    };
    return Task{.shape = shape,
                .train = split(Split::train, options.train),
                .valid = split(Split::valid, options.valid),
                .test = split(Split::test, options.test)};
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
