#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// A user's own time series: from `window` steps of the input columns, the target columns `horizon` steps
/// later, at every step or after the last. Windows begin `stride` steps apart. A single series is cut in
/// time: its first rows are for training, the next for validation, the last for the test, and no window
/// crosses a cut. Several series are not cut: each belongs to one split as a whole, in their order. With
/// `normalize` the inputs, with `normalize_target` (for mse only) the targets are scaled by the mean and
/// standard deviation of the training rows.
extern const TaskEntry kSeriesTask;

}  // namespace lagtape
