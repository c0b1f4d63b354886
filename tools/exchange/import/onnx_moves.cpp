#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/tools/exchange/import/onnx_call.h"
#include "lagtape/tools/exchange/import/onnx_embedding.h"
#include "lagtape/tools/exchange/import/unrolled.h"

// Operators that move axes and numbers, of constants and of values that depend on the input.

namespace lagtape::foreign {
namespace {

using Results = std::vector<OnnxOperand>;

/// How far each index of an axis lies behind index 0 among the numbers of a step; 0 for axes other than C.
std::vector<Integers> offsets_of(const std::vector<OnnxAxis>& axes) {
  std::vector<Integers> offsets(axes.size(), Integers{0});
  std::int64_t stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (axes[i].letter != 'C') continue;
    for (std::int64_t k = 1; k < axes[i].extent; ++k) offsets[i].push_back(k * stride);
    stride *= axes[i].extent;
  }
  return offsets;
}

/// The numbers of a value at all sums of the axes' offsets, the last axis fastest; neighbors become one slice.
int rearranged(StepGraph& steps, int value, const std::vector<Integers>& offsets) {
  Integers positions = {0};
  for (const Integers& axis : offsets) {
    Integers next;
    for (const std::int64_t position : positions)
      for (const std::int64_t offset : axis) next.push_back(position + offset);
    positions = std::move(next);
  }
  std::vector<int> parts;
  for (std::size_t i = 0; i < positions.size();) {
    std::size_t end = i + 1;
    while (end < positions.size() && positions[end] == positions[end - 1] + 1) ++end;
    parts.push_back(steps.slice(value, positions[i], static_cast<std::int64_t>(end - i)));
    i = end;
  }
  return steps.concat(parts);
}

Results same(const OnnxCall& call) { return call.one(*call.operands.at(0)); }

Results transpose(const OnnxCall& call) {
  const std::size_t rank = call.shape(0).size();
  Integers order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::int64_t>(rank - 1 - i);
  if (call.has_attribute("perm")) order = call.node.attributes.at("perm").integers;
  std::vector<bool> seen(rank, false);
  if (order.size() != rank) call.refuse("its perm does not fit.");
  for (const std::int64_t axis : order) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) call.refuse("its perm does not fit.");
    if (seen[static_cast<std::size_t>(axis)]) call.refuse("its perm names an axis twice.");
    seen[static_cast<std::size_t>(axis)] = true;
  }
  if (call.is_constant(0)) return call.one(transposed(call.constant(0), order));
  const OnnxFlow& flow = call.flow(0);
  const std::vector<Integers> offsets = offsets_of(flow.axes);
  OnnxFlow moved{.axes = {}, .value = flow.value};
  std::vector<Integers> moved_offsets;
  for (const std::int64_t axis : order) {
    moved.axes.push_back(flow.axes[static_cast<std::size_t>(axis)]);
    moved_offsets.push_back(offsets[static_cast<std::size_t>(axis)]);
  }
  moved.value = rearranged(call.reading.steps, flow.value, moved_offsets);
  return call.one(moved);
}

/// Whether an axis may be left out: it has one index, or is the batch, of which one sequence is read.
bool is_single(const OnnxCall& call, const OnnxAxis& axis) {
  return axis.extent == 1 && (axis.letter != call.reading.time || call.reading.time == 0);
}

Results squeeze(const OnnxCall& call) {
  const Shape shape = call.shape(0);
  const bool all = call.integers("axes", 1, {}).empty();
  const std::vector<bool> named = call.named_axes("axes", 1, shape.size(), true);
  OnnxFlow flow = call.is_flow(0) ? call.flow(0) : OnnxFlow{};
  std::vector<OnnxAxis> axes;
  Shape kept;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool single = call.is_flow(0) ? is_single(call, flow.axes[i]) : shape[i] == 1;
    if (named[i] && single) continue;
    if (named[i] && !all) call.refuse(text_of("axis ", i, " has more than one number."));
    kept.push_back(shape[i]);
    if (call.is_flow(0)) axes.push_back(flow.axes[i]);
  }
  if (call.is_flow(0)) return call.one(OnnxFlow{axes, flow.value});
  OnnxTensor tensor = call.constant(0);
  tensor.shape = kept;
  return call.one(std::move(tensor));
}

