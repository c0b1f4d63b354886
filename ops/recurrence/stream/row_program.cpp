#include "lagtape/ops/recurrence/stream/row_program.h"

#include <algorithm>

#include "lagtape/ops/recurrence/jit/list_scheduler.h"
#include "lagtape/ops/recurrence/jit/stage_recorder.h"
#include "lagtape/ops/recurrence/stream/row_weights.h"

namespace lagtape::recurrence {
namespace {

constexpr int kSums = 10;   // maximum sums per pass; those of its next vector use as many registers
constexpr int kAlive = 24;  // registers for a pass's values and the sums of the next vector, if there is one
constexpr int kAliveWithConstants = 20;  // the same for a pass that keeps constants in registers

template <class T>
constexpr std::int64_t kBytes = sizeof(T);

template <class T>
class RowProgrammer {
 public:
  RowProgrammer(const CompiledStack<T>& stack, const std::deque<LayerRunner<T>>& layers,
                const RowMemory<T>& memory, std::span<const Tensor> weights)
      : stack_(stack),
        layers_(layers),
        memory_(memory.base),
        rounded_(memory.rounded),
        weights_(stack, weights) {}

  std::optional<RowProgram<T>> run() {
    for (std::size_t l = 0; l < stack_.layers(); ++l)
      if (!add_layer(l)) return std::nullopt;
    const LayerSchedule &first = stack_.schedule(0), &last = stack_.schedule(stack_.layers() - 1);
    row_.input = address_of(0, {Operand::Kind::array, first.input_array, 0, 0});
    row_.output = address_of(stack_.layers() - 1, last.output);
    row_.output_is_kept = last.arrays[last.output.index].kind == Array::Kind::state ||
                          is_read_by_stage(stack_.layers() - 1, last.output.index, nullptr);
    row_.input_width = stack_.stack().input_width();
    row_.output_width = stack_.stack().output_width();
    row_.weights = weights_.memory();
    return std::move(row_);
  }

 private:
  // ---- stages to passes ----

  bool add_layer(std::size_t layer) {
    const LayerSchedule& schedule = stack_.schedule(layer);
    std::vector<RowProducts> waiting;
    const auto flush = [&] {
      for (const RowProducts& p : waiting) add_pass(layer, {p}, nullptr, {});
      waiting.clear();
    };
    for (const Phase* phase : in_forward_order(schedule.forward))
      for (const Stage& stage : *phase) {
        if (const auto* product = std::get_if<ProductStage>(&stage)) {
          if (product->groups > 1) return false;
          if (reads_result(*product, waiting)) flush();
          for (RowProducts& p : products_by_width(*product)) waiting.push_back(std::move(p));
          continue;
        }
        const auto& elements = std::get<ElementStage>(stage);
        auto program = record<T>(elements, schedule.arrays);
        if (!program) return false;
        const std::vector<RowProducts> fused = take_fitting(waiting, elements);
        flush();
        add_pass(layer, fused, &elements, std::move(*program));
      }
    flush();
    return true;
  }

  /// Whether products multiply a row computed by earlier products: all of it has to be available first.
  static bool reads_result(const ProductStage& stage, const std::vector<RowProducts>& before) {
    return std::ranges::any_of(before, [&](const RowProducts& p) {
      for (std::size_t i = 0; i < p.size(); ++i)
        if (std::ranges::find(stage.operands, p.output(i).index, &Operand::index) != stage.operands.end())
          return true;
      return false;
    });
  }

  /// Takes from `waiting` the products that a pass with this element-wise stage can sum.
  static std::vector<RowProducts> take_fitting(std::vector<RowProducts>& waiting,
                                               const ElementStage& elements) {
    std::vector<RowProducts> fitting;
    int sums = 0;
    std::erase_if(waiting, [&](const RowProducts& p) {
      const int more = static_cast<int>(p.size());
      if (p.output(0).width != elements.register_width || sums + more > kSums) return false;
      sums += more;
      fitting.push_back(p);
      return true;
    });
    return fitting;
  }

