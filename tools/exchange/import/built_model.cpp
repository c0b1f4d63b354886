#include "lagtape/tools/exchange/import/built_model.h"

#include <memory>
#include <utility>
#include <vector>

#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/cells/models/provenance.h"
#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

void set_values(Model& model, const std::map<std::string, Tensor>& values, const std::string& where) {
  const std::vector<ParameterDefinition> definitions = model.fitted().parameters();
  auto definition = definitions.begin();
  for (Parameter& parameter : model.parameters()) {
    const Place place{.file = where, .item = text_of("values of ", parameter.name)};
    const auto found = values.find(parameter.name);
    if (found == values.end()) throw InputError(place, Rule::missing, "are missing.");
    if (found->second.shape() != parameter.value.shape())
      throw unexpected(place, Rule::shape, to_string(parameter.value.shape()),
                       to_string(found->second.shape()));
    parameter.value = found->second.to(model.dtype()).clone();
    if (const std::string error = value_error(*definition++, parameter.value); !error.empty())
      throw InputError(place, Rule::out_of_range, error);
  }
  if (values.size() != definitions.size())
    throw unexpected({where}, Rule::conflict, text_of("values of ", definitions.size(), " parameters"),
                     text_of(values.size()));
}

}  // namespace

Model built_model(const ModelContent& content, const std::string& where) {
  JsonErrors errors;
  Json document = content.experiment;
  const Json* cells = document.find_pointer("/cells");
  ModelDefinition definition = read_model(document.at("model"), cells == nullptr ? Json() : *cells, errors);
  definition.loss = loss_in(document, errors);
  definition.precision = precision_in(document);
  DataWidths widths{.input = content.input};
  if (definition.loss == Loss::cross_entropy) widths.classes = definition.readout.units;
  FittedModel fitted = fit(definition, widths, errors);
  errors.raise(where);
  document["model"] = json_of(fitted.definition);
  Model model(std::move(fitted), 0, std::make_shared<const Provenance>(Provenance{std::move(document)}));
  set_values(model, content.values, where);
  content.normalization.check(model.input_width(), model.output_width());
  model.normalization() = content.normalization;
  return model;
}

}  // namespace lagtape
