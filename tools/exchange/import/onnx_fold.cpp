#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tools/exchange/import/onnx_call.h"

// Values that exporters compute from constants and lengths: shapes, first states, scales.

namespace lagtape::foreign {
namespace {

using Results = std::vector<OnnxOperand>;

void check_count(const OnnxCall& call, const Shape& shape) {
  if (count_of(shape) > kMostFolded) call.refuse(text_of("would compute a constant ", to_string(shape), "."));
}

OnnxTensor whole(Shape shape, const Integers& values) {
  return {.shape = std::move(shape), .values = {values.begin(), values.end()}, .is_real = false};
}

Results shape_of(const OnnxCall& call) {
  const Shape shape = call.shape(0);
  const Integers axes =
      slice_indices(std::ssize(shape), call.integer("start", 0), call.integer("end", std::ssize(shape)), 1);
  Integers extents;
  for (const std::int64_t axis : axes) extents.push_back(shape[static_cast<std::size_t>(axis)]);
  OnnxTensor result = whole({std::ssize(extents)}, extents);
  result.is_count = true;
  return call.one(std::move(result));
}

Results constant_of_shape(const OnnxCall& call) {
  const Shape shape = call.constant(0).integers();
  check_count(call, shape);
  OnnxTensor value{.shape = {}, .values = {0}};
  if (call.has_attribute("value")) value = call.node.attributes.at("value").tensor;
  if (value.numel() != 1) call.refuse("expected one number as its value.");
  value.shape = {};
  return call.one(spread(value, shape));
}

Results constant(const OnnxCall& call) {
  const auto& attributes = call.node.attributes;
  if (const auto found = attributes.find("value"); found != attributes.end())
    return call.one(found->second.tensor);
  if (call.has_attribute("value_int")) return call.one(whole({}, {call.integer("value_int", 0)}));
  if (call.has_attribute("value_float"))
    return call.one(OnnxTensor{.shape = {}, .values = {call.real("value_float", 0)}});
  if (const auto found = attributes.find("value_ints"); found != attributes.end())
    return call.one(whole({std::ssize(found->second.integers)}, found->second.integers));
  if (const auto found = attributes.find("value_floats"); found != attributes.end()) {
    const auto& reals = found->second.reals;
    return call.one(OnnxTensor{.shape = {std::ssize(reals)}, .values = {reals.begin(), reals.end()}});
  }
  call.refuse("expected a tensor as its value.");
}

Results cast(const OnnxCall& call) {
  constexpr std::int64_t kReal[] = {1, 10, 11, 16};  // the types of onnx.proto
  OnnxTensor result = call.constant(0);
  const bool was_real = result.is_real;
  result.is_real = std::ranges::find(kReal, call.integer("to", 1)) != std::end(kReal);
  if (was_real && !result.is_real)
    for (double& value : result.values) value = std::trunc(value);
  return call.one(std::move(result));
}

/// f(a, b) number by number; whole numbers stay whole.
template <auto F>
Results folded_pair(const OnnxCall& call) {
  const OnnxTensor &a = call.constant(0), &b = call.constant(1);
  const Shape shape = spread_shape(a.shape, b.shape);
  if (shape == Shape{-1})
    call.refuse(text_of(to_string(a.shape), " and ", to_string(b.shape), " do not spread to one shape."));
  check_count(call, shape);
  OnnxTensor result = spread(a, shape);
  const OnnxTensor other = spread(b, shape);
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    result.values[i] = F(result.values[i], other.values[i]);
    if (!a.is_real) result.values[i] = std::trunc(result.values[i]);
  }
  result.is_double = a.is_double || b.is_double;
  result.is_count = a.is_count || b.is_count;
  return call.one(std::move(result));
}

template <auto F>
Results compared(const OnnxCall& call) {
  Results results = folded_pair<F>(call);
  std::get<OnnxTensor>(results[0]).is_real = false;
  return results;
}

template <auto F>
Results unary(const OnnxCall& call) {
  OnnxTensor result = call.constant(0);
  for (double& value : result.values) value = F(value);
  return call.one(std::move(result));
}

Results chosen(const OnnxCall& call) {
  const OnnxTensor &a = call.constant(1), &b = call.constant(2);
  const Shape shape = spread_shape(spread_shape(call.constant(0).shape, a.shape), b.shape);
  check_count(call, shape);
  const OnnxTensor condition = spread(call.constant(0), shape), other = spread(b, shape);
  OnnxTensor result = spread(a, shape);
  for (std::size_t i = 0; i < result.values.size(); ++i)
    if (condition.values[i] == 0) result.values[i] = other.values[i];
  result.is_count = a.is_count || b.is_count;
  return call.one(std::move(result));
}

Results expanded(const OnnxCall& call) {
  const OnnxTensor& tensor = call.constant(0);
  const Shape shape = spread_shape(tensor.shape, call.constant(1).integers());
  if (shape == Shape{-1}) call.refuse("its shape does not fit.");
  check_count(call, shape);
  return call.one(spread(tensor, shape));
}

Results tile(const OnnxCall& call) {
  OnnxTensor result = call.constant(0);
  const Integers times = call.constant(1).integers();
  if (times.size() != result.shape.size()) call.refuse("its repeats do not fit.");
  for (std::size_t axis = 0; axis < times.size(); ++axis) {
    Shape shape = result.shape;
    if (times[axis] < 0 || __builtin_mul_overflow(shape[axis], times[axis], &shape[axis]))
      call.refuse("its repeats do not fit.");
    check_count(call, shape);
    Integers indices;
    for (std::int64_t i = 0; i < shape[axis]; ++i) indices.push_back(i % result.shape[axis]);
    result = taken(result, axis, indices);
  }
  return call.one(std::move(result));
}

Results range(const OnnxCall& call) {
  const double begin = call.scalar("", 0, 0), end = call.scalar("", 1, 0), step = call.scalar("", 2, 1);
  const double count = std::ceil((end - begin) / step);
  if (!(count < static_cast<double>(kMostFolded))) call.refuse("would compute too many numbers.");
  OnnxTensor result{.shape = {}, .values = {}, .is_real = call.constant(0).is_real};
  for (double i = 0; i < count; ++i) result.values.push_back(begin + i * step);
  result.shape = {result.numel()};
  return call.one(std::move(result));
}

/// One number of all of a constant's; the axes must name them all.
template <auto F>
Results reduce_all(const OnnxCall& call) {
  const OnnxTensor& tensor = call.constant(0);
  if (tensor.values.empty()) call.refuse("reduces a constant without numbers.");
  const std::vector<bool> named = call.named_axes("axes", 1, tensor.shape.size(), true);
  for (std::size_t i = 0; i < named.size(); ++i)
    if (!named[i] && tensor.shape[i] != 1) call.refuse("is supported for constants over all axes.");
  double all = tensor.values[0];
  for (std::size_t i = 1; i < tensor.values.size(); ++i) all = F(all, tensor.values[i]);
  OnnxTensor result{.shape = {}, .values = {all}, .is_real = tensor.is_real, .is_count = tensor.is_count};
  if (call.integer("keepdims", 1) != 0) result.shape = Shape(tensor.shape.size(), 1);
  return call.one(std::move(result));
}

double remainder_of(double a, double b) { return a - b * std::floor(a / b); }

}  // namespace

