#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/data/normalize_options.h"
#include "lagtape/data/series/series_options.h"
#include "lagtape/data/stored_sequences.h"
#include "lagtape/data/table/table_options.h"

namespace lagtape {

/// How a table of many sequences is read and split: the options of the task "sequences".
struct SequenceOptions {
  std::string path, time, target;     ///< file, and columns; no `time`: rows keep their order
  std::vector<std::string> sequence;  ///< columns that identify sequences
  std::vector<std::string> input;     ///< columns
  std::vector<Category> categories;   ///< the input columns that contain words
  std::vector<std::string> classes;   ///< the words of `target` by class; empty: those found in the file
  TableOptions table;                 ///< how the file is written
  std::string time_format;            ///< as in TimeFormat; empty: inferred from the rows
  DateOrder date_order = DateOrder::automatic;
  Missing missing = Missing::error;
  NormalizeOptions normalize;  ///< `real_loss` is false if targets are classes
  double train = 0.7, valid = 0.15, test = 0.15;
  std::int64_t split_seed = -1;  ///< -1: the experiment's seed
  /// columns that identify groups of sequences to be kept in the same set; none: no groups
  std::vector<std::string> group;

  /// The numeric input columns.
  std::vector<std::string> numbers() const;
  /// The inputs of a step in order: the numeric columns, their masks if requested, and the words.
  std::vector<std::string> input_names() const;
};

/// Reads the options and notes errors in the reader; the caller calls finish.
SequenceOptions read_sequence_options(JsonReader& reader, const TaskHints& hints);

/// The sequences of a table, in order of first appearance.
struct SequenceTable {
  std::string where;  ///< the file
  StoredSequences sequences = {};
  std::vector<std::vector<std::string>> ids = {};  ///< [N], the cells of the columns that identify sequences
  std::vector<std::string> targets =
      {};  ///< [N], as in the file, including unknown classes; "" if there is none
  std::vector<std::string> classes = {};        ///< names; empty for real targets
  std::vector<std::int32_t> groups = {};        ///< [N], of `group`; empty: there are none
  std::vector<std::string> notes = {};          ///< notes for the user, one sentence each
  DateOrder date_order = DateOrder::automatic;  ///< as found

  std::string name(std::size_t i) const;  ///< of a sequence: "pump 3 / 12"
};

/// Reads a file whose column `sequence` says which sequence a row belongs to, and whose column `target` has one
/// class or number per sequence, in all or some of its rows. Unless targets are needed, a table may lack them
/// or contain other classes; these classes become -1, and numbers NaN. Throws InputError with the lines.
SequenceTable read_sequence_table(const SequenceOptions& options, const std::filesystem::path& base,
                                  bool needs_targets);

}  // namespace lagtape
