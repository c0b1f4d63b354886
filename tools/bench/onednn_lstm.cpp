#include "lagtape/tools/bench/onednn_lstm.h"

#include <omp.h>

#include <cstring>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

namespace lagtape::bench {

namespace {

using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;

memory::desc plain(memory::dims dims, memory::format_tag tag) { return {dims, memory::data_type::f32, tag}; }
memory::desc any(memory::dims dims) { return plain(std::move(dims), memory::format_tag::any); }

}  // namespace

/// The primitives for one number of threads; a primitive is made for a fixed number.
struct Passes {
  dnnl::lstm_forward forward;
  dnnl::lstm_backward backward;
  Arguments forward_arguments, backward_arguments;
  std::vector<memory> accumulators;  // the backward primitive adds to the gradients of the weights
};

struct OnednnLstm::Implementation {
  LstmSizes sizes;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::map<int, Passes> passes;                  // by number of threads
  std::vector<std::pair<int, memory>> memories;  // by use; shared where layouts do not depend on the threads
  const Passes* last = nullptr;

  memory::desc x, w_input, w_state, bias, h, state;
  LstmValues values;

  Implementation(const LstmSizes& s, const LstmValues& v)
      : sizes(s),
        x(plain({s.steps, s.batch, s.input}, memory::format_tag::tnc)),
        w_input(plain({1, 1, s.input, 4, s.units}, memory::format_tag::ldigo)),
        w_state(plain({1, 1, s.units, 4, s.units}, memory::format_tag::ldigo)),
        bias(plain({1, 1, 4, s.units}, memory::format_tag::ldgo)),
        h(plain({s.steps, s.batch, s.units}, memory::format_tag::tnc)),
        state(plain({1, 1, s.batch, s.units}, memory::format_tag::ldnc)),
        values(v) {}

  memory shared(int argument, const memory::desc& desc) {
    for (const auto& [known, memory] : memories) {
      if (known == argument && memory.get_desc() == desc) return memory;
    }
    return memories.emplace_back(argument, memory(desc, engine)).second;
  }

  memory holding(int argument, const memory::desc& desc, const std::vector<float>& numbers) {
    memory result = shared(argument, desc);
    std::memcpy(result.get_data_handle(), numbers.data(), numbers.size() * sizeof(float));
    return result;
  }

  memory zeros(int argument) {
    return holding(argument, state, std::vector<float>(static_cast<std::size_t>(sizes.batch * sizes.units)));
  }

  /// Converts numbers from a plain layout to the one that a primitive prefers.
  memory reordered(int argument, const memory::desc& from, const std::vector<float>& numbers,
                   const memory::desc& to) {
    memory source(from, engine, const_cast<float*>(numbers.data()));
    memory target = shared(argument, to);
    dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
    return target;
  }

  std::vector<float> read(memory source, const memory::desc& as) {
    std::vector<float> numbers(as.get_size() / sizeof(float));
    memory target(as, engine, numbers.data());
    dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
    return numbers;
  }

