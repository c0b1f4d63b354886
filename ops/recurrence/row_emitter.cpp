#include "lagtape/ops/recurrence/row_emitter.h"

#include <algorithm>
#include <deque>
#include <numeric>

#include "lagtape/ops/recurrence/late_terms.h"
#include "lagtape/ops/recurrence/vector_emitter.h"

namespace lagtape::recurrence {
namespace {

using Xbyak::Address;
using Xbyak::Reg64;
using Xbyak::Xmm;
using Xbyak::Zmm;

constexpr std::int64_t kVector = 64;           // bytes
constexpr std::int64_t kUnrolled = 512;        // multiply-adds of a product that stand one after another
constexpr std::int64_t kUnrolledTerms = 8;     // of a loop over longer ones
constexpr std::int64_t kNear = 24 << 10;       // bytes of weights that stay in the nearest cache
constexpr int kElement = 31;                   // the register of an element of an operand
constexpr int kRegisters = 30;                 // of sums and of the work on them; two are scratch
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
    for (Turns& turns : turns_) {
      L(turns.label);
      for (const auto& places : turns.places)
        for (std::int64_t bytes : places) dq(static_cast<std::uint64_t>(bytes));
    }
    return setProtectModeRE(false);
  }
  const std::array<RowFunction<T>, 2>& entries() const { return entries_; }

 private:
  static std::size_t bytes_of(const RowCode<T>& code) {
    std::size_t bytes = 4096 + 64 * static_cast<std::size_t>(code.input_width + code.output_width);
    for (const RowPass& pass : code.passes) {
      bytes += 2 * code_bytes(pass.program) + 16 * static_cast<std::size_t>(pass.vectors);
      for (const auto& p : pass.products)
        bytes +=
            1024 + 2 * static_cast<std::size_t>(std::min(p.k * p.count, kUnrolled) + p.k + 64 * p.count) *
                       kMultiplyAddBytes;
    }
    return 2 * bytes;
  }

  // ---- registers: rdi memory, rsi input, then the turns of a pass, r11 output, rcx moving states, r10
  // packed weights, r8 those of the sums at work, rdx the vector's place, r9 an operand, rax scratch ----

  bool step() {
    enter();
    mov(r11, rdx);
    mov(r10, reinterpret_cast<std::uint64_t>(code_.weights.get()));
    pass_ = nullptr;
    copy_input();
    for (std::size_t i = 0; i < code_.passes.size(); ++i) {
      const RowPass &pass = code_.passes[i], *next = i + 1 < code_.passes.size() ? &pass + 1 : nullptr;
      const bool takes_next = next != nullptr && overlaps(pass) && sums_up(*next, pass);
      if (!emit_pass(pass, takes_next ? next : nullptr)) return false;
      if (takes_next) ++i;
    }
    pass_ = nullptr;
    copy_output();
    for (std::size_t i = 0; i < code_.moving.size(); ++i)
      add(qword[rcx + static_cast<int>(8 * i)], static_cast<std::uint32_t>(code_.moving[i].bytes));
    leave();
    return true;
  }

  /// Vectors, then what is left in halves: masked moves touch what lies beside the caller's numbers, and make
  /// it wait.
  template <class F>
  static void for_parts(std::int64_t width, F f) {
    int at = 0;
    const int bytes = static_cast<int>(width * sizeof(T));
    for (int part = kVector; part >= static_cast<int>(sizeof(T)); part /= 2)
      for (; bytes - at >= part; at += part) f(part, at);
  }
  void load_part(int bytes, const Address& from) {
    switch (bytes) {
      case 64: return vmovups(Zmm(31), from);
      case 32: return vmovups(Xbyak::Ymm(31), from);
      case 16: return vmovups(Xmm(31), from);
      case 8: return vmovsd(Xmm(31), from);
      default: vmovss(Xmm(31), from);
    }
  }
  void store_part(int bytes, const Address& to) {
    switch (bytes) {
      case 64: return vmovups(to, Zmm(31));
      case 32: return vmovups(to, Xbyak::Ymm(31));
      case 16: return vmovups(to, Xmm(31));
      case 8: return vmovsd(to, Xmm(31));
      default: vmovss(to, Xmm(31));
    }
  }
  void copy_input() {
    const Reg64 to = pointer_to(code_.input);
    for_parts(code_.input_width, [&](int bytes, int at) {
      load_part(bytes, ptr[rsi + at]);
      // Alone in its vector, a part takes the padding's zeros along: then the vector can be read as a whole.
      store_part(at % kVector == 0 ? 64 : bytes, ptr[to + at]);
    });
  }
  void copy_output() {
    const Reg64 from = pointer_to(code_.output);
    for_parts(code_.output_width, [&](int bytes, int at) {
      load_part(bytes, ptr[from + at]);
      store_part(bytes, ptr[r11 + at]);
    });
  }

