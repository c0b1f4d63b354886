#include "lagtape/cells/models/model.h"

#include <algorithm>
#include <utility>

#include "lagtape/cells/models/loss_json.h"
#include "lagtape/cells/models/model_implementation.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/core/error.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

/// The provenance of a model without an experiment.
std::shared_ptr<const Provenance> provenance_of(const ModelDefinition& definition) {
  Json root = {{"model", json_of(definition)},
               {"loss", definition.loss == Loss::none ? Json("none") : json_of(definition.loss)},
               {"train", {{"precision", name_of(definition.precision)}}}};
  if (Json cells = cells_json_of(definition); !cells.is_null()) root["cells"] = std::move(cells);
  return std::make_shared<const Provenance>(Provenance{std::move(root)});
}

}  // namespace

FittedModel fitted_to(const ModelDefinition& definition, const DataWidths& data, const std::string& where) {
  JsonErrors errors;
  FittedModel fitted = fit(definition, data, errors);
  errors.raise(where);
  return fitted;
}

Model::Implementation::Implementation(FittedModel model, std::shared_ptr<const Provenance> from)
    : fitted(std::move(model)),
      evaluated(in_evaluation(fitted.layers)),
      chain(fitted.chain()),
      evaluation_chain(make_chain(evaluated, fitted.readout, fitted.at(), chain.loss(), chain.products)),
      provenance(from ? std::move(from) : provenance_of(fitted.definition)) {}

