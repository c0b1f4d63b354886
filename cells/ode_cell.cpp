#include "lagtape/cells/ode_cell.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lagtape/cells/ode_history.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/options.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/ops/delay/moving_step.h"
#include "lagtape/ops/delay/value_bounds.h"
#include "lagtape/ops/recurrence/equations/right_side.h"

namespace lagtape {
namespace {

using Lines = std::vector<std::string>;

void read_lines(JsonReader& reader, const Option& option, Lines& all) {
  const std::string key(option.key);
  const Json given = reader.raw(key), lines = given.is_string() ? Json::array({given}) : given;
  const bool texts =
      lines.is_array() && std::ranges::all_of(lines, [](const Json& line) { return line.is_string(); });
  if (!texts || lines.empty())
    return reader.error(key, "expected a list of equations, like [\"dy = -a * y(t - tau)\"].");
  for (const Json& line : lines) all.push_back(line.get<std::string>());
}

Json lines_json(const Option&, const Lines& lines) { return lines; }
Json lines_schema(const Option&) { return list_schema(Json{{"type", "string"}}, 1); }

constexpr auto kLines = option_kind<Lines, read_lines, lines_json, lines_schema>();

// ---- Options of the solver ------------------------------------------------------------------------------------

constexpr Option kLagPartRows[] = {
    required<&OdeSolver::lag>("lag", "the name of a lag"),
    required<&OdeSolver::parts>("parts", between(1, 1e9), "steps in a lag"),
};
constexpr OptionTable kLagParts = kLagPartRows;

void read_step_size(JsonReader& reader, const Option& option, OdeSolver& solver) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  if (given.is_number() && given.get<double>() > 0) {
    solver.h = given.get<double>();
  } else if (given.is_object()) {
    JsonReader parts(given, reader.pointer_to(key), reader.errors());
    read_options(parts, kLagParts, solver);
    parts.finish();
  } else if (reader.is_object()) {
    reader.error(key,
                 Problem{.rule = given.is_null() ? Rule::missing : Rule::wrong_type,
                         .expected = "a step above 0 in units of t, or {\"lag\": \"tau\", \"parts\": 20}"});
  }
}

Json step_size_json(const Option&, const OdeSolver& solver) {
  return solver.parts > 0 ? json_of(kLagParts, solver) : Json(solver.h);
}
Json step_size_schema(const Option&) {
  return either_schema({number_schema(above(0)), schema_of_rows(kLagParts)});
}

void check_bounds(const Bounds& bounds, JsonReader& reader) {
  if (bounds.low > bounds.high) reader.error("", "the least time of a step is at most the largest.");
}

constexpr Option kStepBoundRows[] = {
    required<&Bounds::low>("min", above(0), "the least time of a step"),
    required<&Bounds::high>("max", above(0), "the largest time of a step"),
};
constexpr OptionTable kStepBounds = checked<check_bounds>(kStepBoundRows);

void read_data_step(JsonReader& reader, const Option& option, OdeSolver& solver) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  if (given.is_number() && given.get<double>() > 0) {
    solver.dt = given.get<double>();
  } else if (given.is_object()) {
    JsonReader bounds(given, reader.pointer_to(key), reader.errors());
    read_options(bounds, kStepBounds, solver.given.emplace(Bounds{1, 1}));
    bounds.finish();
  } else if (!given.is_null()) {
    reader.error(
        key, Problem{.rule = Rule::wrong_type,
                     .expected = "the time of a step of the data, above 0, or where the last number of the "
                                 "input says it its bounds, {\"min\": 0.1, \"max\": 2}"});
  }
}

Json data_step_json(const Option&, const OdeSolver& solver) {
  return solver.given ? json_of(kStepBounds, *solver.given) : Json(solver.dt);
}
Json data_step_schema(const Option&) {
  return either_schema({number_schema(above(0)), schema_of_rows(kStepBounds)});
}

constexpr Range kLevels = between(0, 1000);

void read_levels(JsonReader& reader, const Option& option, std::int64_t& levels) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  if (given == "all")
    levels = OdeSolver::kAllLevels;
  else if (given.is_number_integer() && given.get<double>() >= kLevels.min &&
           given.get<double>() <= kLevels.max)
    levels = given.get<std::int64_t>();
  else if (!given.is_null())
    reader.error(key, "expected a whole number from 0 on, or \"all\".");
}

Json levels_json(const Option&, const std::int64_t& levels) {
  if (levels == OdeSolver::kDefaultLevels) return {};
  return levels == OdeSolver::kAllLevels ? Json("all") : Json(levels);
}
Json levels_schema(const Option&) { return either_schema({integer_schema(kLevels), Json{{"const", "all"}}}); }

constexpr auto kStepSize = option_kind<OdeSolver, read_step_size, step_size_json, step_size_schema>();
constexpr auto kDataStep = option_kind<OdeSolver, read_data_step, data_step_json, data_step_schema>();
constexpr auto kBreakLevels = option_kind<std::int64_t, read_levels, levels_json, levels_schema>();

