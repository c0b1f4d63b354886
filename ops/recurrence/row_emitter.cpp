#include "lagtape/ops/recurrence/row_emitter.h"

#include <algorithm>

#include "lagtape/ops/recurrence/vector_emitter.h"

namespace lagtape::recurrence {
namespace {

using Xbyak::Address;
using Xbyak::Reg64;
using Xbyak::Zmm;

constexpr std::int64_t kVector = 64;           // bytes
constexpr std::int64_t kUnrolled = 512;        // multiply-adds of a product that stand one after another
constexpr std::int64_t kUnrolledTerms = 8;     // of a loop over longer ones
constexpr std::size_t kMultiplyAddBytes = 16;  // of code, at most, with its share of what is around it

template <class T>
class RowEmitter : public VectorEmitter {
 public:
  explicit RowEmitter(const RowCode<T>& code)
      : VectorEmitter(bytes_of(code), SimdLevel::avx512, sizeof(T)), code_(code) {}

  bool generate() {
    for (odd_ = 0; odd_ < 2; ++odd_) {
      align(64);
      entries_[odd_] = getCurr<RowFunction<T>>();
      if (!step()) return false;
    }
    constants();
    return setProtectModeRE(false);
  }
  const std::array<RowFunction<T>, 2>& entries() const { return entries_; }

 private:
  static std::size_t bytes_of(const RowCode<T>& code) {
    std::size_t bytes = 4096 + 64 * static_cast<std::size_t>(code.input_width + code.output_width);
    for (const RowPass& pass : code.passes) {
      bytes += code_bytes(pass.program);
      for (const auto& p : pass.products)
        bytes += 1024 + static_cast<std::size_t>(std::min(p.k * p.count, kUnrolled) + p.k + 64 * p.count) *
                            kMultiplyAddBytes;
    }
    return 2 * bytes;
  }

  // ---- registers: rdi memory, rsi input, r11 output, rcx moving states, r10 packed weights, r8 those of the
  // vector at work, rdx its place in a row, r9 an operand, rax scratch ----

  bool step() {
    enter();
    mov(r11, rdx);
    mov(r10, reinterpret_cast<std::uint64_t>(code_.weights.get()));
    pass_ = nullptr;
    copy_input();
    for (const RowPass& pass : code_.passes)
      if (!emit_pass(pass)) return false;
    pass_ = nullptr;
    copy_output();
    leave();
    return true;
  }

  /// Elements beyond the vectors are masked.
  template <class F>
  void for_vectors(std::int64_t width, F f) {
    const std::int64_t lane = kVector / static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < width; i += lane) {
      if (width - i < lane) {
        mov(eax, (1u << (width - i)) - 1);
        kmovw(k2, eax);
      }
      f(static_cast<int>(i * sizeof(T)), width - i < lane);
    }
  }
  void copy_input() {
    const Reg64 to = pointer_to(code_.input);
    for_vectors(code_.input_width, [&](int at, bool part) {
      const Zmm v = part ? Zmm(31) | k2 | T_z : Zmm(31);
      float_ ? vmovups(v, ptr[rsi + at]) : vmovupd(v, ptr[rsi + at]);
      vmovaps(ptr[to + at], Zmm(31));
    });
  }
  void copy_output() {
    const Reg64 from = pointer_to(code_.output);
    for_vectors(code_.output_width, [&](int at, bool part) {
      const Address to = part ? ptr[r11 + at] | k2 : ptr[r11 + at];
      vmovaps(Zmm(31), ptr[from + at]);
      float_ ? vmovups(to, Zmm(31)) : vmovupd(to, Zmm(31));
    });
  }

  // ---- passes ----

  bool emit_pass(const RowPass& pass) {
    pass_ = &pass;
    const bool loops = pass.vectors > 1;
    const std::int64_t block = pass.packed_vectors() * kVector, last = pass.vectors - 1;
    const std::int64_t first = odd_ ? last : 0, end = odd_ ? -1 : pass.vectors, forth = odd_ ? -1 : 1;
    lea(r8, ptr[r10 + static_cast<int>(pass.weights + first * block)]);
    if (loops) mov(edx, static_cast<std::uint32_t>(first * kVector));
    RegisterFile file(pass.program, registers(), Residents::none);
    begin(pass.program, file);
    load_residents();
    Xbyak::Label loop;
    L(loop);
    std::size_t at = 0;
    std::vector<Zmm> sums(pass.program.code.size());
    for (; at < pass.program.code.size() && pass.program.code[at].op == VectorOp::product; ++at) {
      if (!instruction(at)) return false;
      const VectorInstruction& i = pass.program.code[at];
      sums[static_cast<std::size_t>(i.slot)] = Zmm(file.register_of(i.out));
    }
    const std::int64_t passed = add_products(pass, sums);
    for (; at < pass.program.code.size(); ++at)
      if (!instruction(at)) return false;
    if (!loops) return true;
    add(r8, static_cast<std::uint32_t>(forth * block - passed));
    add(rdx, static_cast<std::uint32_t>(forth * kVector));
    cmp(rdx, static_cast<std::uint32_t>(end * kVector));
    jne(loop, T_NEAR);
    return true;
  }

