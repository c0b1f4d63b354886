#include "lagtape/ops/recurrence/schedule/fusion.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/derive/forward_ops.h"
#include "lagtape/ops/recurrence/schedule/stage_writer.h"

// The way from the ops of a phase to stages, and from a stage's element-wise ops to instructions on
// registers.

namespace lagtape {
namespace {

using namespace recurrence;

constexpr std::int64_t kUnits = 6, kLanes = 8;

/// Layers by hand: a value has kUnits elements unless said otherwise.
struct Bench {
  LayerOps layer;

  int value(Location location = {}) { return add_value(layer, RowShape::vector(kUnits), location); }
  int value(RowShape shape) { return add_value(layer, shape); }
  int kept(Array::Kind kind) { return value(in_array(add_array(layer, kind, 0, kUnits))); }
  int number(double k) { return value({.kind = Location::Kind::constant, .number = k}); }
  Op product(int out, int weight, int operand, bool transposed = false) const {
    Op op;
    op.kind = Op::Kind::product;
    op.out = out;
    op.terms = {{weight, operand}};
    op.transposed = transposed;
    return op;
  }
  Op element(int out, ElementOp e, int a, int b = -1) const {
    Op op;
    op.out = out;
    op.element = e;
    op.a = a;
    op.b = b;
    return op;
  }
  Op across(Op::Kind kind, int out, int a) const {
    Op op;
    op.kind = kind;
    op.out = out;
    op.a = a;
    return op;
  }
  std::vector<StageOps> formed(const Ops& ops, bool by_step = true) const {
    return fuse(layer, ValueOperands(layer, kLanes), ops, by_step);
  }
  std::vector<std::vector<int>> stages(const Ops& ops) const { return outs_of(formed(ops)); }
  std::vector<std::vector<int>> moved(const Ops& ops) const {
    std::vector<StageOps> stages = formed(ops);
    move_to_readers(layer, stages);
    return outs_of(stages);
  }
  static std::vector<std::vector<int>> outs_of(const std::vector<StageOps>& stages) {
    std::vector<std::vector<int>> outs;
    for (const StageOps& stage : stages) {
      outs.emplace_back();
      for (const Op& op : stage.ops) outs.back().push_back(op.out);
    }
    return outs;
  }
};

using Outs = std::vector<std::vector<int>>;

TEST_CASE("products of one operand are a stage, and element-wise work comes when they are there") {
  Bench b;
  const int h = b.kept(Array::Kind::state), x = b.kept(Array::Kind::input);
  const int p1 = b.value(), p2 = b.value(), p3 = b.value(), sum = b.value(), u = b.value(), p4 = b.value();
  const Ops ops = {b.product(p1, 0, h),
                   b.product(p3, 2, x),
                   b.element(sum, ElementOp::add, p1, p2),
                   b.product(p4, 3, u),
                   b.element(u, ElementOp::tanh, sum),
                   b.product(p2, 1, h)};
  // u comes after what it reads in the same pass over the list.
  CHECK(b.stages(ops) == Outs{{p1, p2}, {p3}, {sum, u}, {p4}});
}

TEST_CASE("transposed products are not stacked: each is a stage of its own") {
  Bench b;
  const int d = b.kept(Array::Kind::state), p1 = b.value(), p2 = b.value();
  CHECK(b.stages({b.product(p1, 0, d, true), b.product(p2, 1, d, true)}) == Outs{{p1}, {p2}});
}

TEST_CASE("an array of one step is written when all have read it") {
  Bench b;
  const int array = add_array(b.layer, Array::Kind::direct, 0, kUnits);
  const int before = b.value(in_array(array)), after = b.value(in_array(array));
  const int x = b.kept(Array::Kind::input), p = b.value(), reader = b.value();
  const Ops ops = {b.element(after, ElementOp::copy, x), b.product(p, 0, x),
                   b.element(reader, ElementOp::add, before, p)};
  CHECK(b.stages(ops) == Outs{{p}, {reader}, {after}});
}

TEST_CASE("a stage of very many ops is followed by another, and takes no more from those before it") {
  constexpr std::size_t kOps = 600;
  Bench b;
  const int x = b.kept(Array::Kind::input), p = b.value();
  Ops ops = {b.product(p, 0, x)};
  for (std::size_t i = 0; i < kOps; ++i) ops.push_back(b.element(b.value(), ElementOp::tanh, ops.back().out));
  const Outs stages = b.stages(ops);
  REQUIRE(stages.size() == 4);
  int last = p;
  for (std::size_t s = 1; s < stages.size(); ++s) {
    CHECK(stages[s].size() == (s < 3 ? 256 : kOps - 2 * 256));
    for (int out : stages[s]) {
      CHECK(out == last + 1);
      last = out;
    }
  }
  // 300 functions of x alone, which are there first, and a sum that reads them after the product.
  Ops early;
  int sum = p;
  Ops late = {b.product(p, 0, x)};
  for (int i = 0; i < 300; ++i) {
    early.push_back(b.element(b.value(), ElementOp::tanh, x));
    late.push_back(b.element(b.value(), ElementOp::add, sum, early.back().out));
    sum = late.back().out;
  }
  early.insert(early.end(), late.begin(), late.end());
  std::size_t moved = 0;
  for (const std::vector<int>& stage : b.moved(early)) {
    CHECK(stage.size() <= 256);
    moved += stage.size();
  }
  CHECK(moved == early.size());
}

TEST_CASE("sums and broadcasts are apart from work on elements, with the scalars between them") {
  Bench b;
  const int x = b.kept(Array::Kind::input), square = b.value(), total = b.value(RowShape::scalar()),
            mean = b.value(RowShape::scalar()), spread = b.value(), rest = b.value();
  const Ops ops = {b.element(square, ElementOp::multiply, x, x), b.across(Op::Kind::sum, total, square),
                   b.element(mean, ElementOp::multiply_constant, total),
                   b.across(Op::Kind::broadcast, spread, mean),
                   b.element(rest, ElementOp::subtract, x, spread)};
  const std::vector<StageOps> stages = b.formed(ops);
  CHECK(b.outs_of(stages) == Outs{{square}, {total, mean, spread}, {rest}});
  CHECK(stages[0].kind == StageOps::Kind::elements);
  CHECK(stages[1].kind == StageOps::Kind::across);
  CHECK(stages[2].width == kLanes);
  const std::vector<StageOps> of_a_run = b.formed(ops, false);
  CHECK(b.outs_of(of_a_run) == Outs{{square, total, mean, spread, rest}});
  CHECK(of_a_run[0].kind == StageOps::Kind::across);
}

TEST_CASE("rows wider than a tile are taken apart for a run, too") {
  Bench b;
  const RowShape wide = RowShape::vector(kTileElements + 1);
  const int x = add_value(b.layer, wide, in_array(add_array(b.layer, Array::Kind::input, 0, wide.width())));
  const int square = b.value(wide), total = b.value(RowShape::scalar());
  const Ops ops = {b.element(square, ElementOp::multiply, x, x), b.across(Op::Kind::sum, total, square)};
  CHECK(b.outs_of(b.formed(ops, false)) == Outs{{square}, {total}});
}

TEST_CASE("a sine is left to the C library, a number spread over a row is not across it") {
  Bench b;
  const int x = b.kept(Array::Kind::input), sine = b.value(), spread = b.value(), sum = b.value();
  CHECK(b.stages({b.element(sine, ElementOp::sin, x), b.across(Op::Kind::broadcast, spread, b.number(2)),
                  b.element(sum, ElementOp::add, sine, spread)}) == Outs{{sine}, {spread, sum}});
}

TEST_CASE("work on elements of one width is a stage, the widest first") {
  Bench b;
  const int x = b.kept(Array::Kind::input), narrow = b.value(), read = b.value();
  const RowShape wide = RowShape::vector(3 * kLanes);
  const int y = add_value(b.layer, wide, in_array(add_array(b.layer, Array::Kind::state, 0, 3 * kLanes)));
  const int first = b.value(wide), second = b.value(wide);
  CHECK(b.stages({b.element(narrow, ElementOp::tanh, x), b.element(first, ElementOp::tanh, y),
                  b.element(read, ElementOp::tanh, narrow), b.element(second, ElementOp::tanh, first)}) ==
        Outs{{first, second}, {narrow, read}});
}

TEST_CASE("work on values that a phase finds is done where its result is read") {
  Bench b;
  const int x = b.kept(Array::Kind::input), p = b.value(), early = b.value(), chained = b.value(),
            other = b.value(), needed = b.value(), sum = b.value();
  const Ops ops = {b.element(early, ElementOp::tanh, x),     b.element(chained, ElementOp::tanh, early),
                   b.element(needed, ElementOp::tanh, x),    b.product(p, 0, needed),
                   b.element(other, ElementOp::tanh, early), b.element(sum, ElementOp::add, p, chained)};
  CHECK(b.stages(ops) == Outs{{early, chained, needed, other}, {p}, {sum}});
  CHECK(b.moved(ops) == Outs{{early, needed, other}, {p}, {chained, sum}});
}

TEST_CASE("work on an array of one step does not wait until that is written over") {
  Bench b;
  const int array = add_array(b.layer, Array::Kind::direct, 0, kUnits);
  const int before = b.value(in_array(array)), after = b.value(in_array(array));
  const int x = b.kept(Array::Kind::input), needed = b.value(), p = b.value(), reader = b.value(),
            sum = b.value();
  const Ops ops = {b.element(reader, ElementOp::tanh, before), b.element(after, ElementOp::tanh, x),
                   b.element(needed, ElementOp::sigmoid, x), b.product(p, 0, needed),
                   b.element(sum, ElementOp::add, reader, p)};
  CHECK(b.moved(ops) == Outs{{reader, after, needed}, {p}, {sum}});
  const Ops kept = {ops[0], ops[2], ops[3], ops[4]};
  CHECK(b.moved(kept) == Outs{{needed}, {p}, {reader, sum}});
}

TEST_CASE("ops that wait for each other are an error") {
  Bench b;
  const int u = b.value(), v = b.value();
  CHECK_THROWS_WITH_AS(b.stages({b.element(u, ElementOp::tanh, v), b.element(v, ElementOp::tanh, u)}),
                       "[schedule] the ops of a phase wait for each other", Error);
}

TEST_CASE("element-wise results take the registers of operands that nothing reads again") {
  Bench b;
  const int x = b.kept(Array::Kind::input), out = b.kept(Array::Kind::saved);
  const int u = b.value({Location::Kind::tile}), v = b.value({Location::Kind::tile}),
            w = b.value({Location::Kind::tile});
  const ValueOperands operands(b.layer, kLanes);
  WeightColumns columns(0);
  const ElementStage stage =
      StageWriter(operands, columns)
          .write({b.element(u, ElementOp::tanh, x), b.element(v, ElementOp::sigmoid, u),
                  b.element(w, ElementOp::multiply, v, x), b.element(out, ElementOp::copy, w)});
  CHECK(stage.registers == 1);
  REQUIRE(stage.instructions.size() == 4);
  CHECK(stage.instructions[0].out == stage.instructions[2].out);
  CHECK(stage.operands[stage.instructions[3].out] == operands.of(out));
  CHECK(stage.register_width == kLanes);  // padded
  CHECK(stage.tile_rows == kTileElements / kLanes);
}

TEST_CASE("a result that is read twice keeps its register") {
  Bench b;
  const int x = b.kept(Array::Kind::input), out = b.kept(Array::Kind::saved);
  const int u = b.value({Location::Kind::tile}), v = b.value({Location::Kind::tile});
  const ValueOperands operands(b.layer, kLanes);
  WeightColumns columns(0);
  const ElementStage stage =
      StageWriter(operands, columns)
          .write({b.element(u, ElementOp::tanh, x), b.element(v, ElementOp::sigmoid, u),
                  b.element(out, ElementOp::add, u, v)});
  CHECK(stage.registers == 2);
  CHECK(stage.instructions[0].out != stage.instructions[1].out);
}

TEST_CASE("numbers are filled in, and a narrow product is one instruction a number of its operand") {
  Bench b;
  const int two =
      add_value(b.layer, RowShape::vector(2), in_array(add_array(b.layer, Array::Kind::input, 0, 2)));
  const int k = b.number(0.5), u = b.value({Location::Kind::tile}), out = b.kept(Array::Kind::saved);
  Op narrow = b.product(u, 3, two);
  narrow.kind = Op::Kind::narrow_product;
  const ValueOperands operands(b.layer, kLanes);
  WeightColumns columns(4);
  const ElementStage stage =
      StageWriter(operands, columns).write({narrow, b.element(out, ElementOp::multiply, u, k)});
  REQUIRE(stage.instructions.size() == 4);
  CHECK(stage.operands[stage.instructions[0].b] == Operand{Operand::Kind::weight, 4, 0, kLanes});
  CHECK(stage.operands[stage.instructions[1].b] == Operand{Operand::Kind::weight, 5, 0, kLanes});
  CHECK(stage.instructions[0].c == -1);
  CHECK(stage.instructions[1].c == stage.instructions[0].out);  // added to the first
  CHECK(stage.instructions[2].element == ElementOp::fill);
  CHECK(stage.instructions[2].k == 0.5);
  CHECK(stage.instructions[3].b == stage.instructions[2].out);
  CHECK(columns.take() == std::vector<LayerSchedule::WeightColumn>{{3, 0}, {3, 1}});
}

}  // namespace
}  // namespace lagtape
