#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/core/problem.h"

namespace lagtape {

class TableCodes;
struct RecordingColumns;

/// A column with one value a sequence.
struct SequenceLabel {
  std::int64_t column = 0;
  std::vector<std::string> classes = {};  ///< words or few whole numbers, sorted; empty: other numbers
  bool is_called_so = false;              ///< by its name: "label", "class", "target", ...
};

/// A column that is called as labels are and has one value in most sequences, but not in all.
struct BrokenLabel {
  std::int64_t column = 0;
  Problem problem = {};  ///< the first of the others, and how many there are
};

/// The columns of a table with many sequences.
struct SequenceColumns {
  std::vector<std::int64_t> sequence = {};  ///< say which sequence a row is of; none: the table has not many
  std::int64_t count = 0;                   ///< sequences
  std::int64_t time = -1;                   ///< orders the rows of each sequence; -1: they are in order
  bool shares_dates = false;  ///< sequences have dates in common, as series that are predicted have
  std::vector<SequenceLabel> labels = {};  ///< the likeliest first
  std::vector<std::int64_t> fixed = {};    ///< other columns with one value a sequence
  std::optional<BrokenLabel> broken = {};
  std::int64_t group = -1;  ///< a column of persons or the like, several sequences of each; -1: there is none

  /// Whether a label is rather to be learned than the next rows.
  bool is_likely() const { return !labels.empty() && (labels.front().is_called_so || !shares_dates); }
  bool is_named_by(std::int64_t column) const;
  /// The label of a column; nullptr where it is none.
  const SequenceLabel* label(std::int64_t column) const;
};

/// Looks for a column of words or whole numbers, or for two, each in rows that follow each other or at each time once, and
/// for columns that have one value in all rows of each.
SequenceColumns find_sequences(TableCodes& codes, const RecordingColumns& found);

}  // namespace lagtape
