#include "lagtape/tools/exchange/export/onnx/onnx_model.h"

#include <limits>
#include <span>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/export/onnx/onnx_layers.h"
#include "lagtape/tools/exchange/export/onnx/onnx_step.h"
#include "lagtape/tools/exchange/export/onnx/onnx_units.h"

namespace lagtape {
namespace {

using Names = std::vector<std::string>;

OnnxAttributes axis(std::int64_t value) { return OnnxAttributes().integer("axis", value); }

/// Layers, one above the other, over x [batch, time, input].
std::string add_layers(OnnxWriter& graph, std::span<const ExportedLayer> layers, std::string x, Dtype dtype) {
  const auto gates_of = [&](std::size_t l) {  // onnxruntime's nodes compute in f32 alone
    const bool is_node = dtype == Dtype::f32 && layers[l].start.empty();
    return is_node ? gated_layer(layers[l]) : std::nullopt;
  };
  for (std::size_t l = 0; l < layers.size();) {
    if (has_independent_steps(layers[l])) {
      x = add_rows(graph, layers[l++], x, dtype);
    } else if (const auto gates = gates_of(l)) {
      x = add_recurrence(graph, *gates, x);
      ++l;
    } else {
      std::size_t end = l + 1;
      while (end < layers.size() && !has_independent_steps(layers[end]) && !gates_of(end)) ++end;
      x = add_scan(graph, layers.subspan(l, end - l), x, dtype);
      l = end;
    }
  }
  return x;
}

/// The sums over the steps for which a condition holds between their numbers and the lengths of the sequences.
std::string sum_where(OnnxWriter& graph, const std::string& x, const std::string& condition,
                      const std::string& lengths, Dtype dtype) {
  const std::string time = graph.node("Gather", {graph.node("Shape", {x}), graph.integer(1)});
  const std::string steps = graph.node("Range", {graph.integer(0), time, graph.integer(1)});
  const std::string holds =
      graph.node(condition, {steps, graph.node("Unsqueeze", {lengths, graph.integers({1})})});
  const double zero = 0;
  const std::string chosen = graph.node("Where", {graph.node("Unsqueeze", {holds, graph.integers({-1})}), x,
                                                  graph.numbers({}, {&zero, 1}, dtype)});
  return graph.node("ReduceSum", {chosen, graph.integers({1})}, OnnxAttributes().integer("keepdims", 0));
}

/// The outputs at the last step of each sequence, [batch, width]. `lengths` is the name of an input, or empty.
std::string read_last(OnnxWriter& graph, const std::string& x, const std::string& lengths, Dtype dtype) {
  if (lengths.empty()) return graph.node("Gather", {x, graph.integer(-1)}, axis(1));
  const std::string last = graph.node("Sub", {lengths, graph.integer(1)});
  return sum_where(graph, x, "Equal", last, dtype);
}

/// The mean of the outputs of each sequence, [batch, width].
std::string read_mean(OnnxWriter& graph, const std::string& x, const std::string& lengths, Dtype dtype) {
  if (lengths.empty()) {
    const std::vector<std::int64_t> axes = {1};
    return graph.node("ReduceMean", {x}, OnnxAttributes().integers("axes", axes).integer("keepdims", 0));
  }
  const std::string counts =
      graph.node("Cast", {graph.node("Unsqueeze", {lengths, graph.integers({1})})},
                 OnnxAttributes().integer("to", static_cast<std::int64_t>(onnx_type(dtype))));
  return graph.node("Div", {sum_where(graph, x, "Less", lengths, dtype), counts});
}

/// Every sequence from its last step to its first; steps after its end stay where they are.
std::string reversed(OnnxWriter& graph, const std::string& x, const std::string& lengths) {
  if (!lengths.empty())
    return graph.node("ReverseSequence", {x, lengths},
                      OnnxAttributes().integer("batch_axis", 0).integer("time_axis", 1));
  return graph.node("Slice",
                    {x, graph.integers({-1}), graph.integers({std::numeric_limits<std::int64_t>::min()}),
                     graph.integers({1}), graph.integers({-1})});
}

/// A layer that reads from both ends, over x [batch, time, input]; at the end [batch, 1, width].
std::string add_part(OnnxWriter& graph, const ExportedPart& part, std::string x, const std::string& lengths,
                     Dtype dtype) {
  x = add_layers(graph, part.below, x, dtype);
  std::string ahead = add_layers(graph, part.ahead, x, dtype);
  std::string back = add_layers(graph, part.back, reversed(graph, x, lengths), dtype);
  if (part.at_end) {
    ahead = graph.node("Unsqueeze", {read_last(graph, ahead, lengths, dtype), graph.integers({1})});
    back = graph.node("Unsqueeze", {read_last(graph, back, lengths, dtype), graph.integers({1})});
  } else {
    back = reversed(graph, back, lengths);
  }
  if (part.merge == "concat") return graph.node("Concat", {ahead, back}, axis(2));
  const std::string sum = graph.node("Add", {ahead, back});
  const double half = 0.5;
  return part.merge == "sum" ? sum : graph.node("Mul", {sum, graph.numbers({}, {&half, 1}, dtype)});
}

/// The mean of the top layer's outputs so far, from their sum and number.
std::string add_running_mean(OnnxWriter& graph, const std::string& y, std::int64_t width, Dtype dtype) {
  const OnnxState sum = {"mean.sum", dtype, {width}}, count = {"mean.n", dtype, {1}};
  const double one = 1;
  for (const OnnxState& state : {sum, count}) graph.input(state.name, onnx_type(dtype), state.shape());
  const std::string sums = graph.node("Add", {sum.name, y}, {}, "mean.sum.next");
  const std::string counts =
      graph.node("Add", {count.name, graph.numbers({1}, {&one, 1}, dtype)}, {}, "mean.n.next");
  graph.output(sums, onnx_type(dtype), sum.shape());
  graph.output(counts, onnx_type(dtype), count.shape());
  return graph.node("Div", {sums, counts});
}

std::string description(const Model& model, const ExportedModel& content, const StepNames& names) {
  const Names layers = model.layer_names();
  Names inputs;
  for (std::size_t i = 0; i < names.inputs.size(); ++i) inputs.push_back(names.described_input(i));
  const Names outputs = names.outputs.empty() ? output_names(content.stack) : names.outputs;
  const auto sentence = [](const char* about, const Names& of) {
    return of.empty() ? "" : text_of(" ", about, ": ", listed(of, of.size()), ".");
  };
  const std::string note = names.note_of_inputs();
  return text_of(
      "A recurrent model, exported by lagtape.", sentence("Layers", layers),
      sentence("The numbers of a step", inputs), note.empty() ? "" : " ", note, sentence("Outputs", outputs),
      sentence("Classes", names.classes),
      names.series.empty() ? "" : text_of(" The scaling is that of the series ", names.series, "."));
}

}  // namespace

std::string onnx_sequence_model(const Model& model, bool with_lengths, const StepNames& names) {
  const PlainArithmetic plain;
  const ExportedModel content = exported_whole(model);
  const bool once = !reads_every_step(content.at);
  if (with_lengths && (!once || content.at == ReadAt::last_padded_step))
    throw InputError(
        {.op = "export"}, Rule::not_supported,
        "lengths are for a model that reads once, at the end of a sequence or the mean; this one does not");
  OnnxWriter graph("model");
  std::string y = add_input(graph, content, {"batch", "time"});
  std::string lengths;
  if (with_lengths) {
    lengths = "lengths";
    graph.input(lengths, OnnxType::i64, {"batch"});
  }
  for (const ExportedPart& part : content.parts) {
    y = add_part(graph, part, y, lengths, content.dtype);
    if (part.at_end) lengths.clear();  // there is one step from here on
  }
  y = add_layers(graph, content.layers, y, content.dtype);
  if (content.at == ReadAt::mean) {
    y = read_mean(graph, y, lengths, content.dtype);
  } else if (once) {
    y = read_last(graph, y, lengths, content.dtype);
  }
  if (content.readout && once) y = add_step(graph, *content.readout, y, {}, content.dtype).output;
  if (content.readout && !once) y = add_rows(graph, *content.readout, y, content.dtype);
  add_output(graph, content, y, once ? OnnxShape{"batch"} : OnnxShape{"batch", "time"});
  return graph.model(description(model, content, names));
}

std::string onnx_step_model(const Model& model, const StepNames& names) {
  const PlainArithmetic plain;
  const ExportedModel content = exported_from_zeros(model, "onnx-step");
  OnnxWriter graph("step");
  std::string y = add_input(graph, content, {"batch"});
  for (const ExportedLayer& layer : content.layers) {
    const std::vector<OnnxState> states = onnx_states(layer, content.dtype);
    Names before;
    for (const OnnxState& state : states) {
      before.push_back(state.name);
      graph.input(state.name, onnx_type(state.dtype), state.shape());
    }
    const OnnxStep step = add_step(graph, layer, y, before, content.dtype);
    for (std::size_t s = 0; s < states.size(); ++s)
      graph.output(step.states[s], onnx_type(states[s].dtype), states[s].shape());
    y = step.output;
  }
  const ExportedLayer& top = content.layers.back();
  if (content.at == ReadAt::mean)
    y = add_running_mean(graph, y, top.program.values[top.program.output].shape.width(), content.dtype);
  if (content.readout) y = add_step(graph, *content.readout, y, {}, content.dtype).output;
  add_output(graph, content, y, {"batch"});
  return graph.model(description(model, content, names));
}

}  // namespace lagtape