Model::Model(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Model::Model(const ModelDefinition& definition, const DataWidths& data, std::uint64_t seed)
    : Model(fitted_to(definition, data, "model"), seed) {}

Model::Model(FittedModel fitted, std::uint64_t seed, std::shared_ptr<const Provenance> provenance)
    : implementation_(std::make_unique<Implementation>(std::move(fitted), std::move(provenance))) {
  const PlainArithmetic plain;
  draw(seed);
}

Model Model::undrawn(FittedModel fitted, std::shared_ptr<const Provenance> provenance) {
  auto implementation = std::make_unique<Implementation>(std::move(fitted), std::move(provenance));
  implementation->parameters = zero_parameters(implementation->fitted, implementation->dtype());
  return Model(std::move(implementation));
}

void Model::draw(std::uint64_t seed) {
  const PlainArithmetic plain;
  Implementation& m = *implementation_;
  m.parameters = draw_parameters(m.fitted, m.dtype(), seed);
}

Parameters& Model::parameters() { return implementation_->parameters; }
const Parameters& Model::parameters() const { return implementation_->parameters; }
const ModelDefinition& Model::definition() const { return implementation_->fitted.definition; }
const FittedModel& Model::fitted() const { return implementation_->fitted; }
const ChainDefinition& Model::chain() const { return implementation_->chain; }
const ChainDefinition& Model::evaluation_chain() const { return implementation_->evaluation_chain; }
const StackDefinition& Model::stack() const {
  if (chain().parts.size() > 1)
    throw InputError(
        {.op = "model"}, Rule::not_supported,
        "this is done with models of one sequence op: without embedding, batch_norm and bidirectional");
  return chain().parts.front().stack;
}
ReadAt Model::at() const { return implementation_->chain.at(); }
const LossFunction& Model::loss() const { return implementation_->chain.loss(); }
Dtype Model::dtype() const { return implementation_->dtype(); }
std::int64_t Model::input_width() const { return implementation_->chain.input_width(); }
std::int64_t Model::tokens() const { return implementation_->chain.tokens(); }
std::int64_t Model::output_width() const { return implementation_->chain.output_width(); }
std::int64_t Model::classes() const { return implementation_->fitted.classes; }
std::string Model::experiment() const { return provenance().document.dump(2); }
const Provenance& Model::provenance() const { return *implementation_->provenance; }
void Model::set_provenance(std::shared_ptr<const Provenance> provenance) {
  implementation_->provenance = std::move(provenance);
}
Normalization& Model::normalization() { return implementation_->normalization; }
const Normalization& Model::normalization() const { return implementation_->normalization; }
SeriesNormalizations& Model::series() { return implementation_->series; }
const SeriesNormalizations& Model::series() const { return implementation_->series; }

void Model::use_series(const std::string& name) {
  SeriesNormalizations& known = series();
  if (known.empty())
    throw InputError({.op = "series"}, Rule::not_supported,
                     "the model has one scaling for all series, and needs none to be chosen.");
  const auto found = known.find(name);
  if (found == known.end()) {
    std::vector<std::string> names;
    for (const auto& [of, normalization] : known) names.push_back(of);
    throw InputError(unknown_name("series of the model", name, names));
  }
  normalization() = found->second;
  known.clear();
}

const Normalization& Model::only_normalization(const char* op) const {
  if (series().empty()) return normalization();
  throw InputError(
      {.op = op}, Rule::not_supported,
      text_of("the model scales each of its ", series().size(),
              " series by itself, and plain numbers do not say whose they are."),
      {},
      text_of("Choose one with --series, such as ", quote(series().begin()->first, 40),
              " (use_series in C++ and Python), or give a table with the columns of the training."));
}

namespace {

LayerSummary summary_of(const std::string& name, const Layer& layer) {
  LayerSummary summary{name, layer.parameter_count(), {}};
  const SequenceLayer* whole = layer.whole.get();
  if (whole == nullptr) summary.steps.push_back(layer.program);
  if (whole != nullptr && whole->in_evaluation()) summary.steps.push_back(whole->in_evaluation()->program);
  if (whole != nullptr)
    for (const StackDefinition& op : whole->ops())
      for (const StepProgram& step : op.layers) summary.steps.push_back(step);
  return summary;
}

/// The weights of these layers and of the read-out, with the parameters as leaves in order.
template <class Leaf>
std::vector<Var> all_weights(const std::vector<Layer>& layers, const FittedModel& model, Leaf leaf) {
  std::vector<Var> weights;
  const auto add = [&](const Layer& layer, std::vector<Var> parameters) {
    for (std::size_t i = 0; i < layer.parameters.size(); ++i) parameters.push_back(leaf());
    for (const Var& w : layer.step_weights(parameters)) weights.push_back(w);
  };
  for (const Layer& layer : layers) add(layer, std::vector<Var>());
  // A tied table is one leaf: the tape adds the read-out's gradient first, then the embedding's.
  add(model.readout, model.definition.readout.tied ? std::vector<Var>{weights.front()} : std::vector<Var>());
  return weights;
}

}  // namespace

std::int64_t LayerSummary::product_flops() const {
  std::int64_t flops = 0;
  for (const StepProgram& step : steps) flops += step.product_flops();
  return flops;
}

std::int64_t LayerSummary::largest_lag() const {
  std::int64_t lag = 0;
  for (const StepProgram& step : steps) lag = std::max(lag, step.largest_lag());
  return lag;
}

std::vector<LayerSummary> Model::layers() const {
  const FittedModel& fitted = implementation_->fitted;
  std::vector<LayerSummary> all;
  for (std::size_t i = 0; i < fitted.layers.size(); ++i)
    all.push_back(summary_of(fitted.names[i], fitted.layers[i]));
  all.push_back(summary_of("readout", fitted.readout));
  return all;
}

std::vector<std::string> Model::layer_names() const {
  std::vector<std::string> names = implementation_->fitted.names;
  names.push_back("readout");
  return names;
}

std::vector<Var> Model::weights(Tape& tape) {
  const FittedModel& fitted = implementation_->fitted;
  auto next = implementation_->parameters.begin();
  return all_weights(fitted.layers, fitted, [&] { return tape.parameter(*next++); });
}

std::vector<Var> Model::constant_weights(Tape& tape) const {
  const Implementation& m = *implementation_;
  auto next = m.parameters.begin();
  return all_weights(m.fitted.layers, m.fitted, [&] { return tape.constant((next++)->value); });
}

std::vector<Tensor> Model::weights() const {
  const Implementation& m = *implementation_;
  Tape tape;
  auto next = m.parameters.begin();
  std::vector<Tensor> values;
  for (const Var& w : all_weights(m.evaluated, m.fitted, [&] { return tape.constant((next++)->value); }))
    values.push_back(w.value().clone());  // the tape's memory is freed here
  return values;
}

}  // namespace lagtape
