#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tools/exchange/import/onnx_call.h"
#include "lagtape/tools/exchange/import/step_functions.h"

// Operators that combine the numbers of a step, or all steps: maps, norms, reductions.

namespace lagtape::foreign {
namespace {

using Results = std::vector<OnnxOperand>;

// ---- Maps --------------------------------------------------------------------------------------------------------------

/// The one axis of a flow with numbers, as the width of a map's input. Throws where there are several.
void check_last(const OnnxCall& call, const OnnxFlow& flow, std::size_t axis, std::int64_t width) {
  if (flow.axes[axis].letter != 'C' || flow.axes[axis].extent != width ||
      call.reading.steps.width(flow.value) != width)
    call.refuse_axes(flow,
                     text_of("expected ", width, " numbers of a step in axis ", axis, " and in no other."));
}

int matrix(const OnnxCall& call, std::size_t operand, bool transposes, double scale) {
  const OnnxTensor& tensor = call.constant(operand);
  if (tensor.shape.size() != 2 || tensor.numel() == 0)
    call.refuse(text_of("expected a matrix. Got ", to_string(tensor.shape), "."));
  const std::string name = text_of(call.node.inputs[operand], transposes ? " transposed " : " ", scale);
  return call.reading.steps.weight(name, [&] {
    OnnxTensor result = transposes ? transposed(tensor, {1, 0}) : tensor;
    for (double& value : result.values) value *= scale;
    return result.tensor();
  });
}

/// A constant as a flow without letters, as the first state of a graph that writes each step down.
OnnxFlow as_flow(const OnnxCall& call, std::size_t operand) {
  if (call.is_flow(operand)) return call.flow(operand);
  const OnnxTensor& tensor = call.constant(operand);
  if (tensor.values.empty()) call.refuse("has an input without numbers.");
  OnnxTensor row = tensor;
  for (std::size_t i = 0; i + 1 < row.shape.size(); ++i) {  // of a batch of like rows one
    if (row.shape[i] == 1) continue;
    const OnnxTensor first = taken(row, i, {0});
    if (spread(first, row.shape).values != row.values)
      call.refuse("multiplies a constant that differs from row to row.");
    row = first;
  }
  OnnxFlow flow;
  for (const std::int64_t extent : tensor.shape) flow.axes.push_back({'C', extent});
  for (std::size_t i = 0; i + 1 < flow.axes.size(); ++i) flow.axes[i].extent = 1;
  flow.value =
      call.reading.steps.add({.kind = StepKind::constant,
                              .width = row.numel(),
                              .weight = call.reading.steps.weight("first " + call.node.inputs[operand], [&] {
                                return Tensor::from({row.numel()}, row.values, Dtype::f64);
                              })});
  return flow;
}

OnnxFlow mapped(const OnnxCall& call, OnnxFlow flow, int weight, int bias) {
  StepGraph& g = call.reading.steps;
  if (flow.axes.empty()) call.refuse("expected numbers of a step in the last axis.");
  check_last(call, flow, flow.axes.size() - 1, g.tensor(weight).size(1));
  flow.axes.back().extent = g.tensor(weight).size(0);
  flow.value = g.map(flow.value, weight, bias);
  return flow;
}

Results matrix_product(const OnnxCall& call) {
  if (!call.is_flow(1)) return call.one(mapped(call, as_flow(call, 0), matrix(call, 1, true, 1), -1));
  if (call.is_flow(0)) call.refuse("multiplies two values that depend on the input.");
  OnnxFlow flow = call.flow(1);  // W [out, in] times [.., in, steps]
  const int weight = matrix(call, 0, false, 1);
  if (flow.axes.size() < 2) call.refuse("expected numbers of a step in the last axis but one.");
  const std::size_t axis = flow.axes.size() - 2;
  check_last(call, flow, axis, call.reading.steps.tensor(weight).size(1));
  flow.axes[axis].extent = call.reading.steps.tensor(weight).size(0);
  flow.value = call.reading.steps.map(flow.value, weight);
  return call.one(std::move(flow));
}

int bias(const OnnxCall& call, std::size_t operand, std::int64_t width, double scale) {
  if (!call.has(operand)) return -1;
  const OnnxTensor& tensor = call.constant(operand);
  if (tensor.numel() != 1 && (tensor.numel() != width || tensor.shape.back() != width))
    call.refuse(text_of("expected a bias of ", width, " numbers. Got ", to_string(tensor.shape), "."));
  return call.reading.steps.weight(text_of(call.node.inputs[operand], " bias ", width, " ", scale), [&] {
    std::vector<double> values = tensor.values;
    if (values.size() == 1) values.resize(static_cast<std::size_t>(width), values[0]);
    for (double& value : values) value *= scale;
    return Tensor::from({width}, values, Dtype::f64);
  });
}

Results general_product(const OnnxCall& call) {
  if (call.integer("transA", 0) != 0) call.refuse("transA must be 0.");
  const int weight = matrix(call, 1, call.integer("transB", 0) == 0, call.real("alpha", 1));
  const std::int64_t width = call.reading.steps.tensor(weight).size(0);
  if (call.is_flow(2)) {  // as a second map that is added
    StepGraph& g = call.reading.steps;
    OnnxFlow product = mapped(call, as_flow(call, 0), weight, -1);
    if (g.width(call.flow(2).value) != width || call.real("beta", 1) != 1)
      call.refuse("its third input does not fit.");
    if (call.flow(2).axes.size() >= product.axes.size()) product.axes = call.flow(2).axes;
    product.value = g.element("+", product.value, call.flow(2).value);
    return call.one(std::move(product));
  }
  return call.one(mapped(call, as_flow(call, 0), weight, bias(call, 2, width, call.real("beta", 1))));
}

/// A convolution over time that reads one step.
Results convolution(const OnnxCall& call) {
  const OnnxTensor& kernel = call.constant(1);
  const bool one =
      kernel.shape.size() >= 3 && std::ranges::all_of(kernel.shape.begin() + 2, kernel.shape.end(),
                                                      [](std::int64_t e) { return e == 1; });
  if (!one || call.integer("group", 1) != 1)
    call.refuse("is supported for a kernel of one step and one group.");
  for (const char* name : {"pads", "strides"})
    if (const auto found = call.node.attributes.find(name); found != call.node.attributes.end())
      for (const std::int64_t number : found->second.integers)
        if (number != (*name == 'p' ? 0 : 1)) call.refuse(text_of("its ", name, " are not supported."));
  StepGraph& g = call.reading.steps;
  const std::int64_t out = kernel.shape[0], in = kernel.shape[1];
  const int weight = g.weight(call.node.inputs[1] + " kernel", [&] {
    return Tensor::from({out, in}, kernel.values, Dtype::f64);
  });
  OnnxFlow flow = call.flow(0);
  if (flow.axes.size() != kernel.shape.size())
    call.refuse_axes(flow, "expected as many axes as its kernel has.");
  check_last(call, flow, 1, in);
  flow.axes[1].extent = out;
  flow.value = g.map(flow.value, weight, bias(call, 2, out, 1));
  return call.one(std::move(flow));
}

// ---- Norms and reductions ------------------------------------------------------------------------------------------------

Results batch_norm(const OnnxCall& call) {
  const OnnxFlow& flow = call.flow(0);
  StepGraph& g = call.reading.steps;
  const std::int64_t width = g.width(flow.value);
  std::vector<double> parts[4];
  for (std::size_t i = 0; i < 4; ++i) {
    parts[i] = call.constant(i + 1).values;
    if (std::ssize(parts[i]) != width)
      call.refuse(text_of("expected ", width, " numbers as input ", i + 1, "."));
  }
  if (flow.axes.size() > 1) check_last(call, flow, 1, width);
  if (call.integer("training_mode", 0) != 0) call.refuse("is supported for inference (training_mode 0).");
  const double eps = call.real("epsilon", 1e-5);
  std::vector<double> scale, shift;
  for (std::size_t i = 0; i < parts[0].size(); ++i) {
    scale.push_back(parts[0][i] / std::sqrt(parts[3][i] + eps));
    shift.push_back(parts[1][i] - parts[2][i] * scale[i]);
  }
  const int product = g.element("*", flow.value, g.vector(scale));
  return call.like_first(g.element("+", product, g.vector(shift)));
}

Results layer_norm(const OnnxCall& call) {
  const OnnxFlow& flow = call.flow(0);
  StepGraph& g = call.reading.steps;
  const std::size_t axis = call.axis_of("axis", -1, flow.axes.size());
  const std::int64_t width = flow.axes.back().extent;
  if (axis + 1 != flow.axes.size()) call.refuse_axes(flow, "is supported over the last axis.");
  check_last(call, flow, axis, width);
  const auto weight = [&](std::size_t operand, double missing) {
    const OnnxTensor* tensor = call.has(operand) ? &call.constant(operand) : nullptr;
    if (tensor != nullptr && tensor->numel() != width)
      call.refuse(text_of("expected ", width, " numbers as input ", operand, "."));
    return g.weight(
        tensor != nullptr ? call.node.inputs[operand] + " gain" : text_of("all ", missing, " ", width), [&] {
          const std::vector<double> same(static_cast<std::size_t>(width), missing);
          return Tensor::from({width}, tensor != nullptr ? tensor->values : same, Dtype::f64);
        });
  };
  const double eps = call.real("epsilon", 1e-5);
  if (!(eps > 0)) call.refuse("expected an epsilon above 0.");
  const int gain = weight(1, 1), shift = weight(2, 0);
  return call.like_first(g.add({.kind = StepKind::layer_norm,
                                .inputs = {flow.value},
                                .width = width,
                                .weight = gain,
                                .bias = shift,
                                .number = eps}));
}

/// One number of a value's numbers: "sum", "mean", "maximum", "minimum".
int reduced(StepGraph& g, const std::string& function, int a) {
  if (function == "maximum" || function == "minimum") return extreme(g, function, a);
  const int sum = g.add({.kind = StepKind::sum, .inputs = {a}, .width = 1});
  return function == "sum" ? sum : g.scaled(sum, 1 / static_cast<double>(g.width(a)));
}

/// The numbers of a step over the first of their axes, as that of layers of a last state.
int over_first(const OnnxCall& call, const std::string& function, const OnnxFlow& flow,
               const std::vector<bool>& named) {
  StepGraph& g = call.reading.steps;
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < named.size(); ++i)
    if (flow.axes[i].letter == 'C' && flow.axes[i].extent > 1) axes.push_back(i);
  const auto is_named = [&](std::size_t axis) { return named[axis]; };
  if (!named[axes[0]] || std::ranges::count_if(axes, is_named) != 1)
    call.refuse_axes(flow, "combines numbers of another axis than their first.");
  const std::int64_t count = flow.axes[axes[0]].extent, width = g.width(flow.value) / count;
  int result = g.slice(flow.value, 0, width);
  const bool adds = function == "sum" || function == "mean";
  for (std::int64_t k = 1; k < count; ++k)
    result = g.element(adds ? "+" : function, result, g.slice(flow.value, k * width, width));
  return function == "mean" ? g.scaled(result, 1 / static_cast<double>(count)) : result;
}

int over_time(StepGraph& g, const std::string& function, int a) {
  return g.add({.kind = StepKind::over_time, .function = function, .inputs = {a}, .width = g.width(a)});
}

Results reduce(const OnnxCall& call, const std::string& function, const std::vector<bool>& named,
               bool keeps) {
  OnnxFlow flow = call.flow(0);
  StepGraph& g = call.reading.steps;
  bool numbers = false, all_numbers = true;
  for (std::size_t i = 0; i < named.size(); ++i) {
    const OnnxAxis axis = flow.axes[i];
    if (axis.letter == 'C' && axis.extent > 1) (named[i] ? numbers : all_numbers) = named[i];
    if (!named[i] || axis.extent == 1 || axis.letter == 'C') continue;
    if (i != call.time_axis(flow)) call.refuse_axes(flow, "combines the sequences of a batch.");
    flow.value = over_time(g, function, flow.value);
  }
  if (numbers)
    flow.value = all_numbers ? reduced(g, function, flow.value) : over_first(call, function, flow, named);
  std::vector<OnnxAxis> axes;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (!named[i]) axes.push_back(flow.axes[i]);
    if (named[i] && keeps) axes.push_back({'C', 1});
  }
  flow.axes = axes;
  return call.one(std::move(flow));
}

