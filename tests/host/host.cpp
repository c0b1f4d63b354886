// A host program in every state that a library may find itself in: trainings, predictions, streams, learners, forecasts, exports
// and messages have the same bytes as in a calm one.
//
// usage: lagtape_test_host FOLDER

#include <lagtape/lagtape.h>
#include <lagtape/tools/c/c_api.h>
#include <pthread.h>
#include <sys/time.h>

#include <atomic>
#include <cfenv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "lagtape/core/io/file.h"
#include "lagtape/tests/core/support/hostile_locale.h"
#include "lagtape/tools/forecast/prediction_file.h"
#include "lagtape/tools/train/experiment.h"

using namespace lagtape;
namespace fs = std::filesystem;

namespace {

// ---- What a program asks of the library ---------------------------------------------------------------------------------

/// The results by name, as bytes.
using Results = std::map<std::string, std::string>;

constexpr const char* kWaves = R"({
  "name": "waves", "seed": 3,
  "data": { "task": "mackey_glass", "length": 60, "train": 12, "valid": 4, "test": 4 },
  "model": { "layers": [ { "cell": "tau_gru", "units": 8, "tau": 5 }, { "cell": "lem", "units": 6 } ],
             "readout": { "units": 1, "at": "every_step" } },
  "loss": "mse", "metrics": [ "rmse" ],
  "optimizer": { "type": "adam", "lr": 0.0123456789 },
  "train": { "epochs": 2, "batch": 5 } })";

constexpr const char* kTable = R"({
  "name": "table", "seed": 1,
  "data": { "task": "series", "path": "PATH", "time": "t", "target": "y", "window": 12, "calendar": ["hour"] },
  "model": { "layers": [ { "cell": "gru", "units": 4 } ], "readout": { "at": "every_step" } },
  "loss": "mse",
  "optimizer": { "type": "adam", "lr": 0.01 },
  "train": { "epochs": 1, "batch": 4 } })";

std::string bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw()),
          static_cast<std::size_t>(tensor.numel()) * byte_size(tensor.dtype())};
}

