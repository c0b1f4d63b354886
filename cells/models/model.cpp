#include "lagtape/cells/models/model.h"

#include <algorithm>
#include <cmath>

#include "lagtape/cells/models/model_definition.h"
#include "lagtape/cells/models/predictors.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/safetensors.h"

namespace lagtape {
namespace {

constexpr const char* kFormat = "lagtape-1";

Loss loss_of(const Json& experiment) {
  const std::string name = experiment.value("loss", "none");
  for (Loss loss : {Loss::mse, Loss::cross_entropy, Loss::binary_cross_entropy})
    if (name == name_of(loss)) return loss;
  return Loss::none;
}

Dtype dtype_of_experiment(const Json& experiment) {
  const Json& train = experiment.contains("train") ? experiment.at("train") : Json::object();
  return train.is_object() && train.value("precision", "f32") == "f64" ? Dtype::f64 : Dtype::f32;
}

std::int64_t read_count(const SafetensorsFile& file, const char* key, const std::string& where) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw InputError(text_of(where, ": no lagtape model: metadata '", key, "' is missing"));
  std::int64_t value = 0;
  std::istringstream text(found->second);
  if (!(text >> value) || !text.eof() || value < 0)
    throw InputError(text_of(where, ": metadata '", key, "': expected a count, found '", found->second, "'"));
  return value;
}

const std::string& read_text(const SafetensorsFile& file, const char* key, const std::string& where) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw InputError(text_of(where, ": no lagtape model: metadata '", key, "' is missing"));
  return found->second;
}

}  // namespace

struct Model::Implementation {
  ModelDefinition spec;
  std::vector<Layer> evaluated;  // the layers as evaluation has them
  ChainDefinition chain, evaluation_chain;
  Dtype dtype = Dtype::f32;
  std::int64_t classes = 0;
  std::string experiment;
  Parameters parameters;
  Normalization normalization;
  Predictors predictors;  // a cache, which no result depends on

  Implementation(const std::string& text, const DataWidths& data, const std::string& where) {
    Json root = parse_json(text, where);
    JsonErrors errors;
    const Json none;
    const auto part = [&](const char* key) -> const Json& {
      return root.contains(key) ? root.at(key) : none;
    };
    const ModelOptions options = read_model(part("model"), part("cells"), errors);
    errors.raise(where);
    spec = build_model(options, data, errors);
    errors.raise(where);
    root["model"] = spec.filled_model;
    if (!spec.filled_cells.is_null()) root["cells"] = spec.filled_cells;
    evaluated = in_evaluation(spec.layers);
    chain = spec.chain(loss_of(root));
    evaluation_chain = make_chain(evaluated, spec.readout, spec.at, chain.loss());
    dtype = dtype_of_experiment(root);
    classes = data.classes;
    experiment = root.dump(2);
  }
};

