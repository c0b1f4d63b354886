#include "lagtape/ops/recurrence/tile_emitter.h"

#include <xbyak/xbyak.h>
#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "lagtape/ops/kernels/grid.inc.h"
#include "lagtape/ops/recurrence/interleave.h"
#include "lagtape/ops/recurrence/register_file.h"

namespace lagtape::recurrence {
namespace {

using Xbyak::Address;
using Xbyak::Operand;
using Xbyak::Reg64;
using Xbyak::Xmm;

constexpr int kSpillSlots = 64;
constexpr std::int64_t kInstructionBytes = 64;  ///< at most, of an instruction and the moves around it

std::size_t code_bytes(const VectorProgram& program) {
  return 4096 + (program.code.size() + 2 * program.values.size()) * kInstructionBytes;
}

/// What the loop does at a time, and in which order.
struct Body {
  VectorProgram program;
  int vectors = 1;
};

/// The best first, should it not find registers. A division keeps what follows it waiting for so long that
/// two vectors at once pay, even when values have to go through memory; but for avx512, which has work enough
/// in one. (A row has an even number of the smaller vectors.)
std::vector<Body> bodies_of(const VectorProgram& program, SimdLevel level, std::int64_t row_bytes) {
  constexpr int kAlive = 12, kAliveInPairs = 24;
  const auto is_division = [](const VectorInstruction& i) { return i.op == VectorOp::divide; };
  std::vector<Body> bodies;
  const auto on_grid = [](const VectorInstruction& i) { return i.op == VectorOp::grid_step; };
  const bool pairs = level != SimdLevel::avx512
                         ? std::ranges::any_of(program.code, is_division)
                         : row_bytes % 128 == 0 && std::ranges::any_of(program.code, on_grid);
  if (pairs) bodies.push_back({interleaved(repeated(program, 2), kAliveInPairs), 2});
  bodies.push_back({interleaved(program, kAlive), 1});
  return bodies;
}

/// The function of one program, by the System V calling convention: a loop over the vectors of all rows.
template <class T>
class TileEmitter : public Xbyak::CodeGenerator {
 public:
  TileEmitter(const Body& body, SimdLevel level)
      : CodeGenerator(code_bytes(body.program), Xbyak::DontSetProtectRWE),
        program_(body.program),
        wide_(level == SimdLevel::avx512),
        bytes_(wide_ ? 64 : 32),
        step_bytes_(body.vectors * bytes_),
        row_bytes_(program_.width * static_cast<std::int64_t>(sizeof(T))),
        file_(program_, (wide_ ? 32 : 16) - 2, row_bytes_ == step_bytes_) {}

  /// False when the registers do not suffice.
  bool generate() {
    number_slots();
    enter();
    Xbyak::Label loop;
    L(loop);
    for (std::size_t i = 0; i < program_.code.size(); ++i)
      if (!instruction(i)) return false;
    advance(loop);
    leave();
    constants();
    return setProtectModeRE(false);
  }
  const std::vector<int>& slots() const { return slots_; }

 private:
  // ---- frame and loop: rdi pointers, rsi bytes, rdx place in arrays, r15 the same a step before, rcx place
  // in the row, rax scratch ----

  const std::vector<Reg64> saved_{rbx, r12, r13, r14, r15};
  const std::vector<Reg64> bases_{rbx, r8, r9, r10, r11, r12, r13, r14};

  void number_slots() {
    const auto number = [&](int slot) {
      if (slot >= 0 && number_.try_emplace(slot, slots_.size()).second) slots_.push_back(slot);
    };
    for (const VectorInstruction& i : program_.code) {
      number(i.slot);
      number(i.slot_to);
    }
    for (const VectorValue& v : program_.values) number(v.slot);
  }

  void enter() {
    push(rbp);
    mov(rbp, rsp);
    for (const Reg64& r : saved_) push(r);
    sub(rsp, kSpillSlots * 64);
    and_(rsp, -64);
    for (std::size_t s = 0; s < std::min(slots_.size(), bases_.size()); ++s)
      mov(bases_[s], ptr[rdi + static_cast<int>(8 * s)]);
    xor_(edx, edx);
    xor_(ecx, ecx);
    mov(r15, rsi);
    neg(r15);
    for (int v : file_.residents()) vmovaps(vector(file_.register_of(v)), memory(v));
  }

