#include <algorithm>
#include <bit>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tools/exchange/import/onnx_call.h"
#include "lagtape/tools/exchange/import/step_functions.h"

// Operators that compute number by number.

namespace lagtape::foreign {
namespace {

using Results = std::vector<OnnxOperand>;

/// The axes of flows that spread to one shape: a letter stays a letter.
std::vector<OnnxAxis> spread_axes(const OnnxCall& call, const OnnxFlow& a, const OnnxFlow& b) {
  const Shape shape = spread_shape(a.shape(), b.shape());
  if (shape == Shape{-1})
    call.refuse(text_of(to_string(a.shape()), " and ", to_string(b.shape()), " do not spread to one shape."));
  std::vector<OnnxAxis> axes;
  for (const std::int64_t extent : shape) axes.push_back({'C', extent});
  for (const OnnxFlow* flow : {&a, &b})
    for (std::size_t i = 0; i < flow->axes.size(); ++i) {
      OnnxAxis& axis = axes[axes.size() - flow->axes.size() + i];
      const char letter = flow->axes[i].letter;
      if (letter == 'C' && axis.letter != 'C' && flow->axes[i].extent > 1)
        call.refuse_axes(*flow, "combines numbers of a step with steps.");
      if (letter == 'C') continue;
      if ((axis.letter != 'C' && axis.letter != letter) || axis.extent != flow->axes[i].extent)
        call.refuse_axes(*flow, "combines axes of time, batch and numbers.");
      axis.letter = letter;
    }
  return axes;
}

/// The numbers of a step that the axes count.
Shape numbers_of(const std::vector<OnnxAxis>& axes) {
  Shape shape;
  for (const OnnxAxis& axis : axes) shape.push_back(axis.letter == 'C' ? axis.extent : 1);
  return shape;
}

/// A constant as the numbers of a step of those axes; it is the same at all steps.
int constant_value(const OnnxCall& call, const OnnxTensor& tensor, const std::vector<OnnxAxis>& axes) {
  if (tensor.is_count) call.refuse("computes with the length of the sequence or the size of the batch.");
  if (tensor.values.empty()) call.refuse("combines values with a constant without numbers.");
  OnnxTensor step = tensor;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    if (axes[axes.size() - tensor.shape.size() + i].letter == 'C' || tensor.shape[i] == 1) continue;
    const OnnxTensor first = taken(step, i, {0});
    if (spread(first, step.shape).values != step.values)
      call.refuse("has a constant that differs from step to step.");
    step = first;
  }
  return call.reading.steps.vector(step.numel() == 1 ? step.values : spread(step, numbers_of(axes)).values);
}

/// A flow's numbers spread to those axes.
int flow_value(const OnnxCall& call, const OnnxFlow& flow, const std::vector<OnnxAxis>& axes) {
  StepGraph& steps = call.reading.steps;
  const std::int64_t width = count_of(numbers_of(axes)), own = steps.width(flow.value);
  if (own == width || own == 1) return flow.value;
  if (width > kMostFolded / 128) call.refuse_axes(flow, "repeats its numbers too often.");
  // Repeated as a whole, as [n] is in [g, n]; in other orders numbers would be repeated one by one.
  std::int64_t inner = 1;
  for (std::size_t i = flow.axes.size(), k = axes.size(); i-- > 0 && inner < own;) {
    --k;
    if (flow.axes[i].letter != 'C') continue;
    if (flow.axes[i].extent != axes[k].extent) call.refuse_axes(flow, "repeats numbers of a step.");
    inner *= flow.axes[i].extent;
  }
  return steps.concat(std::vector<int>(static_cast<std::size_t>(width / own), flow.value));
}

/// Whether a value is left of time, so that it is the same for all steps.
bool is_after_time(const OnnxCall& call, const OnnxFlow& flow) {
  return call.reading.time != 0 && !flow.has(call.reading.time) && !flow.has('F');
}

struct Pair {
  int a, b;
  std::vector<OnnxAxis> axes;
};

/// Two operands as values of one width, or one number.
Pair operands(const OnnxCall& call, std::size_t first, std::size_t second) {
  const auto axes_with = [&](std::size_t i, const OnnxFlow& other) {
    OnnxFlow constant;
    for (const std::int64_t extent : call.constant(i).shape) constant.axes.push_back({'C', extent});
    // A constant may have the extents of time and batch.
    for (std::size_t k = 0; k < std::min(constant.axes.size(), other.axes.size()); ++k) {
      OnnxAxis& axis = constant.axes[constant.axes.size() - 1 - k];
      const OnnxAxis& of_flow = other.axes[other.axes.size() - 1 - k];
      if (of_flow.letter != 'C' && axis.extent == of_flow.extent) axis = of_flow;
    }
    return spread_axes(call, constant, other);
  };
  const bool flows = call.is_flow(first) && call.is_flow(second);
  if (flows && is_after_time(call, call.flow(first)) != is_after_time(call, call.flow(second)))
    call.refuse("combines values of all steps with a value of one.");
  const std::vector<OnnxAxis> axes = flows ? spread_axes(call, call.flow(first), call.flow(second))
                                     : call.is_flow(first) ? axes_with(second, call.flow(first))
                                                           : axes_with(first, call.flow(second));
  const auto value = [&](std::size_t i) {
    return call.is_flow(i) ? flow_value(call, call.flow(i), axes)
                           : constant_value(call, call.constant(i), axes);
  };
  return {value(first), value(second), axes};
}

/// A function of the value of the first operand.
template <auto F>
Results function(const OnnxCall& call) {
  return call.like_first(F(call, call.reading.steps, call.flow(0).value));
}

int sum_with_bias(StepGraph& g, int a, int b) {
  const StepValue map = g[a];
  if (map.kind != StepKind::map || map.bias >= 0 || g[b].kind != StepKind::constant) return -1;
  const std::vector<double> numbers = g.constants(b, map.width);
  std::string name = "bias";
  for (const double number : numbers) name += std::to_string(std::bit_cast<std::int64_t>(number)) + " ";
  return g.map(map.inputs[0], map.weight,
               g.weight(name, [&] { return Tensor::from({map.width}, numbers, Dtype::f64); }));
}

int combined(const OnnxCall& call, const std::string& sign, int a, int b) {
  StepGraph& g = call.reading.steps;
  if (sign == "+" && g.width(b) <= g.width(a))
    if (const int map = sum_with_bias(g, a, b); map >= 0) return map;
  if (sign == "+" && g.width(a) <= g.width(b))
    if (const int map = sum_with_bias(g, b, a); map >= 0) return map;
  return g.element(sign, a, b);
}

constexpr const char* kAdd = "+";
constexpr const char* kSubtract = "-";
constexpr const char* kMultiply = "*";
constexpr const char* kDivide = "/";
constexpr const char* kLess = "<";
constexpr const char* kGreater = ">";
constexpr const char* kAtMost = "<=";
constexpr const char* kAtLeast = ">=";
constexpr const char* kMinimum = "minimum";
constexpr const char* kMaximum = "maximum";

template <const char* const& Sign>
Results binary(const OnnxCall& call) {
  OnnxOperand result = *call.operands.at(0);
  for (std::size_t i = 1; i < call.operands.size(); ++i) {  // Min, Max and Sum have any number of operands
    OnnxCall next{call.node, call.where, {&result, call.operands[i]}, call.reading};
    if (next.is_constant(0) && next.is_constant(1)) call.refuse("expected values before constants.");
    const Pair pair = operands(next, 0, 1);
    result = OnnxFlow{pair.axes, combined(call, Sign, pair.a, pair.b)};
  }
  return call.one(std::move(result));
}

/// log(1 + exp(a)) is softplus, which does not overflow.
int logarithm(const OnnxCall&, StepGraph& g, int a) {
  const StepValue& sum = g[a];
  if (sum.kind == StepKind::element && sum.function == "+")
    for (const int i : {0, 1}) {
      const StepValue &power = g[sum.inputs[i]], &one = g[sum.inputs[1 - i]];
      if (power.function == "exp" && one.kind == StepKind::constant && one.weight < 0 && one.number == 1)
        return g.element("softplus", power.inputs[0]);
    }
  return g.element("log", a);
}

/// (exp(a) - exp(-a)) / 2, or the sum.
template <char Sign>
int hyperbolic(const OnnxCall&, StepGraph& g, int a) {
  return g.scaled(g.element(std::string(1, Sign), g.element("exp", a), g.element("exp", g.scaled(a, -1))),
                  0.5);
}

Results power(const OnnxCall& call) {
  StepGraph& g = call.reading.steps;
  const OnnxTensor& exponent = call.constant(1);
  const int a = call.flow(0).value;
  if (exponent.numel() != 1) call.refuse("expected one number as its exponent.");
  const double e = exponent.values[0];
  if (e == 0.5) return call.like_first(g.element("sqrt", a));
  if (e == -1) return call.like_first(g.element("/", g.number(1), a));
  if (e != 1 && e != 2 && e != 3 && e != 4)
    call.refuse("is supported for the exponents -1, 0.5, 1, 2, 3 and 4.");
  int result = a;
  for (int i = 1; i < static_cast<int>(e); ++i) result = g.element("*", result, a);
  return call.like_first(result);
}

Results slopes(const OnnxCall& call) {  // PRelu: max(a, 0) + slope min(a, 0)
  StepGraph& g = call.reading.steps;
  const Pair pair = operands(call, 0, 1);
  const int below = g.element("minimum", pair.a, g.number(0));
  return call.one(
      OnnxFlow{pair.axes, g.element("+", g.element("relu", pair.a), g.element("*", pair.b, below))});
}

Results where(const OnnxCall& call) {
  StepGraph& g = call.reading.steps;
  const OnnxOperand& condition = *call.operands.at(0);
  const Pair sides = call.is_constant(1) && call.is_constant(2) ? Pair{} : operands(call, 1, 2);
  if (sides.axes.empty() || !call.is_flow(0))
    call.refuse("is supported for a condition and sides that depend on the input.");
  OnnxFlow values{sides.axes, std::max(sides.a, sides.b)};
  OnnxOperand other = values;
  OnnxCall with{call.node, call.where, {&condition, &other}, call.reading};
  const Pair pair = operands(with, 0, 1);
  const std::int64_t width = std::max({g.width(pair.a), g.width(sides.a), g.width(sides.b)});
  return call.one(OnnxFlow{pair.axes, g.add({.kind = StepKind::element,
                                             .function = "where",
                                             .inputs = {pair.a, sides.a, sides.b},
                                             .width = width})});
}

}  // namespace

