#include "lagtape/data/tasks/series.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/io/csv.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/formats/series_file.h"
#include "lagtape/data/moments.h"
#include "lagtape/data/normalize_options.h"

namespace lagtape {

namespace {

constexpr double kMostSteps = 1e8;

struct SeriesOptions {
  std::string path, array;
  Json input, target;  ///< lists of names and numbers, or null
  std::int64_t window = 1, horizon = 1, stride = 1;
  bool every_step = false;
  NormalizeOptions normalize;
  double train = 0.7, valid = 0.15, test = 0.15;
};

/// The series and rows from which the windows of a split are taken.
struct Stretch {
  std::int64_t first_series = 0, series = 0, first_row = 0, rows = 0;
};

struct Columns {
  std::vector<std::int64_t> input, target;
};

class WindowDataset final : public Dataset {
 public:
  WindowDataset(const DataShape& shape, Tensor values, const Stretch& stretch, const Columns& columns,
                const SeriesOptions& options)
      : Dataset(shape), values_(std::move(values)), stretch_(stretch), columns_(columns), options_(options) {
    const std::int64_t spare = stretch.rows - options.window - options.horizon;
    windows_ = spare < 0 ? 0 : spare / options.stride + 1;
  }

  std::int64_t size() const override { return windows_ * stretch_.series; }

  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    const std::int64_t series = stretch_.first_series + index / windows_;
    const std::int64_t first = stretch_.first_row + index % windows_ * options_.stride;
    const std::int64_t last = first + options_.window - 1;
    copy(series, first, options_.window, columns_.input, batch.x, row);
    if (options_.every_step) {
      copy(series, first + options_.horizon, options_.window, columns_.target, batch.y, row);
    } else {
      copy(series, last + options_.horizon, 1, columns_.target, batch.y, row);
    }
  }

 private:
  /// Copies some columns of the rows first .. first + steps - 1 into a row of a batch.
  void copy(std::int64_t series, std::int64_t first, std::int64_t steps,
            const std::vector<std::int64_t>& columns, Tensor& batch, std::int64_t row) const {
    with_scalar(values_.dtype(), [&]<class From>() {
      const From* from = values_.values<From>().data() + (series * values_.size(1) + first) * values_.size(2);
      with_scalar(batch.dtype(), [&]<class To>() {
        To* to = batch.values<To>().data() + row * steps * static_cast<std::int64_t>(columns.size());
        for (std::int64_t n = 0; n < steps; ++n, from += values_.size(2)) {
          for (std::int64_t column : columns) *to++ = static_cast<To>(from[column]);
        }
      });
    });
  }

