#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/print.h"
#include "lagtape/tools/exchange/import/import_model.h"
#include "lagtape/tools/train/run_folder.h"

namespace lagtape::cli {

namespace {

namespace fs = std::filesystem;

struct ImportArguments {
  std::string file, output, format, nonlinearity, precision, rest;
  std::vector<std::string> order;
};

void add_options(Options& options, ImportArguments& arguments) {
  options
      .add("FILE", &arguments.file,
           "model of PyTorch, Keras, RTNeural, AIDA-X, GuitarML, Proteus, NAM or ONNX")
      .required();
  options.add("--output", &arguments.output, "run folder to write; must not exist").required().called("RUN");
  options
      .add("--format", &arguments.format,
           "torch, torch-json, rtneural, guitarml, nam or onnx; by default found by the file's content")
      .called("NAME");
  options
      .add("--order", &arguments.order,
           "names of PyTorch modules from the input up, where the file does not tell their order")
      .called("NAMES")
      .separated_by(',');
  options
      .add("--nonlinearity", &arguments.nonlinearity,
           "tanh or relu, of nn.RNN; by default as the file's metadata say, else tanh")
      .called("NAME");
  options
      .add("--rest", &arguments.rest,
           "begin in the state that the model settles to for this input, in place of zeros")
      .called("INPUT");
  options
      .add("--precision", &arguments.precision,
           "f32, f64 or bf16; by default f64 where a tensor of the file is, else f32")
      .called("NAME");
}

/// The precision of that name; none where it is not given.
std::optional<Precision> precision_of(const std::string& name) {
  if (name.empty()) return std::nullopt;
  const Precision precision = precision_named(name);
  if (name == name_of(precision)) return precision;
  throw InputError(text_of("--precision: ", unknown_name("precision", name, {"f32", "f64", "bf16"})));
}

/// The input of --rest; none where it is not given.
std::optional<double> rest_input(const std::string& text) {
  if (text.empty()) return std::nullopt;
  double input = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, input);
  if (error != std::errc() || next != end || !std::isfinite(input))
    throw InputError(text_of("--rest: expected a finite number. Got '", text, "'."));
  return input;
}

/// Writes the files of a run that its model needs. A run that could not be written is removed.
void write_run(const Model& model, const RunFolder& run) {
  std::error_code error;
  fs::create_directories(run.path(), error);
  if (error)
    throw InputError(text_of(run.path().string(), ": cannot make this folder: ", error.message(), "."));
  try {
    run.save_weights(model);
    write_file_atomically(run.experiment_file(), model.experiment() + "\n");
  } catch (...) {
    fs::remove_all(run.path(), error);
    throw;
  }
}

void run(const ImportArguments& arguments) {
  std::error_code error;
  if (fs::exists(arguments.output, error))
    throw InputError(text_of(arguments.output, ": exists already. Give another --output."));
  const ImportedModel imported =
      import_model(arguments.file, {arguments.format, arguments.order, arguments.nonlinearity,
                                    precision_of(arguments.precision), rest_input(arguments.rest)});
  write_run(imported.model, RunFolder(arguments.output));
  print("{}: {} -> {}\n", arguments.file, imported.format, arguments.output);
  for (const LayerSummary& layer : imported.model.layers())
    print("  {:<24} {:>9} parameters\n", layer.name, layer.params);
}

}  // namespace

Command import_command() {
  return make_command<ImportArguments>(
      "import", "Make a run of a model that another program trained", add_options, run,
      {{"lagtape import amp.json --output runs/amp", "a model of Keras, RTNeural, ..."},
       {"lagtape import lstm.safetensors --output runs/lstm", "a model of PyTorch"}});
}

}  // namespace lagtape::cli