Results unsqueeze(const OnnxCall& call) {
  const Integers given = call.integers("axes", 1, {});
  const std::size_t rank = call.shape(0).size() + given.size();
  const std::vector<bool> named = call.named_axes("axes", 1, rank, false);
  if (std::ranges::count(named, true) != std::ssize(given)) call.refuse("names an axis twice.");
  const bool is_flow = call.is_flow(0);
  OnnxFlow flow = is_flow ? call.flow(0) : OnnxFlow{};
  OnnxTensor tensor = is_flow ? OnnxTensor{} : call.constant(0);
  for (std::size_t i = 0; i < rank; ++i) {
    if (!named[i]) continue;
    if (is_flow) flow.axes.insert(flow.axes.begin() + static_cast<std::ptrdiff_t>(i), OnnxAxis{});
    if (!is_flow) tensor.shape.insert(tensor.shape.begin() + static_cast<std::ptrdiff_t>(i), 1);
  }
  return is_flow ? call.one(std::move(flow)) : call.one(std::move(tensor));
}

/// The axes of a group of a Reshape: those of its input become extents of the same product.
std::vector<OnnxAxis> regrouped(const OnnxCall& call, const OnnxFlow& flow, std::vector<OnnxAxis> from,
                                const Shape& to) {
  const auto is_letter = [](const OnnxAxis& axis) { return axis.letter != 'C'; };
  if (std::ranges::any_of(from, is_letter)) {  // axes of one index may go
    std::erase_if(from, [&](const OnnxAxis& axis) { return axis.letter == 'C' && axis.extent == 1; });
    if (from.size() > 1) std::erase_if(from, [](const OnnxAxis& axis) { return axis.extent == 1; });
  }
  std::vector<OnnxAxis> result;
  for (const std::int64_t extent : to) result.push_back({'C', extent});
  if (std::ranges::none_of(from, is_letter)) return result;
  if (from.size() == 2 && to.size() == 1 && is_letter(from[0]) && is_letter(from[1])) {
    call.reading.flat = from;
    return {{'F', to[0]}};
  }
  if (from.size() == 1) {
    const std::vector<OnnxAxis>& flat = call.reading.flat;
    if (from[0].letter == 'F' && to.size() == 2 && flat.size() == 2 && to[0] == flat[0].extent &&
        to[1] == flat[1].extent)
      return flat;
    const auto place = std::ranges::find(result, from[0].extent, &OnnxAxis::extent);
    if (place != result.end()) *place = from[0];
    if (place != result.end() || from[0].extent == 1) return result;
  }
  call.refuse_axes(flow, "mixes steps with numbers of a step.");
}

OnnxFlow reshaped(const OnnxCall& call, const OnnxFlow& flow, const Shape& shape) {
  OnnxFlow result{.axes = {}, .value = flow.value};
  std::size_t i = 0, k = 0;
  while (i < flow.axes.size() || k < shape.size()) {
    std::vector<OnnxAxis> from;
    Shape to;
    std::int64_t of_from = 1, of_to = 1;
    do {  // the products are at most that of the whole shape
      if ((of_from <= of_to && i < flow.axes.size()) || k == shape.size()) {
        of_from *= flow.axes[i].extent;
        from.push_back(flow.axes[i++]);
        if (k < shape.size() && to.empty()) of_to *= shape[k], to.push_back(shape[k++]);
      } else {
        of_to *= shape[k];
        to.push_back(shape[k++]);
      }
    } while (of_from != of_to && (i < flow.axes.size() || k < shape.size()));
    for (; i < flow.axes.size() && flow.axes[i].extent == 1 && k == shape.size(); ++i)
      from.push_back(flow.axes[i]);
    for (const OnnxAxis& axis : regrouped(call, flow, from, to)) result.axes.push_back(axis);
  }
  return result;
}

