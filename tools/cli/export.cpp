#include <cstdint>
#include <filesystem>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/output_file.h"
#include "lagtape/tools/cli/place.h"
#include "lagtape/tools/exchange/export/c99/c_names.h"
#include "lagtape/tools/exchange/export/c99/c_source.h"
#include "lagtape/tools/exchange/export/onnx/onnx_model.h"
#include "lagtape/tools/exchange/export/plain/keras_file.h"
#include "lagtape/tools/exchange/export/plain/torch_file.h"
#include "lagtape/tools/train/source.h"

namespace lagtape::cli {

namespace {

struct ExportArguments {
  std::string run, to, output, precision, weights = "float", functions = "exact";
  bool lengths = false;
};

void add_options(Options& options, ExportArguments& arguments) {
  options.add("RUN", &arguments.run, "run folder or weights file").required();
  options
      .add("--to", &arguments.to,
           "c99: one C file that needs math.h alone; onnx: whole sequences; onnx-step: one step, its states "
           "in and out; torch: safetensors with PyTorch's names; keras: RTNeural's JSON")
      .required()
      .called("FORMAT");
  options
      .add("--output", &arguments.output,
           "file to write; the names in a C file begin with the file's, without the ending")
      .required()
      .not_empty()
      .called("FILE");
  options.add("--precision", &arguments.precision, "c99: f32 or f64, the scalar; by default the model's")
      .called("P");
  options
      .add("--weights", &arguments.weights,
           "c99: float, or int16 or int8: matrices in whole numbers with a scale a row")
      .show_default()
      .called("KIND");
  options
      .add("--functions", &arguments.functions,
           "c99: exact (of math.h), or fast: tanh and sigmoid by a quotient of polynomials")
      .show_default()
      .called("KIND");
  options.add(
      "--lengths", &arguments.lengths,
      "onnx: sequences of unequal lengths, for a model that reads once: an input 'lengths' says where "
      "each ends");
}

/// The value of an option out of a list of names.
template <class T>
T chosen(const std::string& option, const std::string& given,
         const std::vector<std::pair<std::string, T>>& known) {
  std::vector<std::string> names;
  for (const auto& [name, value] : known) {
    if (name == given) return value;
    names.push_back(name);
  }
  throw InputError(text_of(option, ": ", unknown_name("value", given, names)));
}

CExportOptions c_options(const ExportArguments& arguments) {
  CExportOptions options;
  options.name = c_identifier(std::filesystem::path(arguments.output).stem().string());
  if (!arguments.precision.empty())
    options.dtype =
        chosen<Dtype>("--precision", arguments.precision, {{"f32", Dtype::f32}, {"f64", Dtype::f64}});
  options.weights =
      chosen<CWeights>("--weights", arguments.weights,
                       {{"float", CWeights::real}, {"int16", CWeights::int16}, {"int8", CWeights::int8}});
  options.fast_functions =
      chosen<bool>("--functions", arguments.functions, {{"exact", false}, {"fast", true}});
  return options;
}

enum class Format : std::uint8_t { c99, onnx, onnx_step, torch, keras };

/// Throws InputError for options that another format has.
void check_options(const ExportArguments& arguments, Format format) {
  const auto refuse = [&](bool given, const char* option, const char* formats) {
    if (given) throw InputError(text_of(option, ": is for --to ", formats, ". Got --to ", arguments.to));
  };
  const bool is_c = format == Format::c99;
  refuse(!is_c && !arguments.precision.empty(), "--precision", "c99");
  refuse(!is_c && arguments.weights != "float", "--weights", "c99");
  refuse(!is_c && arguments.functions != "exact", "--functions", "c99");
  refuse(format != Format::onnx && arguments.lengths, "--lengths", "onnx");
}

std::string exported_bytes(const ExportArguments& arguments, Format format) try {
  const CExportOptions options = c_options(arguments);
  const Model model = load_model(arguments.run);
  switch (format) {
    case Format::c99: return c_source(model, options);
    case Format::onnx: return onnx_sequence_model(model, arguments.lengths);
    case Format::onnx_step: return onnx_step_model(model);
    case Format::torch: return torch_file(model);
    case Format::keras: return keras_file(model);
  }
  return {};
} catch (const InputError& error) {
  throw InputError(at_place(error.what(), arguments.run));
}

void run(const ExportArguments& arguments) {
  const Format format = chosen<Format>("--to", arguments.to,
                                       {{"c99", Format::c99},
                                        {"onnx", Format::onnx},
                                        {"onnx-step", Format::onnx_step},
                                        {"torch", Format::torch},
                                        {"keras", Format::keras}});
  check_options(arguments, format);
  check_not_an_input("--output", arguments.output, {arguments.run});
  write_file_atomically(arguments.output, exported_bytes(arguments, format));
}

}  // namespace

Command export_command() {
  return make_command<ExportArguments>(
      "export", "Write a trained model for other programs", add_options, run,
      {{"lagtape export runs/load-0 --to c99 --output load.c", "one C file"},
       {"lagtape export runs/load-0 --to onnx --output load.onnx", "for ONNX Runtime"}});
}

}  // namespace lagtape::cli