  Passes make(int threads);
};

Passes OnednnLstm::Implementation::make(int threads) {
  omp_set_num_threads(threads);
  const auto direction = dnnl::rnn_direction::unidirectional_left2right;
  // The zero initial state is passed explicitly: without it, this version of oneDNN computes a wrong gradient
  // of the state weights.
  const dnnl::lstm_forward::desc forward_desc(dnnl::prop_kind::forward_training, direction, x, state, state,
                                              any(w_input.dims()), any(w_state.dims()), bias, h, state,
                                              state);
  const dnnl::lstm_forward::primitive_desc forward(forward_desc, engine);
  const dnnl::lstm_backward::desc backward_desc(
      dnnl::prop_kind::backward, direction, x, state, state, any(w_input.dims()), any(w_state.dims()), bias,
      h, state, state, x, state, state, any(w_input.dims()), any(w_state.dims()), bias, h, state, state);
  const dnnl::lstm_backward::primitive_desc backward(backward_desc, engine, forward);

  constexpr int kBackward = 1 << 20;  // the backward pass may prefer another layout of the weights
  Passes made;
  made.forward = dnnl::lstm_forward(forward);
  made.backward = dnnl::lstm_backward(backward);
  const Arguments common = {{DNNL_ARG_SRC_LAYER, holding(DNNL_ARG_SRC_LAYER, x, values.x)},
                            {DNNL_ARG_SRC_ITER, zeros(DNNL_ARG_SRC_ITER)},
                            {DNNL_ARG_SRC_ITER_C, zeros(DNNL_ARG_SRC_ITER_C)},
                            {DNNL_ARG_BIAS, holding(DNNL_ARG_BIAS, bias, values.bias)},
                            {DNNL_ARG_DST_LAYER, shared(DNNL_ARG_DST_LAYER, h)},
                            {DNNL_ARG_DST_ITER, shared(DNNL_ARG_DST_ITER, state)},
                            {DNNL_ARG_DST_ITER_C, shared(DNNL_ARG_DST_ITER_C, state)},
                            {DNNL_ARG_WORKSPACE, shared(DNNL_ARG_WORKSPACE, forward.workspace_desc())}};
  made.forward_arguments = common;
  made.forward_arguments.insert(
      {{DNNL_ARG_WEIGHTS_LAYER, reordered(0, w_input, values.w_input, forward.weights_layer_desc())},
       {DNNL_ARG_WEIGHTS_ITER, reordered(1, w_state, values.w_state, forward.weights_iter_desc())}});
  made.accumulators = {shared(DNNL_ARG_DIFF_WEIGHTS_LAYER, backward.diff_weights_layer_desc()),
                       shared(DNNL_ARG_DIFF_WEIGHTS_ITER, backward.diff_weights_iter_desc()),
                       shared(DNNL_ARG_DIFF_BIAS, backward.diff_bias_desc())};
  made.backward_arguments = common;
  made.backward_arguments.insert(
      {{DNNL_ARG_WEIGHTS_LAYER, reordered(kBackward, w_input, values.w_input, backward.weights_layer_desc())},
       {DNNL_ARG_WEIGHTS_ITER,
        reordered(kBackward + 1, w_state, values.w_state, backward.weights_iter_desc())},
       {DNNL_ARG_DIFF_DST_LAYER, holding(DNNL_ARG_DIFF_DST_LAYER, h, values.grad_h)},
       {DNNL_ARG_DIFF_DST_ITER, zeros(DNNL_ARG_DIFF_DST_ITER)},
       {DNNL_ARG_DIFF_DST_ITER_C, zeros(DNNL_ARG_DIFF_DST_ITER_C)},
       {DNNL_ARG_DIFF_SRC_LAYER, shared(DNNL_ARG_DIFF_SRC_LAYER, x)},
       {DNNL_ARG_DIFF_SRC_ITER, shared(DNNL_ARG_DIFF_SRC_ITER, state)},
       {DNNL_ARG_DIFF_SRC_ITER_C, shared(DNNL_ARG_DIFF_SRC_ITER_C, state)},
       {DNNL_ARG_DIFF_WEIGHTS_LAYER, made.accumulators[0]},
       {DNNL_ARG_DIFF_WEIGHTS_ITER, made.accumulators[1]},
       {DNNL_ARG_DIFF_BIAS, made.accumulators[2]}});
  return made;
}

OnednnLstm::OnednnLstm(const LstmSizes& sizes, const LstmValues& values)
    : implementation_(std::make_unique<Implementation>(sizes, values)) {}

OnednnLstm::~OnednnLstm() = default;

void OnednnLstm::prepare(int threads) {
  if (!implementation_->passes.contains(threads))
    implementation_->passes.emplace(threads, implementation_->make(threads));
}

void OnednnLstm::run(int threads) {
  prepare(threads);
  Passes& passes = implementation_->passes.at(threads);
  omp_set_num_threads(threads);
  for (memory& gradient : passes.accumulators) {
    std::memset(gradient.get_data_handle(), 0, gradient.get_desc().get_size());
  }
  passes.forward.execute(implementation_->stream, passes.forward_arguments);
  passes.backward.execute(implementation_->stream, passes.backward_arguments);
  implementation_->stream.wait();
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

}  // namespace lagtape::bench