Tensor waves(std::int64_t rows, std::int64_t steps) {
  Tensor x({rows, steps, 1}, Dtype::f32);
  for (std::int64_t i = 0; i < x.numel(); ++i)
    x.set(i, static_cast<double>((7919 * i) % 1000) / 1024 - 0.25);  // exact
  return x;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

Model trained(const std::string& text, const fs::path& folder, int threads) {
  const Experiment experiment = parse_experiment(text, "host.json", folder);
  std::optional<Model> model;
  train_run(experiment, {.threads = threads, .trained = [&](Model&& made) { model = std::move(made); }});
  return std::move(*model);
}

void use_models(Results& results, const fs::path& folder, int threads) {
  Model model = trained(kWaves, folder, threads);
  const fs::path file = folder / "waves.safetensors";
  model.save(file);
  results["weights"] = read_file(file);
  model = Model::load(file);
  const Tensor x = waves(3, 40);
  results["prediction"] = bytes_of(model.predict(x, threads));
  results["stream"] = bytes_of(predict_by_stream(model, x));
  results["stream at a rate"] = bytes_of(predict_by_stream(model, x, {.rate = 1.3}));
  model.settle(0.1);
  results["start"] = bytes_of(model.predict(x, threads));
  results["C"] = c_source(model, {.name = "waves"});
  results["ONNX"] = onnx_sequence_model(model);
  Learner<float> learner =
      model.learner<float>({.method = LearningMethod::e_prop, .rule = LearningRule::adam});
  std::vector<float> learnt(40);
  const std::span<const float> inputs = x.values<float>();
  for (std::size_t n = 0; n + 1 < learnt.size(); ++n) learner.step(&inputs[n], &inputs[n + 1], &learnt[n]);
  results["learner"] = {reinterpret_cast<const char*>(learnt.data()), learnt.size() * sizeof(float)};
  results["message of a rate"] = message_of([&] { predict_by_stream(model, x, {.rate = 12345.678}); });
}

void use_tables(Results& results, const fs::path& folder, int threads) {
  const fs::path table = folder / "table.csv";
  std::string rows = "t,y\n";
  for (int i = 0; i < 90; ++i)
    rows += text_of("2024-01-", 10 + i / 24, "T", i % 24 < 10 ? "0" : "", i % 24, ":00:00,",
                    1000 + (i * 7919) % 100, ".", (i * 31) % 10, "25\n");
  write_file_atomically(table, rows);
  std::string text = kTable;
  text.replace(text.find("PATH"), 4, table.string());
  std::vector<Model> models;
  models.push_back(trained(text, folder, threads));
  results["forecast"] = csv_of(joined(forecast_series(models, {.input = table, .steps = 5})));
}

void use_c(Results& results, const fs::path& folder, int threads) {
  lagtape_model* model = lagtape_model_load((folder / "waves.safetensors").c_str());
  if (model == nullptr) return static_cast<void>(results["C API"] = lagtape_last_error());
  const Tensor x = waves(2, 30);
  std::vector<float> y(60);
  std::string& bytes = results["C API"];
  const auto add = [&] { bytes.append(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(float)); };
  lagtape_model_predict(model, x.values<float>().data(), 2, 30, y.data(), threads);
  add();
  lagtape_stream* stream = lagtape_stream_create_at_rate(model, 1, 0.75, LAGTAPE_CUBIC);
  lagtape_stream_block(stream, x.values<float>().data(), y.data(), 30);
  add();
  std::string state(lagtape_stream_state_size(stream), '\0');
  lagtape_stream_save(stream, state.data(), state.size());
  bytes += state;
  lagtape_model_predict(model, y.data(), 1'234'567'890'123, 1, y.data(), 1);
  bytes += lagtape_last_error();
  lagtape_stream_create_at_rate(model, 1, 1234.5, LAGTAPE_CUBIC);
  bytes += lagtape_last_error();
  lagtape_stream_free(stream);
  lagtape_model_free(model);
}

void use_texts(Results& results, const fs::path& folder) {
  std::string wrong = kWaves;
  wrong.replace(wrong.find("0.0123456789"), 12, "-12345.5");
  wrong.replace(wrong.find("\"units\": 8"), 10, "\"units\": 1234567.5");
  results["messages"] = message_of([&] { parse_experiment(wrong, "host.json", folder); });
}

Results everything(const fs::path& folder, int threads) {
  Results results;
  results["failure"] = message_of([&] {
    use_models(results, folder, threads);
    use_tables(results, folder, threads);
    use_c(results, folder, threads);
    use_texts(results, folder);
  });
  return results;
}

// ---- The states of a host -----------------------------------------------------------------------------------------------

using Work = std::function<void()>;

bool is_changed = false;  ///< the library has left another way of rounding behind

void with_rounding(int mode, const Work& work) {
  const int before = std::fegetround();
  std::fesetround(mode);
  work();
  if (std::fegetround() != mode) is_changed = true;
  std::fesetround(before);
}

void flushing(const Work& work) {
#if defined(__SSE2__)
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  work();
  _mm_setcsr(before);
#else
  work();
#endif
}

std::atomic<long> signals = 0;

void under_signals(const Work& work) {
  struct sigaction action = {};
  action.sa_handler = [](int) { ++signals; };
  sigaction(SIGALRM, &action, nullptr);  // calls of the system that it interrupts are not begun again
  const itimerval often = {{0, 150}, {0, 150}}, never = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  work();
  setitimer(ITIMER_REAL, &never, nullptr);
}

void on_small_stack(const Work& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread;
  const auto call = [](void* given) -> void* {
    (*static_cast<const Work*>(given))();
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, call, const_cast<Work*>(&work)) == 0)
    pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

void in_removed_folder(const Work& work) {
  const fs::path before = fs::current_path(), gone = before / "gone";
  fs::create_directory(gone);
  fs::current_path(gone);
  fs::remove(gone);
  work();
  fs::current_path(before);
}

void with_locale(const Work& work) {
  const HostileLocale german;
  work();
}

struct State {
  const char* name;
  std::function<void(const Work&)> run;
};

const std::vector<State>& states() {
  static const std::vector<State> all = {
      {"a locale with decimal commas", with_locale},
      {"FE_UPWARD", [](const Work& work) { with_rounding(FE_UPWARD, work); }},
      {"FE_DOWNWARD", [](const Work& work) { with_rounding(FE_DOWNWARD, work); }},
      {"FE_TOWARDZERO", [](const Work& work) { with_rounding(FE_TOWARDZERO, work); }},
      {"subnormal numbers that are flushed", flushing},
      {"a storm of signals", under_signals},
      {"a stack of 256 KB", on_small_stack},
      {"a current folder that is removed", in_removed_folder},
  };
  return all;
}

/// Runs the work in states `next` and later ones at once.
void in_all(std::size_t next, const Work& work) {
  if (next == states().size()) return work();
  states()[next].run([&] { in_all(next + 1, work); });
}

int differences(const char* state, const Results& expected, const Results& found) {
  int count = 0;
  for (const auto& [name, bytes] : expected) {
    const auto other = found.find(name);
    if (other != found.end() && other->second == bytes) continue;
    ++count;
    std::fprintf(stderr, "%s: %s has other bytes\n", state, name.c_str());
    if (name == "failure" || name.starts_with("message"))
      std::fprintf(stderr, "  %s\n  %s\n", bytes.c_str(), other == found.end() ? "-" : other->second.c_str());
  }
  return count;
}

}  // namespace

int main(int, char** argv) {
  const fs::path folder = fs::absolute(argv[1]);
  fs::create_directories(folder);
  fs::current_path(folder);
  const Results expected = everything(folder, 1);
  int count = expected.at("failure") == "no error" && expected.size() >= 12 ? 0 : 1;
  if (count > 0) std::fprintf(stderr, "in a calm program: %s\n", expected.at("failure").c_str());
  for (const State& state : states()) {
    Results found;
    state.run([&] { found = everything(folder, 3); });
    count += differences(state.name, expected, found);
  }
  Results found;
  in_all(0, [&] { found = everything(folder, 2); });
  count += differences("all of these", expected, found);
  if (is_changed) std::fputs("the way of rounding was changed\n", stderr), ++count;
  if (signals < 100) std::fprintf(stderr, "only %ld signals came\n", signals.load()), ++count;
  std::printf("%zu results in %zu states, %ld signals: %d differences\n", expected.size(),
              states().size() + 1, signals.load(), count);
  return count == 0 ? 0 : 1;
}
