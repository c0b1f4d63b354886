#include "lagtape/tools/bench/onednn_lstm.h"

#ifdef LAGTAPE_WITHOUT_ONEDNN

namespace lagtape::bench {

// Never constructed, because oneDNN is not available.
struct OnednnLstm::Implementation {};
OnednnLstm::OnednnLstm(const LstmSizes&, const LstmValues&, LstmPrecision) {}
OnednnLstm::~OnednnLstm() = default;
void OnednnLstm::prepare(int) {}
void OnednnLstm::run(int) {}
LstmResults OnednnLstm::results() const { return {}; }

bool onednn_has_bf16() { return false; }
std::string onednn_version() { return {}; }

}  // namespace lagtape::bench

#else

#include <omp.h>

#include <cstring>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "lagtape/core/error.h"

namespace lagtape::bench {

namespace {

using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;
using Type = memory::data_type;

#if DNNL_VERSION_MAJOR >= 3
template <class... Descriptions>
dnnl::lstm_forward::primitive_desc forward_of(const dnnl::engine& engine,
                                              const Descriptions&... descriptions) {
  return {engine, dnnl::prop_kind::forward_training, descriptions...};
}
template <class... Descriptions>
dnnl::lstm_backward::primitive_desc backward_of(const dnnl::engine& engine,
                                                const dnnl::lstm_forward::primitive_desc& forward,
                                                const Descriptions&... descriptions) {
  return {engine, dnnl::prop_kind::backward, descriptions..., forward};
}
#else
template <class... Descriptions>
dnnl::lstm_forward::primitive_desc forward_of(const dnnl::engine& engine,
                                              const Descriptions&... descriptions) {
  return {{dnnl::prop_kind::forward_training, descriptions...}, engine};
}
template <class... Descriptions>
dnnl::lstm_backward::primitive_desc backward_of(const dnnl::engine& engine,
                                                const dnnl::lstm_forward::primitive_desc& forward,
                                                const Descriptions&... descriptions) {
  return {{dnnl::prop_kind::backward, descriptions...}, engine, forward};
}
#endif

/// The numbers in a memory object, mapped during this object's lifetime.
class Mapped {
 public:
  explicit Mapped(const memory& of) : memory_(of), data_(of.map_data<char>()) {}
  ~Mapped() { memory_.unmap_data(data_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  char* data() const { return data_; }

 private:
  const memory& memory_;
  char* data_;
};

}  // namespace

/// A plain layout for numbers of a given type.
struct Layout {
  memory::dims dims;
  memory::format_tag tag;

  memory::desc of(Type type) const { return {dims, type, tag}; }
  memory::desc preferred(Type type) const { return {dims, type, memory::format_tag::any}; }
};

/// The primitives for one number of threads, which is fixed when a primitive is made.
struct Passes {
  dnnl::lstm_forward forward;
  dnnl::lstm_backward backward;
  Arguments forward_arguments, backward_arguments;
  std::vector<memory> accumulators;  // the backward primitive adds to the gradients of the weights
};

struct OnednnLstm::Implementation {
  LstmSizes sizes;
  Type type;  // the type of inputs, weights and h
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::map<int, Passes> passes;                   // by number of threads
  std::vector<std::pair<int, memory> > memories;  // by use; shared where layouts do not depend on the threads
  const Passes* last = nullptr;

  Layout x, w_input, w_state, bias, h, state;
  LstmValues values;

  Implementation(const LstmSizes& s, const LstmValues& v, LstmPrecision precision)
      : sizes(s),
        type(precision == LstmPrecision::bf16 ? Type::bf16 : Type::f32),
        x{{s.steps, s.batch, s.input}, memory::format_tag::tnc},
        w_input{{1, 1, s.input, 4, s.units}, memory::format_tag::ldigo},
        w_state{{1, 1, s.units, 4, s.units}, memory::format_tag::ldigo},
        bias{{1, 1, 4, s.units}, memory::format_tag::ldgo},
        h{{s.steps, s.batch, s.units}, memory::format_tag::tnc},
        state{{1, 1, s.batch, s.units}, memory::format_tag::ldnc},
        values(v) {}

