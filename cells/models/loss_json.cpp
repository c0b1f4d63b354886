#include "lagtape/cells/models/loss_json.h"

#include <algorithm>
#include <utility>

#include "lagtape/core/json/options.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

/// The loss with a name; none, with an error, if it does not exist.
Loss loss_of(const std::string& name, const std::string& pointer, JsonErrors& errors) {
  if (const LossRow* row = find_named(losses(), name)) return row->loss;
  errors.add(pointer, errors.unknown("loss", name, names_of(losses()), pointer));
  return Loss::none;
}

using ClassWeights = std::vector<double>;

/// "balanced" weights are counted in a training set, which is not available here: they are left unchanged.
void read_class_weights(JsonReader& reader, const Option&, ClassWeights& weights) {
  const Json& given = reader.raw("class_weights");
  if (given.is_null() || given == "balanced") return;
  if (given.is_array() && std::ranges::all_of(given, [](const Json& value) { return value.is_number(); }))
    weights = given.get<ClassWeights>();
  else
    reader.error("class_weights",
                 text_of("expected a list of numbers or \"balanced\", got ", shortened(given.dump())));
}

Json class_weights_json(const Option&, const ClassWeights& weights) { return weights; }
Json class_weights_schema(const Option&) {
  return either_schema({list_schema(number_schema({})), Json{{"const", "balanced"}}, Json{{"type", "null"}}});
}

constexpr OptionKindOf<ClassWeights> kClassWeights =
    option_kind<ClassWeights, read_class_weights, class_weights_json, class_weights_schema>();

constexpr Option kHuber[] = {
    option<&LossOptions::delta>(
        "delta", above(0),
        "the error from which on the loss grows linearly, in units of the normalized targets"),
};
constexpr Option kQuantile[] = {
    option<&LossOptions::levels>(
        "levels",
        "levels of the quantiles, rising, above 0 and below 1; the model has an output for each, and the one "
        "nearest to 0.5 is the prediction"),
};
constexpr std::string_view kAboutLevels =
    "levels of the quantiles that predictions and metrics show, rising, above 0 and below 1";
constexpr Option kLevelOptions[] = {option<&LossOptions::levels>("levels", kAboutLevels)};
constexpr Option kCountOptions[] = {
    option<&LossOptions::levels>("levels", kAboutLevels),
    option<&LossOptions::scale>("scale",
                                "what the mean of each target is a multiple of; none: the means of the "
                                "training rows, or 1 where the data "
                                "do not scale targets"),
};
constexpr Option kCrossEntropy[] = {
    option<&LossOptions::class_weights>(
        "class_weights", kClassWeights,
        "the factor of each class in the loss of its targets; none: 1 for all; \"balanced\": such that all "
        "classes have the same share of the training set's loss"),
    option<&LossOptions::label_smoothing>(
        "label_smoothing", between(0, 1),
        "probability, below 1, that is taken from the target's class and given to all classes alike"),
};
constexpr Option kEsr[] = {
    option<&LossOptions::pre_emphasis>(
        "pre_emphasis", between(0, 1),
        "share of the step before that is taken from each step of outputs and targets"),
    option<&LossOptions::dc>("dc", at_least(0), "factor of the loss dc, which is added"),
};

/// The settings of a loss.
OptionTable table_of(Loss loss) {
  if (loss == Loss::huber) return kHuber;
  if (loss == Loss::quantile) return kQuantile;
  if (loss == Loss::negative_binomial) return kCountOptions;
  if (loss_row(loss).distribution != nullptr) return kLevelOptions;
  if (loss == Loss::cross_entropy || loss == Loss::binary_cross_entropy) return kCrossEntropy;
  if (loss == Loss::esr) return kEsr;
  return {};
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
  if (!reader.has("type") || !given.at("type").is_string()) return loss;  // that have an error
  loss.kind = loss_of(name, reader.pointer_to("type"), errors);
  if (loss == Loss::none) return loss;
  read_options(reader, table_of(loss), loss.options);
  if (const std::optional<Problem> error = loss.error()) errors.add(pointer, *error);
  reader.finish();
  return loss;
}

Json json_of(const LossFunction& loss) {
  const OptionTable table = table_of(loss);
  if (table.count == 0 || (!loss.is_real() && !loss.is_adjusted())) return name_of(loss);
  Json json = {{"type", name_of(loss)}};
  json.update(json_of(table, loss.options));
  return json;
}

std::vector<OptionDoc> options_of(Loss loss) { return described(table_of(loss), LossOptions()); }

}  // namespace lagtape
