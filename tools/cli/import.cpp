#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/exchange/import/import_model.h"
#include "lagtape/tools/train/run_folder.h"

namespace lagtape::cli {

namespace {

namespace fs = std::filesystem;

struct ImportArguments {
  std::string file, output, format, nonlinearity, precision, between;
  std::optional<double> rest;
  std::vector<std::string> order;
};

void add_options(Options& options, ImportArguments& arguments) {
  std::string formats;
  for (const std::string& name : import_formats())
    formats += text_of(formats.empty() ? "" : name == import_formats().back() ? " or " : ", ", name);
  options
      .add("FILE", &arguments.file,
           "model of PyTorch, Keras, RTNeural, AIDA-X, GuitarML, Proteus, NAM or ONNX")
      .required();
  options.add("--output", &arguments.output, "run folder to write; must not exist").required().called("RUN");
  options.add("--format", &arguments.format, text_of(formats, "; by default found by the file's content"))
      .one_of(import_formats())
      .called("NAME");
  options
      .add("--order", &arguments.order,
           "names of PyTorch modules from the input up, if the file does not have their order")
      .called("NAMES")
      .separated_by(',');
  options
      .add("--nonlinearity", &arguments.nonlinearity,
           "function of nn.RNN, tanh or relu; by default that of the file's metadata, else tanh")
      .one_of({"tanh", "relu"})
      .called("NAME");
  options
      .add("--between", &arguments.between,
           "function between linear maps of PyTorch that follow each other: relu, tanh, sigmoid, elu, gelu, "
           "silu, "
           "leaky_relu, softplus or none")
      .one_of({"relu", "tanh", "sigmoid", "elu", "gelu", "silu", "leaky_relu", "softplus", "none"})
      .called("NAME");
  options
      .add("--rest", &arguments.rest,
           "begin in the state that the model settles to for this input, in place of zeros")
      .called("INPUT");
  options
      .add("--precision", &arguments.precision,
           "f32, f64 or bf16; by default f64 where a tensor of the file is, else f32")
      .one_of({"f32", "f64", "bf16"})
      .called("NAME");
}

/// Writes the files of a run that its model needs. A run that could not be written is removed.
void write_run(const Model& model, const RunFolder& run) {
  std::error_code error;
  fs::create_directories(run.path(), error);
  if (error)
    throw InputError({run.path().string()}, Rule::cannot_write,
                     text_of("cannot make this folder: ", error.message(), "."));
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
    throw InputError({arguments.output}, Rule::exists, "exists already.", {}, "Give another --output.");
  ImportOptions options{.format = arguments.format,
                        .order = arguments.order,
                        .nonlinearity = arguments.nonlinearity,
                        .rest = arguments.rest,
                        .between = arguments.between};
  if (!arguments.precision.empty()) options.precision = precision_named(arguments.precision);
  const ImportedModel imported = import_model(arguments.file, options);
  write_run(imported.model, RunFolder(arguments.output));
  print("{}: {} -> {}\n", arguments.file, imported.format, arguments.output);
  for (const LayerSummary& layer : imported.model.layers())
    print("  {:<24} {:>9} parameters\n", layer.name, layer.params);
  for (const std::string& text : imported.notes) note("{}\n", text);
}

}  // namespace

Command import_command() {
  return make_command<ImportArguments>(
      "import", "Make a run of a model that another program trained", add_options, run,
      {{"lagtape import amp.json --output runs/amp", "a model of Keras, RTNeural, ..."},
       {"lagtape import lstm.safetensors --output runs/lstm", "a model of PyTorch"},
       {"lagtape import model.keras --output runs/keras", "a model of Keras 3"}});
}

}  // namespace lagtape::cli