constexpr const char* kSum = "sum";
constexpr const char* kMean = "mean";
constexpr const char* kSmallest = "minimum";
constexpr const char* kLargest = "maximum";

template <const char* const& Function>
Results reduction(const OnnxCall& call) {
  const std::vector<bool> named =
      call.named_axes("axes", 1, call.flow(0).axes.size(), call.integer("noop_with_empty_axes", 0) == 0);
  return reduce(call, Function, named, call.integer("keepdims", 1) != 0);
}

/// The sum of a function of the numbers, and a function of the sum; an empty name: none.
template <const char* const& Before, const char* const& After>
Results sum_of(const OnnxCall& call) {
  StepGraph& g = call.reading.steps;
  const int a = call.flow(0).value;
  OnnxOperand inside = call.like_first(*Before == 's' ? g.element("*", a, a) : g.element(Before, a))[0];
  OnnxCall next = call;
  next.operands[0] = &inside;
  OnnxFlow sum = std::get<OnnxFlow>(reduction<kSum>(next)[0]);
  if (*After != '\0') sum.value = g.element(After, sum.value);
  return call.one(std::move(sum));
}

constexpr const char* kNone = "";
constexpr const char* kSquare = "square";
constexpr const char* kMagnitude = "abs";
constexpr const char* kPower = "exp";
constexpr const char* kRoot = "sqrt";
constexpr const char* kLogarithm = "log";