  void advance(const Xbyak::Label& loop) {
    add(rdx, step_bytes_);
    add(r15, step_bytes_);
    if (row_bytes_ > step_bytes_) {
      xor_(eax, eax);
      add(rcx, step_bytes_);
      cmp(rcx, static_cast<std::uint32_t>(row_bytes_));
      cmove(rcx, rax);
    }
    cmp(rdx, rsi);
    jb(loop, T_NEAR);
  }

  void leave() {
    lea(rsp, ptr[rbp - static_cast<int>(8 * saved_.size())]);
    for (std::size_t i = saved_.size(); i-- > 0;) pop(saved_[i]);
    pop(rbp);
    vzeroupper();
    ret();
  }

  void constants() {
    align(64);
    constexpr double grid[] = {kGridRounding, kGridLimit, std::numeric_limits<double>::quiet_NaN()};
    for (int c = 0; c < kGridConstants && on_grid_; ++c) {
      L(grid_labels_[c]);
      for (int i = 0; i < 8; ++i) dq(std::bit_cast<std::uint64_t>(grid[c]));
    }
    for (auto& [value, label] : labels_) {
      L(label);
      for (std::int64_t i = 0; i < bytes_; i += sizeof(T)) {
        const std::uint64_t bits = program_.values[static_cast<std::size_t>(value)].bits;
        if (sizeof(T) == 4) {
          dd(static_cast<std::uint32_t>(bits));
        } else {
          dq(bits);
        }
      }
    }
  }

  // ---- operands ----

  Xmm vector(int reg) const { return Xmm(wide_ ? Operand::ZMM : Operand::YMM, reg); }
  /// Two registers that hold nothing from one instruction to the next.
  Xmm scratch(int i) const { return vector((wide_ ? 31 : 15) - i); }

  /// Good until the next call: it may use the scratch register of addresses.
  Reg64 base_of(int slot) {
    const std::size_t s = number_.at(slot);
    if (s < bases_.size()) return bases_[s];
    mov(rax, ptr[rdi + static_cast<int>(8 * s)]);
    return rax;
  }
  Address array(const VectorInstruction& i) { return ptr[base_of(i.slot) + rdx + i.vector * bytes_]; }
  Address memory(int value) {
    const VectorValue& v = program_.values[static_cast<std::size_t>(value)];
    switch (v.kind) {
      case VectorValue::Kind::constant: return ptr[rip + labels_[value]];
      case VectorValue::Kind::weight: return ptr[base_of(v.slot) + rcx + v.vector * bytes_];
      default: return ptr[rsp + 64 * file_.spill_slot_of(value)];
    }
  }
  bool in_register(int value) const { return file_.register_of(value) >= 0; }
  Xmm loaded(int value, int scratch_number) {
    if (in_register(value)) return vector(file_.register_of(value));
    vmovaps(scratch(scratch_number), memory(value));
    return scratch(scratch_number);
  }
  /// f(operand), in a register or in memory.
  template <class F>
  void with(int value, F f) {
    if (in_register(value)) {
      f(static_cast<const Operand&>(vector(file_.register_of(value))));
    } else {
      f(static_cast<const Operand&>(memory(value)));
    }
  }

  // ---- instructions ----

  static constexpr bool kFloat = sizeof(T) == 4;

  /// The operand whose register a multiply-add leaves its result in.
  int preferred_register(const VectorInstruction& i, std::size_t at) const {
    if (i.op != VectorOp::multiply_add) return -1;
    for (int v : {i.c, i.a, i.b})
      if (is_computed(v) && in_register(v) && file_.dies(v, at)) return file_.register_of(v);
    return -1;
  }
  bool is_computed(int v) const {
    return program_.values[static_cast<std::size_t>(v)].kind == VectorValue::Kind::computed;
  }