  /// Adds a pass. Without an element-wise stage it only stores the sums.
  void add_pass(std::size_t layer, const std::vector<RowProducts>& products, const ElementStage* elements,
                VectorProgram program) {
    RowPass& pass = row_.passes.emplace_back();
    pass.program = std::move(program);
    if (elements == nullptr) pass.program.width = products.front().output(0).width;
    const std::int64_t vectors = pass.program.width / kLane<T>;
    const int together = works_on_two(layer, products, vectors) ? 2 : 1;
    pass.vectors = vectors / together;
    pass.together = together;
    if (elements != nullptr)
      for (const Operand& operand : elements->operands) pass.places.push_back(address_of(layer, operand));
    int sum = 0;
    for (const RowProducts& p : products) {
      add_products(pass, layer, p, sum * together);
      for (std::size_t i = 0; i < p.size(); ++i) {
        const Operand& out = p.output(i);
        VectorInstruction take{VectorOp::product};
        take.out = add_value(pass.program);
        take.operand = sum++;
        pass.program.instructions.insert(pass.program.instructions.begin(), take);
        replace_load(pass, layer, out, take.out, elements);
      }
    }
    if (elements != nullptr) drop_unread_stores(pass.program, layer, *elements);
    int alive = pass.keeps_constants() ? kAliveWithConstants : kAlive;
    if (pass.vectors > 1) alive -= together * sums_of(products);
    pass.program = list_scheduled(side_by_side(pass.program, products, together), alive);
    std::stable_partition(pass.program.instructions.begin(), pass.program.instructions.end(),
                          [](const auto& i) { return i.op == VectorOp::product; });
    weights_.add(pass, layer, products);
  }

  /// Whether a pass processes two vectors at once: if they are the only two of a row, to reduce waiting for
  /// results; and if there are few product instructions with long latency.
  bool works_on_two(std::size_t layer, const std::vector<RowProducts>& products, std::int64_t vectors) const {
    if (vectors % 2 != 0 || 2 * sums_of(products) > kSums) return false;
    return vectors == 2 || std::ranges::any_of(products, [&](const RowProducts& p) {
             return format_of(stack_, layer, *p.stage) != ProductFormat::scalar;
           });
  }

  /// Adds products to a pass, with the rounding of their operand; `sum` is the first of their sums.
  void add_products(RowPass& pass, std::size_t layer, const RowProducts& p, int sum) {
    RowPass::Products& products = pass.products.emplace_back();
    products.operand = address_of(layer, p.stage->operands.front());
    products.k = p.stage->operand_widths.front();
    products.count = pass.together * static_cast<int>(p.size());
    products.vector_bytes = vector_bytes(p);
    products.format = format_of(stack_, layer, *p.stage);
    if (products.format == ProductFormat::scalar) return;
    RoundedOperand& rounded = pass.rounded.emplace_back();
    rounded = {products.operand, rounded_place(), products.k, products.format};
    products.operand = rounded.to;
    const int numbers = products.format == ProductFormat::bf16 ? 2 : 4;
    products.k = (products.k + numbers - 1) / numbers;
    if (products.format == ProductFormat::int8) {
      products.vector_bytes = 64;
      rounded_ += padded<T>(products.k);
      rounded.not_finite = rounded_place();
      rounded_ += kLane<T>;
      weights_.add_integer_sums(pass, layer, p, sum);
    } else {
      products.vector_bytes = std::max<std::int64_t>(products.vector_bytes, 32);
      rounded_ += padded<T>(products.k);
    }
  }

  static int sums_of(const std::vector<RowProducts>& products) {
    int sums = 0;
    for (const RowProducts& p : products) sums += static_cast<int>(p.size());
    return sums;
  }

  /// The program for all vectors of a short row at once, so that its sums and functions wait less for each
  /// other. For each product, the sums of the first vector are followed by those of the second.
  static VectorProgram side_by_side(const VectorProgram& program, const std::vector<RowProducts>& products,
                                    int vectors) {
    VectorProgram all = repeated(program, vectors);
    for (VectorInstruction& take : all.instructions) {
      if (take.op != VectorOp::product) continue;
      int first = 0;
      for (const RowProducts& p : products) {
        const int count = static_cast<int>(p.size());
        if (take.operand < first + count) {
          take.operand += (vectors - 1) * first + take.vector * count;
          break;
        }
        first += count;
      }
    }
    return all;
  }

