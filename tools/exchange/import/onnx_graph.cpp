#include "lagtape/tools/exchange/import/onnx_graph.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/import/onnx_axes.h"
#include "lagtape/tools/exchange/import/onnx_recurrence.h"

namespace lagtape::foreign {
namespace {

/// A value on the way from the input to the output.
struct FlowValue {
  std::string axes;         ///< as in AxesBefore; those of time and batch are a and b
  std::size_t layers = 0;   ///< how many layers made it
  std::int64_t inputs = 0;  ///< for the model's input, or its first numbers: how many
};

constexpr const char* kSupportedNodes =
    "RNN, LSTM, GRU, MatMul, Gemm, Add, Tanh, Sigmoid, Relu, Transpose, Squeeze, Unsqueeze, Reshape, Slice, "
    "Gather, "
    "Identity, Dropout, Constant";

/// Follows the nodes of a graph from its input to its output.
class GraphReader {
 public:
  GraphReader(OnnxGraph graph, const std::string& where)
      : graph_(std::move(graph)), where_(where), constants_(graph_.tensors, where) {}

  ForeignModel read() {
    model_.format = "onnx";
    read_input();
    if (graph_.outputs.empty()) throw InputError({where_}, Rule::missing, "the graph has no output.");
    for (const OnnxNode& node : needed_nodes()) follow(node);
    const std::string& output = graph_.outputs.front().name;
    const auto found = flow_.find(output);
    if (found == flow_.end() || found->second.layers != model_.layers.size())
      throw InputError({where_}, Rule::not_supported,
                       text_of("the output '", output, "' is not what the last layer gives."));
    if (const std::string& axes = found->second.axes;
        !axes.ends_with('C') || axes.find('D') != std::string::npos)
      throw InputError({where_}, Rule::shape,
                       text_of("the output '", output, "' does not end in the axis of its numbers."));
    if (const std::string& axes = found->second.axes; axes.find(time_) == std::string::npos && axes != "FC")
      model_.at = ReadAt::last_step;
    constants_.finish();
    if (constants_.has_double()) model_.precision = Dtype::f64;
    return std::move(model_);
  }

 private:
  [[noreturn]] void refuse(const OnnxNode& node, const std::string& message) const {
    throw InputError({.file = where_, .item = node.title()}, Rule::not_supported, message);
  }

  void read_input() {
    if (graph_.inputs.size() != 1) {
      std::vector<std::string> names;
      for (const OnnxValue& input : graph_.inputs) names.push_back(input.name);
      throw unexpected({where_}, Rule::shape, "one input", text_of(names.size(), ": ", listed(names)),
                       "First states are supported as constants of the file.");
    }
    const OnnxValue& input = graph_.inputs.front();
    const std::size_t rank = input.shape.size();
    if (rank != 2 && rank != 3)
      throw unexpected({.file = where_, .item = text_of("input '", input.name, "'")}, Rule::shape,
                       "3 axes: time, batch and numbers", text_of(rank));
    model_.input = input.shape.back();
    if (model_.input < 1)
      throw InputError({.file = where_, .item = text_of("input '", input.name, "'")}, Rule::missing,
                       "the number of its inputs is not given.");
    width_ = model_.input;
    flow_[input.name] = {rank == 3 ? "abC" : "aC", 0, model_.input};
  }

  /// The nodes that the first output needs, in their order.
  std::vector<OnnxNode> needed_nodes() const {
    std::set<std::string> needed = {graph_.outputs.front().name};
    std::vector<OnnxNode> nodes;
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      if (std::ranges::none_of(node->outputs, [&](const std::string& name) { return needed.contains(name); }))
        continue;
      for (const std::string& input : node->inputs) needed.insert(input);
      nodes.push_back(*node);
    }
    std::ranges::reverse(nodes);
    return nodes;
  }

  void follow(const OnnxNode& node) {
    if (node.outputs.empty()) refuse(node, "has no output.");
    if (is_about_sizes(node)) return;
    if (node.type == "Constant") return add_constant(node);
    if (node.type == "RNN" || node.type == "LSTM" || node.type == "GRU") return add_recurrence(node);
    if (node.type == "Add") return add_sum(node);
    if (node.type == "MatMul" || node.type == "Gemm") return add_map(node);
    if (node.type == "Slice") return add_slice(node);
    if (node.type == "Gather") return add_last_step(node);
    for (const auto& [theirs, ours] : {std::pair("Tanh", "tanh"), {"Sigmoid", "sigmoid"}, {"Relu", "relu"}})
      if (node.type == theirs) return add_function(node, ours);
    move_axes(node);
  }