Results reshape_to(const OnnxCall& call, const Shape& shape) {
  if (call.is_flow(0)) return call.one(reshaped(call, call.flow(0), shape));
  OnnxTensor tensor = call.constant(0);
  tensor.shape = shape;
  return call.one(std::move(tensor));
}

Results reshape(const OnnxCall& call) {
  const Integers wanted = call.integers("shape", 1, {});
  const Shape from = call.shape(0), shape = reshaped_extents(from, wanted, call.integer("allowzero", 0) != 0);
  if (shape.size() != wanted.size() || (wanted.empty() && !from.empty() && count_of(from) != 1))
    call.refuse(text_of("the shape ", to_string(from), " does not become ", to_string(wanted), "."));
  return reshape_to(call, shape);
}

Results flatten(const OnnxCall& call) {
  const Shape shape = call.shape(0);
  const std::int64_t given = call.integer("axis", 1), rank = std::ssize(shape),
                     axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis > rank) call.refuse("its axis is not one of its input.");
  const Shape before(shape.begin(), shape.begin() + axis), after(shape.begin() + axis, shape.end());
  std::int64_t first = 1, second = 1;
  bool too_many = false;
  for (const std::int64_t extent : before) too_many |= __builtin_mul_overflow(first, extent, &first);
  for (const std::int64_t extent : after) too_many |= __builtin_mul_overflow(second, extent, &second);
  if (std::int64_t all = 0; too_many || __builtin_mul_overflow(first, second, &all))
    call.refuse("is too large.");
  return reshape_to(call, {first, second});
}

/// The value at one step or of one sequence.
int value_at(const OnnxCall& call, const OnnxFlow& flow, const OnnxAxis& axis, std::int64_t index) {
  OnnxReading& reading = call.reading;
  if (axis.letter == 'F') call.refuse_axes(flow, "takes part of time and batch.");
  if (axis.extent == 1 && axis.letter != reading.time) return flow.value;
  if (reading.time == 0 && !is_open(axis)) reading.time = axis.letter;  // a graph that writes each step down
  if (axis.letter == reading.time) reading.length = axis.extent;
  if (reading.time == 0)
    call.refuse_axes(flow, text_of("takes the index ", index,
                                   " of an axis whose extent the file leaves open. Export it "
                                   "with a fixed number of steps."));
  if (axis.letter != reading.time) call.refuse_axes(flow, "takes one sequence of a batch.");
  const bool last = index == axis.extent - 1;
  if (is_open(axis) && !last && index != 0)
    call.refuse_axes(flow, text_of("takes the step ", index, ". Supported: the first and the last step."));
  return reading.steps.add({.kind = StepKind::at_step,
                            .inputs = {flow.value},
                            .width = reading.steps.width(flow.value),
                            .begin = is_open(axis) && last ? -1 : index,
                            .number = static_cast<double>(axis.extent)});
}

/// The values of a flow at those indices of an axis; `drops` leaves the axis out, for one index.
OnnxFlow taken_of_flow(const OnnxCall& call, const OnnxFlow& flow, std::size_t axis, const Integers& indices,
                       bool drops) {
  OnnxFlow result = flow;
  const OnnxAxis which = flow.axes[axis];
  if (drops) {
    result.axes.erase(result.axes.begin() + static_cast<std::ptrdiff_t>(axis));
  } else if (std::ssize(indices) == which.extent && std::ranges::is_sorted(indices)) {
    return result;
  } else {
    result.axes[axis] = {'C', std::ssize(indices)};
  }
  if (which.letter != 'C') {
    if (indices.size() != 1) call.refuse_axes(flow, "takes several steps, or sequences, out of all.");
    result.value = value_at(call, flow, which, indices[0]);
    return result;
  }
  std::vector<Integers> offsets = offsets_of(flow.axes);
  const Integers all = offsets[axis];
  offsets[axis].clear();
  for (const std::int64_t index : indices) offsets[axis].push_back(all[static_cast<std::size_t>(index)]);
  result.value = rearranged(call.reading.steps, flow.value, offsets);
  return result;
}