  bool instruction(std::size_t at) {
    const VectorInstruction& i = program_.code[at];
    RegisterFile::Eviction eviction;
    if (!file_.place_result(at, preferred_register(i, at), eviction)) return false;
    if (file_.spill_slots() > kSpillSlots) return false;
    if (eviction.reg >= 0) vmovaps(ptr[rsp + 64 * eviction.slot], vector(eviction.reg));
    switch (i.op) {
      case VectorOp::load:
        vmovaps(vector(file_.register_of(i.out)), array(i));
        if (i.fetches_before) prefetcht1(ptr[base_of(i.slot) + r15 + i.vector * bytes_]);
        break;
      case VectorOp::store: {
        const Xmm a = loaded(i.a, 0);
        vmovaps(array(i), a);
        break;
      }
      case VectorOp::multiply_add: multiply_add(i); break;
      case VectorOp::select: select(i); break;
      case VectorOp::grid_step:
        if (!in_register(i.a)) return false;
        grid_step(i);
        break;
      case VectorOp::shift_left:
      case VectorOp::shift_right: shift(i); break;
      case VectorOp::square_root:
        with(i.a, [&](const Operand& a) {
          const Xmm out = vector(file_.register_of(i.out));
          kFloat ? vsqrtps(out, a) : vsqrtpd(out, a);
        });
        break;
      default: binary(i);
    }
    return true;
  }

  void binary(const VectorInstruction& i) {
    const Xmm out = vector(file_.register_of(i.out)), a = loaded(i.a, 0);
    with(i.b, [&](const Operand& b) {
      switch (i.op) {
        case VectorOp::add: kFloat ? vaddps(out, a, b) : vaddpd(out, a, b); break;
        case VectorOp::subtract: kFloat ? vsubps(out, a, b) : vsubpd(out, a, b); break;
        case VectorOp::multiply: kFloat ? vmulps(out, a, b) : vmulpd(out, a, b); break;
        case VectorOp::divide: kFloat ? vdivps(out, a, b) : vdivpd(out, a, b); break;
        case VectorOp::minimum: kFloat ? vminps(out, a, b) : vminpd(out, a, b); break;
        case VectorOp::maximum: kFloat ? vmaxps(out, a, b) : vmaxpd(out, a, b); break;
        case VectorOp::bit_and: kFloat ? vandps(out, a, b) : vandpd(out, a, b); break;
        case VectorOp::bit_or: kFloat ? vorps(out, a, b) : vorpd(out, a, b); break;
        case VectorOp::bit_xor: kFloat ? vxorps(out, a, b) : vxorpd(out, a, b); break;
        case VectorOp::add_integers: kFloat ? vpaddd(out, a, b) : vpaddq(out, a, b); break;
        default: kFloat ? vpsubd(out, a, b) : vpsubq(out, a, b);
      }
    });
  }

  void shift(const VectorInstruction& i) {
    const Xmm out = vector(file_.register_of(i.out)), a = loaded(i.a, 0);
    const auto n = static_cast<std::uint8_t>(i.shift);
    if (i.op == VectorOp::shift_left) {
      kFloat ? vpslld(out, a, n) : vpsllq(out, a, n);
    } else {
      kFloat ? vpsrld(out, a, n) : vpsrlq(out, a, n);
    }
  }

  void select(const VectorInstruction& i) {
    constexpr std::uint8_t codes[] = {0x00, 0x11, 0x12, 0x1e, 0x1d};  // ordered, quiet
    const std::uint8_t code = codes[static_cast<int>(i.comparison)];
    const Xmm out = vector(file_.register_of(i.out)), a = loaded(i.a, 0);
    with(i.b, [&](const Operand& b) {
      if (wide_) {
        kFloat ? vcmpps(k1, a, b, code) : vcmppd(k1, a, b, code);
      } else {
        kFloat ? vcmpps(scratch(0), a, b, code) : vcmppd(scratch(0), a, b, code);
      }
    });
    const Xmm no = loaded(i.d, 1);
    with(i.c, [&](const Operand& yes) {
      if (wide_) {
        kFloat ? vblendmps(out | k1, no, yes) : vblendmpd(out | k1, no, yes);
      } else {
        kFloat ? vblendvps(out, no, yes, scratch(0)) : vblendvpd(out, no, yes, scratch(0));
      }
    });
  }

