#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "lagtape/tools/exchange/import/onnx_call.h"

namespace lagtape::foreign {

/// What a loop needs of the reader of the graph around it.
struct OnnxScope {
  std::map<std::string, OnnxOperand>& values;  ///< by their names
  std::set<std::string>& inside;               ///< the names that the loop's body makes
  const std::set<std::string>& needed;         ///< the names that nodes of the graph read
  std::function<void(const OnnxNode&)> follow;
};

bool is_loop(const OnnxNode& node);  ///< Loop or Scan

/// The outputs of a Loop over the steps of a value, or of a Scan: its body is the step of a cell, and what it hands on are
/// the cell's states. The graph's node and its operands are those of `call`.
std::vector<OnnxOperand> loop_outputs(const OnnxCall& call, OnnxScope& scope);

/// Marks results that are computed of the number of a loop's step. Throws InputError for a node that may not read that.
void mark_steps(const OnnxCall& call, std::vector<OnnxOperand>& results);
/// Whether an operand is computed of the number of a loop's step.
bool reads_step_number(const OnnxCall& call);

const std::map<std::string, OnnxRule>& sequence_rules();

}  // namespace lagtape::foreign
