#include "lagtape/cells/models/fitted_model.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "lagtape/cells/build/layer_content.h"
#include "lagtape/cells/equation_cell.h"
#include "lagtape/cells/models/linear_term.h"
#include "lagtape/cells/registry.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {
namespace {

/// The output width of a read-out: the model's and the data's must agree if both are known.
std::int64_t readout_units(const ReadoutDefinition& readout, const LossFunction& loss, const DataWidths& data,
                           JsonErrors& errors) {
  const std::int64_t each = loss.outputs_of_target();
  const std::int64_t wanted = data.classes > 0 ? data.classes : data.output * each;
  const std::int64_t given = readout.units;
  const bool one_logit = data.classes == 2 && given == 1;
  if (given > 0 && wanted > 0 && given != wanted && !one_logit) {
    errors.add(
        "/model/readout/units",
        text_of("the model gives ", given, " numbers, but the data have ",
                data.classes > 0 ? data.classes : data.output, data.classes > 0 ? " classes" : " a target",
                each > 1
                    ? text_of(" with ", each, loss.distribution() ? " parameters each." : " levels each.")
                    : "."));
  }
  if (given == 0 && wanted == 0)
    errors.add("/model/readout/units",
               Problem{.rule = Rule::missing, .statement = "is missing, and the data do not tell it."});
  return std::max<std::int64_t>(1, given > 0 ? given : wanted);
}

/// Notes settings of a loss that are wrong, or do not fit the data.
void check_loss(const LossFunction& loss, const DataWidths& data, JsonErrors& errors) {
  if (const std::optional<Problem> error = loss.error()) errors.add("/loss", *error);
  const auto weights = std::ssize(loss.options.class_weights);
  const std::int64_t classes = loss == Loss::binary_cross_entropy ? 2 : data.classes;
  if (loss.is_real() || weights == 0 || classes == 0 || weights == classes) return;
  errors.add("/loss/class_weights",
             text_of("expected ", classes, " numbers, one for each class, got ", weights, "."));
}

ReadAt readout_at(const ReadoutDefinition& readout, const DataWidths& data, JsonErrors& errors) {
  const bool every_step = data.every_step.value_or(false);
  const ReadAt at = readout.at.value_or(every_step ? ReadAt::every_step : ReadAt::last_step);
  if (data.every_step && *data.every_step != (at == ReadAt::every_step)) {
    errors.add("/model/readout/at",
               text_of("the model reads at '", name_of(at), "', but the data have a target for every ",
                       *data.every_step ? "step." : "sequence."));
  }
  return at;
}

std::string pointer_to_layer(std::size_t place) { return text_of("/model/layers/", place); }

std::string names_taking_tokens() {
  std::string names;
  for (const LayerEntry& entry : sequence_layers())
    if (entry.takes_tokens) names += text_of(names.empty() ? "" : ", ", entry.name);
  return names;
}

/// Whether tokens go to a layer that accepts them, and only tokens do; notes errors.
bool check_tokens(const ModelDefinition& model, const DataWidths& data, JsonErrors& errors) {
  const std::string tables = names_taking_tokens();
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const LayerContent& layer = model.layers[i].content();
    const std::string pointer = pointer_to_layer(i);
    if (layer.takes_tokens && i > 0) {
      errors.add(pointer, text_of("'", layer.name, "' takes tokens: it can only be the first layer."));
    } else if (layer.takes_tokens && data.tokens == 0) {
      errors.add(pointer, text_of("'", layer.name, "' takes tokens, but the data are real numbers."));
    } else if (i == 0 && !layer.takes_tokens && data.tokens.value_or(0) > 0) {
      errors.add(pointer, text_of("the data are tokens, 0..", *data.tokens - 1,
                                  ": the first layer must be one that takes them: ", tables, "."));
    }
  }
  return errors.empty();
}