  /// The bytes of the sums for a product's rows: a vector, half a vector or a single number.
  static std::int64_t vector_bytes(const RowProducts& p) {
    std::int64_t most = 0;
    for (std::size_t o : p.outputs) most = std::max(most, p.stage->output_widths[o] * kBytes<T>);
    return most == kBytes<T> ? most : most <= 32 ? 32 : 64;
  }

  static int add_value(VectorProgram& program, VectorValue value = {}) {
    program.values.push_back(value);
    return static_cast<int>(program.values.size()) - 1;
  }

  int add_place(RowPass& pass, const RowAddress& place) {
    pass.places.push_back(place);
    return static_cast<int>(pass.places.size()) - 1;
  }

  /// Replaces a load of the stage by `value`, which is also stored if others read it. It is not stored if the
  /// stage is its last reader and overwrites the location.
  void replace_load(RowPass& pass, std::size_t layer, const Operand& from, int value,
                    const ElementStage* elements) {
    auto& code = pass.program.instructions;
    const auto load = std::ranges::find_if(code, [&](const VectorInstruction& i) {
      if (i.op != VectorOp::load) return false;
      const Operand& operand = elements->operands[static_cast<std::size_t>(i.operand)];
      return operand.kind == Operand::Kind::array && operand.index == from.index;
    });
    if (load != code.end()) {
      const int loaded = load->out;
      code.erase(load);
      for (VectorInstruction& reader : code)
        for (int* v : {&reader.a, &reader.b, &reader.c, &reader.d})
          if (*v == loaded) *v = value;
    }
    if (!is_read(layer, from.index, elements) || (elements != nullptr && is_written(*elements, from.index)))
      return;
    VectorInstruction store{VectorOp::store};
    store.a = value;
    store.operand = add_place(pass, address_of(layer, from));
    pass.program.instructions.push_back(store);
  }

  /// Drops stores of values that only a backward pass would read.
  void drop_unread_stores(VectorProgram& program, std::size_t layer, const ElementStage& elements) const {
    std::erase_if(program.instructions, [&](const VectorInstruction& i) {
      if (i.op != VectorOp::store || i.operand >= std::ssize(elements.operands)) return false;
      const Operand& operand = elements.operands[static_cast<std::size_t>(i.operand)];
      return stack_.schedule(layer).arrays[operand.index].kind != Array::Kind::state &&
             !is_read(layer, operand.index, &elements);
    });
  }

  static bool is_written(const ElementStage& elements, int array) {
    return std::ranges::any_of(elements.instructions, [&](const ElementInstruction& t) {
      const Operand& out = elements.operands[static_cast<std::size_t>(t.out)];
      return out.kind == Operand::Kind::array && out.index == array;
    });
  }

  /// Whether anything other than this stage reads an array.
  bool is_read(std::size_t layer, int array, const ElementStage* but) const {
    return stack_.schedule(layer).output.index == array || is_read_by_stage(layer, array, but);
  }
  bool is_read_by_stage(std::size_t layer, int array, const ElementStage* but) const {
    const LayerSchedule& schedule = stack_.schedule(layer);
    const auto same = [&](const Operand& s) { return s.kind == Operand::Kind::array && s.index == array; };
    for (const Phase* phase : in_forward_order(schedule.forward))
      for (const Stage& stage : *phase) {
        if (const auto* product = std::get_if<ProductStage>(&stage)) {
          if (std::ranges::any_of(product->operands, same)) return true;
        } else if (const auto& elements = std::get<ElementStage>(stage); &elements != but) {
          if (std::ranges::any_of(elements.operands, same)) return true;
        }
      }
    return false;
  }

  // ---- places ----

