#include "lagtape/cells/equation_cell.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "lagtape/cells/build/common_options.h"
#include "lagtape/cells/build/delay.h"
#include "lagtape/cells/build/derived_step.h"
#include "lagtape/cells/build/option_kinds.h"
#include "lagtape/cells/build/read_initializer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/ode_cell.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/ops/recurrence/equations/tokens.h"

namespace lagtape {
namespace {

using Named = EquationCell::Named;

/// Calls f(key, value, pointer) for every entry of an object-valued key.
template <class F>
void for_each_entry(JsonReader& reader, const std::string& key, const std::string& about, F f) {
  const Json& object = reader.raw(key, about);
  if (object.is_null()) return;
  if (!object.is_object()) {
    reader.error(key, "expected an object.");
    return;
  }
  const JsonReader entries(object, reader.pointer_to(key), reader.errors());
  for (const auto& [name, value] : object.items()) f(name, value, entries.pointer_to(name));
}

/// Reads a dimension: an integer or a text for the equation parser. False if it is neither.
bool read_dimension(const Json& value, std::string& dimension) {
  if (value.is_string()) dimension = value.get<std::string>();
  if (value.is_number_integer()) dimension = value.dump();
  return value.is_string() || value.is_number_integer();
}

/// Reads a list of dimensions, or a single one.
std::vector<std::string> read_shape(const Json& value, const std::string& pointer, JsonErrors& errors) {
  std::vector<std::string> shape;
  const Json list = value.is_array() ? value : Json::array({value});
  for (const Json& dimension : list) {
    shape.emplace_back();
    if (!read_dimension(dimension, shape.back())) {
      errors.add(pointer, R"(expected a shape, like ["units", "input"], "units", 16 or [].)");
      return {};
    }
  }
  return shape;
}

std::vector<Named> read_named(JsonReader& reader, const std::string& key, const std::string& about) {
  std::vector<Named> all;
  for_each_entry(reader, key, about,
                 [&](const std::string& name, const Json& value, const std::string& pointer) {
                   all.push_back({name, read_shape(value, pointer, reader.errors())});
                 });
  return all;
}

void read_hyper(JsonReader& reader, EquationCell& cell) {
  const std::string about = "hyper-parameters, each an option of the layer, with their defaults";
  for_each_entry(
      reader, "hyper", about, [&](const std::string& name, const Json& value, const std::string& pointer) {
        const std::string_view taken[] = {"cell", "units", "arithmetic", "dilations", "residual", "init"};
        if (std::ranges::find(taken, name) != std::end(taken)) {
          reader.errors().add(pointer,
                              text_of("the name '", name, "' is taken by an option of every layer."));
          return;
        }
        if (!value.is_number()) reader.errors().add(pointer, "expected a number.");
        cell.hyper.emplace_back(name, value.is_number() ? value.get<double>() : 0);
      });
}

void read_params(JsonReader& reader, CellDefinition& definition) {
  const std::string about = "numbers with a meaning, trained within their bounds";
  for_each_entry(reader, "params", about,
                 [&](const std::string& name, const Json& value, const std::string& pointer) {
                   const ParamDefinition param = read_param(value, pointer, reader.errors());
                   definition.equations.params.push_back({name, param.size, param.bounds().high});
                   definition.params.emplace(name, param);
                 });
}

void read_lags(JsonReader& reader, EquationCell& cell) {
  const std::string about = "weights that are lags, with their largest values";
  for_each_entry(reader, "lags", about,
                 [&](const std::string& name, const Json& value, const std::string& pointer) {
                   std::string largest;
                   if (!read_dimension(value, largest))
                     reader.errors().add(pointer, "expected a whole number, like 64 or \"units\".");
                   cell.lags.emplace_back(name, largest);
                 });
}

void read_derived(JsonReader& reader, EquationCell& cell) {
  const std::string about = "weights of the step that are functions of others, once a batch";
  for_each_entry(
      reader, "derived", about, [&](const std::string& name, const Json& value, const std::string& pointer) {
        if (!value.is_string())
          reader.errors().add(pointer, "expected an expression, like \"M - M.T - gamma * eye(units)\".");
        else
          cell.derived.emplace_back(name, value.get<std::string>());
      });
}

/// Appends the numbers in nested lists, row by row. False if these do not form an array of numbers.
bool read_numbers(const Json& value, EquationCell::Constant& constant, std::size_t axis = 0) {
  if (value.is_number()) {
    constant.numbers.push_back(value.get<double>());
    return axis == constant.shape.size();
  }
  if (!value.is_array() || value.empty()) return false;
  const auto length = static_cast<std::int64_t>(value.size());
  if (axis == constant.shape.size() && constant.numbers.empty()) constant.shape.push_back(length);
  return axis < constant.shape.size() && constant.shape[axis] == length &&
         std::ranges::all_of(value, [&](const Json& part) { return read_numbers(part, constant, axis + 1); });
}

void read_constants(JsonReader& reader, EquationCell& cell) {
  const std::string about = "numbers and arrays of numbers, by name";
  for_each_entry(reader, "constants", about,
                 [&](const std::string& name, const Json& value, const std::string& pointer) {
                   EquationCell::Constant constant{name, {}, {}};
                   if (read_numbers(value, constant))
                     cell.constants.push_back(std::move(constant));
                   else
                     reader.errors().add(pointer,
                                         "expected a number or an array of numbers, like [[0, 1], [1, 0]].");
                 });
}

void read_flags(JsonReader& reader, EquationCell& cell) {
  const std::string about =
      "names of columns of the input, such as dt, reset and mask, by number; -1 is the last";
  for_each_entry(
      reader, "reads", about, [&](const std::string& name, const Json& value, const std::string& pointer) {
        if (value.is_number_integer())
          cell.reads.emplace_back(name, value.get<std::int64_t>());
        else
          reader.errors().add(pointer,
                              "expected the number of a column of the input, like 0, or -1 for the last.");
      });
}

/// Reads a function: its arguments, equations that set local names, and the expression that it returns.
void read_functions(JsonReader& reader, EquationCell& cell) {
  const std::string about = "functions of the step, by name: their arguments, and last what they give";
  for_each_entry(
      reader, "functions", about,
      [&](const std::string& name, const Json& value, const std::string& pointer) {
        const bool texts = value.is_array() && value.size() > 1 &&
                           std::ranges::all_of(value, [](const Json& line) { return line.is_string(); });
        if (!texts) {
          reader.errors().add(pointer,
                              "expected the arguments, and last what the function gives, like [\"a\", \"b\", "
                              "\"a / (1 + abs(b))\"].");
          return;
        }
        EquationCell::Function function{name, {}, {}};
        for (std::size_t i = 0; i < value.size(); ++i) {
          const std::string line = value[i].get<std::string>();
          const bool is_argument = function.lines.empty() && i + 1 < value.size() && is_equation_name(line);
          (is_argument ? function.arguments : function.lines).push_back(line);
        }
        cell.functions.push_back(std::move(function));
      });
}

void read_init(JsonReader& reader, CellDefinition& definition) {
  std::vector<std::string> weights;
  for (const Named& weight : definition.equations.weights) weights.push_back(weight.name);
  const std::string about = "first values of weights";
  for_each_entry(
      reader, "init", about, [&](const std::string& name, const Json& value, const std::string& pointer) {
        const auto weight = std::ranges::find(definition.equations.weights, name, &Named::name);
        if (weight == definition.equations.weights.end()) {
          reader.errors().add(pointer, unknown_name("weight", name, weights));
          return;
        }
        const Initializer initializer = read_initializer(value, pointer, reader.errors());
        if (initializer.needs_matrix() && weight->shape.size() < 2)
          reader.errors().add(pointer,
                              text_of("this initializer is for matrices [out, in]; '", name, "' is none."));
        definition.init[name] = initializer;
      });
}

void read_step(JsonReader& reader, EquationCell& cell) {
  const Json& step = reader.raw("step", "equations, each setting a new name or a state's next value");
  if (step.is_string()) return cell.step.push_back(step.get<std::string>());
  const bool texts =
      step.is_array() && std::ranges::all_of(step, [](const Json& line) { return line.is_string(); });
  if (!texts || step.empty()) {
    reader.error("step", "expected a list of equations, like [\"h' = tanh(W @ h + U @ x)\"].");
    return;
  }
  for (const Json& line : step) cell.step.push_back(line.get<std::string>());
}

/// Reads the output: an expression, or a list of expressions to be joined end to end.
void read_output(JsonReader& reader, EquationCell& cell) {
  const Json& output = reader.raw("output", "what the layer gives on, like \"h'\" or [\"h'\", \"c'\"]");
  if (output.is_null() && reader.has("ode")) {  // all states
    for (const Named& state : cell.states)
      cell.output += text_of(cell.output.empty() ? "" : ", ", state.name);
    if (cell.states.size() > 1) cell.output = text_of("concat(", cell.output, ")");
    return;
  }
  const Json list = output.is_array() ? output : Json::array({output});
  const bool texts = std::ranges::all_of(list, [](const Json& sum) { return sum.is_string(); });
  if (!texts || list.empty()) {
    reader.error("output", "expected what the layer gives on, like \"h'\" or [\"h'\", \"c'\"].");
    return;
  }
  for (const Json& sum : list)
    cell.output += text_of(cell.output.empty() ? "" : ", ", sum.get<std::string>());
  if (list.size() > 1) cell.output = text_of("concat(", cell.output, ")");
}

std::set<std::string> declared_weights(const EquationCell& cell) {
  std::set<std::string> names;
  for (const Named& weight : cell.weights) names.insert(weight.name);
  return names;
}

void describe(ParameterDefinition& parameter, const ParamDefinition& param) {
  parameter.initializer = Initializer::constant(param.start);
  parameter.bounds = param.bounds();
  parameter.unit = param.unit;
  parameter.trainable = param.train;
}

constexpr Option kUnits = option<&EquationUnits::units>("units", between(1, kLargestUnits),
                                                        "the dimension 'units' of the equations");
constexpr Option kUnitsRows[] = {kUnits.needed().unless<&EquationUnits::may_be_missing>(),
                                 kUnits.when<&EquationUnits::may_be_missing>()};

constexpr Option kGrammarRows[] = {
    option<&EquationCell::grammar>("grammar", between(1, EquationCell::kGrammar),
                                   "1: vectors spread along the rows of [g, n], as in models of version 0.1"),
};
constexpr OptionTable kGrammar = kGrammarRows;

CompiledCell compile(const CellDefinition& cell, std::int64_t units, std::int64_t input) try {
  CompiledCell compiled = compile_cell(cell.equations, units, input);
  if (compiled.right_side) check_lags(cell, *compiled.right_side);
  if (cell.splines.empty() || !compiled.right_side) return compiled;
  CellDefinition whole = cell;
  set_splines(whole, *compiled.right_side);
  return compile_cell(whole.equations, units, input);
} catch (const InputError& error) {
  throw error.within(
      {.pointer = cell.pointer, .item = cell.name.empty() ? "" : text_of("cell '", cell.name, "'")});
}

}  // namespace

constinit const OptionTable kEquationUnits = kUnitsRows;

Layer CellDefinition::build(std::int64_t units, std::int64_t input,
                            std::optional<RightSide>* right_side) const {
  if (!equations.trained.empty()) return with_trained_histories(*this).build(units, input, right_side);
  const bool is_model = right_side == nullptr, dt_is_given = is_model && solver.given.has_value();
  CompiledCell compiled = compile(*this, units, dt_is_given && input > 1 ? input - 1 : input);
  Layer layer;
  if (!compiled.derived.empty() && is_model)
    layer.derived_step = derived_step(equations, compiled, units, input);
  layer.program = std::move(compiled.program);
  if (compiled.right_side && is_model) layer.program = step_of(*this, *compiled.right_side, input);
  if (!is_model) *right_side = std::move(compiled.right_side);
  const std::map<std::string, Bounds> lags = bounds_of_lags(layer.program, compiled.input_lags);
  const std::set<std::string> declared = declared_weights(equations);
  for (const WeightDefinition& weight : compiled.weights) {
    const auto lag = lags.find(weight.name);
    Initializer initializer =
        lag == lags.end() ? Initializer::uniform_of(units)
                          : Initializer::constant(lag->second.low == 1
                                                      ? middle_of(static_cast<std::int64_t>(lag->second.high))
                                                      : lag->second.high / 2);
    // The matrix R.0 of a group is declared as R.
    const std::string name =
        declared.contains(weight.name) ? weight.name : weight.name.substr(0, weight.name.rfind('.'));
    if (const auto given = init.find(name); given != init.end()) initializer = given->second;
    ParameterDefinition parameter{weight.name, weight.shape, initializer};
    if (const auto param = params.find(weight.name); param != params.end())
      describe(parameter, param->second);
    if (lag != lags.end() && parameter.bounds == Bounds{}) parameter.bounds = lag->second;
    layer.parameters.push_back(std::move(parameter));
  }
  if (!compiled.derived.empty())
    layer.weights =
        weights_with(is_model ? layer.program : (*right_side)->program, layer.parameters, compiled.derived);
  return layer;
}

CellDefinition read_cell_definition(JsonReader& reader) {
  CellDefinition definition;
  EquationCell& cell = definition.equations;
  read_hyper(reader, cell);
  read_params(reader, definition);
  cell.weights = read_named(reader, "weights", "shapes of the weights, by name");
  read_init(reader, definition);
  read_constants(reader, cell);
  read_flags(reader, cell);
  read_functions(reader, cell);
  read_derived(reader, cell);
  read_lags(reader, cell);
  cell.states = read_named(reader, "state", "shapes of the states, by name");
  if (reader.has("ode"))
    read_options(reader, kOdeOptions, definition);
  else
    read_step(reader, cell);
  cell.has_rates = definition.solver.method == OdeMethod::exponential_euler;
  read_output(reader, cell);
  read_options(reader, kGrammar, cell);
  reader.finish();
  return definition;
}

BuildLayer read_equation_layer(const CellDefinition& definition, JsonReader& reader) {
  CellDefinition cell = definition;
  EquationUnits size{.may_be_missing = !cell.equations.ode.empty()};
  read_options(reader, kEquationUnits, size);
  for (auto& [name, value] : cell.equations.hyper) reader.optional(name, value, {}, "hyper-parameter");
  CommonCellOptions common{.arithmetic = Arithmetic::real};
  read_options(reader, kCommonCellOptions, common);
  if (!cell.equations.ode.empty() && common.arithmetic == Arithmetic::grid)
    reader.error("arithmetic",
                 "equations in continuous time have no states on the grid. Leave it at \"float\".");
  return common.apply([cell, units = size.units](std::int64_t input) {
    return LayerGroup{{cell.build(units, input)}, false};
  });
}

}  // namespace lagtape
