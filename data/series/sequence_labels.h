#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/data/dataset.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// Chart labels for a sequence. All are empty except for windows of recordings.
struct SequenceLabels {
  std::vector<Quantity> inputs = {}, targets = {};
  std::vector<std::int64_t> shifts = {};  ///< [inputs], rows from the step's row to the row that is read
  /// The times of the steps' rows and of the targets' rows; empty without times.
  std::vector<Instant> times = {}, target_times = {};
  std::optional<TimeZone> clock = {};  ///< empty: times are not dates
  std::string series = {};             ///< the name of the sequence's series, if there are several
};

/// The series that a window comes from, if there are several; otherwise null.
const PanelSeries* series_of(const Dataset& data, std::int64_t index);

SequenceLabels labels_of(const Dataset& data, std::int64_t index);

}  // namespace lagtape
