#include "lagtape/ops/recurrence/stages.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/forward_ops.h"
#include "lagtape/ops/recurrence/tile_writer.h"

// How the ops of a phase become stages, and a stage's element-wise ops instructions on registers.

namespace lagtape {
namespace {

using namespace recurrence;

constexpr std::int64_t kUnits = 6, kLanes = 8;

/// Layers by hand: every value has kUnits elements.
struct Bench {
  LayerOps layer;

  int value(Place place = {}) { return add_value(layer, RowShape::vector(kUnits), place); }
  int kept(Array::Kind kind) { return value(in_array(add_array(layer, kind, 0, kUnits))); }
  int number(double k) { return value({.kind = Place::Kind::constant, .number = k}); }
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
  std::vector<std::vector<int>> stages(const Ops& ops) const {
    std::vector<std::vector<int>> outs;
    for (const StageOps& stage : form_stages(layer, ops)) {
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

TEST_CASE("ops that wait for each other are an error") {
  Bench b;
  const int u = b.value(), v = b.value();
  CHECK_THROWS_WITH_AS(b.stages({b.element(u, ElementOp::tanh, v), b.element(v, ElementOp::tanh, u)}),
                       "[schedule] the ops of a phase wait for each other", Error);
}

TEST_CASE("element-wise results take the registers of operands that nothing reads again") {
  Bench b;
  const int x = b.kept(Array::Kind::input), out = b.kept(Array::Kind::saved);
  const int u = b.value({Place::Kind::tile}), v = b.value({Place::Kind::tile}),
            w = b.value({Place::Kind::tile});
  const ValueSlots slots(b.layer, kLanes);
  WeightColumns columns(0);
  const TileStage stage =
      TileWriter(slots, columns)
          .write({b.element(u, ElementOp::tanh, x), b.element(v, ElementOp::sigmoid, u),
                  b.element(w, ElementOp::multiply, v, x), b.element(out, ElementOp::copy, w)});
  CHECK(stage.registers == 1);
  REQUIRE(stage.code.size() == 4);
  CHECK(stage.code[0].out == stage.code[2].out);
  CHECK(stage.slots[stage.code[3].out] == slots.of(out));
  CHECK(stage.register_width == kLanes);  // padded
  CHECK(stage.tile_rows == kTileElements / kLanes);
}

TEST_CASE("a result that is read twice keeps its register") {
  Bench b;
  const int x = b.kept(Array::Kind::input), out = b.kept(Array::Kind::saved);
  const int u = b.value({Place::Kind::tile}), v = b.value({Place::Kind::tile});
  const ValueSlots slots(b.layer, kLanes);
  WeightColumns columns(0);
  const TileStage stage = TileWriter(slots, columns)
                              .write({b.element(u, ElementOp::tanh, x), b.element(v, ElementOp::sigmoid, u),
                                      b.element(out, ElementOp::add, u, v)});
  CHECK(stage.registers == 2);
  CHECK(stage.code[0].out != stage.code[1].out);
}

TEST_CASE("numbers are filled in, and a thin product is one instruction a number of its operand") {
  Bench b;
  const int two =
      add_value(b.layer, RowShape::vector(2), in_array(add_array(b.layer, Array::Kind::input, 0, 2)));
  const int k = b.number(0.5), u = b.value({Place::Kind::tile}), out = b.kept(Array::Kind::saved);
  Op thin = b.product(u, 3, two);
  thin.kind = Op::Kind::thin_product;
  const ValueSlots slots(b.layer, kLanes);
  WeightColumns columns(4);
  const TileStage stage = TileWriter(slots, columns).write({thin, b.element(out, ElementOp::multiply, u, k)});
  REQUIRE(stage.code.size() == 4);
  CHECK(stage.slots[stage.code[0].b] == Slot{Slot::Kind::weight, 4, 0, kLanes});
  CHECK(stage.slots[stage.code[1].b] == Slot{Slot::Kind::weight, 5, 0, kLanes});
  CHECK(stage.code[0].c == -1);
  CHECK(stage.code[1].c == stage.code[0].out);  // added to the first
  CHECK(stage.code[2].element == ElementOp::fill);
  CHECK(stage.code[2].k == 0.5);
  CHECK(stage.code[3].b == stage.code[2].out);
  CHECK(columns.take() == std::vector<LayerCode::WeightColumn>{{3, 0}, {3, 1}});
}

}  // namespace
}  // namespace lagtape
