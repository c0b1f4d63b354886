#include "lagtape/ops/recurrence/tile_writer.h"

#include <algorithm>

namespace lagtape::recurrence {

int WeightColumns::number(int weight, std::int64_t column) {
  const LayerCode::WeightColumn wanted{weight, column};
  auto known = std::ranges::find(columns_, wanted);
  if (known == columns_.end()) known = columns_.insert(known, wanted);
  return weights_ + static_cast<int>(known - columns_.begin());
}

TileStage TileWriter::write(const Ops& ops) {
  for (std::size_t i = 0; i < ops.size(); ++i) for_operands(ops[i], [&](int o) { last_use_[o] = i; });
  for (std::size_t i = 0; i < ops.size(); ++i) write_op(ops[i], i);
  for (const Slot& s : stage_.slots) stage_.register_width = std::max(stage_.register_width, s.width);
  stage_.tile_rows = std::max<std::int64_t>(1, kTileElements / stage_.register_width);
  stage_.registers = static_cast<int>(busy_.size());
  return std::move(stage_);
}

void TileWriter::write_op(const Op& op, std::size_t at) {
  TileInstruction t = instruction(op);
  t.a = operand(op.a, op);
  t.b = operand(op.b, op);
  t.c = operand(op.c, op);
  if (op.kind == Op::Kind::thin_product) t.a = slot(values_.of(op.terms.front().operand));
  if (op.kind == Op::Kind::grid_update || op.kind == Op::Kind::grid_undo) {
    const std::int64_t from = op.kind == Op::Kind::grid_update ? 0 : 1;
    t.b = slot({Slot::Kind::grid, op.index, from, t.width});
    t.c = slot({Slot::Kind::grid, op.index, 1 - from, t.width});
  }
  for (int r : fills_) busy_[r] = false;
  fills_.clear();
  // A result may take an operand's register: kernels allow it. Sums and broadcasts change widths and do not.
  const bool in_place = op.kind == Op::Kind::element;
  if (in_place) release_operands(op, at);
  t.out = result(op);
  if (!in_place) release_operands(op, at);

  stage_.register_width = std::max({stage_.register_width, t.width, values_.padded_width(t.shape)});
  if (op.kind == Op::Kind::thin_product)
    write_thin_product(op, t);
  else
    stage_.code.push_back(t);
}

/// All but its slots.
TileInstruction TileWriter::instruction(const Op& op) const {
  const RowShape& shape = values_.shape(op.out);
  TileInstruction t;
  t.kind = op.kind;
  t.element = op.element;
  t.k = op.kind == Op::Kind::grid_undo ? -op.k : op.k;
  t.width = values_.padded_width(shape);
  t.shape = shape;
  t.index = op.index;
  t.lag = op.lag;
  t.per_unit = op.a >= 0 && values_.shape(op.a).rank > 0;
  switch (op.kind) {
    case Op::Kind::thin_product: t.shape = values_.shape(op.terms.front().operand); break;
    case Op::Kind::sum: t.shape = values_.shape(op.a); break;
    case Op::Kind::slice:
      t.shape = values_.shape(op.a);
      t.part = shape.width();
      break;
    case Op::Kind::pad:
    case Op::Kind::concatenate: t.part = values_.shape(op.a).width(); break;
    case Op::Kind::broadcast:  // of a number: it is filled in as wide as the result
      if (values_.place(op.a).kind == Place::Kind::constant) t.kind = Op::Kind::element;
      break;
    default: break;
  }
  return t;
}

/// A sum of columns, each times its number of the operand.
void TileWriter::write_thin_product(const Op& op, TileInstruction t) {
  for (std::int64_t j = 0; j < t.shape.size; ++j) {
    t.index = static_cast<int>(j);
    t.b = slot({Slot::Kind::weight, columns_.number(op.terms.front().weight, j), 0, t.width});
    t.c = j == 0 ? -1 : t.out;
    stage_.code.push_back(t);
  }
}

int TileWriter::operand(int value, const Op& op) {
  if (value < 0) return -1;
  const Place& p = values_.place(value);
  switch (p.kind) {
    case Place::Kind::tile: return slot({Slot::Kind::tile, register_of_.at(value), 0, 0});
    case Place::Kind::constant: return fill(p.number, op);
    default: return slot(values_.of(value));
  }
}

/// As wide as the result.
int TileWriter::fill(double number, const Op& op) {
  fills_.push_back(claim());
  TileInstruction f;
  f.element = ElementOp::fill;
  f.out = slot({Slot::Kind::tile, fills_.back(), 0, 0});
  f.k = number;
  f.shape = values_.shape(op.out);
  f.width = values_.padded_width(f.shape);
  stage_.code.push_back(f);
  return f.out;
}

int TileWriter::result(const Op& op) {
  if (values_.place(op.out).kind != Place::Kind::tile) return slot(values_.of(op.out));
  const int r = register_of_[op.out] = claim();
  if (!last_use_.contains(op.out)) busy_[r] = false;
  return slot({Slot::Kind::tile, r, 0, 0});
}

int TileWriter::slot(const Slot& s) {
  auto known = std::ranges::find(stage_.slots, s);
  if (known == stage_.slots.end()) known = stage_.slots.insert(known, s);
  return static_cast<int>(known - stage_.slots.begin());
}

int TileWriter::claim() {
  auto free = std::ranges::find(busy_, false);
  if (free == busy_.end()) free = busy_.insert(free, true);
  *free = true;
  return static_cast<int>(free - busy_.begin());
}

void TileWriter::release_operands(const Op& op, std::size_t at) {
  for_operands(op, [&](int o) {
    if (const auto r = register_of_.find(o); r != register_of_.end() && last_use_[o] == at)
      busy_[r->second] = false;
  });
}

}  // namespace lagtape::recurrence
