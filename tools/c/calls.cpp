#include "lagtape/tools/c/c_api.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/cells/models/stream_state.h"
#include "lagtape/core/error.h"
#include "lagtape/tools/c/call_checks.h"
#include "lagtape/tools/c/last_error.h"
#include "lagtape/tools/c/model_handle.h"
#include "lagtape/tools/c/stream_options.h"
#include "lagtape/tools/version.h"

using lagtape::Dtype;
using lagtape::InputError;
using lagtape::Model;
using lagtape::Rule;
using lagtape::Stream;
using lagtape::StreamState;
using lagtape::Tensor;
using lagtape::text_of;
using lagtape::Window;
using namespace lagtape::c;

/// A stream in its model's precision, and the window used to save and restore it.
struct lagtape_stream {
  std::variant<Stream<float>, Stream<double>> stream;
  StreamState state;
  Window window;

  template <class T>
  lagtape_stream(Stream<T> made, const StreamState& state) : stream(std::move(made)), state(state) {
    window = std::get<Stream<T>>(stream).window();
  }
};

namespace {

/// The arguments of a prediction: `lengths` is null if all rows have all steps.
template <class T>
struct Sequences {
  const T* x;
  const std::int64_t* lengths;
  std::int64_t rows, steps;
};

template <class T>
void predict(const char* call, const lagtape_model* model, const Sequences<T>& given, T* y, int threads) {
  require(model, call, "the model");
  require(given.x, call, "x");
  require(y, call, "y");
  require_at_least(1, given.rows, call, "rows");
  require_at_least(1, given.steps, call, "steps");
  require_at_least(1, threads, call, "threads");
  const Model& m = model->model;
  if (m.dtype() != lagtape::dtype_of<T>)
    throw InputError({.op = call}, Rule::wrong_type,
                     text_of("the model computes in ", name_of(m.dtype()), ", these arrays are ",
                             name_of(lagtape::dtype_of<T>)));
  const auto count = product(given.rows, given.steps, m.input_width());
  if (!count || lagtape_model_output_count(model, given.rows, given.steps) < 0)
    throw InputError({.op = call}, Rule::no_memory,
                     text_of(given.rows, " rows of ", given.steps, " steps are more than memory can hold"));
  const Tensor input = Tensor::over(given.x, {given.rows, given.steps, m.input_width()}, m.dtype());
  std::span<const std::int64_t> lengths;
  if (given.lengths != nullptr) lengths = {given.lengths, static_cast<std::size_t>(given.rows)};
  const Tensor output = m.predict(input, lengths, threads);
  std::copy_n(output.values<T>().data(), output.numel(), y);
}

template <class T>
lagtape_status predict_lengths(const char* call, const lagtape_model* model, const Sequences<T>& given, T* y,
                               int threads) noexcept {
  return guarded([&] {
    require(given.lengths, call, "lengths");
    predict(call, model, given, y, threads);
  });
}

lagtape_stream* new_stream(const char* call, const lagtape_model* model,
                           const lagtape::StreamOptions& options) {
  require(model, call, "the model");
  return with_scalar(model->model.dtype(), [&]<class T>() {
    return new lagtape_stream(model->model.stream<T>(options), StreamState(model->model, options));
  });
}

/// The stream, if its type is T. Throws InputError.
template <class T>
Stream<T>& stream_of(lagtape_stream* stream, const char* call) {
  require(stream, call, "the stream");
  if (Stream<T>* found = std::get_if<Stream<T>>(&stream->stream)) return *found;
  constexpr bool is_f32 = std::is_same_v<T, float>;
  throw InputError({.op = call}, Rule::wrong_type,
                   text_of("the model computes in ", is_f32 ? "f64" : "f32", ", these arrays are ",
                           is_f32 ? "f32" : "f64"));
}

template <class T>
lagtape_status step(lagtape_stream* stream, const T* input, T* output) noexcept {
  if (stream != nullptr && input != nullptr && output != nullptr) {
    if (Stream<T>* found = std::get_if<Stream<T>>(&stream->stream)) {
      found->step(input, output);
      return LAGTAPE_OK;
    }
  }
  return guarded([&] {
    stream_of<T>(stream, "lagtape_stream_step");
    require(input, "lagtape_stream_step", "input");
    require(output, "lagtape_stream_step", "output");
  });
}

template <class T>
lagtape_status block(lagtape_stream* stream, const T* input, T* output, std::int64_t steps) noexcept {
  return guarded([&] {
    Stream<T>& found = stream_of<T>(stream, "lagtape_stream_block");
    require_at_least(0, steps, "lagtape_stream_block", "steps");
    if (steps == 0) return;
    require(input, "lagtape_stream_block", "input");
    require(output, "lagtape_stream_block", "output");
    found.block(input, output, steps);
  });
}

}  // namespace

