#include "lagtape/data/tasks/registry.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/json/options.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/npz_reader.h"
#include "lagtape/data/moments.h"
#include "lagtape/data/normalize_options.h"

namespace lagtape {

namespace {

struct ArraysOptions {
  std::string path;
  std::int64_t classes = 0, tokens = 0;
  bool every_step = false;  ///< the model reads out at every step
  NormalizeOptions normalize;
};

/// The arrays of one split; `lengths` is empty when all sequences have the same length.
struct SplitArrays {
  Tensor x, y, lengths;
};

class ArraysDataset final : public Dataset {
 public:
  ArraysDataset(const DataShape& shape, SplitArrays arrays) : Dataset(shape), arrays_(std::move(arrays)) {}

  std::int64_t size() const override { return arrays_.x.empty() ? 0 : arrays_.x.size(0); }

  std::int64_t length(std::int64_t index) const override {
    return arrays_.lengths.empty() ? arrays_.x.size(1) : static_cast<std::int64_t>(arrays_.lengths.at(index));
  }

  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    const std::int64_t steps = length(index);
    copy(arrays_.x, index, steps, batch.x, row);
    if (shape().classes == 0) {
      copy(arrays_.y, index, shape().every_step ? steps : 1, batch.y, row);
      return;
    }
    const std::int64_t stored = shape().every_step ? arrays_.x.size(1) : 1;
    const std::int64_t padded = shape().every_step ? batch.x.size(1) : 1;
    for (std::int64_t n = 0; n < std::min(stored, steps); ++n) {
      batch.classes[static_cast<std::size_t>(row * padded + n)] =
          static_cast<std::int32_t>(arrays_.y.at(index * stored + n));
    }
  }

 private:
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

  SplitArrays arrays_;
};

/// The arrays of an .npz file, which are taken out split by split and checked.
class ArraysFile {
 public:
  ArraysFile(const std::filesystem::path& path, const ArraysOptions& options)
      : path_(path.string()), options_(options), arrays_(read_npz(path)) {}

  /// The arrays of a split, empty when the file has none. The first split decides `shape`.
  SplitArrays take(const std::string& split, DataShape& shape) {
    SplitArrays found{take(split + "_x"), take(split + "_y"), take(split + "_lengths")};
    if (found.x.empty() && found.y.empty() && found.lengths.empty()) return found;
    const bool first = shape.length == 0;
    if (found.x.empty()) refuse(split + "_x", Rule::missing, "is missing");
    if (found.y.empty()) refuse(split + "_y", Rule::missing, "is missing");
    if (found.x.rank() != 3)
      refuse(split + "_x", Rule::shape, text_of("expected [N, T, input]. Got ", to_string(found.x.shape())));
    if (found.x.size(0) > 0 && found.x.numel() == 0) {
      refuse(split + "_x", Rule::shape,
             text_of("expected at least one step and one input. Got ", to_string(found.x.shape())));
    }
    const Shape given = found.y.shape();
    if (is_column_of_classes(found, first, shape)) found.y = found.y.reshaped({found.x.size(0)});
    if (first) shape = shape_of(split, found);
    if (found.x.size(2) != shape.input) {
      refuse(split + "_x", Rule::shape,
             text_of("expected ", shape.input, " inputs as in training. Got ", found.x.size(2)));
    }
    shape.length = std::max(shape.length, found.x.size(1));
    Shape expected = {found.x.size(0)};
    if (shape.every_step) expected.push_back(found.x.size(1));
    if (options_.classes == 0) expected.push_back(shape.output);
    if (found.y.shape() == Shape{found.x.size(0)} && expected == Shape{found.x.size(0), 1}) {
      found.y = found.y.reshaped(expected);
    }
    if (found.y.shape() != expected) {
      refuse(split + "_y", Rule::shape,
             text_of("expected ", to_string(expected), ". Got ", to_string(given)));
    }
    check_lengths(split, found);
    check_numbers(split + "_x", found.x, found.x.size(1), found.lengths);
    check_numbers(split + "_y", found.y, shape.every_step ? found.x.size(1) : 1, found.lengths);
    if (options_.tokens > 0) check_tokens(split, found);
    if (options_.classes > 0) check_classes(split, found, shape);
    return found;
  }