  /// Returns the bytes that r8 has moved on.
  std::int64_t add_products(const RowPass& pass, const std::vector<Zmm>& sums) {
    int first = 0;
    for (const auto& p : pass.products)
      for (int c = 0; c < p.count; ++c, ++first)
        vpxord(sums[static_cast<std::size_t>(first)], sums[static_cast<std::size_t>(first)],
               sums[static_cast<std::size_t>(first)]);
    first = 0;
    std::int64_t moved = 0, packed = 0;  // bytes
    for (const auto& p : pass.products) {
      const Zmm* sum = sums.data() + first;
      first += p.count;
      load_pointer(r9, p.operand);
      const std::int64_t term = p.count * kVector;
      std::int64_t done = 0;
      if (p.k * p.count > kUnrolled) {
        const std::int64_t rounds = p.k / kUnrolledTerms;
        if (packed != moved) add(r8, static_cast<std::uint32_t>(packed - moved));
        moved = packed;
        mov(eax, static_cast<std::uint32_t>(rounds));
        Xbyak::Label loop;
        align(32);
        L(loop);
        for (std::int64_t i = 0; i < kUnrolledTerms; ++i) add_term(sum, p.count, i, i * term);
        add(r9, static_cast<std::uint32_t>(kUnrolledTerms * sizeof(T)));
        add(r8, static_cast<std::uint32_t>(kUnrolledTerms * term));
        dec(eax);
        jnz(loop, T_NEAR);
        done = rounds * kUnrolledTerms;
        moved += done * term;
      }
      for (std::int64_t i = done; i < p.k; ++i) add_term(sum, p.count, i - done, packed + i * term - moved);
      packed += p.k * term;
    }
    return moved;
  }

  void add_term(const Zmm* sum, int count, std::int64_t element, std::int64_t at) {
    const Zmm left(31);
    const Address from = ptr[r9 + static_cast<int>(element * sizeof(T))];
    float_ ? vbroadcastss(left, from) : vbroadcastsd(left, from);
    for (int c = 0; c < count; ++c) {
      const Address right = ptr[r8 + static_cast<int>(at + c * kVector)];
      float_ ? vfmadd231ps(sum[c], left, right) : vfmadd231pd(sum[c], left, right);
    }
  }

  // ---- places ----

  Reg64 base_of(const RowPlace& place) {
    if (place.base == RowPlace::Base::memory) return rdi;
    if (place.base == RowPlace::Base::weights) return r10;
    mov(rax, ptr[rcx + 8 * place.state]);
    return rax;
  }
  int bytes_to(const RowPlace& place) const { return static_cast<int>(place.bytes[odd_]); }
  void load_pointer(const Reg64& reg, const RowPlace& place) {
    const Reg64 base = base_of(place);
    lea(reg, ptr[base + bytes_to(place)]);
  }
  Reg64 pointer_to(const RowPlace& place) {
    load_pointer(r9, place);
    return r9;
  }
  Address at(const RowPlace& place, int offset, int scale) {
    const Reg64 base = base_of(place);
    const int bytes = bytes_to(place) + offset;
    return pass_->vectors > 1 ? ptr[base + rdx * scale + bytes] : ptr[base + bytes];
  }
  Address array_at(int slot, int offset, int scale) override {
    return at(pass_->places[static_cast<std::size_t>(slot)], offset, scale);
  }
  Address array_before(int slot, int offset) override { return array_at(slot, offset, 1); }
  Address number_at(int slot, int offset) override {
    const RowPlace& place = pass_->places[static_cast<std::size_t>(slot)];
    const Reg64 base = base_of(place);
    return ptr[base + bytes_to(place) + offset];
  }
  Address weight_at(int slot, int offset) override { return array_at(slot, offset, 1); }

  const RowCode<T>& code_;
  const RowPass* pass_ = nullptr;
  std::size_t odd_ = 0;
  std::array<RowFunction<T>, 2> entries_{};
};

}  // namespace

template <class T>
EmittedRow<T> emit(const RowCode<T>& code) {
  try {
    const auto emitter = std::make_shared<RowEmitter<T>>(code);
    if (emitter->generate()) return {emitter->entries(), emitter};
  } catch (const Xbyak::Error&) {  // no memory for code
  }
  return {};
}

template EmittedRow<float> emit(const RowCode<float>&);
template EmittedRow<double> emit(const RowCode<double>&);

}  // namespace lagtape::recurrence
