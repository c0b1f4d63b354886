#pragma once

#include <map>
#include <vector>

#include "lagtape/ops/recurrence/value_slots.h"

namespace lagtape::recurrence {

/// Columns of thin matrices, as vectors of weights with numbers after the weights' own.
class WeightColumns {
 public:
  explicit WeightColumns(std::size_t weights) : weights_(static_cast<int>(weights)) {}
  int number(int weight, std::int64_t column);
  std::vector<LayerCode::WeightColumn> take() { return std::move(columns_); }

 private:
  int weights_;
  std::vector<LayerCode::WeightColumn> columns_;
};

/// Writes the element-wise ops of one stage as instructions on slots: what only they see is in registers of
/// the tile, numbers are filled into registers, the rest is in arrays and weights.
class TileWriter {
 public:
  TileWriter(const ValueSlots& values, WeightColumns& columns) : values_(values), columns_(columns) {}
  /// Once.
  TileStage write(const Ops& ops);

 private:
  void write_op(const Op& op, std::size_t at);
  TileInstruction instruction(const Op& op) const;
  void write_thin_product(const Op& op, TileInstruction t);
  int operand(int value, const Op& op);
  int fill(double number, const Op& op);
  int result(const Op& op);
  int slot(const Slot& s);
  int claim();
  void release_operands(const Op& op, std::size_t at);

  const ValueSlots& values_;
  WeightColumns& columns_;
  TileStage stage_;
  std::map<int, std::size_t> last_use_;  // by value: position of the op
  std::map<int, int> register_of_;       // by value
  std::vector<bool> busy_;               // by register
  std::vector<int> fills_;               // registers of the numbers of the op that is written
};

}  // namespace lagtape::recurrence
