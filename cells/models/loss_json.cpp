#include "lagtape/cells/models/loss_json.h"

#include <algorithm>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

/// The loss of a name; none, and an error, where there is no such loss.
Loss loss_of(const std::string& name, const std::string& pointer, JsonErrors& errors) {
  std::vector<std::string> names;
  for (const LossRow& row : losses()) {
    if (name == row.name) return row.loss;
    names.emplace_back(row.name);
  }
  errors.add(pointer, unknown_name("loss", name, names));
  return Loss::none;
}

void read_numbers(JsonReader& reader, const std::string& key, std::vector<double>& numbers,
                  const std::string& about) {
  const Json& given = reader.raw(key, about, "list of number | null", Json(numbers).dump());
  const bool fits =
      given.is_null() ||
      (given.is_array() && std::ranges::all_of(given, [](const Json& value) { return value.is_number(); }));
  if (!fits) return reader.error(key, text_of("expected a list of numbers, got ", shortened(given.dump())));
  if (!given.is_null()) numbers = given.get<std::vector<double>>();
  reader.fill(key, numbers);
}

/// The weights of "balanced" are counted in a training set, which is not here: they stay as they are.
void read_class_weights(JsonReader& reader, std::vector<double>& weights) {
  const std::string about =
      "the factor of each class in the loss of its targets; none: 1 for all; \"balanced\": such that all "
      "classes "
      "have the same share of the training set's loss";
  const Json& given = reader.raw("class_weights", about, "list of number | \"balanced\" | null", "[]");
  const bool numbers =
      given.is_array() && std::ranges::all_of(given, [](const Json& value) { return value.is_number(); });
  if (numbers) weights = given.get<std::vector<double>>();
  reader.fill("class_weights", given == "balanced" ? given : Json(weights));
  if (!numbers && !given.is_null() && given != "balanced")
    reader.error("class_weights",
                 text_of("expected a list of numbers or \"balanced\", got ", shortened(given.dump())));
}

void read_options(JsonReader& reader, Loss loss, LossOptions& options) {
  switch (loss) {
    case Loss::huber:
      reader.optional("delta", options.delta, above(0),
                      "the error from which on the loss grows linearly, in units of the normalised targets");
      break;
    case Loss::quantile:
      read_numbers(reader, "levels", options.levels,
                   "levels of the quantiles, rising, above 0 and below 1; the model has an output for each, "
                   "and the one "
                   "nearest to 0.5 is the prediction");
      break;
    case Loss::cross_entropy:
    case Loss::binary_cross_entropy:
      read_class_weights(reader, options.class_weights);
      reader.optional(
          "label_smoothing", options.label_smoothing, between(0, 1),
          "probability, below 1, that is taken from the target's class and given to all classes alike");
      break;
    case Loss::esr:
      reader.optional("pre_emphasis", options.pre_emphasis, between(0, 1),
                      "share of the step before that is taken from each step of outputs and targets");
      reader.optional("dc", options.dc, {.min = 0}, "factor of the loss dc, which is added");
      break;
    case Loss::none:
    case Loss::dc:
    case Loss::mse: break;
  }
}

/// Notes a setting that is wrong, at its key.
void check_settings(const LossFunction& loss, JsonReader& reader) {
  const std::string error = loss.error();
  const std::size_t colon = error.find(": ");
  if (!error.empty()) reader.error(error.substr(0, colon), error.substr(colon + 2) + ".");
}

}  // namespace

LossFunction read_loss(const Json& given, const std::string& pointer, JsonErrors& errors) {
  if (given.is_string()) return loss_of(given.get<std::string>(), pointer, errors);
  if (!given.is_object()) {
    errors.add(pointer, text_of(R"(expected the name of a loss, or an object like {"type": "huber", )",
                                R"("delta": 0.5}, got )", shortened(given.dump()), "."));
    return {};
  }
  JsonReader reader(given, pointer, errors);
  std::string name;
  LossFunction loss;
  reader.required("type", name, "the name of the loss");
  if (!reader.has("type") || !given.at("type").is_string()) return loss;  // of which there is an error
  loss.kind = loss_of(name, reader.pointer_to("type"), errors);
  if (loss == Loss::none) return loss;
  read_options(reader, loss, loss.options);
  check_settings(loss, reader);
  reader.finish();
  return loss;
}

Json json_of(const LossFunction& loss) {
  const std::vector<OptionDoc> settings = options_of(loss);
  if (settings.empty() || (!loss.is_real() && !loss.is_adjusted())) return name_of(loss);
  Json json = {{"type", name_of(loss)}};
  if (loss == Loss::huber) json["delta"] = loss.options.delta;
  if (loss == Loss::quantile) json["levels"] = loss.options.levels;
  if (loss == Loss::esr) {
    json["pre_emphasis"] = loss.options.pre_emphasis;
    json["dc"] = loss.options.dc;
  }
  if (loss.is_real()) return json;
  json["class_weights"] = loss.options.class_weights;
  json["label_smoothing"] = loss.options.label_smoothing;
  return json;
}

std::vector<OptionDoc> options_of(Loss loss) {
  const Json nothing = Json::object();
  JsonErrors errors;
  JsonReader reader(nothing, "", errors);
  LossOptions options;
  read_options(reader, loss, options);
  return reader.documentation();
}

}  // namespace lagtape
