#include "lagtape/cells/models/delay_equations.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lagtape/cells/models/derived_values.h"
#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/ode_cell.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/ops/delay/delay_solver.h"

namespace lagtape {
namespace {

bool is_ode(const Json& cell) { return cell.is_object() && cell.contains("ode"); }

/// The layer in a model that contains the cell; null if there is none.
const Json& layer_with(const Json& document, const std::string& cell) {
  static const Json none;
  const Json& layers = value_at(document, "/model/layers");
  if (!layers.is_array()) return none;
  for (const Json& layer : layers)
    if (layer.is_object() &&
        (cell.empty() ? is_ode(value_at(document, "/cells" + pointer_part(layer.value("cell", ""))))
                      : layer.value("cell", "") == cell))
      return layer;
  return none;
}

/// The name of the requested cell.
std::string chosen_cell(const Json& document, const std::string& name) {
  std::vector<std::string> known;
  const Json& cells = value_at(document, "/cells");
  if (cells.is_object())
    for (const auto& [key, cell] : cells.items())
      if (is_ode(cell)) known.push_back(key);
  if (known.empty())
    throw InputError({}, Rule::missing, "there is no cell with an \"ode\", equations in continuous time");
  if (!name.empty()) {
    if (std::ranges::find(known, name) == known.end()) throw InputError(unknown_name("cell", name, known));
    return name;
  }
  if (const Json& layer = layer_with(document, ""); layer.is_object())
    return layer["cell"].get<std::string>();
  if (known.size() > 1)
    throw InputError({.pointer = "/cells"}, Rule::conflict,
                     "several cells are in continuous time; which one?", listed(known),
                     "Name it: --cell NAME.");
  return known.front();
}

const std::string& name_of_state(const RightSide& side, const RightSide::State& state) {
  return side.program.states[side.program.values[state.value].index].name;
}

CellDefinition read_cell(const Json& document, const std::string& cell) {
  const bool alone = is_ode(document);
  const std::string name = alone ? "" : chosen_cell(document, cell);
  JsonErrors errors;
  const std::string pointer = alone ? "" : "/cells" + pointer_part(name);
  JsonReader reader(alone ? document : value_at(document, pointer), pointer, errors);
  CellDefinition definition = read_cell_definition(reader);
  definition.name = name;
  definition.pointer = pointer;
  if (!errors.empty()) throw InputError(errors.problems());
  return with_trained_histories(definition);
}

}  // namespace

struct DelayEquations::Implementation {
  CellDefinition definition;
  RightSide side;
  std::vector<std::vector<double>> weights;  // initial values of the program's weights
  std::vector<std::size_t> param_of_weight;  // their indices in params; none: kNoParam
  static constexpr std::size_t kNoParam = SIZE_MAX;
  std::optional<DerivedValues> derived =
      {};  // for weights that are functions of others; they have no initial values
};

DelayEquations::DelayEquations(const Json& document, const std::string& cell, std::int64_t input) {
  Implementation made{
      .definition = read_cell(document, cell), .side = {}, .weights = {}, .param_of_weight = {}};
  CellDefinition& definition = made.definition;
  EquationCell& equations = definition.equations;
  std::int64_t units = 1;
  if (const Json& layer = layer_with(document, definition.name); layer.is_object()) {
    if (layer.value("units", Json()).is_number_integer()) units = layer["units"].get<std::int64_t>();
    for (auto& [name, value] : equations.hyper)
      if (layer.contains(name) && layer[name].is_number()) value = layer[name].get<double>();
  }
  OdeSolver& solver = definition.solver;
  if (solver.parts > 0) {
    std::vector<std::string> known;
    for (const auto& param : equations.params) known.push_back(param.name);
    for (const auto& hyper : equations.hyper) known.push_back(hyper.first);
    if (std::ranges::find(known, solver.lag) == known.end())
      throw InputError(
          unknown_name("lag", solver.lag, known).within({.pointer = definition.pointer + "/solver/h/lag"}));
    for (const auto& [name, value] : equations.hyper)
      if (name == solver.lag) solver.h = value / static_cast<double>(std::exchange(solver.parts, 0));
  }
  std::optional<RightSide> side;
  const Layer layer = definition.build(units, input, &side);
  made.side = *std::move(side);
  for (const auto& param : equations.params) {
    const ParamDefinition& of = definition.params.at(param.name);
    params_.push_back({param.name, {}, param.size.empty(), of.train, of.bounds(), of.unit});
  }
  if (layer.weights) made.derived.emplace(layer);
  for (const ParameterDefinition& parameter : layer.parameters)
    if (const auto param = std::ranges::find(params_, parameter.name, &Param::name); param != params_.end())
      param->values = first_numbers(parameter);
  for (const WeightDefinition& weight : made.side.program.weights) {
    const auto parameter = std::ranges::find(layer.parameters, weight.name, &ParameterDefinition::name);
    made.weights.push_back(parameter == layer.parameters.end() ? std::vector<double>()
                                                               : first_numbers(*parameter));
    const auto param = std::ranges::find(params_, weight.name, &Param::name);
    made.param_of_weight.push_back(param == params_.end()
                                       ? Implementation::kNoParam
                                       : static_cast<std::size_t>(param - params_.begin()));
  }
  implementation_ = std::make_shared<const Implementation>(std::move(made));
}

DelayEquations::DelayEquations(const std::string& text, const std::string& cell, std::int64_t input)
    : DelayEquations(parse_json(text, "the equations"), cell, input) {}

const std::string& DelayEquations::name() const { return implementation_->definition.name; }

namespace {

std::string element_name(const std::string& name, bool is_scalar, std::size_t i) {
  return is_scalar ? name : text_of(name, "[", i, "]");
}

}  // namespace

void DelayEquations::set(const std::string& name, double value) {
  std::vector<std::string> known;
  for (Param& param : params_)
    for (std::size_t i = 0; i < param.values.size(); ++i) {
      known.push_back(element_name(param.name, param.is_scalar, i));
      if (known.back() != name) continue;
      if (!param.bounds.contains(value))
        throw InputError({.item = text_of("param '", name, "'")}, Rule::out_of_range,
                         text_of("is between ", param.bounds.low, " and ", param.bounds.high),
                         text_of(value));
      param.values[i] = value;
      return;
    }
  throw InputError(unknown_name("param", name, known));
}

std::vector<std::string> DelayEquations::warnings(const DelayInput& input, double end) const {
  const CellDefinition& definition = implementation_->definition;
  std::vector<std::string> all;
  const RightSide& side = implementation_->side;
  const std::vector<bool> constant = constant_values(side.program);
  std::string others;
  for (const PastRead& read : side.reads) {
    const Instruction& lag = side.program.values[read.lag];
    const bool is_own =
        lag.op == StepOp::weight && side.program.weights[lag.index].name == definition.solver.lag;
    if (definition.solver.parts > 0 && constant[read.lag] && !is_own && others.empty())
      others = read.at.excerpt;
  }
  if (!others.empty())
    all.push_back(text_of("the steps are parts of the lag ", definition.solver.lag,
                          "; for other lags, as in ", others, ", they are ",
                          definition.solver.cut ? "cut at the breaks." : "not cut at the breaks."));
  if (input.times.empty()) return all;
  const std::vector<bool> read = columns_read(side);
  if (!std::ranges::count(read, true)) {
    all.emplace_back("no equation reads the input.");
    return all;
  }
  std::string unread;
  for (std::size_t c = 0; c < read.size(); ++c)
    if (!read[c])
      unread += text_of(unread.empty() ? "" : ", ",
                        input.names.empty() ? text_of("number ", c) : quote(input.names[c]));
  if (!unread.empty()) all.push_back(text_of("no equation reads these columns of the input: ", unread, "."));
  const double last = input.times.back();
  const double gap = input.times.size() > 1 ? last - input.times[input.times.size() - 2] : 0;
  if (end > last + (definition.solver.hold ? gap : 0) * (1 + 1e-9))
    all.push_back(text_of("the input ends at t = ", last, " and keeps its last value up to t = ", end, "."));
  return all;
}

void DelayEquations::check_input(const DelayInput& input, double end) const {
  if (input.times.empty() || !reads_input(implementation_->side)) return;
  const Implementation& of = *implementation_;
  const Place place{.item = "input"};
  const auto width = static_cast<std::int64_t>(input.names.size());
  for (const auto& [name, column] : of.definition.equations.reads) {
    const auto found = std::ranges::find(input.names, name) - input.names.begin();
    const std::int64_t at = column < 0 ? column + width : column;
    if (found < width && found != at)
      throw InputError(place, Rule::conflict,
                       text_of("the cell reads '", name, "' from column ", at, ", and it is column ", found),
                       {}, "Put the columns in the order of \"reads\", or change that.");
  }
  if (const double first = input.times.front(); end > 0 && first > 0)
    throw InputError(
        place, Rule::missing, text_of("begins at t = ", first, ", and the equations read it from t = 0 on"),
        {}, text_of("Give its value at t = 0, or in a fit count time from there: \"begin\": ", first, "."));
}

std::vector<std::string> DelayEquations::observed_states() const {
  std::vector<std::string> states;
  for (const RightSide::State& state : implementation_->side.states)
    if (state.is_observed) states.push_back(name_of_state(implementation_->side, state));
  return states;
}

void DelayEquations::observe(const std::string& name, const std::vector<double>& times,
                             const std::vector<double>& values) {
  const RightSide& side = implementation_->side;
  std::vector<std::string> known;
  for (const RightSide::State& state : side.states) known.push_back(name_of_state(side, state));
  const auto s = static_cast<std::size_t>(std::ranges::find(known, name) - known.begin());
  if (s == known.size()) throw InputError(unknown_name("state", name, known));
  DelayHistory readings;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] <= 0 && !std::isnan(values[i])) {
      readings.times.push_back(times[i]);
      readings.values.push_back(values[i]);
    }
  const Place place{.pointer = implementation_->definition.pointer + "/history" + pointer_part(name)};
  if (side.program.values[side.states[s].value].shape.width() > 1)
    throw InputError(place, Rule::not_supported, "an observed history is that of a state of one number");
  if (readings.times.size() < 2)
    throw InputError(place, Rule::missing, "an observed history needs at least 2 readings at t <= 0",
                     text_of(readings.times.size()));
  observed_.resize(known.size());
  observed_[s] = std::move(readings);
}

