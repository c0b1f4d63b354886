#include "lagtape/data/tasks/registry.h"

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/moments.h"
#include "lagtape/data/series/naive_errors.h"
#include "lagtape/data/series/read_panel.h"
#include "lagtape/data/series/residual.h"
#include "lagtape/data/series/windows.h"

namespace lagtape {

namespace {

/// The scaling of some columns by the rows of a split. Columns that are no measured numbers stay as they are.
Scaling scaling_of(const Panel& panel, const SeriesSplit& split, const std::vector<std::int64_t>& columns) {
  Moments moments(static_cast<std::int64_t>(columns.size()));
  for (const RowRange& segment : split.segments) {
    for (std::int64_t row = segment.first; row < segment.end(); ++row)
      moments.add([&](std::size_t i) { return panel.column(columns[i]).at(row); });
  }
  Scaling scaling = moments.standard();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (panel.column(columns[i]).kind == ColumnKind::number) continue;
    scaling.mean[i] = 0;
    scaling.scale[i] = 1;
  }
  return scaling;
}

/// Says which part of a recording is too short for a window, and what may help.
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
std::string note_of_short(const char* name, const SeriesSplit& split) {
  return text_of(split.too_short, " of ", split.series, " series ", split.too_short == 1 ? "is" : "are",
                 " too short for a window of ", name, ": left out of it");
}

Task load_series(SeriesOptions options, const TaskContext& context) {
  if (context.score_only) {
    options.train = options.valid = 0;
    options.test = 1;
    options.normalize = {};
  }
  const std::string path = options.where();
  const auto panel = std::make_shared<const Panel>(read_panel(options, context.base));
  const DataShape shape{
      .length = options.window,
      .input = std::ssize(panel->input),
      .output = std::ssize(panel->target),
      .every_step = options.every_step,
      .missing_targets = options.missing != Missing::error || options.residual != Residual::none,
      .linear = residual_term(options, *panel)};
  const std::vector<SeriesSplit> splits = split_panel(options, *panel);
  const std::int64_t apart = options.stride > 0 ? options.stride : options.every_step ? options.window : 1;
  const double shares[] = {options.train, options.valid, options.test};
  const char* const names[] = {"train", "valid", context.score_only ? "a window" : "test"};
  const auto naive =
      std::make_shared<const std::vector<NaiveErrors>>(naive_errors(*panel, splits[0].segments));
  std::vector<std::shared_ptr<const Dataset>> sets;
  std::vector<std::string> notes = panel->notes;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t stride = i == 0 ? training_stride(splits[i], options) : apart;
    sets.push_back(std::make_shared<WindowDataset>(shape, panel, splits[i], options, stride, naive));
    if (sets[i]->size() == 0 && shares[i] > 0) refuse_short(path, names[i], splits[i], options);
    if (shares[i] > 0 && splits[i].too_short > 0) notes.push_back(note_of_short(names[i], splits[i]));
  }
  Task task{.shape = shape, .train = sets[0], .valid = sets[1], .test = sets[2]};
  task.notes = std::move(notes);
  if (shape.linear) task.seasonal = seasonal_features(options, *panel, *shape.linear);
  if (!panel->axis.grids.empty() && panel->axis.grids.front().is_even && options.frequency == "auto")
    task.found = {{"frequency", panel->axis.grids.front().grid.frequency().with_anchor(-1).name()}};
  const DateOrder order = date_order_of(panel->axis.format);
  if (order != DateOrder::automatic && options.date_order == DateOrder::automatic)
    task.found.emplace_back("date_order", name_of(order));
  std::vector<std::int64_t> inputs;
  for (const PanelInput& input : panel->input) inputs.push_back(input.column);
  if (options.normalize.input) task.normalization.input = scaling_of(*panel, splits[0], inputs);
  if (options.normalize.target) task.normalization.output = scaling_of(*panel, splits[0], panel->target);
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

/// A user's own time series: from `window` steps of the input columns, the target columns `horizon` steps
/// later, at every step or after the last. Windows begin `stride` steps apart. Each series is cut in time: its
/// first rows are for training, the next for validation, the last for the test, and no window crosses a cut. With
/// `split` "series" several series are not cut: each belongs to one set as a whole, in their order. With
/// `normalize` the inputs, with `normalize_target` (for mse only) the targets are scaled by the mean and
/// standard deviation of the training rows.
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