const char* lagtape_version(void) { return lagtape::kVersion; }

// ---- models ----

lagtape_model* lagtape_model_load(const char* path) {
  return made([&] {
    require(path, "lagtape_model_load", "the path");
    return new lagtape_model(Model::load(path));
  });
}

lagtape_model* lagtape_model_load_memory(const void* bytes, size_t size, const char* name) {
  return made([&] {
    require(bytes, "lagtape_model_load_memory", "bytes");
    const std::string_view content(static_cast<const char*>(bytes), size);
    return new lagtape_model(Model::parse(content, name == nullptr ? "the weights" : name));
  });
}
lagtape_status lagtape_model_settle(lagtape_model* model, double input) {
  return guarded([&] {
    require(model, "lagtape_model_settle", "the model");
    model->model.settle(input);
  });
}
lagtape_status lagtape_model_use_series(lagtape_model* model, const char* name) {
  return guarded([&] {
    require(model, "lagtape_model_use_series", "the model");
    require(name, "lagtape_model_use_series", "the name");
    model->model.use_series(name);
  });
}
void lagtape_model_free(lagtape_model* model) { delete model; }
lagtape_dtype lagtape_model_dtype(const lagtape_model* model) {
  return model->model.dtype() == Dtype::f32 ? LAGTAPE_F32 : LAGTAPE_F64;
}
int64_t lagtape_model_input_width(const lagtape_model* model) { return model->model.input_width(); }
int64_t lagtape_model_output_width(const lagtape_model* model) { return model->model.output_width(); }
int64_t lagtape_model_classes(const lagtape_model* model) { return model->model.classes(); }
int64_t lagtape_model_tokens(const lagtape_model* model) { return model->model.tokens(); }
int lagtape_model_reads_every_step(const lagtape_model* model) {
  return reads_every_step(model->model.at()) ? 1 : 0;
}
const char* lagtape_model_experiment(const lagtape_model* model) { return model->experiment.c_str(); }

size_t lagtape_model_layer_count(const lagtape_model* model) { return model->layers.size(); }
const char* lagtape_model_layer_name(const lagtape_model* model, size_t layer) {
  return layer < model->layers.size() ? model->layers[layer].c_str() : nullptr;
}

size_t lagtape_model_parameter_count(const lagtape_model* model) { return model->parameters.size(); }
const char* lagtape_model_parameter_name(const lagtape_model* model, size_t parameter) {
  return parameter < model->parameters.size() ? model->parameters[parameter]->name.c_str() : nullptr;
}
int64_t lagtape_model_parameter_rank(const lagtape_model* model, size_t parameter) {
  return parameter < model->parameters.size() ? model->parameters[parameter]->value.rank() : -1;
}
int64_t lagtape_model_parameter_extent(const lagtape_model* model, size_t parameter, int64_t axis) {
  if (axis < 0 || axis >= lagtape_model_parameter_rank(model, parameter)) return -1;
  return model->parameters[parameter]->value.size(axis);
}

int64_t lagtape_model_output_count(const lagtape_model* model, int64_t rows, int64_t steps) {
  if (rows < 0 || steps < 0) return -1;
  const bool every_step = lagtape_model_reads_every_step(model) != 0;
  return product(rows, every_step ? steps : 1, model->model.output_width()).value_or(-1);
}

lagtape_status lagtape_model_predict(const lagtape_model* model, const float* x, int64_t rows, int64_t steps,
                                     float* y, int threads) {
  return guarded([&] {
    predict<float>("lagtape_model_predict", model, {x, nullptr, rows, steps}, y, threads);
  });
}
lagtape_status lagtape_model_predict_f64(const lagtape_model* model, const double* x, int64_t rows,
                                         int64_t steps, double* y, int threads) {
  return guarded([&] {
    predict<double>("lagtape_model_predict", model, {x, nullptr, rows, steps}, y, threads);
  });
}
lagtape_status lagtape_model_predict_lengths(const lagtape_model* model, const float* x,
                                             const int64_t* lengths, int64_t rows, int64_t steps, float* y,
                                             int threads) {
  return predict_lengths<float>("lagtape_model_predict_lengths", model, {x, lengths, rows, steps}, y,
                                threads);
}
lagtape_status lagtape_model_predict_lengths_f64(const lagtape_model* model, const double* x,
                                                 const int64_t* lengths, int64_t rows, int64_t steps,
                                                 double* y, int threads) {
  return predict_lengths<double>("lagtape_model_predict_lengths_f64", model, {x, lengths, rows, steps}, y,
                                 threads);
}