Results taken_of(const OnnxCall& call, std::size_t axis, const Integers& indices, bool drops) {
  const std::int64_t extent = call.shape(0)[axis];
  for (const std::int64_t index : indices)
    if (index < 0 || index >= extent)
      call.refuse(text_of("the index ", index, " is not one of ", extent, "."));
  if (call.is_flow(0)) return call.one(taken_of_flow(call, call.flow(0), axis, indices, drops));
  OnnxTensor tensor = taken(call.constant(0), axis, indices);
  if (drops) tensor.shape.erase(tensor.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return call.one(std::move(tensor));
}

/// The step of a value of all steps that a loop's body reads.
Results step_of_loop(const OnnxCall& call) {
  OnnxFlow flow = call.flow(0);
  const std::size_t axis = call.axis_of("axis", 0, flow.axes.size());
  const OnnxTensor& number = call.constant(1);
  if (number.numel() != 1 || number.shape.size() > 1 ||
      number.values[0] != static_cast<double>(call.reading.loop_steps - 2))
    call.refuse("reads another step than the one that the loop is at.");
  call.reading.take_time(call, flow, axis);
  flow.axes[axis] = {'C', 1};
  if (number.shape.empty()) flow.axes.erase(flow.axes.begin() + static_cast<std::ptrdiff_t>(axis));
  return call.one(std::move(flow));
}

Results gather(const OnnxCall& call) {
  if (call.is_flow(1)) return embedding(call);
  if (call.constant(1).is_step) return step_of_loop(call);
  const std::size_t axis = call.axis_of("axis", 0, call.shape(0).size());
  const std::int64_t extent = call.shape(0)[axis];
  const OnnxTensor& chosen = call.constant(1);
  Integers indices = chosen.integers();
  for (std::int64_t& index : indices)
    if (index < 0) index += extent;
  if (chosen.shape.size() > 1) call.refuse("is supported for one index, or a list of them.");
  return taken_of(call, axis, indices, chosen.shape.empty());
}

/// One result after another of the same operand.
Results chained(const OnnxCall& call, const Results& value, std::size_t axis, const Integers& indices) {
  OnnxCall next{call.node, call.where, {value.data()}, call.reading};
  return taken_of(next, axis, indices, false);
}

Results slice(const OnnxCall& call) {
  const Shape shape = call.shape(0);
  const Integers begins = call.integers("starts", 1, {}), ends = call.integers("ends", 2, {});
  Integers first_axes(begins.size()), ones(begins.size(), 1);
  for (std::size_t i = 0; i < begins.size(); ++i) first_axes[i] = static_cast<std::int64_t>(i);
  const Integers axes = call.integers("axes", 3, first_axes), each = call.integers("steps", 4, ones);
  if (ends.size() != begins.size() || axes.size() != begins.size() || each.size() != begins.size())
    call.refuse("its lists have different lengths.");
  Results value = call.one(*call.operands.at(0));
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t axis = call.axis(axes[i], shape.size());
    if (each[i] == 0 || shape[axis] > kMostFolded) call.refuse("its steps do not fit.");
    value = chained(call, value, axis, slice_indices(shape[axis], begins[i], ends[i], each[i]));
  }
  return value;
}

Results split(const OnnxCall& call) {
  const Shape shape = call.shape(0);
  const std::size_t axis = call.axis_of("axis", 0, shape.size()), count = call.node.outputs.size();
  const auto equal = (shape[axis] + static_cast<std::int64_t>(count) - 1) / static_cast<std::int64_t>(count);
  const Integers sizes = call.integers("split", 1, Integers(count, equal));
  if (sizes.size() != count) call.refuse("its sizes do not fit.");
  Results results;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || begin > shape[axis] || shape[axis] > kMostFolded) call.refuse("its sizes do not fit.");
    const std::int64_t end = std::min(shape[axis], begin + std::min(size, shape[axis]));
    results.push_back(taken_of(call, axis, slice_indices(shape[axis], begin, end, 1), false)[0]);
    begin = end;
  }
  return results;
}

