#include "lagtape/tools/exchange/export/exported_model.h"

#include <utility>

#include "lagtape/cells/build/layer_content.h"
#include "lagtape/cells/layers/bidirectional.h"
#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/core/error.h"

namespace lagtape {

namespace {

/// Hands out the weights of a model, layer by layer.
class LayerReader {
 public:
  explicit LayerReader(std::vector<Tensor> weights) : weights_(std::move(weights)) {}

  Tensor take() { return weights_[next_++]; }
  ExportedLayer take(const std::string& name, const StepProgram& program) {
    ExportedLayer layer{name, program, {}};
    for (std::size_t i = 0; i < program.weights.size(); ++i) layer.weights.push_back(take());
    return layer;
  }
  std::vector<ExportedLayer> take(const std::vector<StepProgram>& programs, const std::string& ending = "") {
    std::vector<ExportedLayer> layers;
    for (const StepProgram& program : programs)
      layers.push_back(take(text_of("layer", count_++, ending), program));
    return layers;
  }

 private:
  std::vector<Tensor> weights_;
  std::size_t next_ = 0;
  int count_ = 0;
};

/// The option "merge" of each bidirectional layer, from the input up.
std::vector<std::string> merges_of(const ModelDefinition& definition) {
  std::vector<std::string> merges;
  for (const LayerDefinition& layer : definition.layers)
    if (layer.name() == Bidirectional::kEntry.name)
      merges.push_back(layer.content().json.at("merge").get<std::string>());
  return merges;
}

/// Hands out the states before the first step, which are those of the layers that read forward, from the input up.
void give_start(ExportedModel& model, const Window& start) {
  auto state = start.states.begin();
  const auto give = [&](std::vector<ExportedLayer>& layers) {
    for (ExportedLayer& layer : layers)
      for (std::size_t s = 0; s < layer.program.states.size(); ++s) layer.start.push_back(*state++);
  };
  if (start.states.empty()) return;
  for (ExportedPart& part : model.parts) give(part.below);
  give(model.layers);
}

}  // namespace

std::vector<Tensor> ExportedModel::weights() const {
  std::vector<Tensor> all;
  const auto add = [&](const ExportedLayer& layer) {
    all.insert(all.end(), layer.weights.begin(), layer.weights.end());
  };
  for (const ExportedLayer& layer : layers) add(layer);
  if (readout) add(*readout);
  return all;
}

std::vector<std::string> output_names(const StackDefinition& stack) {
  std::vector<std::string> names;
  const std::int64_t targets = stack.target_width();
  for (std::int64_t i = 0; i < targets; ++i)
    for (const std::string& name : stack.loss.output_names())
      names.push_back(targets == 1 ? name : text_of(name, " of target ", i));
  return names;
}

ExportedModel exported(const Model& model) {
  if (const std::string obstacle = model.evaluation_chain().obstacle(); !obstacle.empty())
    throw InputError({.op = "export"}, Rule::not_supported,
                     text_of("a model is exported as one step with its states, but ", obstacle));
  return exported_whole(model);
}

ExportedModel exported_whole(const Model& model) {
  const ChainDefinition& chain = model.evaluation_chain();
  if (chain.products != ProductFormat::scalar)
    throw InputError({.op = "export"}, Rule::not_supported,
                     "the model was trained in bf16, and other programs do not round its products", {},
                     "Give --precision f32 to export it as a model of f32, whose outputs differ a little, or "
                     "train on in f32: --init RUN --set train.precision=f32.");
  ExportedModel result;
  result.stack = chain.parts.back().stack;
  result.at = result.stack.at;
  result.normalization = model.only_normalization("export");
  result.normalization.check(model.input_width(), model.output_width());
  result.dtype = model.dtype();
  result.input = model.input_width();

  LayerReader reader(model.weights());
  if (model.tokens() > 0) result.table = reader.take();
  const std::vector<std::string> merges = merges_of(model.definition());
  std::vector<ExportedLayer> below;
  for (std::size_t i = model.tokens() > 0 ? 1 : 0; i + 1 < chain.parts.size(); ++i) {
    const ChainPart& part = chain.parts[i];
    if (!part.layer) {
      below = reader.take(part.stack.layers);
      continue;
    }
    const std::vector<StackDefinition> directions = part.layer->ops();
    ExportedPart both{
        std::move(below), reader.take(directions.at(0).layers), {}, merges.at(result.parts.size()), {}};
    both.back = reader.take(directions.at(1).layers, ".back");
    both.at_end = part.layer->ends_sequences();
    result.parts.push_back(std::move(both));
    below.clear();
  }
  result.layers = reader.take(result.stack.layers);
  if (result.stack.readout) result.readout = reader.take("readout", *result.stack.readout);
  give_start(result, start_window(chain, 1, result.dtype));
  return result;
}

Model in_f32(const Model& model) {
  FittedModel fitted = model.fitted();
  fitted.definition.precision = Dtype::f32;
  Model result = Model::undrawn(std::move(fitted));
  for (Parameter& parameter : result.parameters()) parameter.value = model.parameters()[parameter.name].value;
  result.normalization() = model.normalization();
  result.series() = model.series();
  result.set_start(model.start());
  return result;
}

ExportedModel exported_from_zeros(const Model& model, const std::string& form) {
  if (!model.start().states.empty())
    throw InputError({.op = "export"}, Rule::not_supported,
                     text_of("the model begins in states of its own, those of ", form,
                             " begin with zeros; c99 and onnx hold them"));
  return exported(model);
}

}  // namespace lagtape