/// The parameters of a loss's distributions from an equal number of inputs z: a z + b softplus(z) + c.
StepVar distribution_parameters(const LossFunction& loss, LayerRecorder& step, StepVar z) {
  const auto parameters = loss.distribution()->parameters;
  const std::vector<double>& scale = loss.options.scale;
  std::vector<double> a, b, c;
  for (std::size_t i = 0; i < static_cast<std::size_t>(z.shape().size); ++i) {
    const DistributionParameter& parameter = parameters[i % parameters.size()];
    const double times = parameter.scales && !scale.empty() ? scale[i / parameters.size()] : 1;
    a.push_back(parameter.is_positive ? 0 : times);
    b.push_back(parameter.is_positive ? times : 0);
    c.push_back(times * parameter.least);
  }
  const auto constant = [&](const char* name, const std::vector<double>& values) {
    return step.derived_vector(name, std::ssize(values), {"W.bias"}, [values](std::span<const Var> of) {
      return of[0].tape().constant(Tensor::from({std::ssize(values)}, values, of[0].dtype()));
    });
  };
  const StepVar positive = constant("b", b) * softplus(z) + constant("c", c);
  if (std::ranges::count(a, 0) == std::ssize(a)) return positive;
  return constant("a", a) * z + positive;
}

/// A read-out that changes nothing.
Layer make_identity(std::int64_t units, std::int64_t width) {
  if (units != width)
    throw InputError({.pointer = "/model/readout"}, Rule::shape,
                     text_of("without a read-out the predictions are the top layer's ", width,
                             " outputs; the data have ", units, " a target."));
  const InitialValues values{{{"W", Initializer::identity()}, {"W.bias", Initializer::constant(0)}}};
  Layer readout = Linear{units, {"linear", values}}.build(width);
  for (ParameterDefinition& parameter : readout.parameters) parameter.trainable = false;
  return readout;
}

/// The read-out for a top layer with `width` outputs. Throws InputError.
Layer make_readout(const ReadoutDefinition& definition, const LossFunction& loss, std::int64_t width) {
  const Linear::Init& init = definition.init;
  if (definition.identity) return make_identity(definition.units, width);
  const Linear linear{definition.units, init};
  if (loss.distribution() != nullptr)
    return linear.build(
        width, [&](LayerRecorder& step, StepVar z) { return distribution_parameters(loss, step, z); });
  if (!definition.tied) return linear.build(width);
  // The weights of a tied read-out are another layer's table, which comes first, and its own parameters.
  Layer readout = Linear{definition.units, {init.name}}.build(width);
  readout.parameters.erase(readout.parameters.begin());
  readout.weights = [](std::span<const Var> values) {
    return std::vector<Var>(values.begin(), values.end());
  };
  LayerGroup group{{std::move(readout)}, false};
  init.values.apply(group);
  return std::move(group.layers.front());
}

/// The reason why a read-out with this many units cannot use the first layer's table as its matrix; empty if it
/// can.
std::string tie_obstacle(const FittedModel& model, std::int64_t units, std::int64_t width) {
  const Layer& first = model.layers.front();
  if (first.whole == nullptr || first.whole->tokens() == 0)
    return text_of("a tied read-out shares the table of an embedding, but the first layer is '",
                   model.names.front(), "'.");
  const ParameterDefinition& table = first.parameters.front();
  const std::int64_t tokens = table.shape[0], numbers = table.shape[1];
  if (table.zero_row >= 0)
    return text_of("the embedding's vector of padding, token ", table.zero_row,
                   ", stays zeros, but a read-out would train it. Leave out 'padding'.");
  if (numbers != width)
    return text_of("the embedding has vectors of ", numbers, " numbers, but the top layer gives ", width,
                   ".");
  if (tokens != units)
    return text_of("the embedding has ", tokens, " tokens, but the read-out gives ", units, " numbers.");
  return {};
}