const std::map<std::string, OnnxRule>& function_rules() {
  using C = const OnnxCall&;
  using G = StepGraph&;
  static const std::map<std::string, OnnxRule> rules = {
      {"Tanh", function<[](C, G g, int a) { return g.element("tanh", a); }>},
      {"Sigmoid", function<[](C, G g, int a) { return g.element("sigmoid", a); }>},
      {"Relu", function<[](C, G g, int a) { return g.element("relu", a); }>},
      {"Exp", function<[](C, G g, int a) { return g.element("exp", a); }>},
      {"Log", function<logarithm>},
      {"Sqrt", function<[](C, G g, int a) { return g.element("sqrt", a); }>},
      {"Abs", function<[](C, G g, int a) { return g.element("abs", a); }>},
      {"Sin", function<[](C, G g, int a) { return g.element("sin", a); }>},
      {"Cos", function<[](C, G g, int a) { return g.element("cos", a); }>},
      {"Sign", function<[](C, G g, int a) { return g.element("sign", a); }>},
      {"Floor", function<[](C, G g, int a) { return g.element("floor", a); }>},
      {"Erf", function<[](C, G g, int a) { return g.element("erf", a); }>},
      {"Erfc", function<[](C, G g, int a) { return g.element("-", g.number(1), g.element("erf", a)); }>},
      {"Atan", function<[](C, G g, int a) { return g.element("atan", a); }>},
      {"Tan",
       function<[](C, G g, int a) { return g.element("/", g.element("sin", a), g.element("cos", a)); }>},
      {"Sinh", function<hyperbolic<'-'>>},
      {"Cosh", function<hyperbolic<'+'>>},
      {"Ceil", function<[](C, G g, int a) { return g.scaled(g.element("floor", g.scaled(a, -1)), -1); }>},
      {"Softplus", function<[](C, G g, int a) { return g.element("softplus", a); }>},
      {"Neg", function<[](C, G g, int a) { return g.scaled(a, -1); }>},
      {"Reciprocal", function<[](C, G g, int a) { return g.element("/", g.number(1), a); }>},
      {"Not", function<[](C, G g, int a) { return g.element("-", g.number(1), a); }>},
  };
  return rules;
}

