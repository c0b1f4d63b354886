#include "lagtape/cells/export/exported_model.h"

#include <iterator>

#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/core/error.h"

namespace lagtape {

std::int64_t ExportedModel::input_width() const { return table.empty() ? stack.input_width() : 1; }

std::vector<Tensor> ExportedModel::weights() const {
  std::vector<Tensor> all;
  const auto add = [&](const ExportedLayer& layer) {
    all.insert(all.end(), layer.weights.begin(), layer.weights.end());
  };
  for (const ExportedLayer& layer : layers) add(layer);
  if (readout) add(*readout);
  return all;
}

ExportedModel exported(const Model& model) {
  const ChainDefinition& chain = model.evaluation_chain();
  if (const std::string obstacle = chain.obstacle(); !obstacle.empty())
    throw InputError(text_of("[export] a model is exported as one step with its states, but ", obstacle));
  ExportedModel result;
  result.stack = chain.parts.back().stack;
  result.at = result.stack.at;
  result.normalization = model.normalization();
  result.normalization.check(model.input_width(), model.output_width());
  result.dtype = model.dtype();

  std::vector<Tensor> weights = model.weights();
  auto next = weights.begin();
  if (model.tokens() > 0) result.table = *next++;
  const auto layer_of = [&](const std::string& name, const StepProgram& program) {
    const auto first = next;
    std::advance(next, program.weights.size());
    return ExportedLayer{name, program, {first, next}};
  };
  for (const StepProgram& program : result.stack.layers)
    result.layers.push_back(layer_of(text_of("layer", result.layers.size()), program));
  if (result.stack.readout) result.readout = layer_of("readout", *result.stack.readout);
  return result;
}

}  // namespace lagtape
