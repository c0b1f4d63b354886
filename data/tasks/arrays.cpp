#include "lagtape/data/tasks/registry.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/json/options.h"
#include "lagtape/data/moments.h"
#include "lagtape/data/splits.h"
#include "lagtape/data/tasks/arrays_file.h"

namespace lagtape {

namespace {

/// Selected sequences from the arrays of a set; `lengths` is empty if all sequences have the same length.
class ArraysDataset final : public Dataset {
 public:
  ArraysDataset(const DataShape& shape, std::shared_ptr<const ArraySet> arrays,
                std::vector<std::int64_t> chosen)
      : Dataset(shape), arrays_(std::move(arrays)), chosen_(std::move(chosen)) {}

  std::int64_t size() const override { return std::ssize(chosen_); }

  std::int64_t length(std::int64_t index) const override {
    return arrays_->lengths.empty() ? arrays_->x.size(1)
                                    : static_cast<std::int64_t>(arrays_->lengths.at(stored(index)));
  }

  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    const std::int64_t steps = length(index), from = stored(index);
    copy(arrays_->x, from, steps, batch.x, row);
    if (shape().classes == 0) {
      copy(arrays_->y, from, shape().every_step ? steps : 1, batch.y, row);
      return;
    }
    const std::int64_t stored = shape().every_step ? arrays_->x.size(1) : 1;
    const std::int64_t padded = shape().every_step ? batch.x.size(1) : 1;
    for (std::int64_t n = 0; n < std::min(stored, steps); ++n) {
      batch.classes[static_cast<std::size_t>(row * padded + n)] =
          static_cast<std::int32_t>(arrays_->y.at(from * stored + n));
    }
  }

  /// The scaling of the inputs over each sequence's own steps.
  Scaling input_scaling() const { return scaling_of(arrays_->x); }
  /// The scaling of real targets, one per sequence or per step.
  Scaling target_scaling() const { return scaling_of(arrays_->y); }

 private:
  std::int64_t stored(std::int64_t index) const { return chosen_[static_cast<std::size_t>(index)]; }

  /// `values`: [N, T, width], or [N, width].
  Scaling scaling_of(const Tensor& values) const {
    const std::int64_t width = values.size(-1), rows = values.rank() == 3 ? values.size(1) : 1;
    Moments moments(width);
    for (std::int64_t i = 0; i < size(); ++i) {
      const std::int64_t steps = values.rank() == 3 ? length(i) : 1;
      for (std::int64_t n = 0; n < steps; ++n)
        moments.add([&](std::size_t feature) {
          return values.at((stored(i) * rows + n) * width + static_cast<std::int64_t>(feature));
        });
    }
    return moments.standard();
  }

  /// Copies the first steps of sequence `index` into a row of a batch.
  static void copy(const Tensor& from, std::int64_t index, std::int64_t steps, Tensor& to, std::int64_t row) {
    const std::int64_t stride = from.numel() / from.size(0), padded = to.numel() / to.size(0);
    const std::int64_t count = steps * to.size(-1);
    with_scalar(from.dtype(), [&]<class From>() {
      const From* source = from.values<From>().data() + index * stride;
      with_scalar(to.dtype(), [&]<class To>() {
        std::transform(source, source + count, to.values<To>().data() + row * padded,
                       [](From value) { return static_cast<To>(value); });
      });
    });
  }

