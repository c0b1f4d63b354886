#include "lagtape/tools/forecast/sequence_prediction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/formats/table_file.h"
#include "lagtape/data/table/csv.h"
#include "lagtape/tools/train/provenance.h"
#include "lagtape/tools/train/streaming.h"

namespace lagtape {

namespace {

/// Sequences of about the same length run together.
Tensor outputs_of(const Model& model, const StoredSequences& sequences, int threads) {
  constexpr std::int64_t kMost = 256;
  std::vector<std::int64_t> order(static_cast<std::size_t>(sequences.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int64_t i) { return sequences.length(i); });
  const std::int64_t width = sequences.input, q = model.output_width();
  Tensor outputs({sequences.size(), q}, model.dtype());
  for (std::int64_t first = 0; first < sequences.size(); first += kMost) {
    const std::span<const std::int64_t> rows(order.begin() + first,
                                             order.begin() + std::min(first + kMost, sequences.size()));
    std::vector<std::int64_t> lengths;
    for (const std::int64_t i : rows) lengths.push_back(sequences.length(i));
    Tensor x({std::ssize(rows), lengths.back(), width}, model.dtype());
    for (std::size_t b = 0; b < rows.size(); ++b)
      for (std::int64_t k = 0; k < lengths[b] * width; ++k)
        x.set(static_cast<std::int64_t>(b) * lengths.back() * width + k,
              sequences.x[static_cast<std::size_t>(
                  sequences.starts[static_cast<std::size_t>(rows[b])] * width + k)]);
    const Tensor y = model.predict(x, lengths, threads);
    for (std::int64_t i = 0; i < y.numel(); ++i)
      outputs.set(rows[static_cast<std::size_t>(i / q)] * q + i % q, y.at(i));
  }
  return outputs;
}

/// The class that a row of logits gives: the largest, or whether the only one is positive.
std::int64_t class_of(const Tensor& logits, std::int64_t row) {
  const std::int64_t q = logits.size(1);
  if (q == 1) return logits.at(row) > 0 ? 1 : 0;
  std::int64_t largest = 0;
  for (std::int64_t i = 1; i < q; ++i)
    if (logits.at(row * q + i) > logits.at(row * q + largest)) largest = i;
  return largest;
}

}  // namespace

SequenceOptions sequence_options_of(const Model& model) {
  const Json data = data_of(model);
  JsonErrors errors;
  JsonReader reader(data, "/data", errors);
  reader.raw("task", "");
  TaskHints hints;
  hints.real_loss = model.loss() != Loss::cross_entropy && model.loss() != Loss::binary_cross_entropy;
  SequenceOptions options = read_sequence_options(reader, hints);
  errors.raise("[predict] the model's experiment");
  return options;
}

bool is_sequence_table(const Model& model, const std::filesystem::path& input) {
  if (data_of(model).value("task", "") != "sequences" || !is_table_file(input)) return false;
  const SequenceOptions options = sequence_options_of(model);
  const std::vector<std::string> names = read_table_file(input, options.table).names();
  return std::ranges::all_of(options.sequence, [&](const std::string& column) {
    return std::ranges::find(names, column) != names.end();
  });
}

SequencePrediction predict_sequences(const Model& model, const std::filesystem::path& input, int threads) {
  SequenceOptions options = sequence_options_of(model);
  options.path = input.string();
  SequencePrediction predicted{.columns = options.sequence,
                               .table = read_sequence_table(options, std::filesystem::path(), false),
                               .loss = model.loss()};
  predicted.outputs = outputs_of(model, predicted.table.sequences, threads);
  return predicted;
}

std::string csv_of(const SequencePrediction& predicted, const Model& model, bool probabilities) {
  const SequenceTable& table = predicted.table;
  const std::vector<double>& levels = predicted.loss.options.levels;
  const bool classes = !table.classes.empty();
  const std::int64_t q = predicted.outputs.size(1);
  const Tensor shown = probabilities ? probabilities_of(model, predicted.outputs) : predicted.outputs;
  const bool has_truth =
      std::ranges::any_of(table.targets, [](const auto& target) { return !target.empty(); });
  std::string text;
  for (const std::string& column : predicted.columns) text += csv_cell(column) + ",";
  text += "prediction";
  if (probabilities)
    for (const std::string& name : table.classes) text += "," + csv_cell("p[" + name + "]");
  const bool has_levels = !classes && predicted.loss.has_levels();
  if (has_levels)
    for (const double level : levels) text += text_of(",q", level);
  text += has_truth ? ",truth\n" : "\n";
  for (std::size_t i = 0; i < table.ids.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    for (const std::string& cell : table.ids[i]) text += csv_cell(cell) + ",";
    text += classes ? csv_cell(table.classes[static_cast<std::size_t>(class_of(predicted.outputs, row))])
                    : csv_cell(predicted.outputs, row * q + predicted.loss.middle());
    if (probabilities && q == 1) {  // of the second class
      Tensor first({1}, shown.dtype());
      first.set(0, 1 - shown.at(row));
      text += "," + csv_cell(first, 0) + "," + csv_cell(shown, row);
    } else if (probabilities) {
      for (std::int64_t k = 0; k < q; ++k) text += "," + csv_cell(shown, row * q + k);
    } else if (has_levels) {
      std::vector<double> outputs;
      for (std::int64_t k = 0; k < q; ++k) outputs.push_back(shown.at(row * q + k));
      const Tensor quantiles =
          Tensor::from({std::ssize(levels)}, predicted.loss.quantiles(outputs), shown.dtype());
      for (std::int64_t l = 0; l < quantiles.numel(); ++l) text += "," + csv_cell(quantiles, l);
    }
    if (has_truth)
      text += "," + (classes || table.targets[i].empty() ? csv_cell(table.targets[i])
                                                         : text_of(table.sequences.y[i]));
    text += "\n";
  }
  return text;
}

}  // namespace lagtape
