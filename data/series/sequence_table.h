#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/data/normalize_options.h"
#include "lagtape/data/series/series_options.h"
#include "lagtape/data/stored_sequences.h"
#include "lagtape/data/table/table_options.h"

namespace lagtape {

/// How a table of many sequences is read and divided: the options of the task "sequences".
struct SequenceOptions {
  std::string path, time, target;     ///< file, and columns; no `time`: rows are in their order
  std::vector<std::string> sequence;  ///< columns that distinguish sequences
  std::vector<std::string> input;     ///< columns
  std::vector<Category> categories;   ///< the input columns of words
  std::vector<std::string> classes;   ///< the words of `target` by class; empty: those of the file
  TableOptions table;                 ///< how the file is written
  std::string time_format;            ///< that of TimeFormat; empty: found from the rows
  DateOrder date_order = DateOrder::automatic;
  Missing missing = Missing::error;
  NormalizeOptions normalize;  ///< `real_loss` is false where targets are classes
  double train = 0.7, valid = 0.15, test = 0.15;
  std::int64_t split_seed = -1;    ///< -1: that of the experiment
  std::vector<std::string> group;  ///< columns that name groups of sequences in the same set; none: no groups

  /// The input columns of numbers.
  std::vector<std::string> numbers() const;
  /// The inputs of a step in their order: the columns of numbers, where asked for their masks, and the words.
  std::vector<std::string> input_names() const;
};

/// Reads the options and notes errors in the reader; does not call finish.
SequenceOptions read_sequence_options(JsonReader& reader, const TaskHints& hints);

/// The sequences of a table in the order in which it names them first.
struct SequenceTable {
  std::string where;  ///< the file
  StoredSequences sequences = {};
  std::vector<std::vector<std::string>> ids =
      {};  ///< [N], the cells of the columns that distinguish sequences
  std::vector<std::string> targets =
      {};  ///< [N], as in the file, also unknown classes; "" where there is none
  std::vector<std::string> classes = {};        ///< names; empty for real targets
  std::vector<std::int32_t> groups = {};        ///< [N], of `group`; empty: there are none
  std::vector<std::string> notes = {};          ///< notes for the user, a sentence each
  DateOrder date_order = DateOrder::automatic;  ///< that was found

  std::string name(std::size_t i) const;  ///< of a sequence: "pump 3 / 12"
};

/// Reads a file whose column `sequence` says which sequence a row belongs to, and whose column `target` has one class or
/// number a sequence, in all of its rows or in some. Unless targets are needed, a table may lack them, or have other classes:
/// classes are -1 then, and numbers NaN. Throws InputError with the lines.
SequenceTable read_sequence_table(const SequenceOptions& options, const std::filesystem::path& base,
                                  bool needs_targets);

}  // namespace lagtape
