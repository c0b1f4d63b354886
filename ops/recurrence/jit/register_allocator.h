#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lagtape/ops/recurrence/jit/vector_program.h"

namespace lagtape::recurrence {

/// The operands of an instruction, -1 if there is none.
inline std::array<int, 4> operands_of(const VectorInstruction& i) { return {i.a, i.b, i.c, i.d}; }

/// The values that may stay in a register throughout: constants, and weights if the loop does not advance them.
enum class Residents : std::uint8_t { none, constants, constants_and_weights };

/// Assigns vector registers to the values of a program, in one pass over its instructions. The residents that
/// are read most get the registers that other values never need. If no register is free, the value whose next
/// read is furthest away moves to a spill slot in memory, and never returns to a register.
class RegisterAllocator {
 public:
  RegisterAllocator(const VectorProgram& program, int registers, Residents residents);

  /// Values that stay in a register throughout, to be loaded before the loop.
  const std::vector<int>& residents() const { return residents_; }
  /// The current register of a value; -1: it is in memory.
  int register_of(int value) const { return register_[static_cast<std::size_t>(value)]; }
  int spill_slot_of(int value) const { return spill_[static_cast<std::size_t>(value)]; }
  int spill_slots() const { return spill_slots_; }
  bool dies(int value, std::size_t at) const { return last_use_[static_cast<std::size_t>(value)] <= at; }

  /// A value to evict: the value in `reg` must first be stored to its spill slot.
  struct Eviction {
    int reg = -1, operand = -1;
  };
  /// Called before instruction `at` is emitted: its operands are in register_of, then those that it reads last
  /// are released and its result gets a register, `preferred` if it was just released. Returns false if there
  /// is no room.
  bool place_result(std::size_t at, int preferred, Eviction& eviction);

 private:
  bool is_computed(int value) const {
    return program_.values[static_cast<std::size_t>(value)].kind == VectorValue::Kind::computed;
  }
  int pressure() const;
  void choose_residents(int count, Residents residents);
  std::size_t next_use(int value, std::size_t after) const;

  const VectorProgram& program_;
  std::vector<std::size_t>
      last_use_;  // by value: the last instruction that uses it; the end for a value without one
  std::vector<std::vector<std::size_t>> reads_;  // by value: the instructions that read it
  std::vector<int> register_, spill_;            // by value; -1: none
  std::vector<int> holder_;                      // by register; -1: free
  std::vector<int> residents_;
  int spill_slots_ = 0;
};

}  // namespace lagtape::recurrence