  // ---- passes ----

  /// `follower` has its sums added up beside.
  bool emit_pass(const RowPass& pass, const RowPass* follower) {
    pass_ = &pass;
    if (overlaps(pass)) return emit_overlapped(pass, follower);
    const bool loops = pass.vectors > 1;
    const std::int64_t last = odd_ ? 0 : pass.vectors - 1, first = odd_ ? pass.vectors - 1 : 0;
    const std::int64_t by = odd_ ? -1 : 1;
    load_weights_of(first);
    if (loops) mov(edx, bytes_to_vector(first));
    Xbyak::Label loop;
    L(loop);
    if (!work(pass, Beside::nothing, true)) return false;
    if (!loops) return true;
    add(r8, static_cast<std::uint32_t>(by * pass.packed_bytes()));
    add(rdx, static_cast<std::uint32_t>(by * kVector));
    cmp(rdx, bytes_to_vector(last + by));
    jne(loop, T_NEAR);
    return true;
  }

  static bool overlaps(const RowPass& pass) {
    return pass.vectors > 1 && !pass.products.empty() &&
           std::ranges::all_of(pass.products, [](const auto& p) { return p.k * p.count <= kUnrolled; });
  }
  /// Whether a pass adds up no more than the elements of a row that the one before it stores: a read-out.
  static bool sums_up(const RowPass& pass, const RowPass& before) {
    if (pass.vectors > 1 || pass.products.size() != 1) return false;
    const RowPass::Products& p = pass.products.front();
    return p.count == 1 && p.k <= kUnrolled &&
           std::ranges::any_of(before.program.code, [&](const VectorInstruction& i) {
             return i.op == VectorOp::store && before.places[static_cast<std::size_t>(i.slot)] == p.operand;
           });
  }

