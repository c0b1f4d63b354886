#include "lagtape/data/tasks/registry.h"

#include <algorithm>
#include <span>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/series/naive_errors.h"
#include "lagtape/data/series/read_panel.h"
#include "lagtape/data/series/residual.h"
#include "lagtape/data/series/series_scaling.h"
#include "lagtape/data/series/windows.h"

namespace lagtape {

namespace {

/// Reports which part of a recording is too short for a window, and what may help.
[[noreturn]] void refuse_short(const std::string& path, const char* name, const SeriesSplit& split,
                               const SeriesOptions& options) {
  std::int64_t longest = 0;
  for (const RowRange& segment : split.segments) longest = std::max(longest, segment.rows);
  const bool is_divided = split.segments.size() > static_cast<std::size_t>(split.series);
  const std::string gaps = is_divided ? text_of(" The longest stretch without a gap has ", longest,
                                                R"(; "across_gaps": true joins them.)")
                           : split.series > 1 && options.split == SplitBy::time
                               ? R"( "split": "series" keeps whole series apart.)"
                               : std::string();
  throw InputError(
      {path}, Rule::shape,
      text_of("too short for ", name, ": its share is ", split.series, " series of ",
              split.rows / std::max<std::int64_t>(split.series, 1), " rows, expected at least 1 of ",
              options.window + options.horizon, " (window + horizon).", gaps));
}

/// Counts the series that a set leaves out.
std::string note_of_short(const char* name, std::int64_t too_short, std::int64_t series) {
  return text_of(too_short, " of ", series, " series ", too_short == 1 ? "is" : "are",
                 " too short for a window of ", name, ": left out of it");
}

/// The normalization of all series, based on the rows of a split.
Normalization normalization_of_all(const SeriesOptions& options, const Panel& panel,
                                   const SeriesSplit& split) {
  std::vector<std::int64_t> inputs;
  for (const PanelInput& input : panel.input) inputs.push_back(input.column);
  Normalization all;
  if (options.normalize != ScaleBy::nothing) all.input = scaling_of_rows(panel, split.segments, inputs);
  if (options.normalize_target != ScaleBy::nothing)
    all.output = scaling_of_rows(panel, split.segments, panel.target);
  return all;
}

/// The rows of a split that belong to a series.
std::span<const RowRange> rows_of(const PanelSeries& series, const SeriesSplit& split) {
  const auto begin = std::ranges::lower_bound(split.segments, series.first, {}, &RowRange::first);
  const auto end = std::ranges::lower_bound(split.segments, series.end(), {}, &RowRange::first);
  return {begin, end};
}

/// Excludes the rows that determine a series' scaling from scoring.
void leave_out(const RowRange& rows, const PanelSeries& series, std::vector<SeriesSplit>& splits) {
  for (SeriesSplit& split : splits) {
    const auto begin = std::ranges::lower_bound(split.segments, series.first, {}, &RowRange::first);
    for (auto segment = begin; segment != split.segments.end() && segment->first < series.end(); ++segment) {
      const std::int64_t first = std::clamp(rows.end(), segment->first, segment->end());
      *segment = {first, segment->end() - first};
    }
  }
}

/// The normalization of each series: the trained model's, else from its training rows; for a series without
/// any, from its first rows, which are not scored. `known` is null during training.
std::vector<Normalization> normalizations_of(const SeriesOptions& options, const Panel& panel,
                                             std::vector<SeriesSplit>& splits, const Normalization& all,
                                             const SeriesNormalizations* known) {
  std::vector<Normalization> result;
  for (const PanelSeries& series : panel.series) {
    if (known != nullptr)
      if (const auto found = known->find(series.name()); found != known->end()) {
        result.push_back(found->second);
        continue;
      }
    const std::span<const RowRange> training = rows_of(series, splits[0]);
    const RowRange first = scaling_rows(series, options);
    result.push_back(
        normalization_of_series(options, panel, training.empty() ? std::span(&first, 1) : training,
                                known != nullptr && !known->empty() ? known->begin()->second : all));
    if (training.empty()) leave_out(first, series, splits);
  }
  return result;
}

/// Decides what is scaled by series if the options leave it open; a model with several series keeps its own
/// choice.
void choose_scaling(SeriesOptions& options, const Panel& panel, Task& task) {
  const bool is_panel = panel.series.size() > 1;
  const auto choose = [&](ScaleBy& by, const char* key) {
    if (by != ScaleBy::best) return;
    by = is_panel && options.split == SplitBy::time ? ScaleBy::series : ScaleBy::all;
    if (is_panel) task.found.emplace_back(key, by == ScaleBy::series ? "series" : "all");
  };
  choose(options.normalize, "normalize");
  choose(options.normalize_target, "normalize_target");
}

/// A task's normalizations, for all series and for each.
void normalize(SeriesOptions options, const Panel& panel, std::vector<SeriesSplit>& splits,
               const TaskContext& context, Task& task, SeriesFacts& facts) {
  const bool is_trained = context.known != nullptr;
  choose_scaling(options, panel, task);
  if (!context.score_only) task.normalization = normalization_of_all(options, panel, splits[0]);
  const bool by_series = options.normalize == ScaleBy::series || options.normalize_target == ScaleBy::series;
  if (is_trained ? context.known->empty() : !by_series) return;
  facts.normalizations = normalizations_of(options, panel, splits, task.normalization, context.known);
  if (is_trained) return;
  for (std::size_t i = 0; i < facts.normalizations.size(); ++i) {
    if (!rows_of(panel.series[i], splits[0]).empty())
      task.series.emplace(panel.series[i].name(), facts.normalizations[i]);
  }
}

Task load_series(SeriesOptions options, const TaskContext& context) {
  if (context.score_only) {
    options.train = options.valid = 0;
    options.test = 1;
  }
  const std::string path = options.where();
  const auto panel = std::make_shared<const Panel>(read_panel(options, context.base));
  // If several series are split in time, the rows before a part are read as the past of its first windows.
  const bool reads_before = panel->series.size() > 1 && options.split == SplitBy::time;
  Task task;
  task.shape = {.length = options.window,
                .input = std::ssize(panel->input),
                .output = std::ssize(panel->target),
                .every_step = options.every_step,
                .missing_targets =
                    options.missing != Missing::error || options.residual != Residual::none || reads_before,
                .linear = residual_term(options, *panel)};
  std::vector<SeriesSplit> splits = split_panel(options, *panel);
  auto facts = std::make_shared<SeriesFacts>(SeriesFacts{naive_errors(*panel, splits[0].segments)});
  normalize(options, *panel, splits, context, task, *facts);
  const std::int64_t apart = options.stride > 0 ? options.stride : options.every_step ? options.window : 1;
  const double shares[] = {options.train, options.valid, options.test};
  const char* const names[] = {"train", "valid", context.score_only ? "a window" : "test"};
  std::shared_ptr<const Dataset>* const sets[] = {&task.train, &task.valid, &task.test};
  task.notes = panel->notes;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t stride = i == 0 ? training_stride(splits[i], options) : apart;
    const auto set =
        std::make_shared<WindowDataset>(task.shape, panel, splits[i], options, stride,
                                        WindowChoices{.facts = facts,
                                                      .weight = i == 0 ? options.weight : WeightBy::row,
                                                      .reads_before = i > 0 && reads_before});
    *sets[i] = set;
    if (shares[i] <= 0) continue;
    if (set->size() == 0) refuse_short(path, names[i], splits[i], options);
    if (const std::int64_t too_short = splits[i].series - set->series_count(); too_short > 0)
      task.notes.push_back(note_of_short(names[i], too_short, splits[i].series));
  }
  if (task.shape.linear) task.seasonal = seasonal_features(options, *panel, *task.shape.linear);
  if (!panel->axis.grids.empty() && panel->axis.grids.front().is_even && options.frequency == "auto")
    task.found.emplace_back("frequency", panel->axis.frequency().with_anchor(-1).name());
  if (options.timezone.empty() && panel->axis.has_zone())
    task.found.emplace_back("timezone", panel->axis.zone.name());
  const DateOrder order = date_order_of(panel->axis.format);
  if (order != DateOrder::automatic && options.date_order == DateOrder::automatic)
    task.found.emplace_back("date_order", name_of(order));
  return task;
}

TaskLoader read_series_task(JsonReader& reader, const TaskHints& hints) {
  const SeriesOptions options = read_series_options(reader, hints);
  TaskLoader loader;
  loader.of_series = true;
  const auto [input, output] = options.widths();
  if (input > 0 && options.residual == Residual::none) {
    loader.shape = DataShape{.length = options.window,
                             .input = input,
                             .output = output,
                             .every_step = options.every_step,
                             .missing_targets = options.missing != Missing::error};
  }
  loader.load = [options](const TaskContext& context) { return load_series(options, context); };
  return loader;
}

}  // namespace