/// log(sum(exp(a))) of a step's numbers, whose largest is taken out.
Results logarithm_of_sum(const OnnxCall& call) {
  StepGraph& g = call.reading.steps;
  const int a = call.flow(0).value, most = extreme(g, "maximum", a);
  OnnxOperand inside = call.like_first(g.element("-", a, most))[0];
  OnnxCall next = call;
  next.operands[0] = &inside;
  OnnxFlow result = std::get<OnnxFlow>(sum_of<kPower, kLogarithm>(next)[0]);
  if (g.width(result.value) != 1 || result.has(call.reading.time) != call.flow(0).has(call.reading.time))
    call.refuse("is supported over the numbers of a step.");
  result.value = g.element("+", result.value, most);
  return call.one(std::move(result));
}

/// A pooling over all steps.
template <const char* const& Function>
Results pooling(const OnnxCall& call) {
  const OnnxFlow& flow = call.flow(0);
  std::vector<bool> named(flow.axes.size(), true);
  if (named.size() < 3) call.refuse_axes(flow, "expected batch, numbers and time.");
  named[0] = named[1] = false;
  const auto kernel = call.node.attributes.find("kernel_shape");
  if (kernel != call.node.attributes.end()) {
    const Shape shape = flow.shape();
    if (!std::ranges::equal(kernel->second.integers, Shape(shape.begin() + 2, shape.end())))
      call.refuse_axes(flow, "is supported over all steps.");
    const auto pads = call.node.attributes.find("pads");
    if (pads != call.node.attributes.end() &&
        std::ranges::count(pads->second.integers, 0) != std::ssize(pads->second.integers))
      call.refuse("its pads are not supported.");
  }
  return reduce(call, Function, named, true);
}