  std::shared_ptr<const ArraySet> arrays_;
  std::vector<std::int64_t> chosen_;
};

/// Splits the sequences of a set, with equal shares of each class in every part.
SplitIndices split_of(const ArraySet& set, const DataShape& shape, const SplitShares& shares,
                      std::uint64_t seed, const std::string& where) {
  // Real targets, and sequences of several classes, are split like sequences of one class.
  std::vector<std::int32_t> classes(static_cast<std::size_t>(set.x.size(0)), 0);
  for (std::size_t i = 0; i < classes.size() && shape.classes > 0 && !shape.every_step; ++i)
    classes[i] = static_cast<std::int32_t>(set.y.at(static_cast<std::int64_t>(i)));
  return stratified_split(classes, shares, seed, where);
}

Task load_arrays(const ArraysOptions& options, const TaskContext& context) {
  const std::filesystem::path path = (context.base / options.path).lexically_normal();
  ArraysFile file = read_arrays_file(path, options);
  const DataShape& shape = file.shape;
  const auto held = std::make_shared<ArraySets>(std::move(file.sets));
  const std::uint64_t seed =
      options.split_seed >= 0 ? static_cast<std::uint64_t>(options.split_seed) : context.seed;
  const auto all_of = [](const ArraySet& set) { return in_order(set.x.empty() ? 0 : set.x.size(0)); };
  const bool is_whole = !held->whole.is_empty();
  const ArraySet& learning = is_whole ? held->whole : held->train;
  if (!context.score_only && learning.x.numel() == 0)
    throw InputError({path.string()}, Rule::missing, "contains no train_x.");
  const auto set_of = [&](const ArraySet& set, std::vector<std::int64_t> chosen) {
    return std::make_shared<ArraysDataset>(shape, std::shared_ptr<const ArraySet>(held, &set),
                                           std::move(chosen));
  };
  SplitIndices split{.train = all_of(held->train), .valid = all_of(held->valid), .test = all_of(held->test)};
  const ArraySet* from[] = {&held->train, &held->valid, &held->test};
  const double share = options.valid >= 0 ? options.valid : 0;
  if (is_whole && context.score_only) {
    split.test = all_of(held->whole);
    from[2] = &held->whole;
  } else if (is_whole) {
    if (options.train + std::max(options.valid, 0.0) + options.test > 1 + 1e-9)
      throw InputError({.pointer = "/data/test"}, Rule::out_of_range,
                       "the shares of train, valid and test add up to more than 1.");
    split =
        split_of(held->whole, shape,
                 {.train = options.train, .valid = options.valid >= 0 ? share : 0.15, .test = options.test},
                 seed, path.string());
    from[0] = from[1] = from[2] = &held->whole;
  } else if (share > 0 && held->valid.is_empty() && !context.score_only) {
    const SplitIndices parts =
        split_of(held->train, shape, {.train = 1 - share, .valid = share, .test = 0}, seed, path.string());
    split.train = parts.train;
    split.valid = parts.valid;
    from[1] = &held->train;
  }
  const auto train = set_of(*from[0], std::move(split.train));
  Task task{.shape = shape,
            .train = train,
            .valid = set_of(*from[1], std::move(split.valid)),
            .test = set_of(*from[2], std::move(split.test)),
            .notes = std::move(file.notes)};
  if (options.layout == AxisOrder::automatic && !held->are_plain)
    task.found = {{"layout", file.layout == AxisOrder::channels_first ? "channels_first" : "time_first"}};
  if (context.score_only) return task;
  if (options.normalize.input) task.normalization.input = train->input_scaling();
  if (options.normalize.target && shape.classes == 0) task.normalization.output = train->target_scaling();
  return task;
}

constexpr Option kArraysRows[] = {
    required<&ArraysOptions::path>(
        "path",
        "an .npz file or a folder of .npy files, with X and y or train_x, train_y, valid_x, ..., relative "
        "to the experiment file")
        .at_least_one(),
    option<&ArraysOptions::classes>(
        "classes", kArrayClasses,
        "targets are the classes 0..`classes`-1, or the whole numbers of a list; 0: "
        "found from the file for a loss of classes, else targets are real numbers"),
    option<&ArraysOptions::tokens>(
        "tokens", between(0, 1 << 24),
        "inputs are the tokens 0..`tokens`-1, one per step; 0: inputs are real numbers"),
    option<&ArraysOptions::layout>(
        "layout",
        Choices{{"auto", AxisOrder::automatic},
                {"time_first", AxisOrder::time_first},
                {"channels_first", AxisOrder::channels_first}},
        "axes of the inputs: [N, T, input] or [N, input, T]; by default SPLIT_x is time_first; X is "
        "channels_first if T is at least twice the number of inputs, or if only then T exceeds the lags of "
        "the model, unless lengths or targets of steps contradict"),
    option<&ArraysOptions::train>("train", {.min = 0, .max = 1, .above_min = true},
                                  "share of the sequences for training where the file has X and y alone, of "
                                  "each class, where there are classes"),
    option<&ArraysOptions::valid>("valid", between(-1, 1),
                                  "share of the validation set, likewise; of the training set where the file "
                                  "has no validation set; -1: 0.15 of X, none of a training set"),
    option<&ArraysOptions::test>("test", between(0, 1), "share of the test set, likewise"),
    option<&ArraysOptions::split_seed>("split_seed", between(-1, 4294967295.0),
                                       "seed of the split; -1: the experiment's seed"),
    rows_of<&ArraysOptions::normalize>(kNormalizeOptions),
};

void check_arrays(const ArraysOptions& options, JsonReader& reader) {
  const std::int64_t classes = options.classes.count;
  if (classes == 1) reader.error("classes", "must be 0 or at least 2. Got 1.");
  if (options.normalize.target && classes > 0 && options.normalize.real_loss)
    reader.error("normalize_target",
                 text_of("applies to real targets. Expected false with ", classes, " classes."));
  if (options.normalize.input && options.tokens > 0)
    reader.error("normalize",
                 text_of("applies to real inputs. Expected false with ", options.tokens, " tokens."));
  if (options.valid < 0 && options.valid != ArraysOptions::kUsualShare)
    reader.error("valid", text_of("expected a share of 0 to 1, or -1. Got ", options.valid, "."));
}

TaskLoader read_arrays_task(JsonReader& reader, const TaskHints& hints) {
  ArraysOptions options;
  options.every_step = hints.every_step;
  options.lag = hints.lag;
  options.normalize.real_loss = hints.real_loss;
  read_options(reader, checked<check_arrays>(kArraysRows), options);
  return {.load = std::bind_front(load_arrays, options)};
}

}  // namespace

constinit const TaskEntry kArraysTask = {
    .name = "arrays",
    .summary = "learn from sequences and targets of your own, from an .npz file",
    .source = "",
    .equations =
        "X or SPLIT_x: [N, T, input], also [N, T] and [N, input, T]\n"
        "y or SPLIT_y: [N], [N, output] or one-hot [N, classes]; at every step [N, T] or [N, T, output]\n"
        "lengths or SPLIT_lengths: [N], the number of steps of each sequence; needed only where it is not "
        "always T",
    .files =
        "an .npz file, as `lagtape data` or numpy.savez writes it, with X and y, which are divided, or with\n"
        "train_x and train_y, valid_x, ..., also called X_train, x_val, test_labels and the like",
    .read = read_arrays_task,
};

}  // namespace lagtape
