#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lagtape/tools/exchange/import/onnx_file.h"
#include "lagtape/tools/exchange/import/step_graph.h"

namespace lagtape::foreign {

/// An axis of a value: 'a' and 'b' are the first two axes of the model's input, time and batch in either order, 'F' is
/// both as one, and 'C' counts the numbers of a step.
struct OnnxAxis {
  char letter = 'C';
  std::int64_t extent = 1;
};

/// The extents of axes that the file leaves open, while shapes are computed.
inline constexpr std::int64_t kOpenExtents[] = {10007, 10009};
inline bool is_open(const OnnxAxis& axis) {
  return axis.extent == kOpenExtents[0] || axis.extent == kOpenExtents[1];
}

/// A value that depends on the model's input: a vector at every step, whose numbers its axes C count.
struct OnnxFlow {
  std::vector<OnnxAxis> axes;
  int value = 0;  ///< of the StepGraph

  Shape shape() const;
  bool has(char letter) const;
};

/// A list that a loop fills: the value that each step adds.
struct OnnxList {
  std::optional<OnnxFlow> step = {};
};

using OnnxOperand = std::variant<OnnxTensor, OnnxFlow, OnnxList>;

struct OnnxCall;

/// The state while the nodes of a graph are read.
struct OnnxReading {
  StepGraph steps;
  char time = 0;                          ///< the letter of the axis of time; 0: not known yet
  std::int64_t length = 0;                ///< the number of steps, where steps are written down one by one
  std::vector<OnnxAxis> flat;             ///< the axes that became one
  std::vector<OnnxAxis> input_axes = {};  ///< those of the model's input
  std::int64_t loop_steps = 0;            ///< of the loop whose body is read; 0: none is
  std::int64_t listed_steps = 0;          ///< of the loop before
  bool reads_steps = false;               ///< whether a body took a step out of a value of all steps

  /// The axis of the input that counts sequences, if the other one has so many steps; nullptr where that is not decided.
  const OnnxAxis* batch_of(std::int64_t steps) const;
  /// Takes that axis for time. Throws InputError where another one is.
  void take_time(const OnnxCall& call, const OnnxFlow& flow, std::size_t axis);
};

/// A node and its operands. Its functions throw InputError that begins with the file and the node.
struct OnnxCall {
  const OnnxNode& node;
  const std::string& where;
  std::vector<const OnnxOperand*> operands;  ///< nullptr: not given
  OnnxReading& reading;

  [[noreturn]] void refuse(const std::string& message) const;
  [[noreturn]] void refuse_axes(const OnnxFlow& flow, const std::string& message) const;

  bool has(std::size_t index) const { return index < operands.size() && operands[index] != nullptr; }
  bool has_attribute(const std::string& name) const { return node.attributes.contains(name); }
  bool is_constant(std::size_t index) const;
  bool is_flow(std::size_t index) const;
  const OnnxTensor& constant(std::size_t index) const;
  const OnnxFlow& flow(std::size_t index) const;
  Shape shape(std::size_t index) const;

  std::int64_t integer(const std::string& name, std::int64_t missing) const;
  double real(const std::string& name, double missing) const;
  std::string text(const std::string& name, const std::string& missing) const;
  /// Whole numbers of an attribute (earlier operators) or of an operand; `missing` where neither is there.
  Integers integers(const std::string& attribute, std::size_t operand, const Integers& missing) const;
  /// A number of an attribute, or of an operand.
  double scalar(const std::string& attribute, std::size_t operand, double missing) const;
  /// An axis counted from the front of `rank` axes.
  std::size_t axis(std::int64_t given, std::size_t rank) const;
  std::size_t axis_of(const std::string& attribute, std::int64_t missing, std::size_t rank) const;
  /// Whether each of `rank` axes is named by the attribute or the operand; `missing` where none is given.
  std::vector<bool> named_axes(const std::string& attribute, std::size_t operand, std::size_t rank,
                               bool missing) const;

  /// The axis of time of a flow. Throws where it is not known, or not there.
  std::size_t time_axis(const OnnxFlow& flow) const;
  std::vector<OnnxOperand> one(OnnxOperand value) const { return {std::move(value)}; }
  /// A value with the axes of the first operand.
  std::vector<OnnxOperand> like_first(int value) const { return one(OnnxFlow{flow(0).axes, value}); }
};

using OnnxRule = std::vector<OnnxOperand> (*)(const OnnxCall& call);

// A row an operator: its functions for operands that are all constants (fold), and for flows.
const std::map<std::string, OnnxRule>& fold_rules();
const std::map<std::string, OnnxRule>& move_rules();
const std::map<std::string, OnnxRule>& function_rules();
const std::map<std::string, OnnxRule>& activation_rules();
const std::map<std::string, OnnxRule>& element_rules();
const std::map<std::string, OnnxRule>& map_rules();

}  // namespace lagtape::foreign
