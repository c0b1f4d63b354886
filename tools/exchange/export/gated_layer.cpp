#include "lagtape/tools/exchange/export/gated_layer.h"

#include <algorithm>
#include <tuple>

#include "lagtape/cells/equation_cell.h"
#include "lagtape/cells/gru.h"
#include "lagtape/cells/layers/linear.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/rnn.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/exchange/import/cell_equations.h"

namespace lagtape {
namespace {

using foreign::CellKind;

/// A layer of other programs and the text of its step.
struct Candidate {
  GatedLayer layer;
  std::string step;
};

/// The only cell of the list, built; the text of its step.
std::string step_of(const Json& cells, std::int64_t units, std::int64_t input) {
  JsonErrors errors;
  JsonReader reader((*cells.items().begin()).value, "", errors);
  const CellDefinition definition = read_cell_definition(reader);
  errors.raise("export");
  return to_string(definition.build(units, input).program);
}

/// The step of lagtape's own cell, which has both biases.
std::string step_of(CellKind kind, std::int64_t units, std::int64_t input) {
  if (kind == CellKind::lstm) return to_string(Lstm{.units = units}.build(input).program);
  if (kind == CellKind::gru) return to_string(Gru{.units = units}.build(input).program);
  return to_string(Rnn{.units = units}.build(input).program);
}

/// A recurrence with the biases that there are; steps are written as import writes them.
Candidate recurrence(CellKind kind, std::int64_t units, std::int64_t input, bool W_bias, bool U_bias,
                     bool resets_before) {
  const Tensor some({1}, Dtype::f64);
  foreign::ForeignCell cell;
  cell.kind = kind;
  cell.units = units;
  cell.input = input;
  cell.resets_before = resets_before;
  cell.gates.assign(foreign::gates_of(kind).size(),
                    {some, some, W_bias ? some : Tensor(), U_bias ? some : Tensor()});
  Json cells = Json::object();
  foreign::cell_layer(cell, {}, cells);
  GatedLayer layer{foreign::name_of(kind), input, units, nullptr, resets_before};
  return {layer, cells.empty() ? step_of(kind, units, input) : step_of(cells, units, input)};
}

Candidate map(std::int64_t units, std::int64_t input, bool has_bias, const std::string& function) {
  const Tensor some({1, 1}, Dtype::f64);
  Json cells = Json::object();
  foreign::dense_layer({some, has_bias ? some : Tensor(), function}, units, {}, cells);
  GatedLayer layer{"linear", input, units};
  layer.function = function;
  return {layer, cells.empty() ? to_string(Linear{.units = units}.build(input).program)
                               : step_of(cells, units, input)};
}

std::vector<Candidate> candidates(bool is_map, std::int64_t units, std::int64_t input) {
  std::vector<Candidate> all;
  if (is_map) {
    for (const char* function : {"", "tanh", "sigmoid", "relu", "elu"})
      for (const bool has_bias : {true, false}) all.push_back(map(units, input, has_bias, function));
    return all;
  }
  for (const CellKind kind : {CellKind::lstm, CellKind::gru, CellKind::rnn})
    for (const bool W_bias : {true, false})
      for (const bool U_bias : {true, false}) {
        all.push_back(recurrence(kind, units, input, W_bias, U_bias, false));
        if (kind == CellKind::gru) all.push_back(recurrence(kind, units, input, W_bias, U_bias, true));
      }
  return all;
}

}  // namespace

Tensor GatedLayer::weight(const std::string& name) const {
  const auto& weights = layer->program.weights;
  const auto found = std::ranges::find(weights, name, &WeightDefinition::name);
  if (found != weights.end()) return layer->weights[found - weights.begin()];
  if (!name.ends_with(".bias")) throw Error(text_of("[export] no weight '", name, "'."));
  return Tensor({units}, layer->weights.front().dtype());
}

Tensor GatedLayer::stacked(const std::string& prefix, const std::vector<std::string>& gates,
                           const std::string& suffix) const {
  Shape shape = weight(prefix + gates.front() + suffix).shape();
  const std::int64_t each = element_count(shape);
  shape[0] *= std::ssize(gates);
  Tensor all(shape, layer->weights.front().dtype());
  std::int64_t at = 0;
  for (const std::string& gate : gates) {
    const Tensor part = weight(prefix + gate + suffix);
    for (std::int64_t i = 0; i < each; ++i) all.set(at++, part.at(i));
  }
  return all;
}

std::optional<GatedLayer> gated_layer(const ExportedLayer& layer) {
  const StepProgram& program = layer.program;
  if (program.input.rank != 1 || program.states.size() > 2 || program.weights.empty()) return {};
  const std::string step = to_string(program);
  // Layers of one size follow each other: the candidates of the layer before stay.
  const std::tuple size(program.states.empty(), program.values[program.output].shape.width(),
                        program.input.size);
  thread_local std::optional<decltype(size)> known;
  thread_local std::vector<Candidate> all;
  if (known != size) {
    all = std::apply(candidates, size);
    known.emplace(size);
  }
  for (const Candidate& candidate : all) {
    if (candidate.step != step) continue;
    GatedLayer found = candidate.layer;
    found.layer = &layer;
    return found;
  }
  return {};
}

}  // namespace lagtape