  /// Follows the sizes of tensors, from which exporters compute the shape of first states that are zeros.
  bool is_about_sizes(const OnnxNode& node) {
    const auto is_size = [&](const std::string& name) {
      return name.empty() || sizes_.contains(name) || constants_.is_integer(name);
    };
    if (node.type == "ConstantOfShape") {
      const auto value = node.attributes.find("value");
      if (value != node.attributes.end() && !value->second.tensor.values.empty() &&
          value->second.tensor.values.at(0) != 0)
        refuse(node, "first states are constants of the file or zeros.");
      zeros_.insert(node.outputs[0]);
      return true;
    }
    if (node.type == "Expand" && !node.inputs.empty() && constants_.contains(node.inputs[0])) {
      const Tensor spread = constants_.take_real(node, 0);
      for (std::int64_t i = 0; i < spread.numel(); ++i)
        if (spread.at(i) != 0) refuse(node, "first states are constants of the file or zeros.");
      zeros_.insert(node.outputs[0]);
      return true;
    }
    const bool sizes =
        node.type == "Shape" || (!node.inputs.empty() && std::ranges::all_of(node.inputs, is_size));
    if (sizes) sizes_.insert(node.outputs[0]);
    const bool zeros = !node.inputs.empty() && zeros_.contains(node.inputs[0]) && node.type != "LSTM";
    if (zeros) zeros_.insert(node.outputs[0]);
    return sizes || zeros;
  }

  void add_constant(const OnnxNode& node) {
    const auto value = node.attributes.find("value");
    if (value == node.attributes.end()) refuse(node, "expected a tensor as its value.");
    constants_.add(node.outputs[0], value->second.tensor);
  }

  /// The value that the layers so far give, as the node's first input.
  FlowValue& top(const OnnxNode& node, std::size_t input = 0) {
    const auto found = flow_.find(has_input(node, input) ? node.inputs[input] : "");
    if (found == flow_.end())
      refuse(node, text_of("expected the output of the node before as input ", input, "."));
    const bool sliced = found->second.inputs > 0 && found->second.inputs < model_.input;
    if (found->second.layers != model_.layers.size() || model_.skip > 0 || sliced)
      refuse(node, "branches are not supported, but for a sum with the input at the end.");
    return found->second;
  }

  void push(const OnnxNode& node, std::variant<ForeignRecurrence, ForeignDense> content) {
    model_.layers.push_back({node.title(), std::move(content)});
    width_ = width_after(model_.layers.back(), width_);
  }
  void give(const std::string& name, const std::string& axes) {
    if (!name.empty()) flow_[name] = {axes, model_.layers.size(), 0};
  }

  /// Time and batch must be the same axes for every recurrence.
  void note_time(const OnnxNode& node, char time) {
    if (time_ != 0 && time_ != time) refuse(node, "takes the batch of the recurrence before as its time.");
    time_ = time;
  }

  void add_recurrence(const OnnxNode& node) {
    const std::string axes = top(node).axes;
    if (axes.size() != 3 || axes.find('D') != std::string::npos || axes[2] != 'C')
      refuse(node, "expected an input of time, batch and numbers.");
    const bool batch_first = integer_of(node, "layout", 0) == 1;
    const char time = axes[batch_first ? 1 : 0], batch = axes[batch_first ? 0 : 1];
    note_time(node, time);
    const bool zeros = has_input(node, 5) && zeros_.contains(node.inputs[5]);
    ForeignRecurrence recurrence = recurrence_of(node, zeros, constants_, where_);
    directions_ = std::ssize(recurrence.directions);
    push(node, std::move(recurrence));
    const std::string order =
        batch_first ? std::string{batch, time, 'D', 'C'} : std::string{time, 'D', batch, 'C'};
    give(node.outputs[0], order);
    if (node.outputs.size() > 1 && directions_ == 1)
      give(node.outputs[1], batch_first ? std::string{batch, 'D', 'C'} : std::string{'D', batch, 'C'});
  }

  void add_map(const OnnxNode& node) {
    FlowValue value = top(node);
    if (!value.axes.ends_with('C') || value.axes.find('D') != std::string::npos)
      refuse(node, "expected numbers of a step in the last axis.");
    ForeignDense dense;
    dense.W = constants_.take_real(node, 1);
    if (dense.W.rank() != 2)
      refuse(node, text_of("expected a matrix. Got ", to_string(dense.W.shape()), "."));
    const bool stands = node.type == "Gemm" && integer_of(node, "transB", 0) == 1;
    if (!stands) dense.W = transposed(dense.W);
    if (node.type == "Gemm") {
      for (const char* name : {"alpha", "beta"})
        if (node.attributes.contains(name) && node.attributes.at(name).real != 1)
          refuse(node, text_of(name, " must be 1."));
      if (integer_of(node, "transA", 0) != 0) refuse(node, "transA must be 0.");
      if (has_input(node, 2)) dense.bias = bias_of(node, 2, dense.W.size(0));
    }
    push(node, std::move(dense));
    give(node.outputs[0], value.axes);
  }

  Tensor bias_of(const OnnxNode& node, std::size_t input, std::int64_t width) {
    const Tensor bias = constants_.take_real(node, input);
    if (bias.numel() != width || bias.size(-1) != width)
      refuse(node, text_of("expected a bias of ", width, " numbers. Got ", to_string(bias.shape()), "."));
    return bias.reshaped({width});
  }