Model::Model(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Model Model::build(const std::string& experiment_json, std::int64_t input_width, std::int64_t output_width,
                   std::int64_t classes, std::uint64_t seed) {
  auto model = std::make_unique<Implementation>(experiment_json,
                                                DataWidths{input_width, output_width, classes}, "experiment");
  model->parameters = draw_parameters(model->spec, model->dtype, seed);
  return Model(std::move(model));
}

Model Model::load(const std::filesystem::path& run_or_file) {
  const std::filesystem::path file =
      std::filesystem::is_directory(run_or_file) ? run_or_file / "weights.safetensors" : run_or_file;
  const std::string where = file.string();
  SafetensorsFile content = read_safetensors(file);
  if (const std::string& format = read_text(content, "format", where); format != kFormat)
    throw InputError(text_of(where, ": format '", format, "' is not known here. Expected '", kFormat, "'"));
  const DataWidths data{read_count(content, "input", where), read_count(content, "output", where),
                        read_count(content, "classes", where)};
  auto model = std::make_unique<Implementation>(read_text(content, "experiment", where), data, where);
  model->normalization = normalization_from(read_text(content, "normalization", where), where);
  try {
    model->normalization.check(model->chain.input_width(), model->chain.output_width());
  } catch (const InputError& error) {
    throw InputError(text_of(where, ": ", error.what()));
  }
  TensorReader reader(std::move(content), where);
  for (const ParameterDefinition& p : model->spec.parameters()) {
    Tensor value = reader.take(p.name, p.shape, model->dtype);
    if (const std::string error = value_error(p, value); !error.empty())
      throw InputError(text_of(where, ": tensor '", p.name, "': ", error));
    model->parameters.add(p.name, std::move(value), p.trainable).bounds = p.bounds;
  }
  reader.finish();
  return Model(std::move(model));
}

void Model::save(const std::filesystem::path& file) const {
  const Implementation& m = *implementation_;
  SafetensorsFile content;
  content.metadata = {{"format", kFormat},
                      {"experiment", m.experiment},
                      {"normalization", json_of(m.normalization)},
                      {"input", std::to_string(m.chain.input_width())},
                      {"output", std::to_string(m.classes > 0 ? 0 : m.chain.output_width())},
                      {"classes", std::to_string(m.classes)}};
  for (const Parameter& p : m.parameters) content.tensors.push_back({p.name, p.value});
  write_safetensors(file, content);
}

Parameters& Model::parameters() { return implementation_->parameters; }
const Parameters& Model::parameters() const { return implementation_->parameters; }
const ChainDefinition& Model::chain() const { return implementation_->chain; }
const ChainDefinition& Model::evaluation_chain() const { return implementation_->evaluation_chain; }
const StackDefinition& Model::stack() const {
  if (chain().parts.size() > 1)
    throw InputError(
        "[model] this is done with models of one sequence op: without embedding, batch_norm and "
        "bidirectional");
  return chain().parts.front().stack;
}
ReadAt Model::at() const { return implementation_->chain.at(); }
Loss Model::loss() const { return implementation_->chain.loss(); }
Dtype Model::dtype() const { return implementation_->dtype; }
std::int64_t Model::input_width() const { return implementation_->chain.input_width(); }
std::int64_t Model::tokens() const { return implementation_->chain.tokens(); }
std::int64_t Model::output_width() const { return implementation_->chain.output_width(); }
std::int64_t Model::classes() const { return implementation_->classes; }
const std::string& Model::experiment() const { return implementation_->experiment; }
Normalization& Model::normalization() { return implementation_->normalization; }
const Normalization& Model::normalization() const { return implementation_->normalization; }

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

/// The weights of these layers and of the read-out, the parameters being leaves in their order.
template <class Leaf>
std::vector<Var> all_weights(const std::vector<Layer>& layers, const ModelDefinition& spec, Leaf leaf) {
  std::vector<Var> weights;
  const auto add = [&](const Layer& layer, std::vector<Var> parameters = {}) {
    for (std::size_t i = 0; i < layer.parameters.size(); ++i) parameters.push_back(leaf());
    for (const Var& w : layer.step_weights(parameters)) weights.push_back(w);
  };
  for (const Layer& layer : layers) add(layer);
  // A tied table is one leaf: the tape adds the read-out's gradient first, then the embedding's.
  add(spec.readout, spec.tied ? std::vector<Var>{weights.front()} : std::vector<Var>());
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
  const ModelDefinition& spec = implementation_->spec;
  std::vector<LayerSummary> all;
  for (std::size_t i = 0; i < spec.layers.size(); ++i)
    all.push_back(summary_of(spec.names[i], spec.layers[i]));
  all.push_back(summary_of("readout", spec.readout));
  return all;
}

std::vector<std::string> Model::layer_names() const {
  std::vector<std::string> names = implementation_->spec.names;
  names.push_back("readout");
  return names;
}

std::vector<Var> Model::weights(Tape& tape) {
  const ModelDefinition& spec = implementation_->spec;
  auto next = implementation_->parameters.begin();
  return all_weights(spec.layers, spec, [&] { return tape.parameter(*next++); });
}

std::vector<Var> Model::constant_weights(Tape& tape) const {
  const Implementation& m = *implementation_;
  auto next = m.parameters.begin();
  return all_weights(m.spec.layers, m.spec, [&] { return tape.constant((next++)->value); });
}

std::vector<Tensor> Model::weights() const {
  const Implementation& m = *implementation_;
  Tape tape;
  auto next = m.parameters.begin();
  std::vector<Tensor> values;
  for (const Var& w : all_weights(m.evaluated, m.spec, [&] { return tape.constant((next++)->value); }))
    values.push_back(w.value().clone());  // the tape's memory ends here
  return values;
}

Tensor Model::predict(const Tensor& x, int threads) const {
  Implementation& m = *implementation_;
  if ((x.rank() != 2 && x.rank() != 3) || x.size(-1) != input_width())
    throw InputError(text_of("[predict] x is [T, ", input_width(), "] or [B, T, ", input_width(), "]. Got ",
                             to_string(x.shape())));
  SequenceBatch batch;
  const bool single = x.rank() == 2;
  batch.x = x.to(m.dtype).clone();
  if (single) batch.x = batch.x.reshaped({1, x.size(0), x.size(1)});
  const Normalization& n = m.normalization;
  n.check(input_width(), output_width());
  return with_scalar(m.dtype, [&]<class T>() {
    n.input.normalize(batch.x.values<T>());
    std::unique_ptr<Predictor> predictor = m.predictors.take(threads);
    if (predictor == nullptr) predictor = std::make_unique<Predictor>(m.evaluation_chain, m.dtype, threads);
    Tensor y = predictor->chain.evaluate(weights(), batch, predictor->pool);
    m.predictors.put_back(std::move(predictor));
    n.output.restore(y.values<T>());
    if (!single) return y;
    return y.reshaped(Shape(y.shape().begin() + 1, y.shape().end()));
  });
}

template <class T>
Stream<T> Model::stream(std::int64_t rows) const {
  if (dtype_of<T> != dtype())
    throw InputError(
        text_of("[stream] the model is ", name_of(dtype()), ". Asked for ", name_of(dtype_of<T>)));
  const ChainDefinition& chain = evaluation_chain();
  if (!chain.obstacle().empty()) throw InputError(text_of("[stream] ", chain.obstacle()));
  std::vector<Tensor> own = weights();
  if (tokens() == 0) return Stream<T>(chain.parts.back().stack, own, rows, best_level(), {}, normalization());
  const std::span<const Tensor> rest = std::span<const Tensor>(own).subspan(1);
  return Stream<T>(chain.parts.back().stack, rest, rows, best_level(), own.front(), normalization());
}

template Stream<float> Model::stream(std::int64_t) const;
template Stream<double> Model::stream(std::int64_t) const;

}  // namespace lagtape