  RowAddress address_of(std::size_t layer, const Operand& operand) {
    RowAddress to;
    const LayerSchedule& schedule = stack_.schedule(layer);
    switch (operand.kind) {
      case Operand::Kind::tile: return to;
      case Operand::Kind::weight: return weight_place(layer, operand);
      case Operand::Kind::grid: {
        const ArrayView<T>& view = layers_[layer].array(schedule.grid_arrays[operand.index]);
        for (int odd : {0, 1}) to.bytes[odd] = bytes_to(view.base + ((odd + operand.step) & 1) * view.stride);
        return to;
      }
      default: break;
    }
    if (layer > 0 && operand.index == schedule.input_array) {  // the output of the layer below
      Operand below = stack_.schedule(layer - 1).output;
      below.step += operand.step;
      return address_of(layer - 1, below);
    }
    const Array& array = schedule.arrays[operand.index];
    const ArrayView<T>& view = layers_[layer].array(operand.index);
    if (array.kind != Array::Kind::state) {
      to.bytes = {bytes_to(view.base), bytes_to(view.base)};
    } else if (layers_[layer].program().history(array.index) == 0) {
      for (int odd : {0, 1}) to.bytes[odd] = bytes_to(view.base + ((odd + operand.step) & 1) * view.stride);
    } else {
      to.base = RowAddress::Base::state;
      to.state = moving(layer, operand.index);
      to.bytes = {operand.step * view.stride * kBytes<T>, operand.step * view.stride * kBytes<T>};
    }
    return to;
  }

  std::int64_t bytes_to(const T* p) const { return (p - memory_) * kBytes<T>; }
  RowAddress rounded_place() const {
    RowAddress to;
    to.bytes.fill(bytes_to(rounded_));
    return to;
  }

  int moving(std::size_t layer, int array) {
    const auto known = std::ranges::find_if(
        row_.moving, [&](const MovingState& m) { return m.layer == layer && m.array == array; });
    const auto number = static_cast<int>(known - row_.moving.begin());
    if (known == row_.moving.end())
      row_.moving.push_back({layer, array, layers_[layer].array(array).stride * kBytes<T>});
    return number;
  }

  RowAddress weight_place(std::size_t layer, const Operand& operand) {
    return weights_.add(stack_.weights(layer).vector(operand.index), operand.width);
  }

  const CompiledStack<T>& stack_;
  const std::deque<LayerRunner<T>>& layers_;
  const T* const memory_;
  const T* rounded_;  // memory for the next rounded operand
  RowWeights<T> weights_;
  RowProgram<T> row_;
};

}  // namespace

std::int64_t RowPass::packed_bytes() const {
  std::int64_t bytes = 0;
  for (const Products& p : products) bytes += p.k * p.count * p.vector_bytes;
  return bytes;
}

template <class T>
std::int64_t rounded_elements(const CompiledStack<T>& stack) {
  std::int64_t elements = 0;
  for (std::size_t l = 0; l < stack.layers(); ++l)
    for (const Phase* phase : in_forward_order(stack.schedule(l).forward))
      for (const Stage& stage : *phase)
        if (const auto* p = std::get_if<ProductStage>(&stage);
            p != nullptr && format_of(stack, l, *p) != ProductFormat::scalar)
          elements += width_count(*p) * padded<T>(p->operand_widths.front());
  return elements;
}

template <class T>
std::optional<RowProgram<T>> row_program(const CompiledStack<T>& stack,
                                         const std::deque<LayerRunner<T>>& layers, const RowMemory<T>& memory,
                                         std::span<const Tensor> weights) {
  return RowProgrammer<T>(stack, layers, memory, weights).run();
}

template std::int64_t rounded_elements(const CompiledStack<float>&);
template std::int64_t rounded_elements(const CompiledStack<double>&);
template std::optional<RowProgram<float>> row_program(const CompiledStack<float>&,
                                                      const std::deque<LayerRunner<float>>&,
                                                      const RowMemory<float>&, std::span<const Tensor>);
template std::optional<RowProgram<double>> row_program(const CompiledStack<double>&,
                                                       const std::deque<LayerRunner<double>>&,
                                                       const RowMemory<double>&, std::span<const Tensor>);

}  // namespace lagtape::recurrence
