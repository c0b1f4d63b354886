#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <variant>

#include "lagtape/cells/models/model.h"
#include "lagtape/cells/models/stream_state.h"
#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/stream/stream.h"
#include "lagtape/tools/python/src/arrays.h"
#include "lagtape/tools/python/src/bindings.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

Place place_of(const char* call) { return {.op = text_of("stream.", call)}; }

using AnyStream = std::variant<Stream<float>, Stream<double>>;

AnyStream stream_of(const Model& model, const StreamOptions& options) {
  if (options.rows < 1)
    throw InputError({.op = "stream"}, Rule::out_of_range, "rows must be at least 1", text_of(options.rows));
  return with_scalar(model.dtype(), [&]<class T>() -> AnyStream { return model.stream<T>(options); });
}

/// A stream that can be closed, and throws if two threads use it at once.
class OwnedStream {
 public:
  OwnedStream(const Model& model, const StreamOptions& options)
      : stream_(std::make_unique<AnyStream>(stream_of(model, options))),
        state_(model, options),
        tokens_(model.tokens()) {
    const nb::module_ numpy = nb::module_::import_("numpy");
    empty_ = numpy.attr("empty");
    dtype_ = numpy.attr("dtype")(model.dtype() == Dtype::f32 ? "f4" : "f8");
    shape_of_one_ = nb::make_tuple(model.output_width());
    shape_of_rows_ = nb::make_tuple(options.rows, model.output_width());
  }
  OwnedStream(const OwnedStream& other)
      : state_(other.state_),
        tokens_(other.tokens_),
        empty_(other.empty_),
        dtype_(other.dtype_),
        shape_of_one_(other.shape_of_one_),
        shape_of_rows_(other.shape_of_rows_) {
    const ExclusiveUse use(other, "copy");
    stream_ = std::make_unique<AnyStream>(*other.stream_);
  }

  /// Calls f with the stream in its precision, as the stream's only user.
  template <class F>
  auto use(const char* call, F f) const {
    const ExclusiveUse use(*this, call);
    return std::visit(f, *stream_);
  }

  void close() {
    if (!stream_) return;
    const ExclusiveUse use(*this, "close");
    stream_.reset();
  }
  bool closed() const { return stream_ == nullptr; }
  std::int64_t tokens() const { return tokens_; }
  const StreamState& state() const { return state_; }

  /// A NumPy array for the output of a step: [output] or [rows, output].
  nb::object new_output(bool one) const { return empty_(one ? shape_of_one_ : shape_of_rows_, dtype_); }

 private:
  /// Reserves the stream for one call. Throws InputError if the stream is closed or in use.
  class ExclusiveUse {
   public:
    ExclusiveUse(const OwnedStream& stream, const char* call) : busy_(stream.busy_) {
      if (busy_.exchange(true)) {
        throw InputError(place_of(call), Rule::in_use, "another thread is using this stream", {},
                         "Give each thread a copy().");
      }
      if (stream.stream_) return;
      busy_ = false;
      throw InputError(place_of(call), Rule::conflict, "the stream is closed.");
    }
    ~ExclusiveUse() { busy_ = false; }
    ExclusiveUse(const ExclusiveUse&) = delete;
    ExclusiveUse& operator=(const ExclusiveUse&) = delete;

   private:
    std::atomic<bool>& busy_;
  };

  std::unique_ptr<AnyStream> stream_;
  StreamState state_;
  mutable std::atomic<bool> busy_ = false;
  std::int64_t tokens_;
  nb::object empty_, dtype_, shape_of_one_, shape_of_rows_;  // numpy.empty, and its arguments
};

