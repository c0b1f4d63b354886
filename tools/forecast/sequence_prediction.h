#pragma once

#include <filesystem>
#include <string>

#include "lagtape/cells/models/model.h"
#include "lagtape/data/series/sequence_table.h"
#include "lagtape/tools/forecast/result_columns.h"

namespace lagtape {

/// The predictions of a model for each sequence of a table.
struct SequencePrediction {
  std::vector<std::string> columns;  ///< columns that name the sequence of a row
  SequenceTable table;               ///< with the targets that the file has
  Tensor outputs = {};               ///< [N, q], logits of classes
  LossFunction loss = {};
};

/// The options of a model that was trained on the task "sequences".
SequenceOptions sequence_options_of(const Model& model);

/// Whether a file is a table of sequences like that of the model's training (task "sequences"): one with a column
/// that names them, their times or targets. A table of inputs alone is a single sequence.
bool is_sequence_table(const Model& model, const std::filesystem::path& input);

/// Reads such a table as the model's experiment says, and runs the model over each sequence. Throws InputError.
SequencePrediction predict_sequences(const Model& model, const std::filesystem::path& input, int threads = 1);

/// The columns of a table with a row for each sequence: its name, the prediction (a class by its name), probabilities of the classes if
/// asked for, the quantiles of a model that has several, and the truth if the file has any.
std::vector<ResultColumn> columns_of(const SequencePrediction& predicted, const Model& model,
                                     bool probabilities);

}  // namespace lagtape
