#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/data/dataset.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// Labels of a sequence in charts. All are empty except for windows of recordings.
struct SequenceLabels {
  std::vector<Quantity> inputs = {}, targets = {};
  std::vector<std::int64_t> shifts = {};  ///< [inputs], rows from that of a step to the one that is read
  /// The times of the rows of the steps, and of the rows of the targets; empty without times.
  std::vector<Instant> times = {}, target_times = {};
  std::optional<TimeZone> clock = {};  ///< empty: times are not dates
  std::string series = {};             ///< the name of the sequence's series, where there are several
};

/// The series that a window is a part of, where there are several; null otherwise.
const PanelSeries* series_of(const Dataset& data, std::int64_t index);

SequenceLabels labels_of(const Dataset& data, std::int64_t index);

}  // namespace lagtape