  void finish() const {
    if (arrays_.empty()) return;
    refuse(arrays_.begin()->first, Rule::conflict,
           "is unknown. Expected SPLIT_x, SPLIT_y, SPLIT_lengths, SPLIT one of train, valid, test");
  }

 private:
  [[noreturn]] void refuse(const std::string& name, Rule rule, const std::string& what) const {
    throw InputError({.file = path_, .item = shortened(name)}, rule, what + ".");
  }

  Tensor take(const std::string& name) {
    const auto found = arrays_.extract(name);
    return found ? found.mapped() : Tensor{};
  }

  /// Whether targets of shape [N, 1] are a class a sequence, and not a class at the only step of each
  /// sequence.
  bool is_column_of_classes(const SplitArrays& arrays, bool first, const DataShape& shape) const {
    if (options_.classes == 0 || arrays.y.shape() != Shape{arrays.x.size(0), 1}) return false;
    return first ? arrays.x.size(1) != 1 || !options_.every_step : !shape.every_step;
  }

  /// The shape of the data, from the arrays of the first split.
  DataShape shape_of(const std::string& split, const SplitArrays& arrays) const {
    const std::int64_t rank = arrays.y.rank(), most = options_.classes > 0 ? 2 : 3;
    if (rank < 1 || rank > most) {
      refuse(split + "_y", Rule::shape,
             text_of("expected ", options_.classes > 0 ? "[N] or [N, T]" : "[N, output] or [N, T, output]",
                     ". Got ", to_string(arrays.y.shape())));
    }
    return {.length = arrays.x.size(1),
            .input = arrays.x.size(2),
            .output = options_.classes > 0 ? 0
                      : rank == 1          ? 1
                                           : arrays.y.size(-1),
            .classes = options_.classes,
            .every_step = rank == most,
            .tokens = options_.tokens};
  }

  void check_lengths(const std::string& split, const SplitArrays& arrays) const {
    if (arrays.lengths.empty()) return;
    if (arrays.lengths.shape() != Shape{arrays.x.size(0)}) {
      refuse(split + "_lengths", Rule::shape,
             text_of("expected [", arrays.x.size(0), "]. Got ", to_string(arrays.lengths.shape())));
    }
    for (std::int64_t i = 0; i < arrays.lengths.numel(); ++i) {
      const double length = arrays.lengths.at(i);
      if (length >= 1 && length <= static_cast<double>(arrays.x.size(1)) && length == std::floor(length))
        continue;
      refuse(split + "_lengths", Rule::out_of_range,
             text_of("expected 1..", arrays.x.size(1), ". Got ", length, " for sequence ", i));
    }
  }

  /// The numbers of a sequence's own steps are finite. `values`: [N, T, width], or [N, width] with one step.
  void check_numbers(const std::string& name, const Tensor& values, std::int64_t steps,
                     const Tensor& lengths) const {
    const std::int64_t count = values.empty() ? 0 : values.size(0);
    const std::int64_t width = count == 0 ? 1 : values.numel() / (count * steps);
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      const std::int64_t sequence = i / (steps * width), step = i / width % steps;
      const bool padding = steps > 1 && !lengths.empty() && static_cast<double>(step) >= lengths.at(sequence);
      if (padding || std::isfinite(values.at(i))) continue;
      refuse(name, Rule::not_finite,
             text_of("numbers must be finite. Got ", values.at(i), " in sequence ", sequence, ", step ", step,
                     ", number ", i % width));
    }
  }

  void check_tokens(const std::string& split, const SplitArrays& arrays) const {
    const std::int64_t steps = arrays.x.size(1);
    if (arrays.x.size(2) != 1)
      refuse(split + "_x", Rule::shape,
             text_of("expected [N, T, 1], one token per step. Got ", to_string(arrays.x.shape())));
    for (std::int64_t i = 0; i < arrays.x.numel(); ++i) {
      const double value = arrays.x.at(i);
      const bool padding =
          !arrays.lengths.empty() && static_cast<double>(i % steps) >= arrays.lengths.at(i / steps);
      if (padding ||
          (value >= 0 && value < static_cast<double>(options_.tokens) && value == std::floor(value))) {
        continue;
      }
      refuse(split + "_x", Rule::out_of_range,
             text_of("expected tokens 0..", options_.tokens - 1, ". Got ", value, " in sequence ", i / steps,
                     ", step ", i % steps));
    }
  }

