#include "lagtape/tools/analysis/analysis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lagtape/cells/build/layer_content.h"
#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/data/batches.h"
#include "lagtape/ops/recurrence/step/gradient_paths.h"
#include "lagtape/tools/analysis/bounds.h"
#include "lagtape/tools/analysis/sequence_analysis.h"
#include "lagtape/tools/train/evaluation.h"

namespace lagtape {

namespace {

/// A copy of the model with parameters in f64.
Model in_f64(const Model& model) {
  FittedModel fitted = model.fitted();
  fitted.definition.precision = Dtype::f64;
  Model result(std::move(fitted), 0);
  auto value = model.parameters().begin();
  for (Parameter& parameter : result.parameters()) parameter.value = (value++)->value.to(Dtype::f64).clone();
  return result;
}

/// The requested named values of each layer.
std::vector<std::vector<NamedValue>> chosen_values(const StackDefinition& stack,
                                                   const std::vector<std::string>& asked) {
  std::vector<std::vector<NamedValue>> chosen;
  std::vector<std::string> known;
  for (const StepProgram& layer : stack.layers) {
    chosen.emplace_back();
    for (const NamedValue& value : layer.named) {
      if (names_end(value.name)) continue;
      if (std::ranges::find(known, value.name) == known.end()) known.push_back(value.name);
      if (asked.empty() || std::ranges::find(asked, value.name) != asked.end())
        chosen.back().push_back(value);
    }
  }
  for (const std::string& name : asked) {
    if (known.empty())
      throw InputError({.item = "--values"}, Rule::not_supported,
                       "the cells of this model have no named values", quote(name));
    if (std::ranges::find(known, name) == known.end())
      throw InputError(unknown_name("value", name, known).within({.item = "--values"}));
  }
  return chosen;
}

/// The bytes that the analyzed steps of one sequence need besides the current stretch.
std::int64_t bytes_of_steps(const SequenceAnalyzer& analyzer, std::int64_t steps) {
  const StackDefinition& stack = analyzer.stack();
  std::int64_t bytes = 8 * steps * stack.input_width();
  for (std::size_t l = 0; l < stack.layers.size(); ++l) {
    const StepProgram& layer = stack.layers[l];
    std::int64_t numbers = 4 * layer.values[layer.output].shape.width();  // outputs and their derivatives
    for (const NamedValue& value : analyzer.values(l)) numbers += layer.values[value.value].shape.width();
    bytes += 8 * steps * numbers;
    if (!layer.states.empty())
      bytes += LayerOverTime::boundary_bytes(layer, steps, std::max<std::int64_t>(analyzer.rows(l), 2));
  }
  return bytes;
}

/// Throws InputError if more than half of the memory would be needed, with a number of steps that fits.
void check_memory(const SequenceAnalyzer& analyzer, const std::vector<std::int64_t>& lengths,
                  std::int64_t steps) {
  const auto bytes_of = [&](std::int64_t limit) {
    double bytes = 0;
    for (const std::int64_t length : lengths)
      bytes += static_cast<double>(bytes_of_steps(analyzer, std::min(length, limit))) +
               8.0 * static_cast<double>(length * analyzer.stack().input_width());
    return bytes;
  };
  const double most = static_cast<double>(system_memory()) / 2;
  if (bytes_of(steps) <= most) return;
  std::int64_t fits = steps;
  while (fits > 1 && bytes_of(fits) > most) fits /= 2;
  constexpr double kGiB = 1 << 30;
  throw InputError({.op = "analyze"}, Rule::no_memory,
                   text_of(steps, " steps of ", lengths.size(), " sequences need about ",
                           bytes_of(steps) / kGiB, " GiB, more than half of the memory"),
                   {}, text_of("Choose --steps ", fits, " or less, or fewer --sequences."));
}

ValueAnalysis value_analysis(const StepProgram& layer, const NamedValue& value,
                             const std::vector<SequenceFindings>& found, std::size_t l, std::size_t v,
                             std::int64_t bins) {
  ValueAnalysis result;
  result.name = value.name;
  result.units = layer.values[value.value].shape.width();
  result.fixed = layer.is_fixed(value.value);
  std::vector<double> samples;
  for (const SequenceFindings& sequence : found) {
    const std::vector<double>& more = sequence.layers[l].values[v];
    samples.insert(samples.end(), more.begin(), more.end());
    if (result.fixed) break;
  }
  const std::size_t units = static_cast<std::size_t>(result.units);
  result.unit_means.assign(units, 0);
  for (std::size_t i = 0; i < samples.size(); ++i)
    result.unit_means[i % units] += samples[i] / static_cast<double>(samples.size() / units);
  result.distribution = distribution_of(std::move(samples), bins);
  return result;
}

LagCurve over_sequences(const std::vector<SequenceFindings>& found, auto curve_of) {
  LagCurve curve;
  for (const SequenceFindings& sequence : found) {
    const std::vector<double>& values = curve_of(sequence);
    for (std::size_t lag = 0; lag < values.size(); ++lag)
      curve.add(static_cast<std::int64_t>(lag), values[lag]);
  }
  curve.finish();
  return curve;
}

LayerAnalysis layer_analysis(const SequenceAnalyzer& analyzer, const std::vector<SequenceFindings>& found,
                             std::size_t l, const std::string& name, std::int64_t bins) {
  const StepProgram& layer = analyzer.stack().layers[l];
  LayerAnalysis result;
  result.index = static_cast<std::int64_t>(l + analyzer.layers_below());
  result.name = name;
  result.width = state_width(layer);
  result.projections = analyzer.rows(l);
  result.exact = analyzer.is_exact(l);
  const auto of_layer = [&](auto part) {
    return over_sequences(
        found, [&](const SequenceFindings& sequence) -> const auto& { return part(sequence.layers[l]); });
  };
  for (std::size_t s = 0; s < layer.states.size(); ++s) {
    using Found = SequenceFindings::Layer;
    result.states.push_back(
        {layer.states[s].name, layer.states[s].shape.width(),
         of_layer([s](const Found& f) -> const auto& { return f.norm[s]; }),
         of_layer([s](const Found& f) -> const auto& { return f.largest[s]; }),
         of_layer([s](const Found& f) -> const auto& { return f.gradient[s]; }),
         of_layer([s](const Found& f) -> const auto& { return f.last_step_gradient[s]; })});
  }
  result.frobenius = of_layer([](const auto& f) -> const auto& { return f.frobenius; });
  result.spectral = of_layer([](const auto& f) -> const auto& { return f.spectral; });
  result.row_sum = of_layer([](const auto& f) -> const auto& { return f.row_sum; });
  for (std::size_t v = 0; v < analyzer.values(l).size(); ++v)
    result.values.push_back(value_analysis(layer, analyzer.values(l)[v], found, l, v, bins));
  return result;
}

/// The bounds of a layer that was analyzed.
LayerBounds layer_bounds(const Model& model, const SequenceAnalyzer& analyzer, std::size_t l,
                         const LayerAnalysis& found, const Analysis& analysis) {
  const auto& [entry, inside] = model.fitted().origins[l + analyzer.layers_below()];
  const std::vector<Tensor> weights = analyzer.weights(l);
  return bounds_of({.options = model.definition().layers[entry].content().json,
                    .index_inside = inside,
                    .program = analyzer.stack().layers[l],
                    .weights = weights,
                    .lags = analysis.steps,
                    .length = *std::ranges::max_element(analysis.lengths),
                    .smallest = [&](const std::string& name) -> std::optional<double> {
                      for (const ValueAnalysis& value : found.values)
                        if (value.name == name) return value.distribution.min;
                      return {};
                    }});
}

}  // namespace

void LagCurve::add(std::int64_t lag, double value) {
  const std::size_t at = static_cast<std::size_t>(lag);
  if (at >= mean.size()) {
    mean.resize(at + 1);
    min.resize(at + 1, std::numeric_limits<double>::infinity());
    max.resize(at + 1, -std::numeric_limits<double>::infinity());
    count_.resize(at + 1);
  }
  mean[at] += value;
  // NaN stays NaN.
  min[at] = value < min[at] || std::isnan(value) ? value : min[at];
  max[at] = value > max[at] || std::isnan(value) ? value : max[at];
  ++count_[at];
}

void LagCurve::finish() {
  for (std::size_t at = 0; at < mean.size(); ++at) mean[at] /= static_cast<double>(count_[at]);
}

std::int64_t LagCurve::reach(double share) const {
  double largest = 0;
  for (const double value : mean) {
    if (!std::isfinite(value)) return -1;
    largest = std::max(largest, value);
  }
  if (largest == 0) return -1;
  for (std::int64_t lag = std::ssize(mean) - 1; lag >= 0; --lag)
    if (mean[static_cast<std::size_t>(lag)] >= share * largest) return lag;
  return -1;
}

Analysis analyze(const Model& given, const Dataset& split, const Normalization& normalization,
                 ThreadPool& pool, const AnalysisOptions& options) {
  if (split.size() == 0) throw InputError({.op = "analyze"}, Rule::missing, "the split has no sequences.");
  const Model model = in_f64(given);
  const SequenceAnalyzer analyzer(model, chosen_values(evaluated_stack(model), options.values), options);

  Analysis result;
  const std::vector<std::int64_t> indices = indices_in_order(split, 0, options.sequences);
  for (const std::int64_t index : indices) {
    result.lengths.push_back(split.length(index));
    result.steps = std::max(result.steps, std::min(options.steps, result.lengths.back()));
  }
  check_memory(analyzer, result.lengths, result.steps);

  std::vector<SequencePart> parts;
  for (const std::int64_t index : indices) {
    const Batch data = gather(split, {&index, 1}, Dtype::f64, pool, normalization);
    parts.push_back(analyzer.last_steps(sequence_batch(data, split.shape(), model.loss()), pool));
  }
  std::vector<SequenceFindings> found(parts.size());
  pool.run(static_cast<int>(parts.size()), [&](int i, int) { found[i] = analyzer.look_into(parts[i]); });

  const std::vector<std::string> names = model.layer_names();
  for (std::size_t l = 0; l < analyzer.stack().layers.size(); ++l) {
    if (analyzer.stack().layers[l].states.empty()) continue;
    const std::string& name = names[l + analyzer.layers_below()];
    result.layers.push_back(layer_analysis(analyzer, found, l, name, options.bins));
    if (options.bounds)
      result.layers.back().bounds = layer_bounds(model, analyzer, l, result.layers.back(), result);
  }
  return result;
}

}  // namespace lagtape
