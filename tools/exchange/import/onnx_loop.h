#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "lagtape/tools/exchange/import/onnx_call.h"

namespace lagtape::foreign {

/// What a loop needs from the reader of the graph around it.
struct OnnxScope {
  std::map<std::string, OnnxOperand>& values;  ///< by their names
  std::set<std::string>& inside;               ///< the names defined in the loop's body
  const std::set<std::string>& needed;         ///< the names read by nodes of the graph
  std::function<void(const OnnxNode&)> follow;
};

bool is_loop(const OnnxNode& node);  ///< Loop or Scan

/// The outputs of a Loop over the steps of a value, or of a Scan: its body is the step of a cell, and its
/// loop-carried values are the cell's states. The graph's node and its operands are those in `call`.
std::vector<OnnxOperand> loop_outputs(const OnnxCall& call, OnnxScope& scope);

/// Marks results computed from a loop's step number. Throws InputError for a node that may not read it.
void mark_steps(const OnnxCall& call, std::vector<OnnxOperand>& results);
/// Whether an operand is computed from a loop's step number.
bool reads_step_number(const OnnxCall& call);

const std::map<std::string, OnnxRule>& sequence_rules();

}  // namespace lagtape::foreign