  void check_classes(const std::string& split, const SplitArrays& arrays, const DataShape& shape) const {
    const std::int64_t steps = shape.every_step ? arrays.x.size(1) : 1;
    for (std::int64_t i = 0; i < arrays.y.numel(); ++i) {
      const bool padding = shape.every_step && !arrays.lengths.empty() &&
                           static_cast<double>(i % steps) >= arrays.lengths.at(i / steps);
      const double value = arrays.y.at(i);
      if (padding ||
          (value >= 0 && value < static_cast<double>(options_.classes) && value == std::floor(value))) {
        continue;
      }
      refuse(
          split + "_y", Rule::out_of_range,
          text_of("expected classes 0..", options_.classes - 1, ". Got ", value, " in sequence ", i / steps));
    }
  }

  std::string path_;
  ArraysOptions options_;
  std::map<std::string, Tensor> arrays_;
};

/// The scaling of `values`: [N, T, width], over each sequence's own steps, or [N, width].
Scaling scaling_of(const Dataset& train, const Tensor& values) {
  const std::int64_t width = values.size(-1), stored = values.rank() == 3 ? values.size(1) : 1;
  Moments moments(width);
  for (std::int64_t i = 0; i < train.size(); ++i) {
    const std::int64_t steps = values.rank() == 3 ? train.length(i) : 1;
    for (std::int64_t n = 0; n < steps; ++n) {
      moments.add([&](std::size_t feature) {
        return values.at((i * stored + n) * width + static_cast<std::int64_t>(feature));
      });
    }
  }
  return moments.standard();
}

Task load_arrays(const ArraysOptions& options, const TaskContext& context) {
  const std::filesystem::path path = (context.base / options.path).lexically_normal();
  ArraysFile file(path, options);
  DataShape shape;
  SplitArrays train = file.take("train", shape);
  if (!context.score_only && (train.x.empty() || train.x.numel() == 0))
    throw InputError({path.string()}, Rule::missing, "contains no train_x.");
  SplitArrays valid = file.take("valid", shape), test = file.take("test", shape);
  file.finish();
  Task task{.shape = shape,
            .train = std::make_shared<ArraysDataset>(shape, train),
            .valid = std::make_shared<ArraysDataset>(shape, valid),
            .test = std::make_shared<ArraysDataset>(shape, test)};
  if (context.score_only) return task;
  if (options.normalize.input) task.normalization.input = scaling_of(*task.train, train.x);
  if (options.normalize.target) task.normalization.output = scaling_of(*task.train, train.y);
  return task;
}

constexpr Option kArraysRows[] = {
    required<&ArraysOptions::path>(
        "path", "an .npz file with train_x, train_y, valid_x, ..., relative to the experiment file")
        .at_least_one(),
    option<&ArraysOptions::classes>("classes", between(0, 1e6),
                                    "targets are the classes 0..`classes`-1; 0: targets are real numbers"),
    option<&ArraysOptions::tokens>(
        "tokens", between(0, 1 << 24),
        "inputs are the tokens 0..`tokens`-1, one per step; 0: inputs are real numbers"),
    rows_of<&ArraysOptions::normalize>(kNormalizeOptions),
};

void check_arrays(const ArraysOptions& options, JsonReader& reader) {
  if (options.classes == 1) reader.error("classes", "must be 0 or at least 2. Got 1.");
  if (options.normalize.target && options.classes > 0 && options.normalize.real_loss)
    reader.error("normalize_target",
                 text_of("applies to real targets. Expected false with ", options.classes, " classes."));
  if (options.normalize.input && options.tokens > 0)
    reader.error("normalize",
                 text_of("applies to real inputs. Expected false with ", options.tokens, " tokens."));
}

TaskLoader read_arrays_task(JsonReader& reader, const TaskHints& hints) {
  ArraysOptions options;
  options.every_step = hints.every_step;
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
        "SPLIT_x: [N, T, input]\n"
        "SPLIT_y: [N] or [N, output]; with a target at every step [N, T] or [N, T, output]\n"
        "SPLIT_lengths: [N], the number of steps of each sequence; needed only where it is not always T",
    .files =
        "an .npz file with train_x and train_y, valid_x, ..., as `lagtape data` or numpy.savez writes it",
    .read = read_arrays_task,
};

}  // namespace lagtape