constexpr Option kSolverRows[] = {
    option<&OdeSolver::method>("method", {"euler", "exponential_euler", "heun", "rk4"},
                               "how a step is taken"),
    whole<OdeSolver>("h", kStepSize, "the step, in units of t, or a part of a lag").needed(),
    whole<OdeSolver>(
        "dt", kDataStep,
        "in a model, the time of a step of the data, in units of t; {\"min\": a, \"max\": b}: the last "
        "number of each input is that time, between these bounds; by default h")
        .open(),
    option<&OdeSolver::hermite>("dense", Choices{{"hermite", true}, {"linear", false}},
                                "states between steps: by cubics through values and slopes, or by lines"),
    option<&OdeSolver::cut>("breaks", Choices{{"cut", true}, {"ignore", false}},
                            "whether steps end where the solution has a kink"),
    option<&OdeSolver::levels>("levels", kBreakLevels,
                               "how often a kink is followed through the lags; by default order + 1")
        .open(),
    option<&OdeSolver::hold>("inputs", Choices{{"hold", true}, {"linear", false}},
                             "inputs between their times"),
};
constexpr OptionTable kSolver = kSolverRows;

// ---- Options of a cell in continuous time ---------------------------------------------------------------------

constexpr Option kEquationRows[] = {
    option<&EquationCell::ode>("ode", kLines,
                               "equations in continuous time, each setting a new name or a derivative")
        .needed(),
    whole<EquationCell>("history", kHistories, "of each state its value at t <= 0").needed(),
    option<&EquationCell::input>("input", "the name of the input"),
};
constexpr OptionTable kEquations = kEquationRows;

constexpr Option kOdeRows[] = {
    rows_of<&CellDefinition::equations>(kEquations),
    option<&CellDefinition::solver>("solver", kSolver, "method and step").needed(),
};

/// The bounds of each weight in the program. A lower bound that a param leaves open is NaN.
std::vector<Bounds> bounds_of_weights(const CellDefinition& definition, const StepProgram& program) {
  std::vector<Bounds> all;
  for (const WeightDefinition& weight : program.weights) {
    Bounds bounds{std::numeric_limits<double>::quiet_NaN()};
    if (const auto param = definition.params.find(weight.name); param != definition.params.end()) {
      const ParamDefinition& of = param->second;
      bounds.low = of.train ? of.min.value_or(bounds.low) : of.start;
      bounds.high = of.train ? of.max.value_or(bounds.high) : of.start;
    }
    all.push_back(bounds);
  }
  return all;
}

InputError lag_error(const PastRead& read, std::string statement, double found, std::string hint) {
  Place at = read.at;
  at.pointer = "/ode";
  return {at, Rule::out_of_range, std::move(statement), std::isfinite(found) ? text_of(found) : "",
          std::move(hint)};
}

/// The weights on which lags depend.
std::vector<std::string> names_in_lags(const RightSide& side) {
  std::vector<bool> is_in(side.program.values.size());
  for (const PastRead& read : side.reads) is_in[static_cast<std::size_t>(read.lag)] = true;
  std::vector<std::string> names;
  for (std::size_t i = is_in.size(); i-- > 0;) {
    const Instruction& v = side.program.values[i];
    if (!is_in[i]) continue;
    if (v.op == StepOp::weight) names.push_back(side.program.weights[static_cast<std::size_t>(v.index)].name);
    for (const int of : {v.a, v.b})
      if (!is_leaf(v.op) && of >= 0) is_in[static_cast<std::size_t>(of)] = true;
  }
  return names;
}

}  // namespace

constinit const OptionTable kOdeOptions = kOdeRows;

void check_lags(const CellDefinition& definition, const RightSide& side) {
  const std::vector<Bounds> weights = bounds_of_weights(definition, side.program);
  const std::vector<std::string> names = names_in_lags(side);
  if (const std::string& lag = definition.solver.lag;
      !names.empty() && definition.params.contains(lag) && std::ranges::find(names, lag) == names.end())
    throw InputError(unknown_name("lag", lag, names).within({.pointer = "/solver/h/lag"}));
  for (const PastRead& read : side.reads) {
    const Bounds bounds = bounds_of(side.program, read.lag, weights);
    if (!std::isfinite(bounds.high))
      throw lag_error(read, "the lag has no upper bound", bounds.high,
                      "Give its param a \"max\", or write y(t - clamp(E, least, largest)).");
    if (bounds.low <= 0 || bounds.high <= 0)
      throw lag_error(read, "a lag is above 0, and this one may be", std::min(bounds.low, bounds.high),
                      "Give its param a \"min\" above 0, or write y(t - clamp(E, least, largest)).");
    const double h = definition.solver.h;
    if (h > 0 && std::min(bounds.low, bounds.high) < h * (1 - 1e-9))
      throw lag_error(read, text_of("a lag is at least a step, h = ", h, ", and this one may be"),
                      std::min(bounds.low, bounds.high),
                      text_of("The largest h that serves is ", std::min(bounds.low, bounds.high), "."));
  }
}

