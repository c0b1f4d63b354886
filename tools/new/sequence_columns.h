#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/core/problem.h"

namespace lagtape {

class TableCodes;
struct RecordingColumns;

/// A column with one value per sequence.
struct SequenceLabel {
  std::int64_t column = 0;
  std::vector<std::string> classes = {};  ///< words or few integers, sorted; empty: other numbers
  bool is_called_so = false;              ///< judging by its name: "label", "class", "target", ...
};

/// A column named like a label, with one value in most sequences but not in all.
struct BrokenLabel {
  std::int64_t column = 0;
  Problem problem = {};  ///< the first exception, and their number
};

/// The columns of a table with many sequences.
struct SequenceColumns {
  std::vector<std::int64_t> sequence =
      {};                     ///< columns that name a row's sequence; none: the table does not contain many
  std::int64_t count = 0;     ///< sequences
  std::int64_t time = -1;     ///< orders the rows of each sequence; -1: they are in order
  bool shares_dates = false;  ///< sequences share dates, like series to be predicted
  std::vector<SequenceLabel> labels = {};  ///< the likeliest first
  std::vector<std::int64_t> fixed = {};    ///< other columns with one value per sequence
  std::optional<BrokenLabel> broken = {};
  std::int64_t group = -1;  ///< a column of persons or the like, with several sequences each; -1: none

  /// Whether to learn a label rather than to predict the next rows.
  bool is_likely() const { return !labels.empty() && (labels.front().is_called_so || !shares_dates); }
  bool is_named_by(std::int64_t column) const;
  /// The label in a column; nullptr if it is not a label.
  const SequenceLabel* label(std::int64_t column) const;
};

/// Looks for one or two columns of words or integers that name sequences, in consecutive rows or once at each
/// time, and for columns with a constant value in each sequence.
SequenceColumns find_sequences(TableCodes& codes, const RecordingColumns& found);

}  // namespace lagtape
