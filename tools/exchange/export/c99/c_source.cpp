#include "lagtape/tools/exchange/export/c99/c_source.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/export/c99/c_comment.h"
#include "lagtape/tools/exchange/export/c99/c_helpers.h"
#include "lagtape/tools/exchange/export/c99/c_names.h"
#include "lagtape/tools/exchange/export/c99/c_self_test.h"

namespace lagtape {
namespace {

/// Puts the file together.
class CFile {
 public:
  CFile(const ExportedModel& model, const CStyle& style)
      : model_(model), style_(style), name_(style.name), type_(c_type(style.dtype)) {}

  std::string text(const std::string& layers, const std::vector<std::string>& inputs) {
    for (const ExportedLayer& layer : model_.layers) parts_.push_back(c_layer(layer, style_));
    if (model_.readout) parts_.push_back(c_layer(*model_.readout, style_));
    write_step();
    gather();
    const std::string prototypes =
        text_of("void ", name_, "_init(", name_, "_state *state);\nvoid ", name_, "_reset(", name_,
                "_state *state);\nvoid ", name_, "_step(", name_, "_state *state, const ", type_, " *in, ",
                type_, " *out);\n#ifdef ", name_, "_SELF_TEST\nint ", name_, "_self_test(void);\n#endif\n");
    const std::string helpers = c_helpers(helpers_, style_);
    return c_comment(style_, layers, inputs, costs_, helpers + functions_) +
           text_of("#ifndef ", name_, "_DECLARED\n#define ", name_, "_DECLARED\n#define ", name_, "_INPUTS ",
                   model_.input, "\n#define ", name_, "_OUTPUTS ", model_.output_width(),
                   "\n\ntypedef struct {\n", members_, "} ", name_,
                   "_state;\n\n#ifdef __cplusplus\nextern \"C\" {\n", "#endif\n", prototypes,
                   "#ifdef __cplusplus\n}\n#endif\n#endif\n\n#ifndef ", name_,
                   "_DECLARATIONS_ONLY\n#include <math.h>\n\n", constants_, helpers, functions_,
                   c_self_test(model_, style_), "#endif\n");
  }

 private:
  std::int64_t scalar_bytes() const { return static_cast<std::int64_t>(byte_size(style_.dtype)); }

  void add_member(const std::string& member, std::int64_t size) {
    members_ += text_of("  ", type_, " ", member, "[", size, "];\n");
    reset_ += text_of("  for (int i = 0; i < ", size, "; ++i) state->", member, "[i] = 0;\n");
    costs_.state_bytes += size * scalar_bytes();
  }

  /// Constants, members and costs of all layers, and the functions in order.
  void gather() {
    std::int64_t deepest = 0;
    std::string layers;
    for (const CLayer& part : parts_) {
      constants_ += part.constants;
      members_ += part.members;
      reset_ += part.reset;
      layers += "\n" + part.function;
      helpers_.insert(part.helpers.begin(), part.helpers.end());
      costs_.weight_bytes += part.costs.weight_bytes;
      costs_.state_bytes += part.costs.state_bytes;
      costs_.multiply_adds += part.costs.multiply_adds;
      for (const auto& [function, count] : part.costs.called) costs_.called[function] += count;
      deepest = std::max(deepest, part.costs.stack_bytes);
    }
    costs_.stack_bytes += deepest;
    if (counts_steps()) {
      members_ += "  unsigned long long steps;\n";
      reset_ += "  state->steps = 0;\n";
      costs_.state_bytes += 8;
    }
    if (members_.empty()) {
      members_ = "  char nothing;\n";
      reset_ = "  state->nothing = 0;\n";
      costs_.state_bytes = 1;
    }
    functions_ = layers + text_of("\nvoid ", name_, "_reset(", name_, "_state *state) {\n", reset_,
                                  "}\n\nvoid ", name_, "_init(", name_, "_state *state) { ", name_,
                                  "_reset(state); }\n", functions_);
  }

  bool counts_steps() const {
    return model_.at == ReadAt::mean || std::ranges::any_of(parts_, &CLayer::counts_steps);
  }

  void declare_array(const std::string& name, std::int64_t width) {
    step_ += text_of("  ", type_, " ", name, "[", width, "];\n");
    costs_.stack_bytes += width * scalar_bytes();
  }

  /// One number for each element: the number itself where all are equal, else an entry of a new constant.
  std::string constant(const std::string& name, const std::vector<double>& values) {
    if (std::ranges::all_of(values, [&](double v) { return v == values.front(); }))
      return text_of("(", c_number(values.front(), style_.dtype), ")");
    constants_ += c_array(text_of(name_, "_", name), values, style_.dtype);
    costs_.weight_bytes += static_cast<std::int64_t>(values.size()) * scalar_bytes();
    return text_of(name_, "_", name, "[i]");
  }

  /// A mean as two numbers of the scalar, so that a small difference to a large mean keeps its digits.
  std::pair<std::vector<double>, std::vector<double>> in_two(const std::vector<double>& mean) const {
    std::pair<std::vector<double>, std::vector<double>> parts;
    for (const double value : mean) {
      const double first =
          style_.dtype == Dtype::f32 ? static_cast<double>(static_cast<float>(value)) : value;
      parts.first.push_back(first);
      parts.second.push_back(value - first);
    }
    return parts;
  }

