#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "lagtape/cells/cells.h"
#include "lagtape/cells/models/model.h"
#include "lagtape/tests/fuzz/fuzz.h"
#include "lagtape/tools/c/c_api.h"

using namespace lagtape;

namespace {

/// Reads the input byte by byte; zeros follow its end.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  std::uint8_t next() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  /// A count that is often valid, sometimes at a bound, and rarely far beyond.
  std::int64_t count() {
    const std::uint8_t byte = next();
    constexpr std::array<std::int64_t, 6> kOdd = {-1, 0, INT64_MAX, INT64_MIN, std::int64_t{1} << 40, 1000};
    return byte < 250 ? byte % 5 : kOdd[byte - 250U];
  }
  float number() {
    return std::ldexp(static_cast<float>(static_cast<std::int8_t>(next())), next() % 200 - 100);
  }

 private:
  std::string_view rest_;
};

struct Free {
  void operator()(lagtape_model* model) const { lagtape_model_free(model); }
  void operator()(lagtape_stream* stream) const { lagtape_stream_free(stream); }
  void operator()(lagtape_learner* learner) const { lagtape_learner_free(learner); }
};

/// The bytes of a small model, made once.
const std::string& model_bytes() {
  static const std::string bytes = [] {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / text_of("c_api_fuzzer.", ::getpid());
    Model({.layers = {TauGru{.units = 3, .tau = {2}}, Lstm{.units = 2}},
           .readout = {.units = 2, .at = ReadAt::every_step}},
          {.input = 2}, 1)
        .save(file);
    std::string read;
    require(std::filesystem::exists(file));
    std::FILE* opened = std::fopen(file.c_str(), "rb");
    for (int c; (c = std::fgetc(opened)) != EOF;) read += static_cast<char>(c);
    std::fclose(opened);
    std::filesystem::remove(file);
    return read;
  }();
  return bytes;
}

/// Calls of a program that is careless, in the order and with the arguments that the bytes say.
class Caller {
 public:
  explicit Caller(Bytes bytes) : bytes_(bytes) {
    model_.reset(lagtape_model_load_memory(model_bytes().data(), model_bytes().size(), "model"));
    require(model_ != nullptr);
  }

  void run() {
    for (int calls = 0; calls < 64 && !bytes_.empty(); ++calls) call(bytes_.next() % 12);
  }

 private:
  float* numbers() {
    for (float& x : numbers_) x = bytes_.number();
    return numbers_.data();
  }

  void call(int which) {
    switch (which) {
      case 0: return predict();
      case 1: return make_stream();
      case 2: return step(false);
      case 3: return step(true);
      case 4: return save();
      case 5: return restore();
      case 6: stream_.reset(stream_ ? lagtape_stream_copy(stream_.get()) : nullptr); return;
      case 7: checked(lagtape_stream_reset(stream_.get())); return;
      case 8: checked(lagtape_model_settle(model_.get(), bytes_.number())); return;
      case 9: learner_.reset(lagtape_learner_create(model_.get(), learner_options())); return;
      case 10: return learn();
      default: lagtape_problem problem; lagtape_last_problem(bytes_.next(), &problem);
    }
  }

  /// A call that fails says why.
  static void checked(lagtape_status status) {
    require(status == LAGTAPE_OK || lagtape_last_error()[0] != '\0');
  }

  void predict() {
    std::vector<float> y(1 << 12);
    const std::int64_t rows = bytes_.count(), steps = bytes_.count(), threads = bytes_.count();
    if (lagtape_model_output_count(model_.get(), rows, steps) > std::ssize(y) || rows * steps > 256) return;
    checked(
        lagtape_model_predict(model_.get(), numbers(), rows, steps, y.data(), static_cast<int>(threads % 3)));
  }
  void make_stream() {
    lagtape_stream_options options = {};
    options.rows = bytes_.count() % 9;
    options.rate = bytes_.next() % 4 == 0 ? bytes_.number() : 0;
    options.interpolation = static_cast<lagtape_interpolation>(bytes_.next() % 3);
    options.weights = static_cast<lagtape_weights>(bytes_.next() % 5);
    stream_.reset(lagtape_stream_create_with(model_.get(), &options));
    require(stream_ != nullptr || lagtape_last_error()[0] != '\0');
  }
  void step(bool is_block) {
    std::vector<float> y(1 << 12);
    if (!is_block) return checked(lagtape_stream_step(stream_.get(), numbers(), y.data()));
    const std::int64_t steps = bytes_.count();
    if (steps <= 16) checked(lagtape_stream_block(stream_.get(), numbers(), y.data(), steps));
  }
  void save() {
    if (!stream_) return;
    state_.resize(lagtape_stream_state_size(stream_.get()));
    checked(lagtape_stream_save(stream_.get(), state_.data(), state_.size()));
  }
  /// The state that was saved last, with some bytes changed, and sometimes cut.
  void restore() {
    if (!stream_ || state_.empty()) return;
    std::string state = state_;
    bool is_changed = false;
    for (int changes = bytes_.next() % 4; changes > 0; --changes) {
      const std::size_t place = (bytes_.next() * 256U + bytes_.next()) % state.size();
      const auto bits = static_cast<char>(bytes_.next());
      state[place] = static_cast<char>(state[place] ^ bits);
      is_changed = is_changed || state != state_;
    }
    if (bytes_.next() % 8 == 0) state.resize(bytes_.next() % (state.size() + 1));
    is_changed = state != state_;
    const lagtape_status status = lagtape_stream_restore(stream_.get(), state.data(), state.size());
    require(!is_changed || status == LAGTAPE_INPUT_ERROR);
  }
  const lagtape_learner_options* learner_options() {
    options_.method = static_cast<lagtape_learning>(bytes_.next() % 4);
    options_.rule = static_cast<lagtape_learning_rule>(bytes_.next() % 3);
    options_.lr = bytes_.number();
    options_.every = bytes_.count() % 9;
    options_.window = bytes_.count() % 9;
    return &options_;
  }
  void learn() {
    std::array<float, 8> y;
    double loss = 0;
    float* x = numbers();
    checked(lagtape_learner_step(learner_.get(), x, x + 8, y.data(), &loss));
    if (bytes_.next() % 4 == 0) checked(lagtape_model_take(model_.get(), learner_.get()));
  }

  Bytes bytes_;
  std::unique_ptr<lagtape_model, Free> model_;
  std::unique_ptr<lagtape_stream, Free> stream_;
  std::unique_ptr<lagtape_learner, Free> learner_;
  lagtape_learner_options options_ = {};
  std::array<float, 1024> numbers_ = {};
  std::string state_;
};

}  // namespace

/// Half of the inputs are calls, half are models.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    Caller(Bytes(bytes)).run();
  } else if (lagtape_model* model = lagtape_model_load_memory(bytes.data(), bytes.size(), "input")) {
    lagtape_model_free(model);
  } else {
    require(lagtape_last_error()[0] != '\0' && lagtape_last_problem_count() > 0);
  }
  return 0;
}