namespace {

bool is_scalar(const EquationCell::Named& state) {
  return state.shape.empty() || (state.shape.size() == 1 && state.shape.front() == "1");
}

}  // namespace

CellDefinition with_trained_histories(const CellDefinition& definition) {
  CellDefinition made = definition;
  EquationCell& cell = made.equations;
  cell.trained.clear();
  for (std::size_t i = 0; i < cell.history.size(); ++i) {
    auto& [name, text] = cell.history[i];
    const auto trained = definition.equations.trained.find(name);
    const auto state = std::ranges::find(cell.states, name, &EquationCell::Named::name);
    if (trained == definition.equations.trained.end()) continue;
    text = "0";
    if (state == cell.states.end()) continue;  // which the equations refuse
    const auto& [knots, start] = trained->second;
    if (state->shape.size() > 1 || (knots > 1 && !is_scalar(*state)))
      throw InputError(
          {.pointer = text_of(definition.pointer, "/history/", name)}, Rule::not_supported,
          knots > 1 ? "knots are of a state of size 1" : "a state of several axes has no trained history", {},
          "Give it params, like \"y0\".");
    ParamDefinition param{.start = start};
    if (knots > 1)
      param.size = text_of(knots);
    else if (!is_scalar(*state))
      param.size = state->shape.front();
    text = name + ".history";
    cell.params.push_back({text, param.size, param.bounds().high});
    made.params.emplace(text, param);
    if (knots < 2) continue;
    made.splines.push_back({i, text, knots});
    text = spline_expression(made.splines.back().param, knots, 1);
  }
  return made;
}

void set_splines(CellDefinition& definition, const RightSide& side) {
  const std::vector<Bounds> weights = bounds_of_weights(definition, side.program);
  double window = 0;
  for (const PastRead& read : side.reads)
    window = std::max(window, bounds_of(side.program, read.lag, weights).high);
  for (const HistorySpline& spline : definition.splines)
    definition.equations.history[spline.entry].second =
        spline_expression(spline.param, spline.knots, window > 0 ? window : 1);
}

namespace {

/// The step of the method, a fixed number in a model: parts of a lag are those of its start.
double step_size(const CellDefinition& definition) {
  const OdeSolver& solver = definition.solver;
  if (solver.parts == 0) return solver.h;
  const double parts = static_cast<double>(solver.parts);
  if (const auto param = definition.params.find(solver.lag); param != definition.params.end())
    return param->second.start / parts;
  std::vector<std::string> known;
  for (const auto& param : definition.params) known.push_back(param.first);
  for (const auto& [name, value] : definition.equations.hyper) {
    if (name == solver.lag) return value / parts;
    known.push_back(name);
  }
  throw InputError(
      unknown_name("lag", solver.lag, known).within({.pointer = definition.pointer + "/solver/h/lag"}));
}

}  // namespace

StepProgram step_of(const CellDefinition& definition, const RightSide& side, std::int64_t input) {
  for (const auto& [state, text] : definition.equations.history)
    if (text == EquationCell::kObserved)
      throw InputError({.pointer = text_of(definition.pointer, "/history/", state)}, Rule::not_supported,
                       "a layer has no observed history", {},
                       "Give it \"train\" or a param; `solve` and `fit` have one.");
  ModelSteps steps{.solver = definition.solver, .input = input};
  OdeSolver& solver = steps.solver;
  const double h = step_size(definition);
  if (solver.dt == 0 && !solver.given && solver.parts > 0)
    throw InputError({.pointer = definition.pointer + "/solver"}, Rule::missing,
                     "a model whose step is a part of a lag needs the time of a step of its data", {},
                     "Give it: \"dt\": 1.");
  if (solver.given && input == 1 && reads_input(side))
    throw InputError({.pointer = definition.pointer + "/solver/dt"}, Rule::shape,
                     "the last number of the input is the time of a step, and nothing is left that the "
                     "equations may read",
                     {}, "Add a column to the inputs.");
  if (solver.dt == 0) solver.dt = h;
  const double dt = solver.given ? solver.given->high : solver.dt;
  double longest = h;
  const std::vector<Bounds> weights = bounds_of_weights(definition, side.program);
  bool is_fixed = true;
  for (const PastRead& read : side.reads) {
    const Bounds lag = bounds_of(side.program, read.lag, weights);
    if (!std::isfinite(lag.low))
      throw lag_error(read, "in a model the least lag is known before", lag.low,
                      text_of("Give its param a \"min\", such as h, ", h, "."))
          .within({.pointer = definition.pointer});
    is_fixed = is_fixed && lag.low == lag.high;
    longest = std::min(longest, lag.low);
    steps.lags.push_back(lag);
  }
  steps.parts = static_cast<std::int64_t>(std::ceil(dt / longest - 1e-9));
  if (is_fixed && !solver.given && (solver.hold || !reads_input(side))) return step_of(side, steps);
  return moving_step_of(side, steps);
}

}  // namespace lagtape