void append(FittedModel& model, const std::string& name, LayerGroup group, std::size_t position) {
  for (std::size_t i = 0; i < group.layers.size(); ++i) {
    model.names.push_back(group.nested ? text_of(name, ".", i) : name);
    model.prefixes.push_back(group.nested ? text_of("layers.", position, ".", i, ".")
                                          : text_of("layers.", position, "."));
    model.origins.emplace_back(position, i);
    model.layers.push_back(std::move(group.layers[i]));
  }
}

/// The definition of a token layer, completed with the number of tokens, so that it can be saved without the
/// data.
LayerDefinition with_vocabulary(const LayerContent& layer, std::int64_t tokens) {
  LayerContent known = layer;
  known.json["vocabulary"] = tokens;
  return LayerDefinition(std::make_shared<const LayerContent>(std::move(known)));
}

/// An error in a layer. A setting that was read from a file, for the layer or its cell, already has a pointer.
InputError in_layer(const InputError& error, const std::string& pointer, const std::string& name) {
  const Place& place = error.problems().front().place;
  if (place.pointer.empty()) return error.within({.pointer = pointer, .item = text_of("cell '", name, "'")});
  const bool has_root =
      place.pointer.starts_with(pointer) || place.pointer.starts_with("/cells/") || !place.item.empty();
  return has_root ? error : error.within({.pointer = pointer});
}

/// Builds the layers from the input up, as far as they are free of errors.
void build_layers(FittedModel& model, const DataWidths& data, JsonErrors& errors) {
  std::int64_t width = data.input;
  for (std::size_t i = 0; i < model.definition.layers.size(); ++i) {
    LayerDefinition& definition = model.definition.layers[i];
    const LayerContent& layer = definition.content();
    const std::string pointer = pointer_to_layer(i);
    try {
      append(model, layer.name, layer.build(layer.takes_tokens ? data.tokens.value_or(0) : width), i);
      if (layer.takes_tokens) definition = with_vocabulary(layer, model.layers.back().whole->tokens());
    } catch (const InputError& error) {
      errors.add("", in_layer(error, pointer, layer.name));
      return;
    }
    const RowShape output = model.layers.back().output();
    if (output.rank != 1) {
      errors.add(pointer, text_of("the output of a layer must be a vector. Got ", to_string(output), "."));
      return;
    }
    width = output.size;
  }
}

}  // namespace

FittedModel fit_layers(const ModelDefinition& definition, const DataWidths& data, JsonErrors& errors) {
  FittedModel model;
  if (definition.layers.empty()) errors.add("/model/layers", "a model has at least one layer.");
  for (const std::int64_t width : {data.input, data.output, data.classes, data.tokens.value_or(0)})
    if (width < 0) errors.add("", text_of("the data have a negative width: ", width, "."));
  if (definition.readout.units < 0)
    errors.add("/model/readout/units", text_of("expected integer >= 0, got ", definition.readout.units));
  if (!errors.empty() || !check_tokens(definition, data, errors)) return model;
  model.definition = definition;
  model.classes = data.classes;
  build_layers(model, data, errors);
  return model;
}

FittedModel fit(const ModelDefinition& definition, const DataWidths& data, JsonErrors& errors) {
  FittedModel model = fit_layers(definition, data, errors);
  if (!errors.empty()) return model;
  const std::int64_t width = model.layers.back().output().size;
  ReadoutDefinition& readout = model.definition.readout;
  check_loss(definition.loss, data, errors);
  readout.units = readout_units(definition.readout, definition.loss, data, errors);
  readout.at = readout_at(definition.readout, data, errors);
  const std::int64_t each = definition.loss.outputs_of_target();
  if (const auto scales = std::ssize(definition.loss.options.scale);
      scales != 0 && scales * each != readout.units) {
    errors.add("/loss/scale", text_of("expected ", readout.units / each,
                                      " numbers, one for each number of a target, got ", scales, "."));
    return model;
  }
  std::string obstacle = readout.tied ? tie_obstacle(model, readout.units, width) : "";
  if (readout.tied && definition.loss.distribution() != nullptr)
    obstacle = text_of("the loss ", name_of(definition.loss), " makes its own read-out.");
  if (!obstacle.empty()) {
    errors.add("/model/readout/tied", obstacle);
    return model;
  }
  try {
    model.readout = make_readout(readout, definition.loss, width);
  } catch (const InputError& error) {
    errors.add(error.problems().front().place.pointer.empty() ? "/model/readout/init" : "", error);
  }
  if (data.linear) model.definition.linear = data.linear;
  if (model.definition.linear && errors.empty()) try {
      add_linear_term(*model.definition.linear, model);
    } catch (const InputError& error) {
      errors.add("", error);
    }
  return model;
}