const std::map<std::string, OnnxRule>& fold_rules() {
  static const std::map<std::string, OnnxRule> rules = {
      {"Shape", shape_of},
      {"Size",
       [](const OnnxCall& call) {
         std::int64_t count = 1;
         for (const std::int64_t extent : call.shape(0))
           if (__builtin_mul_overflow(count, extent, &count)) call.refuse("is too large.");
         OnnxTensor result = whole({}, {count});
         result.is_count = true;
         return call.one(std::move(result));
       }},
      {"Constant", constant},
      {"ConstantOfShape", constant_of_shape},
      {"Cast", cast},
      {"CastLike", [](const OnnxCall& call) { return call.one(call.constant(0)); }},
      {"Expand", expanded},
      {"Tile", tile},
      {"Range", range},
      {"ReduceProd", reduce_all<[](double a, double b) { return a * b; }>},
      {"ReduceSum", reduce_all<[](double a, double b) { return a + b; }>},
      {"ReduceMax", reduce_all<[](double a, double b) { return std::max(a, b); }>},
      {"ReduceMin", reduce_all<[](double a, double b) { return std::min(a, b); }>},
      {"Where", chosen},
      {"Add", folded_pair<[](double a, double b) { return a + b; }>},
      {"Sub", folded_pair<[](double a, double b) { return a - b; }>},
      {"Mul", folded_pair<[](double a, double b) { return a * b; }>},
      {"Div", folded_pair<[](double a, double b) { return a / b; }>},
      {"Mod", folded_pair<remainder_of>},
      {"Min", folded_pair<[](double a, double b) { return std::min(a, b); }>},
      {"Max", folded_pair<[](double a, double b) { return std::max(a, b); }>},
      {"Pow", folded_pair<[](double a, double b) { return std::pow(a, b); }>},
      {"Equal", compared<[](double a, double b) { return a == b ? 1.0 : 0.0; }>},
      {"Less", compared<[](double a, double b) { return a < b ? 1.0 : 0.0; }>},
      {"Greater", compared<[](double a, double b) { return b < a ? 1.0 : 0.0; }>},
      {"LessOrEqual", compared<[](double a, double b) { return a <= b ? 1.0 : 0.0; }>},
      {"GreaterOrEqual", compared<[](double a, double b) { return b <= a ? 1.0 : 0.0; }>},
      {"And", compared<[](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }>},
      {"Or", compared<[](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }>},
      {"Not", unary<[](double a) { return a == 0 ? 1.0 : 0.0; }>},
      {"Neg", unary<[](double a) { return -a; }>},
      {"Abs", unary<[](double a) { return std::abs(a); }>},
      {"Sqrt", unary<[](double a) { return std::sqrt(a); }>},
      {"Reciprocal", unary<[](double a) { return 1 / a; }>},
      {"Exp", unary<[](double a) { return std::exp(a); }>},
      {"Log", unary<[](double a) { return std::log(a); }>},
      {"Ceil", unary<[](double a) { return std::ceil(a); }>},
      {"Floor", unary<[](double a) { return std::floor(a); }>},
  };
  return rules;
}

}  // namespace lagtape::foreign