template <bool Logarithm>
Results softmax_of(const OnnxCall& call) {
  const OnnxFlow& flow = call.flow(0);
  StepGraph& g = call.reading.steps;
  const std::size_t axis = call.axis_of("axis", -1, flow.axes.size());
  check_last(call, flow, axis, flow.axes[axis].extent);
  return call.like_first(softmax(g, flow.value, Logarithm));
}

}  // namespace

const std::map<std::string, OnnxRule>& map_rules() {
  static const std::map<std::string, OnnxRule> rules = {
      {"MatMul", matrix_product},
      {"Gemm", general_product},
      {"Conv", convolution},
      {"BatchNormalization", batch_norm},
      {"LayerNormalization", layer_norm},
      {"ReduceMean", reduction<kMean>},
      {"ReduceSum", reduction<kSum>},
      {"ReduceMax", reduction<kLargest>},
      {"ReduceMin", reduction<kSmallest>},
      {"ReduceL1", sum_of<kMagnitude, kNone>},
      {"ReduceL2", sum_of<kSquare, kRoot>},
      {"ReduceSumSquare", sum_of<kSquare, kNone>},
      {"ReduceLogSumExp", logarithm_of_sum},
      {"GlobalAveragePool", pooling<kMean>},
      {"GlobalMaxPool", pooling<kLargest>},
      {"AveragePool", pooling<kMean>},
      {"MaxPool", pooling<kLargest>},
      {"Softmax", softmax_of<false>},
      {"LogSoftmax", softmax_of<true>},
  };
  return rules;
}

}  // namespace lagtape::foreign