  /// A sum with a constant is the bias of the map before it; one with the model's input is a skip connection.
  void add_sum(const OnnxNode& node) {
    if (node.inputs.size() != 2) refuse(node, "expected two inputs.");
    const bool second =
        flow_.contains(node.inputs[0]) &&
        (constants_.contains(node.inputs[1]) || flow_[node.inputs[0]].layers == model_.layers.size());
    const std::size_t main = second ? 0 : 1, other = 1 - main;
    const FlowValue value = top(node, main);
    if (const auto branch = flow_.find(node.inputs[other]); branch != flow_.end()) {
      if (branch->second.layers != 0 || branch->second.inputs == 0 || value.layers == 0)
        refuse(node, "branches are not supported, but for a sum with the input at the end.");
      if (branch->second.axes != value.axes) refuse(node, "the axes of both inputs differ.");
      model_.skip = branch->second.inputs;
      flow_[node.outputs[0]] = value;
      return;
    }
    auto* dense = model_.layers.empty() ? nullptr : std::get_if<ForeignDense>(&model_.layers.back().content);
    if (dense == nullptr || dense->W.empty() || !dense->bias.empty() || !dense->function.empty())
      refuse(node, "a constant is added to a MatMul without a bias only.");
    dense->bias = bias_of(node, other, dense->W.size(0));
    flow_[node.outputs[0]] = value;
  }

  void add_function(const OnnxNode& node, const std::string& function) {
    const FlowValue value = top(node);
    auto* dense = model_.layers.empty() ? nullptr : std::get_if<ForeignDense>(&model_.layers.back().content);
    if (dense != nullptr && dense->function.empty()) {
      dense->function = function;
    } else {
      push(node, ForeignDense{{}, {}, function});
    }
    give(node.outputs[0], value.axes);
  }

  /// The first numbers of the model's input, for a skip connection.
  void add_slice(const OnnxNode& node) {
    const auto found = flow_.find(has_input(node, 0) ? node.inputs[0] : "");
    if (found == flow_.end() || found->second.inputs == 0)
      refuse(node, "a slice is supported of the model's input only.");
    FlowValue value = found->second;
    const auto starts = constants_.integers(node, 1), ends = constants_.integers(node, 2);
    const auto axes = has_input(node, 3) ? constants_.integers(node, 3) : std::vector<std::int64_t>{0};
    const auto steps = has_input(node, 4) ? constants_.integers(node, 4) : std::vector<std::int64_t>{1};
    const std::int64_t rank = std::ssize(value.axes);
    const bool first_numbers = starts == std::vector<std::int64_t>{0} && ends.size() == 1 && ends[0] > 0 &&
                               axes.size() == 1 && (axes[0] == -1 || axes[0] == rank - 1) &&
                               value.axes.ends_with('C') && steps == std::vector<std::int64_t>{1};
    if (!first_numbers) refuse(node, "a slice is supported of the first numbers of every step only.");
    value.inputs = std::min(value.inputs, ends[0]);
    flow_[node.outputs[0]] = value;
  }

  void add_last_step(const OnnxNode& node) {
    const FlowValue value = top(node);
    const std::int64_t rank = std::ssize(value.axes), given = integer_of(node, "axis", 0),
                       axis = given < 0 ? given + rank : given;
    if (constants_.integers(node, 1) != std::vector<std::int64_t>{-1} || axis < 0 || axis >= rank ||
        value.axes[axis] != time_)
      refuse(node, "is supported for the last step (index -1 of the axis of time) only.");
    if (directions_ > 1) refuse(node, "the last step of a bidirectional layer is not supported.");
    std::string axes = value.axes;
    axes.erase(static_cast<std::size_t>(axis), 1);
    flow_[node.outputs[0]] = {axes, value.layers, 0};
  }

  /// The value after a node that only moves axes.
  void move_axes(const OnnxNode& node) {
    FlowValue value = top(node);
    const bool apart = value.axes.find('D') != std::string::npos;
    const AxesBefore before{value.axes, apart ? width_ / directions_ : width_, directions_, flattened_};
    const std::optional<std::string> axes = moved_axes(node, before, constants_, where_);
    if (!axes) refuse(node, text_of("is not supported. Supported: ", kSupportedNodes, "."));
    if (*axes == "FC" && value.axes != "FC") {
      flattened_ = value.axes;
      std::erase(flattened_, 'D');
    }
    value.axes = *axes;
    flow_[node.outputs[0]] = value;
  }

  OnnxGraph graph_;
  const std::string& where_;
  OnnxConstants constants_;
  ForeignModel model_;
  std::map<std::string, FlowValue> flow_;
  std::set<std::string> sizes_, zeros_;
  char time_ = 0;  ///< the letter of the axis of time; 0: not known yet
  std::int64_t directions_ = 1;
  std::int64_t width_ = 0;  ///< the numbers that the last layer gives at a step, or the input
  std::string flattened_;
};

}  // namespace

ForeignModel read_onnx(std::string_view bytes, const std::string& where) {
  return GraphReader(read_onnx_graph(bytes, where), where).read();
}

}  // namespace lagtape::foreign