const std::map<std::string, OnnxRule>& activation_rules() {
  using C = const OnnxCall&;
  using G = StepGraph&;
  static const std::map<std::string, OnnxRule> rules = {
      {"Softsign",
       function<[](C, G g, int a) { return g.element("/", a, g.shifted(g.element("abs", a), 1)); }>},
      {"LeakyRelu", function<[](C call, G g, int a) { return leaky_relu(g, a, call.real("alpha", 0.01)); }>},
      {"Elu",
       function<[](C call, G g, int a) { return exponential_unit(g, a, call.real("alpha", 1), 1, 1); }>},
      {"Celu", function<[](C call, G g, int a) {
         return exponential_unit(g, a, call.real("alpha", 1), call.real("alpha", 1), 1);
       }>},
      {"Selu", function<[](C call, G g, int a) {
         return exponential_unit(g, a, call.real("alpha", 1.67326319217681884765625), 1,
                                 call.real("gamma", 1.05070102214813232421875));
       }>},
      {"Gelu",
       function<[](C call, G g, int a) { return gelu(g, a, call.text("approximate", "none") == "tanh"); }>},
      {"Clip", function<[](C call, G g, int a) {
         return clipped(g, a, call.scalar("min", 1, -INFINITY), call.scalar("max", 2, INFINITY));
       }>},
      {"HardSigmoid", function<[](C call, G g, int a) {
         return clipped(g, g.shifted(g.scaled(a, call.real("alpha", 0.2)), call.real("beta", 0.5)), 0, 1);
       }>},
      {"ThresholdedRelu", function<[](C call, G g, int a) {
         return g.element("*", a, g.element(">", a, g.number(call.real("alpha", 1))));
       }>},
      {"Shrink", function<[](C call, G g, int a) {
         const double edge = call.real("lambd", 0.5), bias = call.real("bias", 0);
         const int above = g.element("*", g.shifted(a, -bias), g.element(">", a, g.number(edge))),
                   below = g.element("*", g.shifted(a, bias), g.element("<", a, g.number(-edge)));
         return g.element("+", above, below);
       }>},
      {"HardSwish", function<[](C, G g, int a) {
         return g.element("*", a, clipped(g, g.shifted(g.scaled(a, 1.0 / 6), 0.5), 0, 1));
       }>},
      {"Mish", function<[](C, G g, int a) {
         return g.element("*", a, g.element("tanh", g.element("softplus", a)));
       }>},
      {"Swish", function<[](C call, G g, int a) {
         return g.element("*", a, g.element("sigmoid", g.scaled(a, call.real("alpha", 1))));
       }>},
  };
  return rules;
}

const std::map<std::string, OnnxRule>& element_rules() {
  static const std::map<std::string, OnnxRule> rules = {
      {"Pow", power},
      {"PRelu", slopes},
      {"Add", binary<kAdd>},
      {"Sum", binary<kAdd>},
      {"Sub", binary<kSubtract>},
      {"Mul", binary<kMultiply>},
      {"Div", binary<kDivide>},
      {"Less", binary<kLess>},
      {"Greater", binary<kGreater>},
      {"LessOrEqual", binary<kAtMost>},
      {"GreaterOrEqual", binary<kAtLeast>},
      {"And", binary<kMultiply>},
      {"Or", binary<kMaximum>},
      {"Where", where},
      {"Min", binary<kMinimum>},
      {"Max", binary<kMaximum>},
  };
  return rules;
}

}  // namespace lagtape::foreign
