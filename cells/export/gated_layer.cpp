#include "lagtape/cells/export/gated_layer.h"

#include <algorithm>

#include "lagtape/cells/gru.h"
#include "lagtape/cells/layers/linear.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/rnn.h"
#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// Whether both steps do the same with weights of the same names.
bool same_step(const StepProgram& a, const StepProgram& b) { return to_string(a) == to_string(b); }

}  // namespace

const Tensor& GatedLayer::weight(const std::string& name) const {
  const auto& weights = layer->program.weights;
  const auto found = std::ranges::find(weights, name, &WeightDefinition::name);
  if (found == weights.end()) throw Error(text_of("[export] no weight '", name, "'."));
  return layer->weights[found - weights.begin()];
}

Tensor GatedLayer::stacked(const std::string& prefix, const std::vector<std::string>& gates,
                           const std::string& suffix) const {
  Shape shape = weight(prefix + gates.front() + suffix).shape();
  const std::int64_t each = element_count(shape);
  shape[0] *= std::ssize(gates);
  Tensor all(shape, layer->weights.front().dtype());
  std::int64_t at = 0;
  for (const std::string& gate : gates) {
    const Tensor& part = weight(prefix + gate + suffix);
    for (std::int64_t i = 0; i < each; ++i) all.set(at++, part.at(i));
  }
  return all;
}

std::optional<GatedLayer> gated_layer(const ExportedLayer& layer) {
  const StepProgram& program = layer.program;
  if (program.states.empty() || program.input.rank != 1) return {};
  const std::int64_t input = program.input.size, units = program.states.front().shape.size;
  if (same_step(program, Lstm{.units = units}.build(input).program))
    return GatedLayer{"lstm", input, units, &layer};
  if (same_step(program, Gru{.units = units}.build(input).program))
    return GatedLayer{"gru", input, units, &layer};
  if (same_step(program, Rnn{.units = units}.build(input).program))
    return GatedLayer{"rnn", input, units, &layer};
  return {};
}

std::optional<GatedLayer> affine_layer(const ExportedLayer& layer) {
  const StepProgram& program = layer.program;
  if (!program.states.empty() || program.input.rank != 1) return {};
  const std::int64_t input = program.input.size, units = program.values[program.output].shape.width();
  if (!same_step(program, Linear{.units = units}.build(input).program)) return {};
  return GatedLayer{"linear", input, units, &layer};
}

}  // namespace lagtape
