#pragma once

#include <filesystem>
#include <string>

#include "lagtape/cells/models/model.h"
#include "lagtape/data/series/sequence_table.h"
#include "lagtape/tools/forecast/result_columns.h"

namespace lagtape {

/// The predictions of a model for each sequence of a table.
struct SequencePrediction {
  std::vector<std::string> columns;  ///< columns that name a row's sequence
  SequenceTable table;               ///< with the targets in the file
  Tensor outputs = {};               ///< [N, q], logits of classes
  LossFunction loss = {};
};

/// The options of a model trained on the task "sequences".
SequenceOptions sequence_options_of(const Model& model);

/// Whether a file is a table of sequences like the model's training data (task "sequences"): one with a column
/// for their names, times or targets. A table with only inputs is a single sequence.
bool is_sequence_table(const Model& model, const std::filesystem::path& input);

/// Reads such a table as the model's experiment specifies, and runs the model on each sequence. Throws
/// InputError.
SequencePrediction predict_sequences(const Model& model, const std::filesystem::path& input, int threads = 1);

/// The columns of a table with one row per sequence: its name, the prediction (a class by name), class
/// probabilities if requested, the quantiles of a model with several, and the truth if the file contains it.
std::vector<ResultColumn> columns_of(const SequencePrediction& predicted, const Model& model,
                                     bool probabilities);

}  // namespace lagtape