void DelayEquations::fit_weights() {
  Implementation made = *implementation_;
  if (made.derived)
    for (auto& [name, values] : made.derived->free_weights())
      if (std::ranges::find(params_, name, &Param::name) == params_.end())
        params_.push_back({name, values, false});
  for (std::size_t w = 0; w < made.weights.size(); ++w) {
    if (made.param_of_weight[w] != Implementation::kNoParam || made.weights[w].empty()) continue;
    const auto known = std::ranges::find(params_, made.side.program.weights[w].name, &Param::name);
    if (known != params_.end()) {
      made.param_of_weight[w] = static_cast<std::size_t>(known - params_.begin());
      continue;
    }
    made.param_of_weight[w] = params_.size();
    params_.push_back({made.side.program.weights[w].name, made.weights[w], false});
  }
  implementation_ = std::make_shared<const Implementation>(std::move(made));
}

namespace {

std::vector<ObservedHistory> observed_of(const RightSide& side, const std::vector<DelayHistory>& given,
                                         const std::string& pointer) {
  std::vector<ObservedHistory> observed;
  for (const DelayHistory& readings : given) observed.push_back({readings.times, readings.values});
  for (std::size_t s = 0; s < side.states.size(); ++s)
    if (side.states[s].is_observed && (observed.empty() || observed[s].times.empty()))
      throw InputError({.pointer = pointer + "/history" + pointer_part(name_of_state(side, side.states[s]))},
                       Rule::missing, "is \"observed\", and there are no readings", {},
                       "Give them: `solve --history FILE`, or rows up to t = 0 in the data of `fit`.");
  return observed;
}

/// Adds the series to a result.
void fill(SolvedEquations& solved, DelaySolution& solution, const RightSide& side) {
  const std::size_t directions = solved.params.size();
  solved.gaps = std::move(solution.gaps);
  solved.gaps_d.resize(directions);
  for (std::size_t i = 0; i < solution.gaps_d.size(); ++i)
    solved.gaps_d[i % directions].push_back(solution.gaps_d[i]);
  for (const RightSide::State& state : side.states) {
    const Instruction& v = side.program.values[state.value];
    for (std::int64_t i = 0; i < v.shape.width(); ++i)
      solved.states.push_back(
          {element_name(side.program.states[v.index].name, v.shape.width() == 1, static_cast<std::size_t>(i)),
           {},
           std::vector<std::vector<double>>(directions)});
  }
  const std::size_t width = solved.states.size();
  for (std::size_t t = 0; t < solved.times.size(); ++t)
    for (std::size_t s = 0; s < width; ++s) {
      solved.states[s].y.push_back(solution.y[t * width + s]);
      for (std::size_t p = 0; p < directions; ++p)
        solved.states[s].d[p].push_back(solution.d[(t * width + s) * directions + p]);
    }
}

}  // namespace

