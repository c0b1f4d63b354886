#include "lagtape/tools/exchange/import/import_model.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <ranges>

#include "lagtape/core/error.h"
#include "lagtape/core/file_kind.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/files/hdf5.h"
#include "lagtape/tools/exchange/files/stored_zip.h"
#include "lagtape/tools/exchange/import/keras_file.h"
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

/// A file, and where it is JSON its object.
struct Content {
  std::string bytes;
  fs::path folder;
  Json root;
};

struct Format {
  std::string_view name;
  bool is_json;
  bool (*recognizes)(const Content& file);
  foreign::ForeignModel (*read)(const Content& file, const ImportOptions& options, const std::string& where);
};

bool names_weights(const Content& file) {
  for (const auto& [name, value] : file.root.items())
    if (name.find("weight") != std::string::npos) return true;
  return false;
}

/// Whether an archive has the entry that Keras writes; its name is also in the list at the archive's end.
bool has_layers_of_keras(const Content& file) {
  return foreign::begins_like_zip(file.bytes) && file.bytes.find("model.weights.h5") != std::string::npos;
}

using Options = ImportOptions;
using Where = std::string;

/// One row a format. A file is of the last one that recognizes it.
constexpr Format kFormats[] = {
    {"torch", false,
     [](const Content& file) {
       return begins_like_safetensors(file.bytes) || foreign::begins_like_zip(file.bytes);
     },
     [](const Content& file, const Options& options, const Where& where) {
       return foreign::begins_like_zip(file.bytes)
                  ? foreign::read_torch_file(file.bytes, options.order, where)
                  : foreign::read_torch(file.bytes, options.order, where);
     }},
    {"keras", false, has_layers_of_keras,
     [](const Content& file, const Options&, const Where& where) {
       return foreign::read_keras(file.bytes, where);
     }},
    {"keras-weights", false, [](const Content& file) { return foreign::begins_like_hdf5(file.bytes); },
     [](const Content& file, const Options& options, const Where& where) {
       return foreign::read_keras_weights(file.bytes, options.order, where);
     }},
    {"torch-json", true, names_weights,
     [](const Content& file, const Options& options, const Where& where) {
       return foreign::read_torch_json(file.root, options.order, where);
     }},
    {"rtneural", true, [](const Content& file) { return file.root.contains("layers"); },
     [](const Content& file, const Options&, const Where& where) {
       return foreign::read_keras_json(file.root, where);
     }},
    {"guitarml", true,
     [](const Content& file) { return file.root.contains("model_data") || file.root.contains("state_dict"); },
     [](const Content& file, const Options&, const Where& where) {
       return foreign::read_guitarml(file.root, where);
     }},
    {"nam", true, [](const Content& file) { return file.root.contains("architecture"); },
     [](const Content& file, const Options&, const Where& where) {
       return foreign::read_nam(file.root, where);
     }},
    {"onnx", false,
     [](const Content& file) {
       return file.bytes.starts_with('\x08') && !begins_like_safetensors(file.bytes);
     },  // the field ir_version
     [](const Content& file, const Options&, const Where& where) {
       return foreign::read_onnx(file.bytes, file.folder, where);
     }},
};

foreign::ForeignModel read_foreign(Content file, const ImportOptions& options, const std::string& where) {
  const auto named = std::ranges::find(kFormats, options.format, &Format::name);
  const bool is_known = named != std::end(kFormats);
  const bool is_json = is_known ? named->is_json : first_character(file.bytes) == '{';
  if (is_json) {
    file.root = parse_json(file.bytes, where);
    if (!file.root.is_object()) throw unexpected({where}, Rule::wrong_type, "a JSON object");
  }
  if (is_known) return named->read(file, options, where);
  for (const Format& format : std::views::reverse(kFormats))
    if (format.is_json == is_json && format.recognizes(file)) return format.read(file, options, where);
  throw InputError({where}, Rule::not_supported,
                   text_of(is_json ? "a JSON object" : "is", " of none of the formats that are supported: ",
                           listed(import_formats()), is_json ? "" : seeming_kind(file.bytes), "."));
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
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Format& format : kFormats) all.emplace_back(format.name);
    return all;
  }();
  return names;
}

ImportedModel import_model(const fs::path& file, const ImportOptions& options) {
  const PlainArithmetic plain;
  const std::vector<std::string>& known = import_formats();
  if (!options.format.empty() && std::ranges::find(known, options.format) == known.end())
    throw InputError(unknown_name("format", options.format, known));
  const std::string where = file.string();
  foreign::ForeignModel model = read_foreign({read_file(file), file.parent_path(), {}}, options, where);
  const bool is_weights = model.format.starts_with("torch") || model.format == "keras-weights";
  if (!options.order.empty() && !is_weights)
    throw InputError({where}, Rule::conflict,
                     text_of("--order is for the modules of PyTorch; the format is ", model.format, "."));
  if (!options.nonlinearity.empty()) {
    if (!model.format.starts_with("torch"))
      throw InputError({where}, Rule::conflict,
                       text_of("--nonlinearity is for nn.RNN of PyTorch; the format is ", model.format, "."));
    foreign::set_nonlinearity(model, options.nonlinearity, where);
  }
  const std::vector<std::string>& between = foreign::functions_between_maps();
  if (!options.between.empty() && std::ranges::find(between, options.between) == between.end())
    throw InputError(unknown_name("function", options.between, between).within({.item = "--between"}));
  if (is_weights) {
    foreign::set_between(model, options.between, where);
  } else if (!options.between.empty()) {
    throw InputError({where}, Rule::conflict,
                     text_of("--between is for the modules of PyTorch; the format is ", model.format, "."));
  }
  model.precision = options.precision.value_or(model.precision);
  model.rest = options.rest;
  return {foreign::lowered(model, experiment_name(file), where), model.format, model.notes};
}

}  // namespace lagtape
