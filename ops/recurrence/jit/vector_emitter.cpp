#include "lagtape/ops/recurrence/jit/vector_emitter.h"

#include <bit>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/ops/kernels/grid.h"
#include "lagtape/ops/kernels/kernels.h"

namespace lagtape::recurrence {
namespace {

constexpr int kSpillSlots = 64;
constexpr std::size_t kInstructionBytes =
    64;  ///< most bytes of an instruction, including the moves around it

}  // namespace

bool stores_round(SimdLevel level) { return level == SimdLevel::avx512 && has_bf16_instruction(); }

VectorEmitter::VectorEmitter(std::size_t code_bytes, SimdLevel level, std::size_t element_bytes)
    : CodeGenerator(code_bytes, Xbyak::DontSetProtectRWE),
      float_(element_bytes == sizeof(float)),
      wide_(level == SimdLevel::avx512),
      bytes_(wide_ ? 64 : 32) {}

std::size_t VectorEmitter::code_bytes(const VectorProgram& program) {
  return 4096 + (program.instructions.size() + 2 * program.values.size()) * kInstructionBytes;
}

void VectorEmitter::enter(const std::vector<Xbyak::Reg64>& saved) {
  push(rbp);
  mov(rbp, rsp);
  for (const Xbyak::Reg64& r : saved) push(r);
  sub(rsp, (kSpillSlots + 1) * 64);
  and_(rsp, -64);
}

void VectorEmitter::leave(const std::vector<Xbyak::Reg64>& saved) {
  lea(rsp, ptr[rbp - static_cast<int>(8 * saved.size())]);
  for (std::size_t i = saved.size(); i-- > 0;) pop(saved[i]);
  pop(rbp);
  vzeroupper();
  ret();
}

void VectorEmitter::begin(const VectorProgram& program, RegisterAllocator& file) {
  program_ = &program;
  file_ = &file;
}

void VectorEmitter::load_residents() {
  for (int v : file_->residents()) vmovaps(vector(file_->register_of(v)), memory(v));
}

void VectorEmitter::constants() {
  align(64);
  if (on_grid_) grid_constants();
  for (auto& [bits, label] : constants_) {
    L(label);
    for (int i = 0; i < bytes_; i += float_ ? 4 : 8) {
      if (float_) {
        dd(static_cast<std::uint32_t>(bits));
      } else {
        dq(bits);
      }
    }
  }
}

/// Multiplying by the largest double divided by the limit (a power of two) makes a number beyond the limit
/// infinite; 0 times that, added to it, is NaN, and leaves other numbers unchanged.
void VectorEmitter::grid_constants() {
  const double doubles[] = {kGridRounding, std::numeric_limits<double>::max() / kGridLimit, 0};
  for (int c = 0; c < kGridConstants; ++c) {
    L(grid_constants_[c]);
    for (int i = 0; i < 8; ++i) dq(std::bit_cast<std::uint64_t>(doubles[c]));
  }
}

// ---- operands ----

Xbyak::Address VectorEmitter::rounded_at(int, int) {
  throw Error("[jit] an array of rounded numbers outside of a stage");
}
Xbyak::Address VectorEmitter::rounded_before(int operand, int offset) { return rounded_at(operand, offset); }

Xbyak::Xmm VectorEmitter::vector(int reg) const {
  return Xbyak::Xmm(wide_ ? Xbyak::Operand::ZMM : Xbyak::Operand::YMM, reg);
}

Xbyak::Xmm VectorEmitter::scratch(int i) const { return vector((wide_ ? 31 : 15) - i); }

Xbyak::Address VectorEmitter::memory(int value) {
  const VectorValue& v = program_->values[static_cast<std::size_t>(value)];
  switch (v.kind) {
    case VectorValue::Kind::constant: return ptr[rip + constants_[v.bits]];
    case VectorValue::Kind::weight: return weight_at(v.operand, v.vector * bytes_);
    default: return ptr[rsp + 64 * file_->spill_slot_of(value)];
  }
}

Xbyak::Xmm VectorEmitter::loaded(int value, int scratch_number) {
  if (in_register(value)) return vector(file_->register_of(value));
  vmovaps(scratch(scratch_number), memory(value));
  return scratch(scratch_number);
}

/// Calls f(operand), the operand being a register or memory.
template <class F>
void VectorEmitter::with(int value, F f) {
  if (in_register(value)) {
    f(static_cast<const Xbyak::Operand&>(vector(file_->register_of(value))));
  } else {
    f(static_cast<const Xbyak::Operand&>(memory(value)));
  }
}

// ---- instructions ----

/// The operand in whose register a multiply-add leaves its result.
int VectorEmitter::preferred_register(const VectorInstruction& i, std::size_t at) const {
  if (i.op != VectorOp::multiply_add) return -1;
  for (int v : {i.c, i.a, i.b})
    if (is_computed(v) && in_register(v) && file_->dies(v, at)) return file_->register_of(v);
  return -1;
}

bool VectorEmitter::is_computed(int value) const {
  return program_->values[static_cast<std::size_t>(value)].kind == VectorValue::Kind::computed;
}

bool VectorEmitter::instruction(std::size_t at) {
  const VectorInstruction& i = program_->instructions[at];
  RegisterAllocator::Eviction eviction;
  if (!file_->place_result(at, preferred_register(i, at), eviction)) return false;
  if (file_->spill_slots() > kSpillSlots) return false;
  if (eviction.reg >= 0) vmovaps(ptr[rsp + 64 * eviction.operand], vector(eviction.reg));
  switch (i.op) {
    case VectorOp::product: return eviction.reg < 0;
    case VectorOp::load: load(i); break;
    case VectorOp::load_number: {
      const Xbyak::Address number = number_at(i.operand, i.number * (float_ ? 4 : 8));
      const int out = file_->register_of(i.out);
      if (float_) {
        vbroadcastss(vector(out), number);
      } else {
        wide_ ? vbroadcastsd(Xbyak::Zmm(out), number) : vbroadcastsd(Xbyak::Ymm(out), number);
      }
      break;
    }
    case VectorOp::store: store(i); break;
    case VectorOp::multiply_add: multiply_add(i); break;
    case VectorOp::select: select(i); break;
    case VectorOp::grid_step:
      if (!in_register(i.a)) return false;
      grid_step(i);
      break;
    case VectorOp::shift_left:
    case VectorOp::shift_right: shift(i); break;
    case VectorOp::square_root:
      with(i.a, [&](const Xbyak::Operand& a) {
        const Xbyak::Xmm out = vector(file_->register_of(i.out));
        float_ ? vsqrtps(out, a) : vsqrtpd(out, a);
      });
      break;
    default: binary(i);
  }
  return true;
}

void VectorEmitter::load(const VectorInstruction& i) {
  const Xbyak::Xmm out = vector(file_->register_of(i.out));
  const int offset = i.vector * bytes_;
  if (!i.rounded) {
    vmovaps(out, array_at(i.operand, offset, 1));
    if (i.prefetches_before) prefetcht1(array_before(i.operand, offset));
    return;
  }
  vpmovzxwd(out, rounded_at(i.operand, offset / 2));
  vpslld(out, out, 16);
  if (i.prefetches_before) prefetcht1(rounded_before(i.operand, offset / 2));
}

bool VectorEmitter::stored_elsewhere(const VectorInstruction&, const Xbyak::Xmm&) { return false; }

/// If the processor does not round, the number has already been rounded.
void VectorEmitter::store(const VectorInstruction& i) {
  const Xbyak::Xmm a = loaded(i.a, 0);
  if (stored_elsewhere(i, a)) return;
  const int offset = i.vector * bytes_;
  if (!i.rounded) return vmovaps(array_at(i.operand, offset, 1), a);
  const Xbyak::Address to = rounded_at(i.operand, offset / 2);
  const Xbyak::Xmm upper = scratch(0);
  const int half = upper.getIdx();
  if (wide_ && stores_round(SimdLevel::avx512)) {
    vcvtneps2bf16(Xbyak::Ymm(half), a);
    vmovups(to, Xbyak::Ymm(half));
  } else if (wide_) {
    vpsrld(upper, a, 16);
    vpmovdw(to, upper);
  } else {
    vpsrld(upper, a, 16);
    vpackusdw(upper, upper, upper);
    vpermq(Xbyak::Ymm(half), Xbyak::Ymm(half), 0x08);
    vmovups(to, Xbyak::Xmm(half));
  }
}

void VectorEmitter::binary(const VectorInstruction& i) {
  const Xbyak::Xmm out = vector(file_->register_of(i.out)), a = loaded(i.a, 0);
  with(i.b, [&](const Xbyak::Operand& b) {
    switch (i.op) {
      case VectorOp::add: float_ ? vaddps(out, a, b) : vaddpd(out, a, b); break;
      case VectorOp::subtract: float_ ? vsubps(out, a, b) : vsubpd(out, a, b); break;
      case VectorOp::multiply: float_ ? vmulps(out, a, b) : vmulpd(out, a, b); break;
      case VectorOp::divide: float_ ? vdivps(out, a, b) : vdivpd(out, a, b); break;
      case VectorOp::minimum: float_ ? vminps(out, a, b) : vminpd(out, a, b); break;
      case VectorOp::maximum: float_ ? vmaxps(out, a, b) : vmaxpd(out, a, b); break;
      case VectorOp::bit_and: float_ ? vandps(out, a, b) : vandpd(out, a, b); break;
      case VectorOp::bit_or: float_ ? vorps(out, a, b) : vorpd(out, a, b); break;
      case VectorOp::bit_xor: float_ ? vxorps(out, a, b) : vxorpd(out, a, b); break;
      case VectorOp::add_integers: float_ ? vpaddd(out, a, b) : vpaddq(out, a, b); break;
      default: float_ ? vpsubd(out, a, b) : vpsubq(out, a, b);
    }
  });
}

void VectorEmitter::shift(const VectorInstruction& i) {
  const Xbyak::Xmm out = vector(file_->register_of(i.out)), a = loaded(i.a, 0);
  const auto n = static_cast<std::uint8_t>(i.shift);
  if (i.op == VectorOp::shift_left) {
    float_ ? vpslld(out, a, n) : vpsllq(out, a, n);
  } else {
    float_ ? vpsrld(out, a, n) : vpsrlq(out, a, n);
  }
}

void VectorEmitter::select(const VectorInstruction& i) {
  constexpr std::uint8_t codes[] = {0x00, 0x11, 0x12, 0x1e, 0x1d};  // ordered, quiet
  const std::uint8_t code = codes[static_cast<int>(i.comparison)];
  const Xbyak::Xmm out = vector(file_->register_of(i.out)), a = loaded(i.a, 0);
  with(i.b, [&](const Xbyak::Operand& b) {
    if (wide_) {
      float_ ? vcmpps(k1, a, b, code) : vcmppd(k1, a, b, code);
    } else {
      float_ ? vcmpps(scratch(0), a, b, code) : vcmppd(scratch(0), a, b, code);
    }
  });
  const Xbyak::Xmm no = loaded(i.d, 1);
  with(i.c, [&](const Xbyak::Operand& yes) {
    if (wide_) {
      float_ ? vblendmps(out | k1, no, yes) : vblendmpd(out | k1, no, yes);
    } else {
      float_ ? vblendvps(out, no, yes, scratch(0)) : vblendvpd(out, no, yes, scratch(0));
    }
  });
}

/// The grid step of kernels.h, eight doubles at a time: the increments become the sums, which are also stored
/// to memory.
void VectorEmitter::step_of_doubles(const VectorInstruction& i, int part, const Xbyak::Xmm& increment,
                                    const Xbyak::Xmm& beyond) {
  const int scale = float_ ? 2 : 1, at = i.vector * bytes_ * scale + part * 64;
  const auto constant = [&](GridConstant c) { return ptr[rip + grid_constants_[c]]; };
  vaddpd(increment, increment, constant(kRounding));
  vsubpd(increment, increment, constant(kRounding));
  if (i.negated) {
    vmovapd(beyond, array_at(i.operand, at, scale));
    vsubpd(increment, beyond, increment);
  } else {
    vaddpd(increment, increment, array_at(i.operand, at, scale));
  }
  vmulpd(beyond, increment, constant(kBeyondGrid));
  vfmadd231pd(increment, beyond, constant(kZeros));
  vmovapd(array_at(i.operand_to, at, scale), increment);
}

/// Floats are converted to doubles as they are loaded, which avoids splitting them in registers.
void VectorEmitter::grid_step(const VectorInstruction& i) {
  on_grid_ = true;
  const Xbyak::Xmm out = vector(file_->register_of(i.out)), a = vector(file_->register_of(i.a));
  if (!float_) {
    vmovapd(scratch(0), a);
    step_of_doubles(i, 0, scratch(0), scratch(1));
    vmovapd(out, scratch(0));
    return;
  }
  const Xbyak::Zmm all(out.getIdx()), high(scratch(0).getIdx()), low(scratch(1).getIdx());
  const Xbyak::Ymm low_half(out.getIdx()), high_half(high.getIdx());
  const int increments = kSpillSlots * 64;
  vmovaps(ptr[rsp + increments], a);
  vcvtps2pd(high, ptr[rsp + increments + 32]);
  step_of_doubles(i, 1, high, low);
  vcvtpd2ps(high_half, high);
  vcvtps2pd(low, ptr[rsp + increments]);
  step_of_doubles(i, 0, low, all);
  vcvtpd2ps(low_half, low);
  vinsertf32x8(all, all, high_half, 1);
}

/// a * b + c, overwriting c (231), or a or b (213).
void VectorEmitter::multiply_add(const VectorInstruction& i) {
  const int reg = file_->register_of(i.out);
  const Xbyak::Xmm out = vector(reg);
  int left = i.a, right = i.b;
  const bool in_place = file_->register_of(i.a) == reg || file_->register_of(i.b) == reg;
  if (in_place && file_->register_of(i.c) != reg) {
    if (file_->register_of(left) != reg) std::swap(left, right);
    const Xbyak::Xmm factor = loaded(right, 0);
    with(i.c, [&](const Xbyak::Operand& c) {
      float_ ? vfmadd213ps(out, factor, c) : vfmadd213pd(out, factor, c);
    });
    return;
  }
  if (!in_register(left)) std::swap(left, right);
  const Xbyak::Xmm factor = loaded(left, 0);
  if (file_->register_of(i.c) != reg) with(i.c, [&](const Xbyak::Operand& c) { vmovaps(out, c); });
  with(right,
       [&](const Xbyak::Operand& b) { float_ ? vfmadd231ps(out, factor, b) : vfmadd231pd(out, factor, b); });
}

}  // namespace lagtape::recurrence
