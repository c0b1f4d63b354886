#include <cstdint>
#include <filesystem>

#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/terminal/announcements.h"
#include "lagtape/tools/cli/terminal/output_file.h"
#include "lagtape/tools/cli/terminal/place.h"
#include "lagtape/tools/exchange/export/c99/c_names.h"
#include "lagtape/tools/exchange/export/c99/c_source.h"
#include "lagtape/tools/exchange/export/exported_model.h"
#include "lagtape/tools/exchange/export/onnx/onnx_model.h"
#include "lagtape/tools/exchange/export/plain/blob_file.h"
#include "lagtape/tools/exchange/export/plain/keras_file.h"
#include "lagtape/tools/exchange/export/plain/nam_file.h"
#include "lagtape/tools/exchange/export/plain/torch_file.h"
#include "lagtape/tools/forecast/step_names_of.h"
#include "lagtape/tools/train/source.h"
#include "lagtape/tools/train/warnings.h"

namespace lagtape::cli {

namespace {

struct ExportArguments {
  std::string run, to, output, precision, series, weights = "float", arithmetic = "float",
                                                  functions = "exact";
  bool lengths = false;
};

void add_options(Options& options, ExportArguments& arguments) {
  options.add("RUN", &arguments.run, "run folder or weights file").required();
  options
      .add("--to", &arguments.to,
           "c99: one C file that needs math.h alone; onnx: whole sequences; onnx-step: one step, its states "
           "in and out; torch: safetensors with PyTorch's names; rtneural or keras: RTNeural's JSON; nam: a "
           "file "
           "of Neural Amp Modeler; blob: bytes that the C file blob_stream.c runs")
      .required()
      .one_of({"c99", "onnx", "onnx-step", "torch", "keras", "rtneural", "nam", "blob"})
      .refuses("tflite",
               "tflite is not written: of these cells TFLite has the LSTM alone, and its files come from "
               "TensorFlow's converter. "
               "For small machines use --to c99 --weights int8; converters read --to onnx.")
      .called("FORMAT");
  options
      .add("--output", &arguments.output,
           "file to write; the names in a C file begin with the file's, without the ending")
      .required()
      .not_empty()
      .called("FILE");
  options
      .add("--precision", &arguments.precision,
           "c99: f32 or f64, the scalar; by default the model's. f32 also exports a model of bf16, as one of "
           "f32")
      .one_of({"f32", "f64"})
      .called("P");
  options
      .add("--weights", &arguments.weights,
           "c99: float, or int16 or int8: matrices in whole numbers with a scale a row")
      .one_of({"float", "int16", "int8"})
      .show_default()
      .called("KIND");
  options
      .add("--arithmetic", &arguments.arithmetic,
           "c99: float, or int16 or int8: products of whole numbers, for which vectors are rounded at every "
           "step; it needs "
           "--weights of as many bits or fewer")
      .one_of({"float", "int16", "int8"})
      .show_default()
      .called("KIND");
  options
      .add("--functions", &arguments.functions,
           "c99: exact (of math.h), or fast: tanh and sigmoid by a quotient of polynomials")
      .one_of({"exact", "fast"})
      .show_default()
      .called("KIND");
  options.add("--series", &arguments.series, "the series to export, for a model that scales each by itself")
      .not_empty()
      .called("NAME");
  options.add(
      "--lengths", &arguments.lengths,
      "onnx: sequences of unequal lengths, for a model that reads once: an input 'lengths' says where "
      "each ends");
}

CWeights whole_numbers_named(const std::string& name) {
  return name == "int16" ? CWeights::int16 : name == "int8" ? CWeights::int8 : CWeights::real;
}

CExportOptions c_options(const ExportArguments& arguments, const StepNames& names) {
  CExportOptions options;
  options.names = names;
  options.name = c_identifier(std::filesystem::path(arguments.output).stem().string());
  if (!arguments.precision.empty()) options.dtype = arguments.precision == "f32" ? Dtype::f32 : Dtype::f64;
  options.weights = whole_numbers_named(arguments.weights);
  options.arithmetic = whole_numbers_named(arguments.arithmetic);
  options.fast_functions = arguments.functions == "fast";
  return options;
}

/// Throws InputError for options that another format has.
void check_options(const ExportArguments& arguments, bool is_bf16) {
  const auto refuse = [&](bool given, const char* option, const char* format) {
    if (given && arguments.to != format)
      throw InputError({.item = option}, Rule::conflict, text_of("is for --to ", format),
                       text_of("--to ", arguments.to));
  };
  refuse(!arguments.precision.empty() && !is_bf16, "--precision", "c99");
  refuse(arguments.weights != "float", "--weights", "c99");
  refuse(arguments.arithmetic != "float", "--arithmetic", "c99");
  if (arguments.arithmetic != "float" &&
      (arguments.weights == "float" || (arguments.arithmetic == "int8" && arguments.weights == "int16")))
    throw unexpected({.item = "--arithmetic"}, Rule::conflict,
                     arguments.arithmetic == "int8" ? "--weights int8" : "--weights int8 or int16",
                     text_of("--weights ", arguments.weights));
  refuse(arguments.functions != "exact", "--functions", "c99");
  refuse(arguments.lengths, "--lengths", "onnx");
}

std::string exported_bytes(const ExportArguments& arguments) try {
  Model model = load_model(arguments.run);
  warn(grammar_warnings(model));
  if (!arguments.series.empty()) model.use_series(arguments.series);
  const bool is_bf16 = model.chain().products == ProductFormat::bf16;
  check_options(arguments, is_bf16);
  StepNames names = step_names_of(model);
  names.series = arguments.series;
  if (is_bf16 && arguments.precision == "f32") model = in_f32(model);
  if (arguments.to == "c99") return c_source(model, c_options(arguments, names));
  if (arguments.to == "onnx") return onnx_sequence_model(model, arguments.lengths, names);
  if (arguments.to == "onnx-step") return onnx_step_model(model, names);
  if (arguments.to == "nam") return nam_file(model);
  if (arguments.to == "blob") return blob_file(model);
  return arguments.to == "torch" ? torch_file(model) : keras_file(model);
} catch (const InputError& error) {
  throw named(error, arguments.run);
}

void run(const ExportArguments& arguments) {
  check_not_an_input("--output", arguments.output, {arguments.run});
  write_file_atomically(arguments.output, exported_bytes(arguments));
}

}  // namespace

Command export_command() {
  return make_command<ExportArguments>(
      "export", "Write a trained model for other programs", add_options, run,
      {{"lagtape export runs/load-0 --to c99 --output load.c", "one C file"},
       {"lagtape export runs/load-0 --to onnx --output load.onnx", "for ONNX Runtime"}});
}

}  // namespace lagtape::cli
