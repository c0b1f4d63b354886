#include "lagtape/tools/exchange/import/onnx_call.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape::foreign {

Shape OnnxFlow::shape() const {
  Shape shape;
  for (const OnnxAxis& axis : axes) shape.push_back(axis.extent);
  return shape;
}

bool OnnxFlow::has(char letter) const {
  return std::ranges::find(axes, letter, &OnnxAxis::letter) != axes.end();
}

const OnnxAxis* OnnxReading::batch_of(std::int64_t steps) const {
  if (input_axes.size() < 2) return nullptr;
  const OnnxAxis &a = input_axes[0], &b = input_axes[1];
  if (b.letter == 'C') return nullptr;
  if (time != 0) return a.letter == time ? &b : &a;
  if (a.extent == b.extent) return nullptr;
  return a.extent == steps ? &b : b.extent == steps ? &a : nullptr;
}

void OnnxReading::take_time(const OnnxCall& call, const OnnxFlow& flow, std::size_t axis) {
  const OnnxAxis& taken = flow.axes[axis];
  if (taken.letter == 'C' || taken.letter == 'F' || (time != 0 && time != taken.letter))
    call.refuse_axes(flow, text_of("takes the steps of axis ", axis, ", which is not the axis of time."));
  if (taken.extent != loop_steps)
    call.refuse_axes(flow, text_of("runs over ", loop_steps, " steps of ", taken.extent, "."));
  time = taken.letter;
  reads_steps = true;
}

void OnnxCall::refuse(const std::string& message) const {
  throw InputError({.file = where, .item = node.title()}, Rule::not_supported, message);
}

void OnnxCall::refuse_axes(const OnnxFlow& flow, const std::string& message) const {
  std::string axes;
  for (const OnnxAxis& axis : flow.axes) {
    const bool is_time = axis.letter == reading.time;
    axes += axes.empty() ? "" : ", ";
    axes += axis.letter == 'C'   ? text_of(axis.extent, axis.extent == 1 ? " number" : " numbers")
            : axis.letter == 'F' ? "time and batch"
            : is_time            ? "time"
            : reading.time != 0  ? "batch"
            : axis.letter == 'a' ? "the input's first axis"
                                 : "the input's second axis";
  }
  throw InputError({.file = where, .item = node.title()}, Rule::not_supported, message, {},
                   text_of("The axes of its input are: ", axes, "."));
}

bool OnnxCall::is_constant(std::size_t index) const {
  return has(index) && std::holds_alternative<OnnxTensor>(*operands[index]);
}
bool OnnxCall::is_flow(std::size_t index) const {
  return has(index) && std::holds_alternative<OnnxFlow>(*operands[index]);
}

const OnnxTensor& OnnxCall::constant(std::size_t index) const {
  if (!is_constant(index))
    refuse(text_of("input ", index, " ", quote(index < node.inputs.size() ? node.inputs[index] : ""),
                   " is not a constant of the file."));
  return std::get<OnnxTensor>(*operands[index]);
}

const OnnxFlow& OnnxCall::flow(std::size_t index) const {
  if (!is_flow(index))
    refuse(text_of("expected a value that depends on the model's input as input ", index, "."));
  return std::get<OnnxFlow>(*operands[index]);
}

Shape OnnxCall::shape(std::size_t index) const {
  return is_flow(index) ? flow(index).shape() : constant(index).shape;
}

std::int64_t OnnxCall::integer(const std::string& name, std::int64_t missing) const {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? missing : found->second.integer;
}
double OnnxCall::real(const std::string& name, double missing) const {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? missing : found->second.real;
}
std::string OnnxCall::text(const std::string& name, const std::string& missing) const {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? missing : found->second.text;
}

Integers OnnxCall::integers(const std::string& attribute, std::size_t operand,
                            const Integers& missing) const {
  if (const auto found = node.attributes.find(attribute); found != node.attributes.end())
    return found->second.integers;
  return has(operand) ? constant(operand).integers() : missing;
}

double OnnxCall::scalar(const std::string& attribute, std::size_t operand, double missing) const {
  if (has_attribute(attribute)) return real(attribute, missing);
  if (!has(operand)) return missing;
  if (constant(operand).numel() != 1) refuse(text_of("expected one number as input ", operand, "."));
  return constant(operand).values[0];
}

std::size_t OnnxCall::axis(std::int64_t given, std::size_t rank) const {
  const auto count = static_cast<std::int64_t>(rank);
  if (given < -count || given >= count)
    refuse(text_of("the axis ", given, " is not one of its input's ", rank, "."));
  return static_cast<std::size_t>(given < 0 ? given + count : given);
}

std::size_t OnnxCall::axis_of(const std::string& attribute, std::int64_t missing, std::size_t rank) const {
  return axis(integer(attribute, missing), rank);
}

std::vector<bool> OnnxCall::named_axes(const std::string& attribute, std::size_t operand, std::size_t rank,
                                       bool missing) const {
  const Integers given = integers(attribute, operand, {});
  std::vector<bool> named(rank, given.empty() && missing);
  for (const std::int64_t number : given) named[axis(number, rank)] = true;
  return named;
}

std::size_t OnnxCall::time_axis(const OnnxFlow& flow) const {
  const auto found = std::ranges::find(flow.axes, reading.time, &OnnxAxis::letter);
  if (reading.time == 0 || found == flow.axes.end())
    refuse_axes(flow, reading.time == 0
                          ? "comes before all recurrences, so that the axis of time is not known."
                          : "has no axis of time.");
  return static_cast<std::size_t>(found - flow.axes.begin());
}

}  // namespace lagtape::foreign