  /// The work on a vector beside the sums of the next in turn, and beside the terms of a follower's sums as
  /// soon as their elements are there: left to the end, that chain would be what a step waits for.
  bool emit_overlapped(const RowPass& pass, const RowPass* follower) {
    const std::vector<Zmm> late = follower != nullptr ? sums_of(*follower) : std::vector<Zmm>();
    reserved_ = static_cast<int>(late.size());
    clear(late);
    const std::vector<std::int64_t> order = order_of(pass);
    load_weights_of(order.front());
    add_terms(pass, sums_of(pass));
    Turns& turns = turns_.emplace_back();
    LateTerms<T> terms(pass, follower);
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      turns.places.push_back({bytes_to_vector(order[i]), pass.weights + order[i + 1] * pass.packed_bytes()});
      if (follower != nullptr) turns.places.push_back(terms.next_whole());
      terms.stored(order[i]);
    }
    lea(rsi, ptr[rip + turns.label]);
    Xbyak::Label loop;
    L(loop);
    if (follower != nullptr) add_late_terms_of_turn(*follower, late);
    mov(rdx, ptr[rsi]);
    mov(r8, ptr[rsi + 8]);
    add(r8, r10);
    add(rsi, follower != nullptr ? 32 : 16);
    if (!work(pass, Beside::next_vector)) return false;
    cmp(edx, bytes_to_vector(order.end()[-2]));
    jne(loop, T_NEAR);
    add_late_terms(follower, late, terms);
    mov(edx, bytes_to_vector(order.back()));
    if (!work(pass, Beside::nothing)) return false;
    terms.stored(order.back());
    add_late_terms(follower, late, terms);
    reserved_ = 0;
    pass_ = follower;
    return follower == nullptr || work(*follower, Beside::nothing);
  }

  void add_late_terms_of_turn(const RowPass& follower, const std::vector<Zmm>& sums) {
    const auto& p = follower.products.front();
    Xbyak::Label none;
    mov(rdx, ptr[rsi + 16]);
    mov(r8, ptr[rsi + 24]);
    test(rdx, rdx);
    js(none, T_NEAR);
    add(r8, r10);
    const Reg64 base = base_of(p.operand);
    lea(r9, ptr[base + rdx + bytes_to(p.operand)]);
    for (std::int64_t i = 0; i < kLane<T>; ++i) add_term(p, sums.data(), i, i * p.vector_bytes);
    L(none);
  }
  void add_late_terms(const RowPass* follower, const std::vector<Zmm>& sums, LateTerms<T>& terms) {
    if (follower == nullptr) return;
    const auto& p = follower->products.front();
    load_pointer(r9, p.operand);
    lea(r8, ptr[r10 + static_cast<int>(follower->weights)]);
    while (true) {
      const auto [first, count] = terms.next();
      if (count == 0) return;
      for (std::int64_t i = first; i < first + count; ++i) add_term(p, sums.data(), i, i * p.vector_bytes);
    }
  }

  /// The vectors in turn: upwards, as what comes next reads them. Where the weights do not stay in the
  /// nearest cache, the two that the step before had last come first, its last one before the other; odd
  /// steps take no more than half of a row so.
  std::vector<std::int64_t> order_of(const RowPass& pass) const {
    std::vector<std::int64_t> order(static_cast<std::size_t>(pass.vectors));
    std::iota(order.begin(), order.end(), 0);
    if (pass.vectors * pass.packed_bytes() <= kNear) return order;
    const std::int64_t half = std::min<std::int64_t>(2, pass.vectors / 2);
    const std::int64_t end = odd_ ? pass.vectors : pass.vectors - half, count = odd_ ? half : 2;
    for (std::int64_t v = std::max<std::int64_t>(0, end - count); v < end; ++v) {
      const auto at = std::find(order.begin(), order.end(), v);
      std::rotate(order.begin(), at, at + 1);
    }
    return order;
  }

  void load_weights_of(std::int64_t v) {
    lea(r8, ptr[r10 + static_cast<int>(pass_->weights + v * pass_->packed_bytes())]);
  }
  static std::uint32_t bytes_to_vector(std::int64_t v) { return static_cast<std::uint32_t>(v * kVector); }

  /// Registers of the sums: the last ones, so that those of the next vector can be added up while the work on
  /// these is done.
  std::vector<Zmm> sums_of(const RowPass& pass) const {
    int count = 0;
    for (const auto& p : pass.products) count += p.count;
    std::vector<Zmm> sums;
    for (int s = 0; s < count; ++s) sums.emplace_back(kRegisters - reserved_ - count + s);
    return sums;
  }

  enum class Beside : std::uint8_t { nothing, next_vector };
  /// The element-wise work on the vector at rdx.
  bool work(const RowPass& pass, Beside beside, bool with_sums = false) {
    const std::vector<Zmm> sums = sums_of(pass);
    if (with_sums) add_products(pass, sums);
    RegisterFile file(pass.program, kRegisters - reserved_ - static_cast<int>(sums.size()), Residents::none);
    begin(pass.program, file);
    const auto& code = pass.program.code;
    std::size_t at = 0;
    for (; at < code.size() && code[at].op == VectorOp::product; ++at) {
      if (!instruction(at)) return false;
      vmovaps(vector(file.register_of(code[at].out)), sums[static_cast<std::size_t>(code[at].slot)]);
    }
    if (beside == Beside::nothing) {
      for (; at < code.size(); ++at)
        if (!instruction(at)) return false;
      return true;
    }
    clear(sums);
    Terms terms;
    const std::size_t first = at, rest = code.size() - first;
    const auto all = static_cast<std::size_t>(term_count(pass));
    for (std::size_t done = 1; add_term(pass, sums, terms); ++done)
      for (; (at - first) * all < rest * done; ++at)
        if (!instruction(at)) return false;
    return true;
  }

  // ---- products: one term of all sums after the other ----

  struct Terms {
    std::size_t product = 0;
    std::int64_t element = 0, packed = 0;  // bytes
    std::size_t sum = 0;
  };
  static std::int64_t term_count(const RowPass& pass) {
    std::int64_t count = 0;
    for (const auto& p : pass.products) count += p.k;
    return count;
  }
  void clear(const std::vector<Zmm>& sums) {
    for (const Zmm& s : sums) vpxord(s, s, s);
  }
  void add_terms(const RowPass& pass, const std::vector<Zmm>& sums) {
    clear(sums);
    for (Terms terms; add_term(pass, sums, terms);) {
    }
  }
  /// False when there is none left.
  bool add_term(const RowPass& pass, const std::vector<Zmm>& sums, Terms& terms) {
    if (terms.product == pass.products.size()) return false;
    const auto& p = pass.products[terms.product];
    if (terms.element == 0) load_pointer(r9, p.operand);
    add_term(p, sums.data() + terms.sum, terms.element, terms.packed);
    terms.packed += p.count * p.vector_bytes;
    if (++terms.element < p.k) return true;
    ++terms.product;
    terms.sum += static_cast<std::size_t>(p.count);
    terms.element = 0;
    return true;
  }

  /// In loops where they are long. Leaves r8 as it is.
  void add_products(const RowPass& pass, const std::vector<Zmm>& sums) {
    clear(sums);
    const Zmm* sum = sums.data();
    std::int64_t moved = 0, packed = 0;  // bytes
    for (const auto& p : pass.products) {
      load_pointer(r9, p.operand);
      const std::int64_t term = p.count * p.vector_bytes;
      std::int64_t done = 0;
      if (p.k * p.count > kUnrolled) {
        const std::int64_t rounds = p.k / kUnrolledTerms;
        if (packed != moved) add(r8, static_cast<std::uint32_t>(packed - moved));
        mov(eax, static_cast<std::uint32_t>(rounds));
        Xbyak::Label loop;
        align(32);
        L(loop);
        for (std::int64_t i = 0; i < kUnrolledTerms; ++i) add_term(p, sum, i, i * term);
        add(r9, static_cast<std::uint32_t>(kUnrolledTerms * sizeof(T)));
        add(r8, static_cast<std::uint32_t>(kUnrolledTerms * term));
        dec(eax);
        jnz(loop, T_NEAR);
        done = rounds * kUnrolledTerms;
        moved = packed + done * term;
      }
      for (std::int64_t i = done; i < p.k; ++i) add_term(p, sum, i - done, packed + i * term - moved);
      packed += p.k * term;
      sum += p.count;
    }
    if (moved != 0) sub(r8, static_cast<std::uint32_t>(moved));
  }

  void add_term(const RowPass::Products& p, const Zmm* sum, std::int64_t element, std::int64_t at) {
    const bool number = p.vector_bytes == sizeof(T);
    const Xmm left(kElement);
    const Address from = ptr[r9 + static_cast<int>(element * sizeof(T))];
    if (number) {
      float_ ? vmovss(left, from) : vmovsd(left, from);
    } else {
      float_ ? vbroadcastss(Zmm(kElement), from) : vbroadcastsd(Zmm(kElement), from);
    }
    for (int c = 0; c < p.count; ++c) {
      const Xmm out = part(sum[c], p);
      const Address right = ptr[r8 + static_cast<int>(at + c * p.vector_bytes)];
      if (number) {
        float_ ? vfmadd231ss(out, left, right) : vfmadd231sd(out, left, right);
      } else {
        float_ ? vfmadd231ps(out, part(Zmm(kElement), p), right)
               : vfmadd231pd(out, part(Zmm(kElement), p), right);
      }
    }
  }
  /// As much of a register as the sums fill.
  static Xmm part(const Zmm& reg, const RowPass::Products& p) {
    const auto kind = p.vector_bytes == 64   ? Xbyak::Operand::ZMM
                      : p.vector_bytes == 32 ? Xbyak::Operand::YMM
                                             : Xbyak::Operand::XMM;
    return Xmm(kind, reg.getIdx());
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
  int reserved_ = 0;  ///< registers of a follower's sums
  /// A pass's vectors in turn, but for the last: bytes to each in a row, and to the packed weights of the
  /// next; then, with a follower, those to its late elements and their weights.
  struct Turns {
    Xbyak::Label label;
    std::vector<std::array<std::int64_t, 2>> places;
  };
  std::deque<Turns> turns_;
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