// ---- streams ----

lagtape_stream* lagtape_stream_create(const lagtape_model* model, int64_t rows) {
  return made([&] { return new_stream("lagtape_stream_create", model, {.rows = rows}); });
}
lagtape_stream* lagtape_stream_create_at_rate(const lagtape_model* model, int64_t rows, double rate,
                                              lagtape_interpolation interpolation) {
  return made([&] {
    const auto call = "lagtape_stream_create_at_rate";
    const lagtape::Interpolation between = interpolation_of(interpolation, call);
    return new_stream(call, model, {.rows = rows, .rate = rate, .interpolation = between});
  });
}
lagtape_stream* lagtape_stream_create_with(const lagtape_model* model,
                                           const lagtape_stream_options* options) {
  return made([&] {
    const auto call = "lagtape_stream_create_with";
    require(model, call, "the model");
    require(options, call, "options");
    return new_stream(call, model, options_of(*options, model->model.input_width(), call));
  });
}

lagtape_stream* lagtape_stream_copy(const lagtape_stream* stream) {
  return made([&] {
    require(stream, "lagtape_stream_copy", "the stream");
    return std::visit([&](const auto& from) { return new lagtape_stream(from, stream->state); },
                      stream->stream);
  });
}

void lagtape_stream_free(lagtape_stream* stream) { delete stream; }

int64_t lagtape_stream_rows(const lagtape_stream* stream) {
  return std::visit([](const auto& s) { return s.rows(); }, stream->stream);
}
int64_t lagtape_stream_steps(const lagtape_stream* stream) {
  return std::visit([](const auto& s) { return s.steps(); }, stream->stream);
}

lagtape_status lagtape_stream_step(lagtape_stream* stream, const float* input, float* output) {
  return step(stream, input, output);
}
lagtape_status lagtape_stream_step_f64(lagtape_stream* stream, const double* input, double* output) {
  return step(stream, input, output);
}
lagtape_status lagtape_stream_block(lagtape_stream* stream, const float* input, float* output,
                                    int64_t steps) {
  return block(stream, input, output, steps);
}
lagtape_status lagtape_stream_block_f64(lagtape_stream* stream, const double* input, double* output,
                                        int64_t steps) {
  return block(stream, input, output, steps);
}

int lagtape_stream_is_finite(const lagtape_stream* stream) {
  return std::visit([](const auto& s) { return s.is_finite() ? 1 : 0; }, stream->stream);
}

lagtape_status lagtape_stream_reset(lagtape_stream* stream) {
  return guarded([&] {
    require(stream, "lagtape_stream_reset", "the stream");
    std::visit([](auto& s) { s.reset(); }, stream->stream);
  });
}

size_t lagtape_stream_state_size(const lagtape_stream* stream) { return StreamState::size(stream->window); }

lagtape_status lagtape_stream_save(const lagtape_stream* stream, void* state, size_t size) {
  return guarded([&] {
    constexpr const char* kCall = "lagtape_stream_save";
    require(stream, kCall, "the stream");
    require(state, kCall, "the state");
    if (const std::size_t expected = lagtape_stream_state_size(stream); size != expected)
      throw InputError({.op = kCall}, Rule::shape,
                       text_of("the state of this stream has ", expected, " bytes"), text_of(size));
    // The window is scratch space; the caller sees no change in the stream.
    Window& window = const_cast<lagtape_stream*>(stream)->window;
    std::visit([&](const auto& s) { s.save(window); }, stream->stream);
    stream->state.write(window, lagtape_stream_steps(stream), {static_cast<std::byte*>(state), size});
  });
}

lagtape_status lagtape_stream_restore(lagtape_stream* stream, const void* state, size_t size) {
  return guarded([&] {
    constexpr const char* kCall = "lagtape_stream_restore";
    require(stream, kCall, "the stream");
    require(state, kCall, "the state");
    const auto* bytes = static_cast<const std::byte*>(state);
    const std::int64_t steps = stream->state.read({bytes, size}, stream->window, kCall);
    std::visit([&](auto& s) { s.restore(stream->window, steps); }, stream->stream);
  });
}