/// A user's own time series: from `window` steps of the input columns, the target columns `horizon` steps later, at
/// every step or after the last. Windows begin `stride` steps apart. Each series is cut in time: its first rows are for
/// training, the next for validation, the last for the test, and no window crosses a cut, but that of several series
/// those of validation and test read the rows before it. With `split` "series" several series are not cut: each belongs
/// to one set as a whole, in their order. With `normalize` the inputs, with `normalize_target` (for mse only) the
/// targets are scaled by the mean and standard deviation of the training rows, of all series or of each.
constinit const TaskEntry kSeriesTask = {
    .name = "series",
    .summary = "predict a time series of your own, from a .csv, .npy or .npz file",
    .source = "",
    .equations =
        "x: [window, inputs]; y: the target columns `horizon` steps later, at every step or after the last;\n"
        "inputs at row k: past and target columns at k, future columns and the calendar at k and at\n"
        "k + horizon",
    .files =
        "a .csv file (one row per step, with or without names in the first line, any separator), or a .npy "
        "or\n"
        ".npz file of [rows], [rows, columns] or [series, rows, columns]; or a list of such files. Several\n"
        "series are several files, or one table with a column that names the series of each row (`series`);\n"
        "a .tsf file has them in its lines",
    .read = read_series_task,
};

}  // namespace lagtape
