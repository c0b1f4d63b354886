#include "lagtape/tools/exchange/import/import_model.h"

#include <algorithm>
#include <cstring>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/file_kind.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/import/keras_json.h"
#include "lagtape/tools/exchange/import/lowering.h"
#include "lagtape/tools/exchange/import/nam_file.h"
#include "lagtape/tools/exchange/import/onnx_graph.h"
#include "lagtape/tools/exchange/import/torch_files.h"

namespace lagtape {
namespace {

namespace fs = std::filesystem;

char first_character(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? '\0' : bytes[first];
}

/// Whether bytes begin like a safetensors file: the length of a header, and its brace.
bool begins_like_safetensors(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length + 1) return false;
  std::memcpy(&length, bytes.data(), sizeof length);
  return bytes[sizeof length] == '{' && length < (std::uint64_t{1} << 32);
}

std::string format_of_json(const Json& root, const std::string& where) {
  if (root.contains("model_data") || root.contains("state_dict")) return "guitarml";
  if (root.contains("architecture")) return "nam";
  if (root.contains("layers")) return "rtneural";
  for (const auto& [name, value] : root.items())
    if (name.find("weight") != std::string::npos) return "torch-json";
  throw InputError(
      {where}, Rule::not_supported,
      text_of("a JSON object of none of the formats that are supported: ", listed(import_formats()), "."));
}

std::string format_of_bytes(std::string_view bytes, const std::string& where) {
  if (begins_like_safetensors(bytes)) return "torch";
  if (bytes.starts_with('\x08')) return "onnx";  // the field ir_version
  throw InputError({where}, Rule::not_supported,
                   text_of("is of none of the formats that are supported: ", listed(import_formats()),
                           seeming_kind(bytes), "."));
}

foreign::ForeignModel read_json_model(const std::string& format, const Json& root,
                                      const ImportOptions& options, const std::string& where) {
  if (format == "guitarml") return foreign::read_guitarml(root, where);
  if (format == "nam") return foreign::read_nam(root, where);
  if (format == "rtneural") return foreign::read_keras_json(root, where);
  return foreign::read_torch_json(root, options.order, where);
}

foreign::ForeignModel read_foreign(const std::string& bytes, const ImportOptions& options,
                                   const std::string& where) {
  const std::string& given = options.format;
  const bool is_json = given.empty() ? first_character(bytes) == '{' : given != "torch" && given != "onnx";
  if (is_json) {
    const Json root = parse_json(bytes, where);
    if (!root.is_object()) throw InputError({where}, Rule::wrong_type, "expected a JSON object.");
    return read_json_model(given.empty() ? format_of_json(root, where) : given, root, options, where);
  }
  const std::string format = given.empty() ? format_of_bytes(bytes, where) : given;
  return format == "torch" ? foreign::read_torch(bytes, options.order, where)
                           : foreign::read_onnx(bytes, where);
}

/// A name that an experiment may have: that of the file without its ending.
std::string experiment_name(const fs::path& file) {
  std::string name = file.stem().string().substr(0, 200);
  std::ranges::replace_if(
      name,
      [](unsigned char c) { return c >= 0x80 || (!std::isalnum(c) && c != '.' && c != '_' && c != '-'); },
      '_');
  return name.empty() || name[0] == '-' || name[0] == '.' ? "imported" : name;
}

}  // namespace

const std::vector<std::string>& import_formats() {
  static const std::vector<std::string> formats = {"torch",    "torch-json", "rtneural",
                                                   "guitarml", "nam",        "onnx"};
  return formats;
}

ImportedModel import_model(const fs::path& file, const ImportOptions& options) {
  const std::vector<std::string>& known = import_formats();
  if (!options.format.empty() && std::ranges::find(known, options.format) == known.end())
    throw InputError(unknown_name("format", options.format, known));
  const std::string where = file.string();
  foreign::ForeignModel model = read_foreign(read_file(file), options, where);
  if (!options.order.empty() && !model.format.starts_with("torch"))
    throw InputError({where}, Rule::conflict,
                     text_of("--order is for the modules of PyTorch; the format is ", model.format, "."));
  if (!options.nonlinearity.empty()) {
    if (!model.format.starts_with("torch"))
      throw InputError({where}, Rule::conflict,
                       text_of("--nonlinearity is for nn.RNN of PyTorch; the format is ", model.format, "."));
    foreign::set_nonlinearity(model, options.nonlinearity, where);
  }
  model.precision = options.precision.value_or(model.precision);
  model.rest = options.rest;
  return {foreign::lowered(model, experiment_name(file), where), model.format};
}

}  // namespace lagtape
