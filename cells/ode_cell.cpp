#include "lagtape/cells/ode_cell.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/delay/moving_step.h"
#include "lagtape/ops/delay/value_bounds.h"
#include "lagtape/ops/recurrence/equations/right_side.h"

namespace lagtape {
namespace {

void read_lines(JsonReader& reader, EquationCell& cell) {
  const Json& lines =
      reader.raw("ode", "equations in continuous time, each setting a new name or a derivative");
  const bool texts =
      lines.is_array() && std::ranges::all_of(lines, [](const Json& line) { return line.is_string(); });
  if (!texts || lines.empty())
    return reader.error("ode", "expected a list of equations, like [\"dy = -a * y(t - tau)\"].");
  for (const Json& line : lines) cell.ode.push_back(line.get<std::string>());
}

void read_history(JsonReader& reader, EquationCell& cell) {
  const Json& given = reader.raw("history", "of each state its value at t <= 0");
  if (!given.is_object())
    return reader.error(
        "history",
        Problem{.rule = Rule::missing,
                .expected = "of each state its value at t <= 0, a number, a param or an expression "
                            "of t, like {\"y\": \"y0\"}"});
  const JsonReader entries(given, reader.pointer_to("history"), reader.errors());
  for (const auto& [name, value] : given.items()) {
    if (value == "observed" || value == "train")
      reader.errors().add(entries.pointer_to(name),
                          Problem{.rule = Rule::not_supported,
                                  .statement = text_of("a history is no ", value.dump(), " yet"),
                                  .hint = "Give a param its start: \"y0\"."});
    else if (value.is_string() || value.is_number())
      cell.history.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    else
      reader.errors().add(entries.pointer_to(name),
                          "expected a number or an expression, like \"y0\" or \"sin(t)\".");
  }
}

void read_step_size(JsonReader& reader, OdeSolver& solver) {
  const Json& given = reader.raw("h", "the step, in units of t, or {\"lag\": NAME, \"parts\": m}");
  if (given.is_number() && given.get<double>() > 0) {
    solver.h = given.get<double>();
    return reader.fill("h", given);
  }
  if (!given.is_object())
    return reader.error(
        "h", Problem{.rule = given.is_null() ? Rule::missing : Rule::wrong_type,
                     .expected = "a step above 0 in units of t, or {\"lag\": \"tau\", \"parts\": 20}"});
  JsonReader parts(given, reader.pointer_to("h"), reader.errors());
  parts.required("lag", solver.lag, "the name of a lag");
  parts.required("parts", solver.parts, between(1, 1e9), "steps in a lag");
  parts.finish();
  reader.fill("h", parts.filled());
}

/// The time of a step of the data: a number, or its bounds where the input says it.
void read_data_step(JsonReader& reader, OdeSolver& solver) {
  const Json& given =
      reader.raw("dt", "the time of a step of the data, in units of t, or {\"min\": a, \"max\": b}");
  if (given.is_null()) return;
  if (given.is_number() && given.get<double>() > 0) {
    solver.dt = given.get<double>();
    return reader.fill("dt", given);
  }
  if (!given.is_object())
    return reader.error(
        "dt", Problem{.rule = Rule::wrong_type,
                      .expected = "the time of a step of the data, above 0, or where the last number of the "
                                  "input says it its bounds, {\"min\": 0.1, \"max\": 2}"});
  JsonReader bounds(given, reader.pointer_to("dt"), reader.errors());
  Bounds of{1, 1};
  bounds.required("min", of.low, above(0), "the least time of a step");
  bounds.required("max", of.high, above(0), "the largest time of a step");
  bounds.finish();
  if (of.low > of.high) reader.error("dt", "the least time of a step is at most the largest.");
  solver.given = of;
  reader.fill("dt", bounds.filled());
}

void read_levels(JsonReader& reader, OdeSolver& solver) {
  const Json& given = reader.raw("levels", "how often a break is followed: a number, or \"all\"");
  if (given.is_null()) return;
  if (given == "all")
    solver.levels = OdeSolver::kAllLevels;
  else if (given.is_number_unsigned() && given.get<std::int64_t>() <= 1000)
    solver.levels = given.get<std::int64_t>();
  else
    return reader.error("levels", "expected a whole number from 0 on, or \"all\".");
  reader.fill("levels", given);
}

void read_solver(JsonReader& cell, OdeSolver& solver) {
  const Json none = Json::object();
  const Json& given = cell.raw("solver", "method and step");
  JsonReader reader(given.is_null() ? none : given, cell.pointer_to("solver"), cell.errors());
  if (!reader.is_object()) return;
  const std::vector<std::string> methods = {"euler", "exponential_euler", "heun", "rk4"};
  std::string method = "rk4", dense = "hermite", breaks = "cut", inputs = "hold";
  reader.choice("method", method, methods, "euler, exponential_euler, heun or rk4");
  read_step_size(reader, solver);
  read_data_step(reader, solver);
  reader.choice("dense", dense, {"hermite", "linear"}, "states between steps");
  reader.choice("breaks", breaks, {"cut", "ignore"}, "whether steps end where the solution has a kink");
  read_levels(reader, solver);
  reader.choice("inputs", inputs, {"hold", "linear"}, "inputs between their times");
  reader.finish();
  cell.fill("solver", reader.filled());
  const auto at = std::ranges::find(methods, method);
  if (at != methods.end()) solver.method = static_cast<OdeMethod>(at - methods.begin());
  solver.hermite = dense == "hermite";
  solver.cut = breaks == "cut";
  solver.hold = inputs == "hold";
}

/// The bounds of each weight of the program. A lower bound that a param leaves open is NaN.
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

}  // namespace

void read_ode(JsonReader& reader, CellDefinition& definition) {
  EquationCell& cell = definition.equations;
  read_lines(reader, cell);
  read_history(reader, cell);
  reader.optional("input", cell.input, "the name of the input");
  read_solver(reader, definition.solver);
  cell.has_rates = definition.solver.method == OdeMethod::exponential_euler;
}

void check_lags(const CellDefinition& definition, const RightSide& side) {
  const std::vector<Bounds> weights = bounds_of_weights(definition, side.program);
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

/// The step of the method, in a model a number: parts of a lag are those of its start.
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

bool reads_input(const RightSide& side) {
  return std::ranges::any_of(side.program.values, [](const Instruction& v) { return v.op == StepOp::input; });
}

}  // namespace

StepProgram step_of(const CellDefinition& definition, const RightSide& side, std::int64_t input) {
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
    is_fixed = is_fixed && lag.low == lag.high;
    longest = std::min(longest, lag.low);
    steps.lags.push_back(lag);
  }
  steps.parts = static_cast<std::int64_t>(std::ceil(dt / longest - 1e-9));
  if (is_fixed && !solver.given && (solver.hold || !reads_input(side))) return step_of(side, steps);
  return moving_step_of(side, steps);
}

}  // namespace lagtape
