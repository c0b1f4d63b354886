#include "lagtape/tools/forecast/sequence_prediction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/formats/table_file.h"
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
  const auto is_there = [&](const std::string& column) {
    return std::ranges::find(names, column) != names.end();
  };
  return std::ranges::any_of(options.sequence, is_there) || is_there(options.time) ||
         is_there(options.target);
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

namespace {

/// A column [N] of a matrix [N, q].
Tensor matrix_column(const Tensor& matrix, std::int64_t column) {
  Tensor values({matrix.size(0)}, matrix.dtype());
  for (std::int64_t row = 0; row < matrix.size(0); ++row)
    values.set(row, matrix.at(row * matrix.size(1) + column));
  return values;
}

/// The probabilities of classes by class; one logit is that of the second of two.
void add_probabilities(const SequencePrediction& predicted, const Model& model,
                       std::vector<ResultColumn>& columns) {
  const Tensor shown = probabilities_of(model, predicted.outputs);
  const std::vector<std::string>& classes = predicted.table.classes;
  if (shown.size(1) == 1) {
    Tensor second = matrix_column(shown, 0), first(second.shape(), second.dtype());
    for (std::int64_t row = 0; row < first.numel(); ++row) first.set(row, 1 - second.at(row));
    columns.push_back({text_of("p[", classes[0], "]"), std::move(first)});
    columns.push_back({text_of("p[", classes[1], "]"), std::move(second)});
    return;
  }
  for (std::int64_t k = 0; k < shown.size(1); ++k)
    columns.push_back({text_of("p[", classes[static_cast<std::size_t>(k)], "]"), matrix_column(shown, k)});
}

void add_quantiles(const SequencePrediction& predicted, std::vector<ResultColumn>& columns) {
  const std::int64_t rows = predicted.outputs.size(0), q = predicted.outputs.size(1);
  const std::vector<double>& levels = predicted.loss.options.levels;
  const std::size_t first = columns.size();
  for (const double level : levels)
    columns.push_back({text_of("q", level), Tensor({rows}, predicted.outputs.dtype())});
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<double> outputs;
    for (std::int64_t k = 0; k < q; ++k) outputs.push_back(predicted.outputs.at(row * q + k));
    const std::vector<double> quantiles = predicted.loss.quantiles(outputs);
    for (std::size_t l = 0; l < levels.size(); ++l)
      std::get<Tensor>(columns[first + l].cells).set(row, quantiles[l]);
  }
}

}  // namespace

std::vector<ResultColumn> columns_of(const SequencePrediction& predicted, const Model& model,
                                     bool probabilities) {
  using Texts = std::vector<std::string>;
  const SequenceTable& table = predicted.table;
  const bool classes = !table.classes.empty();
  std::vector<ResultColumn> columns;
  for (std::size_t k = 0; k < predicted.columns.size(); ++k) {
    Texts names;
    for (const Texts& id : table.ids) names.push_back(id[k]);
    columns.push_back({predicted.columns[k], std::move(names)});
  }
  if (classes) {
    Texts words;
    for (std::int64_t row = 0; row < predicted.outputs.size(0); ++row)
      words.push_back(table.classes[static_cast<std::size_t>(class_of(predicted.outputs, row))]);
    columns.push_back({"prediction", std::move(words)});
  } else {
    columns.push_back({"prediction", matrix_column(predicted.outputs, predicted.loss.middle())});
  }
  if (probabilities) add_probabilities(predicted, model, columns);
  if (!classes && predicted.loss.has_levels()) add_quantiles(predicted, columns);
  if (std::ranges::all_of(table.targets, [](const auto& target) { return target.empty(); })) return columns;
  if (classes) {
    columns.push_back({"truth", table.targets});
  } else {
    columns.push_back(
        {"truth", Tensor::from({std::ssize(table.sequences.y)}, table.sequences.y, Dtype::f64)});
  }
  return columns;
}

}  // namespace lagtape
