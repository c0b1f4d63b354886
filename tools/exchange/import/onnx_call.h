#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lagtape/tools/exchange/import/onnx_file.h"
#include "lagtape/tools/exchange/import/step_graph.h"

namespace lagtape::foreign {

/// An axis of a value: 'a' and 'b' are the first two axes of the model's input, time and batch in either order,
/// 'F' is both flattened into one, and 'C' is an axis of a step's numbers.
struct OnnxAxis {
  char letter = 'C';
  std::int64_t extent = 1;
};

/// The extents assumed, while shapes are computed, for axes that the file leaves open.
inline constexpr std::int64_t kOpenExtents[] = {10007, 10009};
inline bool is_open(const OnnxAxis& axis) {
  return axis.extent == kOpenExtents[0] || axis.extent == kOpenExtents[1];
}

/// A value that depends on the model's input: a vector at every step, whose elements are indexed by the axes C.
struct OnnxFlow {
  std::vector<OnnxAxis> axes;
  int value = 0;  ///< of the StepGraph

  Shape shape() const;
  bool has(char letter) const;
};

/// A list that a loop fills: the value that each step appends.
struct OnnxList {
  std::optional<OnnxFlow> step = {};
};

using OnnxOperand = std::variant<OnnxTensor, OnnxFlow, OnnxList>;

struct OnnxCall;

/// The state while the nodes of a graph are read.
struct OnnxReading {
  StepGraph steps;
  char time = 0;                          ///< the letter of the time axis; 0: not known yet
  std::int64_t length = 0;                ///< the number of steps, if the graph is unrolled
  std::vector<OnnxAxis> flat;             ///< the axes that were flattened into one
  std::vector<OnnxAxis> input_axes = {};  ///< those of the model's input
  std::int64_t loop_steps = 0;            ///< of the loop whose body is being read; 0: none
  std::int64_t listed_steps = 0;          ///< of the previous loop
  bool reads_steps = false;               ///< whether a body took one step from a value of all steps

  /// The batch axis of the input, if the other one has this many steps; nullptr if that is undecided.
  const OnnxAxis* batch_of(std::int64_t steps) const;
  /// Takes that axis as time. Throws InputError if another one already is.
  void take_time(const OnnxCall& call, const OnnxFlow& flow, std::size_t axis);
};

/// A node and its operands. Its functions throw InputError that starts with the file and the node.
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
  /// Integers from an attribute (older operator versions) or from an operand; `missing` if there is neither.
  Integers integers(const std::string& attribute, std::size_t operand, const Integers& missing) const;
  /// A number from an attribute, or from an operand.
  double scalar(const std::string& attribute, std::size_t operand, double missing) const;
  /// An axis counted from the front of `rank` axes.
  std::size_t axis(std::int64_t given, std::size_t rank) const;
  std::size_t axis_of(const std::string& attribute, std::int64_t missing, std::size_t rank) const;
  /// For each of `rank` axes, whether the attribute or operand lists it; `missing` if neither is given.
  std::vector<bool> named_axes(const std::string& attribute, std::size_t operand, std::size_t rank,
                               bool missing) const;

  /// The time axis of a flow. Throws if it is unknown or does not exist.
  std::size_t time_axis(const OnnxFlow& flow) const;
  std::vector<OnnxOperand> one(OnnxOperand value) const { return {std::move(value)}; }
  /// A value with the axes of the first operand.
  std::vector<OnnxOperand> like_first(int value) const { return one(OnnxFlow{flow(0).axes, value}); }
};

using OnnxRule = std::vector<OnnxOperand> (*)(const OnnxCall& call);

// One row per operator: its functions for operands that are all constants (fold), and for flows.
const std::map<std::string, OnnxRule>& fold_rules();
const std::map<std::string, OnnxRule>& move_rules();
const std::map<std::string, OnnxRule>& function_rules();
const std::map<std::string, OnnxRule>& activation_rules();
const std::map<std::string, OnnxRule>& element_rules();
const std::map<std::string, OnnxRule>& map_rules();

}  // namespace lagtape::foreign