/// The memory of a dense array of T, through Python's buffer protocol, which is much faster than nanobind's
/// arrays. Empty for any other object.
template <class T>
class Buffer {
 public:
  explicit Buffer(nb::handle array, int flags = 0)
      : filled_(PyObject_GetBuffer(array.ptr(), &view_, flags | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0) {
    if (!filled_) PyErr_Clear();
  }
  ~Buffer() {
    if (filled_) PyBuffer_Release(&view_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() const {
    constexpr char kFormat = sizeof(T) == 4 ? 'f' : 'd';
    const bool fits =
        filled_ && view_.format != nullptr && view_.format[0] == kFormat && view_.format[1] == 0;
    return fits ? static_cast<T*>(view_.buf) : nullptr;
  }
  bool has_shape(std::int64_t size) const { return view_.ndim == 1 && view_.shape[0] == size; }
  bool has_shape(std::int64_t rows, std::int64_t size) const {
    return view_.ndim == 2 && view_.shape[0] == rows && view_.shape[1] == size;
  }

 private:
  Py_buffer view_;
  bool filled_;
};

/// x as a dense array of T: x itself if it is one, else what lagtape._arrays makes of it.
template <class T>
InputArray<T> numbers_of(nb::handle x, const char* call) {
  InputArray<T> array;
  if (nb::try_cast(x, array, false)) return array;
  const nb::object convert = nb::module_::import_("lagtape._arrays").attr("numbers_of");
  return nb::cast<InputArray<T>>(convert(x, name_of(dtype_of<T>).data(), call), false);
}

template <class T>
void check_numbers(const T* x, std::size_t size, std::int64_t tokens, const char* call) {
  for (std::size_t i = 0; i < size; ++i) {
    const T value = x[i];
    if (!std::isfinite(value))
      throw InputError(place_of(call), Rule::not_finite, text_of("number ", i, " of x is not finite"),
                       text_of(value));
    if (tokens > 0 && (value < 0 || value >= static_cast<T>(tokens) || value != std::floor(value)))
      throw InputError(place_of(call), Rule::out_of_range, text_of("tokens are the numbers 0..", tokens - 1),
                       text_of(value));
  }
}

template <class Array>
Shape shape_of(const Array& array) {
  Shape shape;
  for (std::size_t axis = 0; axis < array.ndim(); ++axis)
    shape.push_back(static_cast<std::int64_t>(array.shape(axis)));
  return shape;
}

/// The shape of the output for x. If there is one row, its axis can be omitted, and with it the axis of a
/// single number. `lead` axes precede the rows.
Shape output_shape(const Shape& x, std::size_t lead, std::int64_t rows, std::int64_t input,
                   std::int64_t output, const char* call) {
  const Shape full = {rows, input};
  const Shape rest(x.begin() + static_cast<std::ptrdiff_t>(std::min(lead, x.size())), x.end());
  Shape y(x.begin(), x.end() - static_cast<std::ptrdiff_t>(rest.size()));
  const bool has_lead = y.size() == lead;
  if (has_lead && rest == full) {
    y.push_back(rows);
  } else if (!has_lead || rows != 1 || (rest != Shape{input} && !(rest.empty() && input == 1))) {
    const std::string steps = lead > 0 ? "T, " : "";
    const std::string one = rows == 1 ? text_of("[", steps, input, "] or ") : "";
    throw InputError(place_of(call), Rule::shape, text_of("x is ", one, "[", steps, rows, ", ", input, "]"),
                     to_string(x));
  }
  y.push_back(output);
  return y;
}

/// A step whose input is not a dense array of T, but can perhaps be converted to one.
template <class T>
nb::object converted_step(const OwnedStream& self, Stream<T>& stream, nb::handle x) {
  const InputArray<T> input = numbers_of<T>(x, "step");
  const Shape shape =
      output_shape(shape_of(input), 0, stream.rows(), stream.input_width(), stream.output_width(), "step");
  check_numbers(input.data(), input.size(), self.tokens(), "step");
  T* output = nullptr;
  nb::object y = empty_array<T>(shape, output);
  stream.step(input.data(), output);
  return y;
}

nb::object step(const OwnedStream& self, nb::handle x) {
  return self.use("step", [&]<class T>(Stream<T>& stream) {
    const std::int64_t rows = stream.rows(), width = stream.input_width();
    const Buffer<T> input(x);
    const bool one = input.data() != nullptr && rows == 1 && input.has_shape(width);
    if (!one && (input.data() == nullptr || !input.has_shape(rows, width)))
      return converted_step(self, stream, x);
    check_numbers(input.data(), static_cast<std::size_t>(rows * width), self.tokens(), "step");
    nb::object y = self.new_output(one);
    stream.step(input.data(), Buffer<T>(y, PyBUF_WRITABLE).data());
    return y;
  });
}

nb::object block(const OwnedStream& self, nb::handle x) {
  return self.use("block", [&]<class T>(Stream<T>& stream) {
    const InputArray<T> input = numbers_of<T>(x, "block");
    const Shape shape =
        output_shape(shape_of(input), 1, stream.rows(), stream.input_width(), stream.output_width(), "block");
    check_numbers(input.data(), input.size(), self.tokens(), "block");
    T* output = nullptr;
    nb::object y = empty_array<T>(shape, output);
    const nb::gil_scoped_release release;
    stream.block(input.data(), output, shape[0]);
    return y;
  });
}

nb::tuple window(const OwnedStream& self) {
  return self.use("window", []<class T>(Stream<T>& stream) {
    nb::list states;
    for (const Tensor& state : stream.window().states) states.append(array_of(state));
    return nb::tuple(states);
  });
}

/// Sets the states, in the types and shapes that `window` returns.
void restore(const OwnedStream& self, const nb::sequence& states, std::int64_t steps) {
  self.use("restore", [&]<class T>(Stream<T>& stream) {
    Window window = stream.window();
    if (nb::len(states) != window.states.size()) {
      throw InputError({.op = "stream.restore"}, Rule::shape,
                       text_of("a window of this stream is a sequence of ", window.states.size(), " arrays"),
                       text_of(nb::len(states)));
    }
    for (std::size_t i = 0; i < window.states.size(); ++i) {
      Tensor& state = window.states[i];
      state = with_scalar(state.dtype(),
                          [&]<class S>() { return tensor_of(numbers_of<S>(states[i], "restore")); });
    }
    stream.restore(window, steps);
  });
}

nb::bytes save(const OwnedStream& self) {
  return self.use("save", [&](auto& stream) {
    const Window window = stream.window();
    std::vector<std::byte> bytes(StreamState::size(window));
    self.state().write(window, stream.steps(), bytes);
    return nb::bytes(bytes.data(), bytes.size());
  });
}

void restore_saved(const OwnedStream& self, const nb::bytes& bytes) {
  self.use("restore", [&](auto& stream) {
    Window window = stream.window();
    const auto* from = static_cast<const std::byte*>(bytes.data());
    const std::int64_t steps = self.state().read({from, bytes.size()}, window, "stream.restore");
    stream.restore(window, steps);
  });
}

/// Constructs a stream in memory that Python provides.
void make_stream(OwnedStream* self, const Model& model, std::int64_t rows, double rate,
                 const std::string& interpolation, const std::string& weights, nb::handle calibrate) {
  StreamOptions options{rows, rate, interpolation_named(interpolation), stream_weights_named(weights)};
  if (!calibrate.is_none())
    options.calibration = with_scalar(
        model.dtype(), [&]<class T>() { return tensor_of(numbers_of<T>(calibrate, "stream: calibrate")); });
  new (self) OwnedStream(model, options);
}

template <class F>
auto property(const char* name, F f) {
  return [name, f](const OwnedStream& self) { return self.use(name, f); };
}

}  // namespace

void add_streams(nb::module_& module) {
  nb::class_<OwnedStream>(module, "Stream")
      .def("__init__", make_stream, nb::arg("model"), nb::arg("rows"), nb::arg("rate"),
           nb::arg("interpolation"), nb::arg("weights"), nb::arg("calibrate").none())
      .def(nb::init<const OwnedStream&>(), nb::arg("other"))
      .def("step", step, nb::arg("x").none(),
           "step(x)\n\nRuns one step: x [rows, input] to y [rows, output], or [input] to [output] for one "
           "row.\n"
           "Raises InputError for wrong shapes and non-finite numbers.")
      .def("block", block, nb::arg("x").none(),
           "block(x)\n\nRuns T steps: x [T, rows, input] to y [T, rows, output], or [T, input] to [T, "
           "output]\n"
           "for one row. Bit-identical to T calls of step. Raises InputError as step does.")
      .def(
          "reset", [](const OwnedStream& self) { self.use("reset", [](auto& stream) { stream.reset(); }); },
          "reset()\n\nReturns to the state before the first step.")
      .def(
          "is_finite",
          [](const OwnedStream& self) {
            return self.use("is_finite", [](auto& stream) { return stream.is_finite(); });
          },
          "is_finite()\n\nWhether all states are finite. One that is not may remain so until `reset` or "
          "`restore`.")
      .def("close", &OwnedStream::close, "close()\n\nFrees the stream; later calls raise InputError.")
      .def_prop_ro("closed", &OwnedStream::closed, "Whether the stream is closed.")
      .def_prop_ro("rows", property("rows", [](auto& stream) { return stream.rows(); }),
                   "The number of parallel sequences.")
      .def_prop_ro("steps", property("steps", [](auto& stream) { return stream.steps(); }),
                   "The number of steps run so far.")
      .def("_window", window)
      .def("_restore", restore, nb::arg("states"), nb::arg("steps"))
      .def("_save", save)
      .def("_restore_saved", restore_saved, nb::arg("state"));
}

}  // namespace lagtape::python