  /// As kernels.h has it, eight doubles at a time: the sum is in scratch(1) and in memory.
  void step_of_doubles(const VectorInstruction& i, const Xmm& increment, int part) {
    const Xmm sum = scratch(1);
    const int scale = static_cast<int>(sizeof(double) / sizeof(T)),
              at = i.vector * bytes_ * scale + part * 64;
    vaddpd(increment, increment, ptr[rip + grid_labels_[kRounding]]);
    vsubpd(increment, increment, ptr[rip + grid_labels_[kRounding]]);
    vmovapd(sum, ptr[base_of(i.slot) + rdx * scale + at]);
    i.negated ? vsubpd(sum, sum, increment) : vaddpd(sum, sum, increment);
    vaddpd(increment, increment, increment);
    vrangepd(increment, increment, sum, 0x0b);                     // the larger of both without their signs
    vcmppd(k1, increment, ptr[rip + grid_labels_[kLimit]], 0x16);  // not <=
    vblendmpd(sum | k1, sum, ptr[rip + grid_labels_[kNan]]);
    vmovapd(ptr[base_of(i.slot_to) + rdx * scale + at], sum);
  }

  void grid_step(const VectorInstruction& i) {
    on_grid_ = true;
    const int out = file_.register_of(i.out), a = file_.register_of(i.a);
    const Xbyak::Zmm increment(31), sum(30);
    if (!kFloat) {
      vmovapd(increment, Xbyak::Zmm(a));
      step_of_doubles(i, increment, 0);
      vmovapd(Xbyak::Zmm(out), sum);
      return;
    }
    vcvtps2pd(increment, Xbyak::Ymm(a));
    step_of_doubles(i, increment, 0);
    vcvtpd2ps(Xbyak::Ymm(out), sum);
    vextractf32x8(Xbyak::Ymm(31), Xbyak::Zmm(a), 1);
    vcvtps2pd(increment, Xbyak::Ymm(31));
    step_of_doubles(i, increment, 1);
    vcvtpd2ps(Xbyak::Ymm(30), sum);
    vinsertf32x8(Xbyak::Zmm(out), Xbyak::Zmm(out), Xbyak::Ymm(30), 1);
  }

  /// a * b + c in the place of c (231), or of a or b (213).
  void multiply_add(const VectorInstruction& i) {
    const int reg = file_.register_of(i.out);
    const Xmm out = vector(reg);
    int left = i.a, right = i.b;
    const bool in_place = file_.register_of(i.a) == reg || file_.register_of(i.b) == reg;
    if (in_place && file_.register_of(i.c) != reg) {
      if (file_.register_of(left) != reg) std::swap(left, right);
      const Xmm factor = loaded(right, 0);
      with(i.c,
           [&](const Operand& c) { kFloat ? vfmadd213ps(out, factor, c) : vfmadd213pd(out, factor, c); });
      return;
    }
    if (!in_register(left)) std::swap(left, right);
    const Xmm factor = loaded(left, 0);
    if (file_.register_of(i.c) != reg) with(i.c, [&](const Operand& c) { vmovaps(out, c); });
    with(right,
         [&](const Operand& b) { kFloat ? vfmadd231ps(out, factor, b) : vfmadd231pd(out, factor, b); });
  }

  const VectorProgram program_;
  const bool wide_;
  const int bytes_, step_bytes_;  // of a vector, of all that the loop does at a time
  const std::int64_t row_bytes_;
  RegisterFile file_;
  std::vector<int> slots_;
  std::map<int, std::size_t> number_;   // by slot of the stage
  std::map<int, Xbyak::Label> labels_;  // by constant
  enum GridConstant { kRounding, kLimit, kNan, kGridConstants };
  Xbyak::Label grid_labels_[kGridConstants];
  bool on_grid_ = false;
};

}  // namespace

template <class T>
EmittedTiles emit(const VectorProgram& program, SimdLevel level) {
  if (level == SimdLevel::generic) return {};
  try {
    for (const Body& body : bodies_of(program, level, program.width * static_cast<std::int64_t>(sizeof(T)))) {
      const auto code = std::make_shared<TileEmitter<T>>(body, level);
      if (code->generate()) return {code->template getCode<TileFunction>(), code->slots(), code};
    }
  } catch (const Xbyak::Error&) {  // no memory for code
  }
  return {};
}

template EmittedTiles emit<float>(const VectorProgram&, SimdLevel);
template EmittedTiles emit<double>(const VectorProgram&, SimdLevel);

}  // namespace lagtape::recurrence
