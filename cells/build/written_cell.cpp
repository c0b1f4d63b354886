#include "lagtape/cells/build/written_cell.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lagtape/cells/build/delay.h"
#include "lagtape/cells/build/derived_step.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/ops/recurrence/equations/equations.h"

namespace lagtape {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// The parts between the separators, without blanks around them and without empty ones.
std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (const std::string part = trimmed(text.substr(begin, end - begin)); !part.empty())
      parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

/// "h [4, units]; c [units]"
std::vector<EquationCell::Named> named(const std::string& text) {
  std::vector<EquationCell::Named> all;
  for (const std::string& part : parts_of(text, ';')) {
    const std::size_t open = part.find('[');
    all.push_back(
        {trimmed(part.substr(0, open)), parts_of(part.substr(open + 1, part.size() - open - 2), ',')});
  }
  return all;
}

EquationCell equations_of(const WrittenCell& cell) {
  EquationCell equations;
  equations.hyper = cell.numbers;
  equations.weights = named(cell.weights);
  for (const std::string& line : parts_of(cell.derived, '\n')) {
    const std::size_t equals = line.find('=');
    equations.derived.emplace_back(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }
  for (const EquationCell::Named& lag : named(cell.lags)) equations.lags.emplace_back(lag.name, lag.shape[0]);
  equations.states = named(cell.states);
  equations.step = parts_of(cell.step, '\n');
  equations.output = cell.output;
  return equations;
}

}  // namespace

Layer WrittenCell::build(std::int64_t units, std::int64_t input) const {
  const EquationCell equations = equations_of(*this);
  CompiledCell compiled = compile_cell(equations, units, input);
  const bool derives = !compiled.derived.empty();
  Layer layer;
  if (derives) layer.derived_step = derived_step(equations, compiled, units, input);
  layer.program = std::move(compiled.program);
  const std::map<std::string, Bounds> delays = bounds_of_lags(layer.program, compiled.input_lags);
  for (const WeightDefinition& weight : compiled.weights) {
    ParameterDefinition parameter{weight.name, weight.shape, weight.name.ends_with(".bias") ? bias : start};
    auto given = init.find(weight.name);
    // The matrix R.0 of a group has R's initial values.
    if (given == init.end()) given = init.find(weight.name.substr(0, weight.name.rfind('.')));
    if (given != init.end() && !(weight.name.ends_with(".bias") && given->first != weight.name))
      parameter.initializer = given->second;
    if (const auto delay = delays.find(weight.name); delay != delays.end()) parameter.bounds = delay->second;
    if (const auto draws = draws_of.find(weight.name); draws != draws_of.end())
      parameter.draws_of = draws->second;
    layer.parameters.push_back(std::move(parameter));
  }
  if (derives) layer.weights = weights_with(layer.program, layer.parameters, compiled.derived);
  return layer;
}

std::string affine_text(const std::string& name, const std::string& of) {
  return text_of(name, " @ ", of, " + ", name, ".bias");
}

std::string affine_shapes(const std::string& name, const std::string& out, const std::string& in) {
  return text_of(name, " [", out, ", ", in, "]; ", name, ".bias [", out, "]; ");
}

std::string direct_text(const std::string& name, std::int64_t units, std::int64_t input) {
  return name + (units == input ? " * x" : " @ x");
}

std::string direct_shapes(const std::string& name, std::int64_t units, std::int64_t input) {
  return name + (units == input ? " [units]; " : " [units, input]; ");
}

Initializer direct_start(std::int64_t units, std::int64_t input) {
  return Initializer::normal(0, units == input ? 1 : 1 / std::sqrt(static_cast<double>(input)));
}

std::string widened_text(std::int64_t units, std::int64_t input) {
  return units == input ? "u = x\n" : "u = W_in @ x\n";
}

std::string widened_shapes(std::int64_t units, std::int64_t input) {
  return units == input ? "" : "W_in [units, input]; ";
}

std::string Heads::matrix_shape(const std::string& name) const {
  return name + (heads == 1 ? " [units, units]; " : " [heads, units / heads, units / heads]; ");
}

std::string Heads::product(const std::string& name, const std::string& v) const {
  if (heads == 1) return text_of(name, " @ ", v);
  return text_of("reshape(einsum('gij,gj->gi', ", name, ", reshape(", v, ", heads, units / heads)), units)");
}

std::vector<std::pair<std::string, double>> Heads::number() const {
  if (heads == 1) return {};
  return {{"heads", static_cast<double>(heads)}};
}

void check_heads(std::int64_t units, std::int64_t heads, JsonReader& reader) {
  if (heads > 0 && units % heads != 0)
    reader.error("heads", text_of("must divide the ", units, " units, got ", heads, "."));
}

std::string elapsed_text(bool elapsed) {
  return elapsed ? "t = maximum(sum(slice(x, input - 1, input)), 0)\nseen_x = slice(x, 0, input - 1)\n"
                 : "t = 1\nseen_x = x\n";
}

std::int64_t inputs_beside_time(bool elapsed, std::int64_t input) {
  if (!elapsed) return input;
  if (input < 2)
    throw InputError({}, Rule::shape,
                     "the last input is the time since the step before, so another is needed",
                     text_of("input [", input, "]"));
  return input - 1;
}

std::string convolution_text(const std::string& name, const std::string& state, std::int64_t taps) {
  std::string text = text_of(name, "0 * ", state, "'");
  for (std::int64_t k = 1; k < taps; ++k)
    text += text_of(" + ", name, k, " * ", state, k == 1 ? "" : text_of("[-", k - 1, "]"));
  return text_of(text, " + ", name, ".bias");
}

std::string convolution_shapes(const std::string& name, std::int64_t taps) {
  std::string text;
  for (std::int64_t k = 0; k < taps; ++k) text += text_of(name, k, " [units]; ");
  return text_of(text, name, ".bias [units]; ");
}

}  // namespace lagtape