SolvedEquations DelayEquations::solve(const std::vector<double>& times, bool derivatives,
                                      const DelayInput& input,
                                      const std::vector<DelayRestart>& restarts) const {
  const Implementation& of = *implementation_;
  check_input(input, times.empty() ? 0 : *std::ranges::max_element(times));
  DelayProblem problem{.side = of.side, .solver = of.definition.solver, .weights = of.weights};
  problem.solver.h /= static_cast<double>(refined_);
  problem.solver.parts *= refined_;
  problem.input_times = input.times;
  problem.inputs = input.values;
  problem.observed = observed_of(of.side, observed_, of.definition.pointer);
  SolvedEquations solved{.times = times, .states = {}, .params = {}};
  for (std::size_t w = 0; w < of.weights.size(); ++w)
    if (of.param_of_weight[w] != Implementation::kNoParam)
      problem.weights[w] = params_[of.param_of_weight[w]].values;
  for (const Param& param : params_) {
    const auto& weights = of.side.program.weights;
    const auto w = std::ranges::find(weights, param.name, &WeightDefinition::name) - weights.begin();
    for (std::size_t i = 0; derivatives && param.trained && i < param.values.size(); ++i) {
      problem.directions.emplace_back(static_cast<int>(w), static_cast<std::int64_t>(i));
      solved.params.push_back(element_name(param.name, param.is_scalar, i));
    }
  }
  DerivedValues::ByParams through;
  if (of.derived) through = of.derived->evaluate(params_, derivatives, problem);
  for (std::size_t r = 0; r < restarts.size(); ++r) {
    problem.restarts.push_back({restarts[r].t, restarts[r].states});
    for (std::size_t i = 0; derivatives && i < restarts[r].states.size(); ++i) {
      problem.directions.emplace_back(-1 - static_cast<int>(r), static_cast<std::int64_t>(i));
      solved.params.push_back(text_of("restart ", r, "[", i, "]"));
    }
  }
  DelaySolution solution;
  try {
    solution = lagtape::solve(problem, times);
  } catch (const InputError& error) {
    throw error.within({.pointer = of.definition.pointer + "/ode"});
  }
  for (std::vector<double>* d : {&solution.d, &solution.gaps_d})
    chain_rule(*d, problem.directions.size(), through);
  solved.steps = solution.steps;
  fill(solved, solution, of.side);
  return solved;
}

}  // namespace lagtape