  memory shared(int argument, const memory::desc& desc) {
    for (const auto& [known, memory] : memories) {
      if (known == argument && memory.get_desc() == desc) return memory;
    }
    return memories.emplace_back(argument, memory(desc, engine)).second;
  }

  void convert(memory source, memory target) {
    dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
  }

  /// An argument's memory with numbers from a plain layout, converted first to its type and then to the layout
  /// that the primitive prefers.
  memory holding(int argument, const Layout& layout, const std::vector<float>& numbers,
                 const memory::desc& desc) {
    memory given(layout.of(Type::f32), engine);
    std::memcpy(Mapped(given).data(), numbers.data(), numbers.size() * sizeof(float));
    memory rounded(layout.of(type_of(desc)), engine), result = shared(argument, desc);
    convert(given, rounded);
    convert(rounded, result);
    return result;
  }

  memory zeros(int argument, Type state_type) {
    const std::vector<float> numbers(static_cast<std::size_t>(sizes.batch * sizes.units));
    return holding(argument, state, numbers, state.of(state_type));
  }

  std::vector<float> read(memory source, const Layout& layout) {
    const memory::desc plain = layout.of(Type::f32);
    std::vector<float> numbers(plain.get_size() / sizeof(float));
    memory target(plain, engine);
    convert(source, target);
    std::memcpy(numbers.data(), Mapped(target).data(), plain.get_size());
    return numbers;
  }

  static Type type_of(const memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
    return desc.get_data_type();
#else
    return desc.data_type();
#endif
  }

