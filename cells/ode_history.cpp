#include "lagtape/cells/ode_history.h"

#include <algorithm>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/json/schema.h"

namespace lagtape {
namespace {

constexpr Range kKnots = between(1, 32);

/// The options of a trained history.
struct TrainedOptions {
  bool train = true;
  EquationCell::TrainedHistory history = {};
};

constexpr Option kHistoryRows[] = {
    option<&EquationCell::TrainedHistory::knots>("knots", kKnots, "numbers of a spline over the window"),
    option<&EquationCell::TrainedHistory::start>("start", "where it starts"),
};
constexpr OptionTable kHistory = kHistoryRows;

constexpr Option kTrainedRows[] = {option<&TrainedOptions::train>("train", "a history that is trained"),
                                   rows_of<&TrainedOptions::history>(kHistory)};

void check_trained(const TrainedOptions& options, JsonReader& reader) {
  if (!options.train) reader.error("train", "a history that is not trained is a number or an expression.");
}

constexpr OptionTable kTrained = checked<check_trained>(kTrainedRows);

void read_histories(JsonReader& reader, const Option& option, EquationCell& cell) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  if (!given.is_object())
    return reader.error(
        key, Problem{.rule = given.is_null() ? Rule::missing : Rule::wrong_type,
                     .expected = "of each state its value at t <= 0, a number, a param or an expression "
                                 "of t, like {\"y\": \"y0\"}"});
  const JsonReader entries(given, reader.pointer_to(key), reader.errors());
  EquationCell::TrainedHistory all;  // "knots" at the top level apply to every trained history
  const bool has_knots =
      given.contains("knots") &&
      std::ranges::find(cell.states, "knots", &EquationCell::Named::name) == cell.states.end();
  if (has_knots) {
    const Json& knots = given["knots"];
    if (knots.is_number_integer() && knots.get<double>() >= kKnots.min && knots.get<double>() <= kKnots.max)
      all.knots = knots.get<std::int64_t>();
    else
      reader.errors().add(entries.pointer_to("knots"),
                          text_of("expected a whole number from 1 to ", kKnots.max, "."));
  }
  for (const auto& [name, value] : given.items()) {
    if (has_knots && name == "knots") continue;
    if (value == EquationCell::kTrained || value.is_object()) {
      EquationCell::TrainedHistory& trained = cell.trained[name] = all;
      cell.history.emplace_back(name, EquationCell::kTrained);
      if (value.is_object()) {
        JsonReader own(value, entries.pointer_to(name), reader.errors());
        TrainedOptions options{.history = all};
        read_options(own, kTrained, options);
        own.finish();
        trained = options.history;
      }
    } else if (value.is_string() || value.is_number()) {
      cell.history.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    } else {
      reader.errors().add(
          entries.pointer_to(name),
          "expected a number or an expression, like \"y0\" or \"sin(t)\", \"observed\" or \"train\".");
    }
  }
}

Json histories_json(const Option&, const EquationCell& cell) {
  Json object = Json::object();
  for (const auto& [state, value] : cell.history) {
    object[state] = value;
    if (value != EquationCell::kTrained) continue;
    const EquationCell::TrainedHistory& trained = cell.trained.at(state);
    if (trained.knots > 1 || trained.start != 0)
      object[state] = json_of(kTrained, TrainedOptions{true, trained});
  }
  return object;
}

Json histories_schema(const Option&) {
  return object_schema_of(
      either_schema({Json{{"type", "string"}}, number_schema({}), schema_of_rows(kTrained)}));
}

}  // namespace

constinit const OptionKindOf<EquationCell> kHistories =
    option_kind<EquationCell, read_histories, histories_json, histories_schema>();

std::string spline_expression(const std::string& param, std::int64_t knots, double window) {
  const auto k = static_cast<std::size_t>(knots);
  // Second derivatives at the knots as linear combinations of the values: M[j][i]; 0 at both ends.
  std::vector<std::vector<double>> M(k, std::vector<double>(k));
  std::vector<double> diagonal(k, 4);
  for (std::size_t j = 1; j + 1 < k; ++j) {
    M[j][j - 1] += 6, M[j][j] -= 12, M[j][j + 1] += 6;
    if (j == 1) continue;
    const double factor = 1 / diagonal[j - 1];
    diagonal[j] -= factor;
    for (std::size_t i = 0; i < k; ++i) M[j][i] -= factor * M[j - 1][i];
  }
  for (std::size_t j = k - 1; j-- > 1;)
    for (std::size_t i = 0; i < k; ++i) M[j][i] = (M[j][i] - (j + 2 < k ? M[j + 1][i] : 0)) / diagonal[j];
  const auto combined = [&](const std::vector<double>& factors) {
    std::string text;
    for (std::size_t i = 0; i < k; ++i) {
      Json number = factors[i];
      text += text_of(i == 0 ? "" : " + ", "(", number.dump(), ") * ", param, "[", i, "]");
    }
    return text;
  };
  const Json scale = static_cast<double>(knots - 1) / window;
  std::vector<double> first(k);  // the slope at the first knot
  for (std::size_t i = 0; i < k; ++i) first[i] = -M[1][i] / 6;
  first[0] -= 1, first[1] += 1;
  std::string text =
      text_of(param, "[0] + (", combined(first), ") * (t * ", scale.dump(), " + ", knots - 1, ")");
  for (std::size_t j = 0; j + 1 < k; ++j) {
    std::vector<double> bend(k);
    for (std::size_t i = 0; i < k; ++i)
      bend[i] = (M[j + 1][i] - M[j][i] - (j > 0 ? M[j][i] - M[j - 1][i] : 0)) / 6;
    text += text_of(" + (", combined(bend), ") * maximum(t * ", scale.dump(), " + ",
                    knots - 1 - static_cast<std::int64_t>(j), ", 0) ^ 3");
  }
  return text;
}

}  // namespace lagtape
