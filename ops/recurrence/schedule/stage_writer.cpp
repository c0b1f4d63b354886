#include "lagtape/ops/recurrence/schedule/stage_writer.h"

#include <algorithm>

namespace lagtape::recurrence {

int WeightColumns::number(int weight, std::int64_t column) {
  const LayerSchedule::WeightColumn wanted{weight, column};
  auto known = std::ranges::find(columns_, wanted);
  if (known == columns_.end()) known = columns_.insert(known, wanted);
  return weights_ + static_cast<int>(known - columns_.begin());
}

ElementStage StageWriter::write(const Ops& ops) {
  for (std::size_t i = 0; i < ops.size(); ++i) for_operands(ops[i], [&](int o) { last_use_[o] = i; });
  for (std::size_t i = 0; i < ops.size(); ++i) write_op(ops[i], i);
  for (const Operand& s : stage_.operands) stage_.register_width = std::max(stage_.register_width, s.width);
  stage_.tile_rows = std::max<std::int64_t>(1, kTileElements / stage_.register_width);
  stage_.registers = static_cast<int>(busy_.size());
  return std::move(stage_);
}

void StageWriter::write_op(const Op& op, std::size_t at) {
  ElementInstruction t = instruction(op);
  t.a = operand(op.a, op);
  t.b = operand(op.b, op);
  t.c = operand(op.c, op);
  if (op.kind == Op::Kind::narrow_product) t.a = operand(values_.of(op.terms.front().operand));
  if (op.kind == Op::Kind::grid_update || op.kind == Op::Kind::grid_undo) {
    const std::int64_t from = op.kind == Op::Kind::grid_update ? 0 : 1;
    t.b = operand({Operand::Kind::grid, op.index, from, t.width});
    t.c = operand({Operand::Kind::grid, op.index, 1 - from, t.width});
  }
  for (int r : fills_) busy_[r] = false;
  fills_.clear();
  // A result may reuse an operand's register: kernels allow it. Sums and broadcasts change widths, so theirs
  // may not.
  const bool in_place = op.kind == Op::Kind::element;
  if (in_place) release_operands(op, at);
  t.out = result(op);
  if (!in_place) release_operands(op, at);

  stage_.register_width = std::max({stage_.register_width, t.width, values_.padded_width(t.shape)});
  if (op.kind == Op::Kind::narrow_product)
    write_narrow_product(op, t);
  else
    stage_.instructions.push_back(t);
}

/// An instruction for `op`, complete except for its operands.
ElementInstruction StageWriter::instruction(const Op& op) const {
  const RowShape& shape = values_.shape(op.out);
  ElementInstruction t;
  t.kind = op.kind;
  t.element = op.element;
  t.k = op.kind == Op::Kind::grid_undo ? -op.k : op.k;
  t.width = values_.padded_width(shape);
  t.shape = shape;
  t.index = op.index;
  t.lag = op.lag;
  t.strides = op.strides;
  t.per_unit = op.a >= 0 && values_.shape(op.a).rank > 0;
  switch (op.kind) {
    case Op::Kind::narrow_product: t.shape = values_.shape(op.terms.front().operand); break;
    case Op::Kind::sum:
    case Op::Kind::collect: t.shape = values_.shape(op.a); break;
    case Op::Kind::slice:
      t.shape = values_.shape(op.a);
      t.part = shape.width();
      break;
    case Op::Kind::pad:
    case Op::Kind::view:
    case Op::Kind::concatenate: t.part = values_.shape(op.a).width(); break;
    case Op::Kind::broadcast:  // a number is filled in as wide as the result
      if (values_.location(op.a).kind == Location::Kind::constant) t.kind = Op::Kind::element;
      break;
    default: break;
  }
  return t;
}

/// Writes the product as a sum of columns, each multiplied by its element of the operand.
void StageWriter::write_narrow_product(const Op& op, ElementInstruction t) {
  for (std::int64_t j = 0; j < t.shape.size; ++j) {
    t.index = static_cast<int>(j);
    t.b = operand({Operand::Kind::weight, columns_.number(op.terms.front().weight, j), 0, t.width});
    t.c = j == 0 ? -1 : t.out;
    stage_.instructions.push_back(t);
  }
}

int StageWriter::operand(int value, const Op& op) {
  if (value < 0) return -1;
  const Location& p = values_.location(value);
  switch (p.kind) {
    case Location::Kind::tile: return operand({Operand::Kind::tile, register_of_.at(value), 0, 0});
    case Location::Kind::constant: return fill(p.number, op);
    default: break;
  }
  const Operand found = values_.of(value);
  return found.rounded ? restored(value, found) : operand(found);
}

/// The register that holds rounded numbers from an array while the stage reads them.
int StageWriter::restored(int value, const Operand& from) {
  const auto [known, fresh] = register_of_.try_emplace(value);
  if (fresh) {
    known->second = claim();
    ElementInstruction t;
    t.kind = Op::Kind::restore;
    t.a = operand(from);
    t.out = operand({Operand::Kind::tile, known->second, 0, 0});
    t.shape = values_.shape(value);
    t.width = from.width;
    stage_.instructions.push_back(t);
  }
  return operand({Operand::Kind::tile, known->second, 0, 0});
}

/// Fills a register, as wide as the result of `op`, with a number.
int StageWriter::fill(double number, const Op& op) {
  fills_.push_back(claim());
  ElementInstruction f;
  f.element = ElementOp::fill;
  f.out = operand({Operand::Kind::tile, fills_.back(), 0, 0});
  f.k = number;
  f.shape = values_.shape(op.out);
  f.width = values_.padded_width(f.shape);
  stage_.instructions.push_back(f);
  return f.out;
}

int StageWriter::result(const Op& op) {
  if (values_.location(op.out).kind != Location::Kind::tile) return operand(values_.of(op.out));
  const int r = register_of_[op.out] = claim();
  if (!last_use_.contains(op.out)) busy_[r] = false;
  return operand({Operand::Kind::tile, r, 0, 0});
}

int StageWriter::operand(const Operand& s) {
  auto known = std::ranges::find(stage_.operands, s);
  if (known == stage_.operands.end()) known = stage_.operands.insert(known, s);
  return static_cast<int>(known - stage_.operands.begin());
}

int StageWriter::claim() {
  auto free = std::ranges::find(busy_, false);
  if (free == busy_.end()) free = busy_.insert(free, true);
  *free = true;
  return static_cast<int>(free - busy_.begin());
}

void StageWriter::release_operands(const Op& op, std::size_t at) {
  for_operands(op, [&](int o) {
    if (const auto r = register_of_.find(o); r != register_of_.end() && last_use_[o] == at)
      busy_[r->second] = false;
  });
}

}  // namespace lagtape::recurrence