Results concat(const OnnxCall& call) {
  bool constant = true;
  std::size_t first_flow = 0;
  for (std::size_t i = call.operands.size(); i-- > 0;)
    if (!call.is_constant(i)) constant = false, first_flow = i;
  const Shape shape = call.shape(constant ? 0 : first_flow);
  const std::size_t axis = call.axis_of("axis", 0, shape.size());
  std::vector<OnnxTensor> tensors;
  std::vector<int> parts;
  std::int64_t extent = 0;
  StepGraph& steps = call.reading.steps;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    Shape other = call.shape(i);
    if (other.size() != shape.size()) call.refuse("its inputs have different axes.");
    extent += other[axis];
    other[axis] = shape[axis];
    if (other != shape) call.refuse("the shapes of its inputs do not fit.");
    if (constant) tensors.push_back(call.constant(i));
    if (!constant && call.is_flow(i)) parts.push_back(call.flow(i).value);
    if (!constant && call.is_constant(i)) call.refuse("joins values with constants.");
  }
  if (constant) return call.one(joined(tensors, axis));
  OnnxFlow flow = call.flow(first_flow);
  for (std::size_t i = 0; i < call.operands.size(); ++i)
    if (!std::ranges::equal(call.flow(i).axes, flow.axes, {}, &OnnxAxis::letter, &OnnxAxis::letter))
      call.refuse_axes(call.flow(i),
                       "joins values of all steps with values of one, or values with other axes.");
  for (std::size_t i = 0; i < axis; ++i)
    if (flow.axes[i].letter == 'C' && flow.axes[i].extent > 1)
      call.refuse_axes(flow, "joins values along an axis inside of another one.");
  if (flow.axes[axis].letter != 'C' && parts.size() > 1) call.refuse_axes(flow, "joins steps or sequences.");
  flow.axes[axis].extent = extent;
  if (extent == call.reading.length && extent == std::ssize(parts))
    if (const std::optional<int> cell = cell_of_steps(steps, parts)) {
      flow.axes[axis].letter = call.reading.time;
      flow.value = *cell;
      return call.one(std::move(flow));
    }
  flow.value = steps.concat(parts);
  return call.one(std::move(flow));
}

/// Spreads to a shape that a flow has already, or repeats its one number of a step.
Results expand(const OnnxCall& call) {
  OnnxFlow flow = call.flow(0);
  StepGraph& steps = call.reading.steps;
  const Shape shape = spread_shape(flow.shape(), call.constant(1).integers());
  if (shape == flow.shape()) return call.one(flow);
  if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 1; }))
    call.refuse("its shape does not fit.");
  const std::size_t before = shape.size() - std::min(shape.size(), flow.axes.size());
  flow.axes.insert(flow.axes.begin(), before, OnnxAxis{});
  std::int64_t count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == flow.axes[i].extent) continue;
    count *= std::min(shape[i], kMostFolded / 128 / count + 1);
    if (flow.axes[i].letter != 'C' || steps.width(flow.value) != 1 || count > kMostFolded / 128)
      call.refuse_axes(flow, "repeats values.");
    flow.axes[i].extent = shape[i];
  }
  flow.value = steps.concat(std::vector<int>(static_cast<std::size_t>(count), flow.value));
  return call.one(flow);
}

}  // namespace

const std::map<std::string, OnnxRule>& move_rules() {
  static const std::map<std::string, OnnxRule> rules = {
      {"Identity", same},       {"Dropout", same},    {"Cast", same},           {"CastLike", same},
      {"Transpose", transpose}, {"Squeeze", squeeze}, {"Unsqueeze", unsqueeze}, {"Reshape", reshape},
      {"Flatten", flatten},     {"Gather", gather},   {"Slice", slice},         {"Split", split},
      {"Concat", concat},       {"Expand", expand},
  };
  return rules;
}

}  // namespace lagtape::foreign
