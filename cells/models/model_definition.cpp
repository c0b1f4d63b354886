#include "lagtape/cells/models/model_definition.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace lagtape {
namespace {

/// The output width of a read-out: the model's and the data's must agree where both are known.
std::int64_t readout_units(const ModelOptions& options, const DataWidths& data, JsonErrors& errors) {
  const std::int64_t wanted = data.classes > 0 ? data.classes : data.output;
  const std::int64_t given = options.readout_units;
  const bool one_logit = data.classes == 2 && given == 1;
  if (given > 0 && wanted > 0 && given != wanted && !one_logit) {
    errors.add("/model/readout/units", text_of("the model gives ", given, " numbers, but the data have ",
                                               wanted, data.classes > 0 ? " classes." : " a target."));
  }
  if (given == 0 && wanted == 0)
    errors.add("/model/readout/units", "is missing, and the data do not tell it.");
  return std::max<std::int64_t>(1, given > 0 ? given : wanted);
}

std::string readout_at(const ModelOptions& options, const DataWidths& data, JsonErrors& errors) {
  const bool every_step = data.every_step.value_or(false) && !options.at_padding;
  const std::string fallback = every_step ? "every_step" : "last_step";
  const std::string at = options.readout_at.empty() ? fallback : options.readout_at;
  if (data.every_step && *data.every_step != (at == "every_step")) {
    errors.add("/model/readout/at",
               text_of("the model reads at '", at, "', but the data have a target for every ",
                       *data.every_step ? "step." : "sequence."));
  }
  return at;
}

std::string names_taking_tokens() {
  std::string names;
  for (const LayerEntry& entry : sequence_layers())
    if (entry.takes_tokens) names += text_of(names.empty() ? "" : ", ", entry.name);
  return names;
}

/// Tokens go into a layer that takes them, and nothing else does.
bool check_tokens(const ModelOptions& options, const DataWidths& data, JsonErrors& errors) {
  const std::string tables = names_taking_tokens();
  for (const ModelOptions::LayerOptions& layer : options.layers) {
    const bool first = &layer == &options.layers.front();
    if (layer.takes_tokens && !first) {
      errors.add(layer.pointer, text_of("'", layer.name, "' takes tokens: it can only be the first layer."));
    } else if (layer.takes_tokens && data.tokens == 0) {
      errors.add(layer.pointer, text_of("'", layer.name, "' takes tokens, but the data are real numbers."));
    } else if (first && !layer.takes_tokens && data.tokens.value_or(0) > 0) {
      errors.add(layer.pointer, text_of("the data are tokens, 0..", *data.tokens - 1,
                                        ": the first layer must be one that takes them: ", tables, "."));
    }
  }
  return errors.empty();
}

/// The read-out of the top layer's `width` numbers. Throws OptionError.
Layer make_readout(const ModelOptions& options, std::int64_t units, std::int64_t width) {
  if (!options.tied) return Linear{units, options.readout_init}.build(width);
  // Its weights are the parameter of another layer, given first, and its own.
  Layer readout = Linear{units, {options.readout_init.name}}.build(width);
  readout.parameters.erase(readout.parameters.begin());
  readout.weights = [](std::span<const Var> values) {
    return std::vector<Var>(values.begin(), values.end());
  };
  LayerGroup group{{std::move(readout)}, false};
  options.readout_init.values.apply(group);
  return std::move(group.layers.front());
}

/// Why a read-out of so many units cannot have the table of the first layer as its matrix; empty when it can.
std::string tie_obstacle(const ModelDefinition& spec, std::int64_t units, std::int64_t width) {
  const Layer& first = spec.layers.front();
  if (first.whole == nullptr || first.whole->tokens() == 0)
    return text_of("a tied read-out shares the table of an embedding, but the first layer is '",
                   spec.names.front(), "'.");
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

void append(ModelDefinition& spec, const std::string& name, LayerGroup group, std::size_t position) {
  for (std::size_t i = 0; i < group.layers.size(); ++i) {
    spec.names.push_back(group.nested ? text_of(name, ".", i) : name);
    spec.prefixes.push_back(group.nested ? text_of("layers.", position, ".", i, ".")
                                         : text_of("layers.", position, "."));
    spec.layers.push_back(std::move(group.layers[i]));
  }
}

ReadAt read_at(const std::string& name, bool at_padding) {
  if (name == "every_step") return ReadAt::every_step;
  if (name == "mean") return ReadAt::mean;
  return at_padding ? ReadAt::last_padded_step : ReadAt::last_step;
}

}  // namespace

ModelDefinition build_model(const ModelOptions& options, const DataWidths& data, JsonErrors& errors) {
  ModelDefinition spec;
  if (!check_tokens(options, data, errors)) return spec;
  spec.filled_model = options.filled_model;
  std::int64_t width = data.input;
  for (const ModelOptions::LayerOptions& layer : options.layers) {
    try {
      const auto place = static_cast<std::size_t>(&layer - options.layers.data());
      append(spec, layer.name, layer.build(layer.takes_tokens ? data.tokens.value_or(0) : width), place);
      if (layer.takes_tokens)  // which a file of weights then tells without the data
        spec.filled_model["layers"][place]["vocabulary"] = spec.layers.back().whole->tokens();
    } catch (const OptionError& error) {
      errors.add(error.pointer, error.what());
      return spec;
    } catch (const InputError& error) {
      errors.add(layer.pointer, text_of("cell '", layer.name, "': ", error.what()));
      return spec;
    }
    const RowShape output = spec.layers.back().output();
    if (output.rank != 1) {
      errors.add(layer.pointer,
                 text_of("the output of a layer must be a vector. Got ", to_string(output), "."));
      return spec;
    }
    width = output.size;
  }
  const std::int64_t units = readout_units(options, data, errors);
  const std::string at = readout_at(options, data, errors);
  spec.tied = options.tied;
  if (const std::string obstacle = spec.tied ? tie_obstacle(spec, units, width) : ""; !obstacle.empty()) {
    errors.add("/model/readout/tied", obstacle);
    return spec;
  }
  try {
    spec.readout = make_readout(options, units, width);
  } catch (const OptionError& error) {
    errors.add(error.pointer, error.what());
    return spec;
  }
  spec.at = read_at(at, options.at_padding);
  Json& readout = spec.filled_model["readout"];
  readout = {{"units", units},
             {"at", at},
             {"at_padding", options.at_padding},
             {"tied", options.tied},
             {"init", readout["init"]}};
  spec.filled_cells = options.filled_cells;
  return spec;
}

std::int64_t ModelDefinition::input_width() const { return chain().input_width(); }
std::int64_t ModelDefinition::output_width() const { return readout.output().size; }
ChainDefinition ModelDefinition::chain(Loss loss) const { return make_chain(layers, readout, at, loss); }

std::vector<ParameterDefinition> ModelDefinition::parameters() const {
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

std::int64_t ModelDefinition::parameter_count() const {
  std::int64_t count = readout.parameter_count();
  for (const Layer& layer : layers) count += layer.parameter_count();
  return count;
}

std::string value_error(const ParameterDefinition& definition, const Tensor& value) {
  const auto [low, high] = definition.bounds;
  const std::int64_t width = value.rank() > 1 ? value.numel() / value.size(0) : 1;
  for (std::int64_t i = 0; i < value.numel(); ++i) {
    const double number = value.at(i);
    if (!std::isfinite(number)) return text_of("number ", i, " is not finite: ", number);
    if (number < low || number > high)
      return text_of("number ", i, " is ", number, ", expected ", low, " to ", high);
    if (definition.zero_row >= 0 && i / width == definition.zero_row && number != 0)
      return text_of("row ", definition.zero_row, " is padding, expected zeros, got ", number);
  }
  return {};
}

Parameters draw_parameters(const ModelDefinition& spec, Dtype dtype, std::uint64_t seed) {
  Parameters parameters;
  for (const ParameterDefinition& definition : spec.parameters()) {
    Tensor value(definition.shape, dtype);
    initialize(value, definition.initializer, seed, definition.draws_of);
    if (definition.zero_row >= 0) {
      const std::int64_t width = value.size(1);
      for (std::int64_t i = 0; i < width; ++i) value.set(definition.zero_row * width + i, 0);
    }
    if (const std::string error = value_error(definition, value); !error.empty())
      throw InputError(text_of("/model: first values of ", definition.name, ": ", error));
    parameters.add(definition.name, std::move(value), definition.trainable).bounds = definition.bounds;
  }
  return parameters;
}

}  // namespace lagtape