std::int64_t FittedModel::input_width() const { return chain().input_width(); }
std::int64_t FittedModel::output_width() const { return readout.output().size; }
std::int64_t FittedModel::target_width() const {
  return output_width() / definition.loss.outputs_of_target();
}
ChainDefinition FittedModel::chain() const {
  return make_chain(layers, readout, at(), definition.loss, definition.precision.products());
}

std::vector<ParameterDefinition> FittedModel::parameters() const {
  std::vector<ParameterDefinition> all;
  const auto append = [&](const std::string& prefix, const Layer& layer) {
    for (ParameterDefinition p : layer.parameters) {
      p.draws_of = prefix + (p.draws_of.empty() ? p.name : p.draws_of);
      p.name = prefix + p.name;
      all.push_back(std::move(p));
    }
  };
  for (std::size_t i = 0; i < layers.size(); ++i) append(prefixes[i], layers[i]);
  append("readout.", readout);
  return all;
}

std::int64_t FittedModel::parameter_count() const {
  std::int64_t count = readout.parameter_count();
  for (const Layer& layer : layers) count += layer.parameter_count();
  return count;
}

std::string value_error(const ParameterDefinition& definition, const Tensor& value) {
  const Bounds& bounds = definition.bounds;
  const std::int64_t width = value.rank() > 1 ? value.numel() / value.size(0) : 1;
  for (std::int64_t i = 0; i < value.numel(); ++i) {
    const double number = value.at(i);
    if (!std::isfinite(number)) return text_of("number ", i, " is not finite: ", number);
    if (!bounds.contains(number))
      return text_of("number ", i, " is ", number, ", expected ", bounds.low, " to ", bounds.high,
                     bounds.scale == Scale::logit ? ", both excluded" : "");
    if (definition.zero_row >= 0 && i / width == definition.zero_row && number != 0)
      return text_of("row ", definition.zero_row, " is padding, expected zeros, got ", number);
  }
  return {};
}

Tensor first_value(const ParameterDefinition& definition, Dtype dtype, std::uint64_t seed) {
  Tensor value(definition.shape, dtype);
  initialize(value, definition.initializer, seed, definition.draws_of);
  if (definition.zero_row >= 0) {
    const std::int64_t width = value.size(1);
    for (std::int64_t i = 0; i < width; ++i) value.set(definition.zero_row * width + i, 0);
  }
  if (const std::string error = value_error(definition, value); !error.empty())
    throw InputError({.pointer = "/model"}, Rule::out_of_range,
                     text_of("first values of ", definition.name, ": ", error));
  return value;
}

Parameter& add_parameter(Parameters& parameters, const ParameterDefinition& definition, Tensor value) {
  Parameter& parameter = parameters.add(definition.name, std::move(value), definition.trainable);
  parameter.bounds = definition.bounds;
  parameter.unit = definition.unit;
  return parameter;
}

Parameters zero_parameters(const FittedModel& model, Dtype dtype) {
  Parameters parameters;
  for (const ParameterDefinition& definition : model.parameters())
    add_parameter(parameters, definition, Tensor(definition.shape, dtype));
  return parameters;
}

Parameters draw_parameters(const FittedModel& model, Dtype dtype, std::uint64_t seed) {
  Parameters parameters;
  for (const ParameterDefinition& definition : model.parameters())
    add_parameter(parameters, definition, first_value(definition, dtype, seed));
  return parameters;
}

}  // namespace lagtape