  Tensor values_;
  Stretch stretch_;
  Columns columns_;
  SeriesOptions options_;
  std::int64_t windows_;
};

/// The columns that a list names, or all columns without a list.
std::vector<std::int64_t> columns_of(const Json& list, const SeriesFile& file, const std::string& where) {
  const std::int64_t present = file.values.size(2);
  std::vector<std::int64_t> columns;
  if (list.is_null()) {
    for (std::int64_t column = 0; column < present; ++column) columns.push_back(column);
    return columns;
  }
  for (const Json& entry : list) {
    if (entry.is_string()) {
      if (file.names.empty())
        throw InputError(text_of(where, ": its columns have no names. Got ", entry.dump(), "."));
      columns.push_back(column_named(entry.get<std::string>(), file.names, where));
    } else {
      const auto column = entry.get<std::int64_t>();
      if (column >= present) {
        throw InputError(text_of(where, ": columns are 0..", present - 1, ". Got ", column, "."));
      }
      columns.push_back(column);
    }
  }
  return columns;
}

/// The stretches of train, valid and test: parts of a single series in time, or whole series in their order.
std::vector<Stretch> stretches_of(const SeriesOptions& options, const Tensor& values) {
  const std::int64_t series = values.size(0), rows = values.size(1), dealt = series == 1 ? rows : series;
  std::vector<Stretch> stretches;
  double share = 0;
  std::int64_t first = 0;
  for (double part : {options.train, options.valid, options.test}) {
    share += part;
    const auto end = std::min<std::int64_t>(std::llround(share * static_cast<double>(dealt)), dealt);
    stretches.push_back(series == 1 ? Stretch{0, 1, first, end - first}
                                    : Stretch{first, end - first, 0, rows});
    first = end;
  }
  return stretches;
}

Scaling scaling_of(const Tensor& values, const Stretch& stretch, const std::vector<std::int64_t>& columns) {
  Moments moments(static_cast<std::int64_t>(columns.size()));
  for (std::int64_t series = stretch.first_series; series < stretch.first_series + stretch.series; ++series) {
    for (std::int64_t row = stretch.first_row; row < stretch.first_row + stretch.rows; ++row) {
      const std::int64_t at = (series * values.size(1) + row) * values.size(2);
      moments.add([&](std::size_t i) { return values.at(at + columns[i]); });
    }
  }
  return moments.standard();
}

Task load_series(SeriesOptions options, const TaskContext& context) {
  if (context.score_only) {
    options.train = options.valid = 0;
    options.test = 1;
    options.normalize = {};
  }
  const std::filesystem::path path = (context.base / options.path).lexically_normal();
  const SeriesFile file = read_series_file(path, options.array);
  const Columns columns{.input = columns_of(options.input, file, path.string()),
                        .target = options.target.is_null() ? columns_of(options.input, file, path.string())
                                                           : columns_of(options.target, file, path.string())};
  const DataShape shape{.length = options.window,
                        .input = static_cast<std::int64_t>(columns.input.size()),
                        .output = static_cast<std::int64_t>(columns.target.size()),
                        .classes = 0,
                        .every_step = options.every_step};
  const std::vector<Stretch> stretches = stretches_of(options, file.values);
  const double shares[] = {options.train, options.valid, options.test};
  const char* const names[] = {"train", "valid", context.score_only ? "a window" : "test"};
  std::vector<std::shared_ptr<const Dataset>> splits;
  for (std::size_t i = 0; i < 3; ++i) {
    splits.push_back(std::make_shared<WindowDataset>(shape, file.values, stretches[i], columns, options));
    if (splits[i]->size() > 0 || shares[i] == 0) continue;
    throw InputError(text_of(path.string(), ": too short for ", names[i], ": its share is ",
                             stretches[i].series, " series of ", stretches[i].rows,
                             " rows, expected at least 1 of ", options.window + options.horizon,
                             " (window + horizon)."));
  }
  Task task{.shape = shape,
            .train = splits[0],
            .valid = splits[1],
            .test = splits[2],
            .fresh = false,
            .normalization = {}};
  if (options.normalize.input)
    task.normalization.input = scaling_of(file.values, stretches[0], columns.input);
  if (options.normalize.target)
    task.normalization.output = scaling_of(file.values, stretches[0], columns.target);
  return task;
}

/// Reads a list of column names and numbers without repetition, or null.
Json read_columns(JsonReader& reader, const std::string& key, const std::string& about) {
  const Json list = reader.raw(key, about);
  reader.fill(key, list);
  if (list.is_null()) return list;
  bool fits = list.is_array() && !list.empty();
  for (std::size_t i = 0; fits && i < list.size(); ++i) {
    fits = list[i].is_string() || list[i].is_number_unsigned();
    if (fits && std::find(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), list[i]) !=
                    list.begin() + static_cast<std::ptrdiff_t>(i)) {
      reader.error(key, text_of("names the column ", list[i].dump(), " twice."));
      return {};
    }
  }
  if (fits) return list;
  reader.error(key, text_of("expected a list of columns, names or numbers from 0. Got ", list.dump(), "."));
  return {};
}

TaskLoader read_series_task(JsonReader& reader, const TaskHints& hints) {
  SeriesOptions options;
  options.every_step = hints.every_step;
  reader.required("path", options.path, "a .csv, .npy or .npz file, relative to the experiment file");
  reader.optional("array", options.array, "name of the array in an .npz file; \"\": its only one");
  options.input = read_columns(reader, "input", "input columns, names or numbers from 0; null: all");
  options.target = read_columns(reader, "target", "columns to predict; null: the input columns");
  reader.required("window", options.window, between(1, kMostSteps), "steps of a sequence");
  reader.optional("horizon", options.horizon, between(0, kMostSteps), "steps from an input to its target");
  reader.optional(
      "every_step", options.every_step,
      "a target at every step instead of only after the last; by default if the read-out is at every step");
  options.stride = options.every_step ? options.window : 1;
  reader.optional("stride", options.stride, between(1, kMostSteps),
                  "steps from a window to the next; by default `window` with targets at every step, else 1");
  options.normalize = read_normalize_options(reader, hints, {.input = true, .target = hints.real_loss});
  reader.optional("train", options.train, {.min = 0, .max = 1, .above_min = true},
                  "share of the training set: the first rows (or series, if there are several)");
  reader.optional("valid", options.valid, between(0, 1), "share of the validation set: the next rows");
  reader.optional("test", options.test, between(0, 1), "share of the test set: the next rows");
  if (options.train + options.valid + options.test > 1 + 1e-9) {
    reader.error("test", "the shares of train, valid and test add up to more than 1.");
  }
  TaskLoader loader;
  if (!options.input.is_null()) {
    const auto input = static_cast<std::int64_t>(options.input.size());
    const auto target = static_cast<std::int64_t>(options.target.size());
    loader.shape = DataShape{.length = options.window,
                             .input = input,
                             .output = options.target.is_null() ? input : target,
                             .classes = 0,
                             .every_step = options.every_step};
  }
  loader.load = [options](const TaskContext& context) { return load_series(options, context); };
  return loader;
}

}  // namespace

constinit const TaskEntry kSeriesTask = {
    .name = "series",
    .summary = "predict a time series of your own, from a .csv, .npy or .npz file",
    .source = "",
    .equations =
        "x: [window, input columns]; y: the target columns `horizon` steps later, at every step or after the "
        "last",
    .files =
        "a .csv file (one row per step, with or without names in the first line), or a .npy or .npz file of "
        "[rows],\n"
        "[rows, columns] or [series, rows, columns]",
    .read = read_series_task,
};

}  // namespace lagtape