  Passes make(int threads);
};

Passes OnednnLstm::Implementation::make(int threads) {
  omp_set_num_threads(threads);
  constexpr Type f32 = Type::f32;
  const auto direction = dnnl::rnn_direction::unidirectional_left2right;
  // The zero initial state is passed explicitly: without it, oneDNN 2.6 computes a wrong gradient of the state
  // weights.
  const auto forward =
      forward_of(engine, direction, x.of(type), state.of(type), state.of(f32), w_input.preferred(type),
                 w_state.preferred(type), bias.of(f32), h.of(type), state.of(type), state.of(f32));
  const auto backward =
      backward_of(engine, forward, direction, x.of(type), state.of(type), state.of(f32),
                  w_input.preferred(type), w_state.preferred(type), bias.of(f32), h.of(type), state.of(type),
                  state.of(f32), x.of(f32), state.of(f32), state.of(f32), w_input.preferred(f32),
                  w_state.preferred(f32), bias.of(f32), h.of(f32), state.of(f32), state.of(f32));

  constexpr int kBackward = 1 << 20;  // the backward pass may prefer another weight layout
  Passes made;
  made.forward = dnnl::lstm_forward(forward);
  made.backward = dnnl::lstm_backward(backward);
  const Arguments common = {{DNNL_ARG_SRC_LAYER, holding(DNNL_ARG_SRC_LAYER, x, values.x, x.of(type))},
                            {DNNL_ARG_SRC_ITER, zeros(DNNL_ARG_SRC_ITER, type)},
                            {DNNL_ARG_SRC_ITER_C, zeros(DNNL_ARG_SRC_ITER_C, f32)},
                            {DNNL_ARG_BIAS, holding(DNNL_ARG_BIAS, bias, values.bias, bias.of(f32))},
                            {DNNL_ARG_DST_LAYER, shared(DNNL_ARG_DST_LAYER, h.of(type))},
                            {DNNL_ARG_DST_ITER, shared(DNNL_ARG_DST_ITER, state.of(type))},
                            {DNNL_ARG_DST_ITER_C, shared(DNNL_ARG_DST_ITER_C, state.of(f32))},
                            {DNNL_ARG_WORKSPACE, shared(DNNL_ARG_WORKSPACE, forward.workspace_desc())}};
  made.forward_arguments = common;
  made.forward_arguments.insert(
      {{DNNL_ARG_WEIGHTS_LAYER, holding(0, w_input, values.w_input, forward.weights_layer_desc())},
       {DNNL_ARG_WEIGHTS_ITER, holding(1, w_state, values.w_state, forward.weights_iter_desc())}});
  made.accumulators = {shared(DNNL_ARG_DIFF_WEIGHTS_LAYER, backward.diff_weights_layer_desc()),
                       shared(DNNL_ARG_DIFF_WEIGHTS_ITER, backward.diff_weights_iter_desc()),
                       shared(DNNL_ARG_DIFF_BIAS, backward.diff_bias_desc())};
  made.backward_arguments = common;
  made.backward_arguments.insert(
      {{DNNL_ARG_WEIGHTS_LAYER, holding(kBackward, w_input, values.w_input, backward.weights_layer_desc())},
       {DNNL_ARG_WEIGHTS_ITER, holding(kBackward + 1, w_state, values.w_state, backward.weights_iter_desc())},
       {DNNL_ARG_DIFF_DST_LAYER, holding(DNNL_ARG_DIFF_DST_LAYER, h, values.grad_h, h.of(f32))},
       {DNNL_ARG_DIFF_DST_ITER, zeros(DNNL_ARG_DIFF_DST_ITER, f32)},
       {DNNL_ARG_DIFF_DST_ITER_C, zeros(DNNL_ARG_DIFF_DST_ITER_C, f32)},
       {DNNL_ARG_DIFF_SRC_LAYER, shared(DNNL_ARG_DIFF_SRC_LAYER, x.of(f32))},
       {DNNL_ARG_DIFF_SRC_ITER, shared(DNNL_ARG_DIFF_SRC_ITER, state.of(f32))},
       {DNNL_ARG_DIFF_SRC_ITER_C, shared(DNNL_ARG_DIFF_SRC_ITER_C, state.of(f32))},
       {DNNL_ARG_DIFF_WEIGHTS_LAYER, made.accumulators[0]},
       {DNNL_ARG_DIFF_WEIGHTS_ITER, made.accumulators[1]},
       {DNNL_ARG_DIFF_BIAS, made.accumulators[2]}});
  return made;
}

namespace {

/// Converts oneDNN's own errors to Error.
template <class Work>
auto guarded(Work work) try {
  return work();
} catch (const dnnl::error& error) {
  throw Error(text_of("[bench] oneDNN: ", error.what()));
}

}  // namespace

OnednnLstm::OnednnLstm(const LstmSizes& sizes, const LstmValues& values, LstmPrecision precision)
    : implementation_(guarded([&] { return std::make_unique<Implementation>(sizes, values, precision); })) {}

OnednnLstm::~OnednnLstm() = default;

void OnednnLstm::prepare(int threads) {
  if (!implementation_->passes.contains(threads))
    implementation_->passes.emplace(threads, guarded([&] { return implementation_->make(threads); }));
}

void OnednnLstm::run(int threads) {
  prepare(threads);
  Passes& passes = implementation_->passes.at(threads);
  omp_set_num_threads(threads);
  guarded([&] {
    for (memory& gradient : passes.accumulators) {
      std::memset(Mapped(gradient).data(), 0, gradient.get_desc().get_size());
    }
    passes.forward.execute(implementation_->stream, passes.forward_arguments);
    passes.backward.execute(implementation_->stream, passes.backward_arguments);
    implementation_->stream.wait();
  });
  implementation_->last = &passes;
}

LstmResults OnednnLstm::results() const {
  Implementation& all = *implementation_;
  const Arguments& arguments = all.last->backward_arguments;
  return {.h = all.read(arguments.at(DNNL_ARG_DST_LAYER), all.h),
          .grad_x = all.read(arguments.at(DNNL_ARG_DIFF_SRC_LAYER), all.x),
          .grad_w_input = all.read(arguments.at(DNNL_ARG_DIFF_WEIGHTS_LAYER), all.w_input),
          .grad_w_state = all.read(arguments.at(DNNL_ARG_DIFF_WEIGHTS_ITER), all.w_state),
          .grad_bias = all.read(arguments.at(DNNL_ARG_DIFF_BIAS), all.bias)};
}

bool onednn_has_bf16() {
  const auto have = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  return (have & needed) == needed;
}

std::string onednn_version() {
  const dnnl_version_t& version = *dnnl_version();
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

}  // namespace lagtape::bench

#endif
