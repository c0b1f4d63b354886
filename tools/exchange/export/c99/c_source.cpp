#include "lagtape/tools/exchange/export/c99/c_source.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/export/c99/c_comment.h"
#include "lagtape/tools/exchange/export/c99/c_helpers.h"
#include "lagtape/tools/exchange/export/c99/c_names.h"
#include "lagtape/tools/exchange/export/c99/c_names_of_step.h"
#include "lagtape/tools/exchange/export/c99/c_self_test.h"

namespace lagtape {
namespace {

std::int64_t scalar_bytes(const CStyle& style) { return static_cast<std::int64_t>(byte_size(style.dtype)); }

/// Declares an array in the function.
void declare_array(CLayer& step, const std::string& name, std::int64_t width, const CStyle& style) {
  step.function += text_of("  ", c_type(style.dtype), " ", name, "[", width, "];\n");
  step.costs.stack_bytes += width * scalar_bytes(style);
}

/// One number for each element: the number itself where all are equal, else an entry of a new constant.
std::string constant(CLayer& step, const char* name, const std::vector<double>& values, const CStyle& style) {
  if (std::ranges::all_of(values, [&](double v) { return v == values.front(); }))
    return text_of("(", c_number(values.front(), style.dtype), ")");
  const std::string full_name = text_of(style.name, "_", name);
  step.constants += c_array(full_name, values, style.dtype);
  step.costs.weight_bytes += std::ssize(values) * scalar_bytes(style);
  return full_name + "[i]";
}

/// A mean as two numbers of the scalar, so that a small difference to a large mean keeps its digits.
std::pair<std::vector<double>, std::vector<double>> in_two(const std::vector<double>& mean, Dtype dtype) {
  std::pair<std::vector<double>, std::vector<double>> parts;
  for (const double value : mean) {
    const double first = dtype == Dtype::f32 ? static_cast<double>(static_cast<float>(value)) : value;
    parts.first.push_back(first);
    parts.second.push_back(value - first);
  }
  return parts;
}

/// Makes the inputs x of the first layer from numbers in the units of the data.
void scale_input(CLayer& step, const Scaling& scaling, std::int64_t width, const CStyle& style) {
  declare_array(step, "x", width, style);
  const auto [mean, rest] = in_two(scaling.mean, style.dtype);
  step.function +=
      text_of("  for (int i = 0; i < ", width, "; ++i) x[i] = ((in[i] - ",
              constant(step, "in_mean", mean, style), ") - ", constant(step, "in_mean_rest", rest, style),
              ") / ", constant(step, "in_scale", scaling.scale, style), ";\n");
}

/// Takes a token's vector as x; NaN for a number that is not a token.
void look_up_token(CLayer& step, const Tensor& table, const CStyle& style) {
  const std::int64_t tokens = table.size(0), width = table.size(1);
  const std::string name = style.name + "_table";
  declare_array(step, "x", width, style);
  std::string element = text_of(name, "[", width, " * token + i]");
  step.costs.weight_bytes += tokens * width * element_bytes(style.weights, style.dtype);
  if (style.weights == CWeights::real) {
    std::vector<double> values(table.numel());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = table.at(static_cast<std::int64_t>(i));
    step.constants += c_array(name, values, style.dtype);
  } else {
    const WholeNumbers whole = whole_numbers(table, style.weights);
    step.constants += c_array(name, whole.values, style.weights);
    step.constants += c_array(name + "_scale", whole.scales, style.dtype);
    step.costs.weight_bytes += tokens * scalar_bytes(style);
    element = text_of(name, "_scale[token] * (", c_type(style.dtype), ")", element);
  }
  step.function += text_of(
      "  const int known = in[0] >= 0 && in[0] < ", c_number(static_cast<double>(tokens), style.dtype),
      ";\n  const int token = known ? (int)in[0] : 0;\n  for (int i = 0; i < ", width,
      "; ++i) x[i] = known ? ", element, " : ", c_number(std::nan(""), style.dtype), ";\n");
}

/// The mean of the top layer's outputs so far.
void take_mean(CLayer& step, const std::string& top, const std::string& to, std::int64_t width,
               const CStyle& style) {
  step.members += text_of("  ", c_type(style.dtype), " sum[", width, "];\n");
  step.reset += text_of("  for (int i = 0; i < ", width, "; ++i) state->sum[i] = 0;\n");
  step.costs.state_bytes += width * scalar_bytes(style);
  step.function +=
      text_of("  for (int i = 0; i < ", width, "; ++i) {\n    state->sum[i] += ", top, "[i];\n    ", to,
              "[i] = state->sum[i] / (", c_type(style.dtype), ")(state->steps + 1);\n  }\n");
}

/// Converts the outputs to the units of the data.
void scale_output(CLayer& step, const Scaling& scaling, std::int64_t width, const CStyle& style) {
  const auto [mean, rest] = in_two(scaling.mean, style.dtype);
  step.function += text_of("  for (int i = 0; i < ", width, "; ++i) out[i] = (out[i] * ",
                           constant(step, "out_scale", scaling.scale, style), " + ",
                           constant(step, "out_mean_rest", rest, style), ") + ",
                           constant(step, "out_mean", mean, style), ";\n");
}

/// The function NAME_step, which calls those of the layers.
CLayer c_step(const ExportedModel& model, const CStyle& style, bool counts_steps) {
  CLayer step{.counts_steps = counts_steps};
  const auto width_of = [](const ExportedLayer& layer) {
    return layer.program.values[layer.program.output].shape.width();
  };
  const auto call = [&](const std::string& layer, const std::string& from, const std::string& to) {
    step.function += text_of("  ", style.name, "_", layer, "(state, ", from, ", ", to, ");\n");
  };
  const std::string type = c_type(style.dtype);
  step.function = text_of("\nvoid ", style.name, "_step(", style.name, "_state *state, const ", type,
                          " *in, ", type, " *out) {\n");
  std::string from = "x";
  if (!model.table.empty()) {
    look_up_token(step, model.table, style);
  } else if (!model.normalization.input.empty()) {
    scale_input(step, model.normalization.input, model.input, style);
  } else {
    from = "in";
  }
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    const ExportedLayer& layer = model.layers[l];
    const bool last = l + 1 == model.layers.size() && !model.readout && model.at != ReadAt::mean;
    const std::string to = last ? "out" : text_of("y", l);
    if (!last) declare_array(step, to, width_of(layer), style);
    call(layer.name, from, to);
    from = to;
  }
  if (model.at == ReadAt::mean) {
    const std::int64_t width = width_of(model.layers.back());
    const std::string to = model.readout ? "mean" : "out";
    if (model.readout) declare_array(step, to, width, style);
    take_mean(step, from, to, width, style);
    from = to;
  }
  if (model.readout) call(model.readout->name, from, "out");
  if (counts_steps) step.function += "  ++state->steps;\n";
  if (const Scaling& scaling = model.normalization.output; !scaling.empty())
    scale_output(step, scaling, model.output_width(), style);
  step.function += "}\n";
  return step;
}

/// All layers and the step as one: their constants, members and costs, and their functions in this order.
CLayer joined(const std::vector<CLayer>& layers, CLayer step, const std::string& name) {
  CLayer all = std::move(step);
  std::int64_t deepest = 0;
  std::string functions, constants, members, reset;
  for (const CLayer& part : layers) {
    constants += part.constants;
    members += part.members;
    reset += part.reset;
    functions += "\n" + part.function;
    all.helpers.insert(part.helpers.begin(), part.helpers.end());
    all.costs.weight_bytes += part.costs.weight_bytes;
    all.costs.state_bytes += part.costs.state_bytes;
    all.costs.multiply_adds += part.costs.multiply_adds;
    for (const auto& [function, count] : part.costs.called) all.costs.called[function] += count;
    deepest = std::max(deepest, part.costs.stack_bytes);
  }
  all.costs.stack_bytes += deepest;
  all.constants += constants;
  all.members += members;
  all.reset += reset;
  if (all.counts_steps) {
    all.members += "  unsigned long long steps;\n";
    all.reset += "  state->steps = 0;\n";
    all.costs.state_bytes += 8;
  }
  if (all.members.empty()) {
    all.members = "  char nothing;\n";
    all.reset = "  state->nothing = 0;\n";
    all.costs.state_bytes = 1;
  }
  all.function =
      text_of(functions, "\nvoid ", name, "_reset(", name, "_state *state) {\n", all.reset, "}\n\nvoid ",
              name, "_init(", name, "_state *state) { ", name, "_reset(state); }\n", all.function);
  return all;
}

/// The whole file. `title` names the layers in its comment, `names` are those of the numbers of a step.
std::string c_file(const ExportedModel& model, const CStyle& style, const std::string& title,
                   StepNames names) {
  std::vector<CLayer> layers;
  for (const ExportedLayer& layer : model.layers) layers.push_back(c_layer(layer, style));
  if (model.readout) layers.push_back(c_layer(*model.readout, style));
  const bool counts_steps = model.at == ReadAt::mean || std::ranges::any_of(layers, &CLayer::counts_steps);
  const CLayer all = joined(layers, c_step(model, style, counts_steps), style.name);
  const std::string &name = style.name, type = c_type(style.dtype);
  if (names.outputs.empty()) names.outputs = output_names(model.stack);
  const CStepNames named = c_step_names(names, style);
  const std::string prototypes =
      text_of("void ", name, "_init(", name, "_state *state);\nvoid ", name, "_reset(", name,
              "_state *state);\nvoid ", name, "_step(", name, "_state *state, const ", type, " *in, ", type,
              " *out);\n", named.prototypes, "#ifdef ", name, "_SELF_TEST\nint ", name,
              "_self_test(void);\n#endif\n");
  const std::string helpers = c_helpers(all.helpers, style);
  return c_comment(style, title, names, named.usage, all.costs, helpers + all.function + named.definitions) +
         text_of("#ifndef ", name, "_DECLARED\n#define ", name, "_DECLARED\n#define ", name, "_INPUTS ",
                 model.input, "\n#define ", name, "_OUTPUTS ", model.output_width(), "\n", named.macros,
                 "\ntypedef struct {\n", all.members, "} ", name,
                 "_state;\n\n#ifdef __cplusplus\nextern \"C\" {\n", "#endif\n", prototypes,
                 "#ifdef __cplusplus\n}\n#endif\n#endif\n\n#ifndef ", name,
                 "_DECLARATIONS_ONLY\n#include <math.h>\n\n", all.constants, helpers, all.function,
                 named.definitions, c_self_test(model, style), "#endif\n");
}

/// Replaces the model's matrices by those of whole numbers, in the scalar of the file.
void round_matrices(ExportedModel& model, const CStyle& style) {
  const auto round = [&](Tensor& matrix) {
    if (matrix.rank() == 2)
      matrix = restored(whole_numbers(matrix, style.weights), matrix.shape(), style.dtype);
  };
  for (ExportedLayer& layer : model.layers) std::ranges::for_each(layer.weights, round);
  if (model.readout) std::ranges::for_each(model.readout->weights, round);
  round(model.table);
}

}  // namespace

std::string c_source(const Model& model, const CExportOptions& options) {
  const PlainArithmetic plain;
  if (c_identifier(options.name) != options.name)
    throw InputError(
        {.op = "export"}, Rule::syntax,
        text_of("'", options.name, "' is not a name in C; '", c_identifier(options.name), "' would be one"));
  ExportedModel content = exported(model);
  const CStyle style{options.name, options.dtype.value_or(model.dtype()), options.weights,
                     options.fast_functions, options.arithmetic};
  if (style.vectors != CWeights::real && (style.weights == CWeights::real || style.vectors > style.weights))
    throw InputError({.op = "export"}, Rule::conflict,
                     "products of whole numbers need weights that are whole numbers, and vectors of at least "
                     "as many bits");
  if (style.weights != CWeights::real) round_matrices(content, style);
  const std::vector<std::string> layers = model.layer_names();
  return c_file(content, style, listed(layers, layers.size()), options.names);
}

}  // namespace lagtape
