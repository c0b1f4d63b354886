#pragma once

#include <map>
#include <vector>

#include "lagtape/ops/recurrence/schedule/value_operands.h"

namespace lagtape::recurrence {

/// Columns of narrow matrices, as weight vectors numbered after the weights' own.
class WeightColumns {
 public:
  explicit WeightColumns(std::size_t weights) : weights_(static_cast<int>(weights)) {}
  int number(int weight, std::int64_t column);
  std::vector<LayerSchedule::WeightColumn> take() { return std::move(columns_); }

 private:
  int weights_;
  std::vector<LayerSchedule::WeightColumn> columns_;
};

/// Writes the element-wise ops of one stage as instructions on operands. Values used only in this stage are in
/// tile registers, as are the ops' constants; all others are in arrays and weights.
class StageWriter {
 public:
  StageWriter(const ValueOperands& values, WeightColumns& columns) : values_(values), columns_(columns) {}
  /// May be called only once.
  ElementStage write(const Ops& ops);

 private:
  void write_op(const Op& op, std::size_t at);
  ElementInstruction instruction(const Op& op) const;
  void write_narrow_product(const Op& op, ElementInstruction t);
  int operand(int value, const Op& op);
  int restored(int value, const Operand& from);
  int fill(double number, const Op& op);
  int result(const Op& op);
  int operand(const Operand& s);
  int claim();
  void release_operands(const Op& op, std::size_t at);

  const ValueOperands& values_;
  WeightColumns& columns_;
  ElementStage stage_;
  std::map<int, std::size_t> last_use_;  // by value: the position of the last op that reads it
  std::map<int, int> register_of_;       // the register that holds a value
  std::vector<bool> busy_;               // by register: whether it holds a value that is still read
  std::vector<int> fills_;               // registers for the constants of the op being written
};

}  // namespace lagtape::recurrence