  /// The vector that the first layer reads.
  std::string write_input() {
    if (!model_.table.empty()) return write_token();
    const Scaling& scaling = model_.normalization.input;
    if (scaling.empty()) return "in";
    const std::int64_t width = model_.input;
    declare_array("x", width);
    const auto [mean, rest] = in_two(scaling.mean);
    step_ +=
        text_of("  for (int i = 0; i < ", width, "; ++i) x[i] = ((in[i] - ", constant("in_mean", mean),
                ") - ", constant("in_mean_rest", rest), ") / ", constant("in_scale", scaling.scale), ";\n");
    return "x";
  }

  /// A token's vector; NaN for a number that is no token.
  std::string write_token() {
    const std::int64_t tokens = model_.table.size(0), width = model_.table.size(1);
    declare_array("x", width);
    std::string element = text_of(name_, "_table[", width, " * token + i]");
    costs_.weight_bytes += tokens * width * element_bytes(style_.weights, style_.dtype);
    if (style_.weights == CWeights::real) {
      std::vector<double> values(model_.table.numel());
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = model_.table.at(static_cast<std::int64_t>(i));
      constants_ += c_array(name_ + "_table", values, style_.dtype);
    } else {
      const WholeNumbers whole = whole_numbers(model_.table, style_.weights);
      constants_ += c_array(name_ + "_table", whole.values, style_.weights);
      constants_ += c_array(name_ + "_table_scale", whole.scales, style_.dtype);
      costs_.weight_bytes += tokens * scalar_bytes();
      element = text_of(name_, "_table_scale[token] * (", type_, ")", element);
    }
    step_ += text_of("  const int known = in[0] >= 0 && in[0] < ",
                     c_number(static_cast<double>(tokens), style_.dtype),
                     ";\n  const int token = known ? (int)in[0] : 0;\n  for (int i = 0; i < ", width,
                     "; ++i) x[i] = known ? ", element, " : ", c_number(std::nan(""), style_.dtype), ";\n");
    return "x";
  }

  void call(const std::string& layer, const std::string& from, const std::string& to) {
    step_ += text_of("  ", name_, "_", layer, "(state, ", from, ", ", to, ");\n");
  }

  /// The mean of the top layer's outputs so far.
  void write_mean(const std::string& top, const std::string& to, std::int64_t width) {
    add_member("sum", width);
    step_ += text_of("  for (int i = 0; i < ", width, "; ++i) {\n    state->sum[i] += ", top, "[i];\n    ",
                     to, "[i] = state->sum[i] / (", type_, ")(state->steps + 1);\n  }\n");
  }

  void write_step() {
    std::string from = write_input();
    for (std::size_t l = 0; l < model_.layers.size(); ++l) {
      const ExportedLayer& layer = model_.layers[l];
      const bool last = l + 1 == model_.layers.size() && !model_.readout && model_.at != ReadAt::mean;
      const std::string to = last ? "out" : text_of("y", l);
      if (!last) declare_array(to, layer.program.values[layer.program.output].shape.width());
      call(layer.name, from, to);
      from = to;
    }
    if (model_.at == ReadAt::mean) {
      const ExportedLayer& top = model_.layers.back();
      const std::int64_t width = top.program.values[top.program.output].shape.width();
      const std::string to = model_.readout ? "mean" : "out";
      if (model_.readout) declare_array(to, width);
      write_mean(from, to, width);
      from = to;
    }
    if (model_.readout) call(model_.readout->name, from, "out");
    if (counts_steps()) step_ += "  ++state->steps;\n";
    write_units();
    functions_ = text_of("\nvoid ", name_, "_step(", name_, "_state *state, const ", type_, " *in, ", type_,
                         " *out) {\n", step_, "}\n");
  }

  /// Outputs in the units of the data.
  void write_units() {
    const Scaling& scaling = model_.normalization.output;
    if (scaling.empty()) return;
    const auto [mean, rest] = in_two(scaling.mean);
    step_ += text_of("  for (int i = 0; i < ", model_.output_width(), "; ++i) out[i] = (out[i] * ",
                     constant("out_scale", scaling.scale), " + ", constant("out_mean_rest", rest), ") + ",
                     constant("out_mean", mean), ";\n");
  }

  const ExportedModel& model_;
  const CStyle& style_;
  std::string name_, type_;
  std::vector<CLayer> parts_;
  std::string constants_, members_, reset_, functions_, step_;
  std::set<std::string> helpers_;
  CCosts costs_;
};

/// Replaces the model's matrices by those that whole numbers stand for, in the scalar of the file.
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
  if (c_identifier(options.name) != options.name)
    throw InputError(
        {.op = "export"}, Rule::not_supported,
        text_of("'", options.name, "' is not a name in C; '", c_identifier(options.name), "' would be one"));
  ExportedModel content = exported(model);
  const CStyle style{options.name, options.dtype.value_or(model.dtype()), options.weights,
                     options.fast_functions};
  if (style.weights != CWeights::real) round_matrices(content, style);
  const std::vector<std::string> layers = model.layer_names();
  return CFile(content, style).text(listed(layers, layers.size()), options.inputs);
}

}  // namespace lagtape
