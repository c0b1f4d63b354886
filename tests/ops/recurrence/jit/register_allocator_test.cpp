#include "lagtape/ops/recurrence/jit/register_allocator.h"

#include <doctest/doctest.h>

namespace lagtape {
namespace {

using namespace recurrence;

/// Loads one value more than `constants`, adds each of these to one of them, and stores the results; the last
/// value is never made, as one whose load a sum has replaced.
VectorProgram added_constants(int constants) {
  VectorProgram program;
  program.values.resize(static_cast<std::size_t>(2 * constants + 1));
  const auto emit = [&](VectorOp op, int out, int a, int b) {
    VectorInstruction i{op};
    i.out = out;
    i.a = a;
    i.b = b;
    i.operand = op == VectorOp::add ? -1 : 0;
    program.instructions.push_back(i);
  };
  for (int c = 0; c < constants; ++c) {
    program.values[static_cast<std::size_t>(constants + c)].kind = VectorValue::Kind::constant;
    emit(VectorOp::load, c, -1, -1);
  }
  for (int c = 0; c < constants; ++c) {
    const auto sum = static_cast<int>(program.values.size());
    program.values.emplace_back();
    emit(VectorOp::add, sum, c, constants + c);
    emit(VectorOp::store, -1, sum, -1);
  }
  return program;
}

TEST_CASE(
    "constants that keep registers leave enough for the values, those that are never made not counted") {
  const VectorProgram program = added_constants(6);
  RegisterAllocator registers(program, 10, Residents::constants);
  // Six values are alive at once; the sum takes a register before its operand frees one.
  CHECK(registers.residents().size() == 3);
  for (std::size_t at = 0; at < program.instructions.size(); ++at) {
    RegisterAllocator::Eviction eviction;
    REQUIRE(registers.place_result(at, -1, eviction));
    CHECK(eviction.reg == -1);
  }
}

}  // namespace
}  // namespace lagtape
