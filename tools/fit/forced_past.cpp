#include "lagtape/tools/fit/forced_past.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/tokens.h"
#include "lagtape/tools/fit/smoothing_spline.h"

namespace lagtape {
namespace {

constexpr double kFollows = 0.25;  // how much of its distance to the spline a state makes good in a step

Json& ode_cell(Json& document) {
  std::string found;
  for (const auto& [name, cell] : document["cells"].items())
    if (found.empty() && cell.contains("ode")) found = name;
  if (!found.empty()) return document["cells"][found];
  throw InputError({}, Rule::missing, "there is no cell with an \"ode\".");
}

/// The largest step that the solver may take.
double step_of(const Json& cell) {
  const Json solver = cell.value("solver", Json::object()), h = solver.value("h", Json());
  if (h.is_number()) return h.get<double>();
  if (!h.is_object()) throw InputError({.pointer = "/fit/force"}, Rule::missing, "needs the solver's \"h\".");
  const Json param = cell["params"][h["lag"].get<std::string>()];
  const double lag =
      param.is_number() ? param.get<double>() : param.value("max", param["start"].get<double>());
  return lag / h["parts"].get<double>();
}

/// The number of an input at a time: it is held, or on a line, as the equations see it.
double input_at(const DelayInput& input, double t, std::int64_t column, bool is_line) {
  const auto after = std::ranges::upper_bound(input.times, t) - input.times.begin();
  const std::ptrdiff_t i = std::clamp<std::ptrdiff_t>(after - 1, 0, std::ssize(input.times) - 1);
  const auto value = [&](std::ptrdiff_t row) { return input.values[row * input.width + column]; };
  if (!is_line || i + 1 >= std::ssize(input.times)) return value(i);
  const double part = (t - input.times[i]) / (input.times[i + 1] - input.times[i]);
  return value(i) + part * (value(i + 1) - value(i));
}

/// The equation with another text in place of a name; `opens`: only where a bracket follows, as in y(t - tau).
std::string replaced(const std::string& text, std::string_view name, std::string_view by,
                     bool opens = false) {
  const EquationLine line{.label = "ode", .text = text};
  const std::vector<EquationToken> tokens = tokens_of(line);
  std::string changed;
  std::size_t done = 0;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const EquationToken& token = tokens[i];
    if (token.kind != EquationToken::Kind::name || token.text != name) continue;
    if (opens && !tokens[i + 1].is("(")) continue;
    changed.append(text, done, token.position - done).append(by);
    done = token.position + name.size();
  }
  return changed.append(text, done);
}

}  // namespace

ForcedPast force_past(const Json& document, const DelayReadings& readings) {
  ForcedPast forced{document, readings};
  Json& cell = ode_cell(forced.document);
  const double h = step_of(cell), rate = kFollows / h, end = readings.times.back();
  const std::string given = cell.value("input", "x"), input = "forcing_";
  const std::int64_t own = readings.input.values.empty() ? 0 : readings.input.width;
  const auto column = [&](std::int64_t k) { return text_of("slice(", input, ", ", k, ", ", k + 1, ")"); };

  std::vector<std::string> lines;
  for (const Json& line : cell["ode"]) {
    lines.push_back(line.get<std::string>());
    if (own > 0) lines.back() = replaced(lines.back(), given, text_of("slice(", input, ", 0, ", own, ")"));
    for (const std::string& state : readings.states)
      lines.back() = replaced(lines.back(), state, state + "_data", true);
  }
  std::vector<SmoothingSpline> splines;
  std::int64_t width = own;
  for (std::size_t s = 0; s < readings.states.size(); ++s) {
    const std::string& state = readings.states[s];
    const auto [times, values] = known_readings(readings, s);
    splines.push_back(SmoothingSpline::chosen(times, values));
    for (const char* key : {"state", "history"}) {
      Json same = cell[key][state];
      cell[key][state + "_data"] = std::move(same);
    }
    lines.push_back(text_of("d", state, "_data = sum(", column(width + 1), ") + ", rate, " * (sum(",
                            column(width), ") - ", state, "_data)"));
    width += 2;
  }
  cell["ode"] = lines;
  cell["input"] = input;
  Json solver = cell.value("solver", Json::object());
  const bool is_line = solver.value("inputs", "hold") == "linear";
  solver["inputs"] = "linear";
  solver["breaks"] = "ignore";
  cell["solver"] = solver;

  DelayInput dense{.times = {}, .values = {}, .width = width};
  for (std::int64_t k = 0; static_cast<double>(k - 1) * h < end; ++k) {
    const double t = static_cast<double>(k) * h;
    dense.times.push_back(t);
    for (std::int64_t c = 0; c < own; ++c) dense.values.push_back(input_at(readings.input, t, c, is_line));
    for (const SmoothingSpline& spline : splines) {
      dense.values.push_back(spline.value(t));
      dense.values.push_back(spline.slope(t));
    }
  }
  forced.readings.input = std::move(dense);
  return forced;
}

}  // namespace lagtape
