#include "lagtape/tools/exchange/import/onnx_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <set>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/half.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/protobuf.h"
#include "lagtape/core/quote.h"

namespace lagtape::foreign {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are, little endian");

// The numbers of the fields and of the types are those of onnx.proto.
enum class OnnxType : std::int64_t { f32 = 1, i32 = 6, i64 = 7, boolean = 9, f16 = 10, f64 = 11, bf16 = 16 };

/// The parts of a tensor before its type is known.
struct TensorParts {
  std::string name, raw, packed_floats, packed_doubles;
  std::vector<std::int64_t> dims, int32s, int64s;
  std::int64_t type = 0;
  bool is_external = false;
  std::map<std::string, std::string> external;  ///< "location", "offset", "length"
};

/// A model's file while it is read.
struct Source {
  const std::string& where;
  const std::filesystem::path& folder;
  std::map<std::string, std::string> others;  ///< the bytes of other files by their names
};

void add_integers(const ProtobufReader& message, std::vector<std::int64_t>& values,
                  const std::string& place) {
  if (!message.is_packed()) return values.push_back(message.integer());
  for (std::string_view packed = message.bytes(); !packed.empty();)
    values.push_back(ProtobufReader::take_integer(packed, place));
}

/// The messages in field `number` of a message; empty where there is none.
std::string_view inside(std::string_view bytes, std::uint32_t number, const std::string& place) {
  ProtobufReader message(bytes, place);
  while (message.next())
    if (message.field() == number) return message.bytes();
  return {};
}

void add_reals(const ProtobufReader& message, std::vector<float>& values) {
  if (!message.is_packed()) return values.push_back(message.real());
  const std::string_view packed = message.bytes();
  for (std::size_t i = 0; i + sizeof(float) <= packed.size(); i += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, packed.data() + i, sizeof value);
    values.push_back(value);
  }
}

TensorParts parts_of_tensor(std::string_view bytes, const std::string& place) {
  TensorParts parts;
  ProtobufReader message(bytes, place);
  while (message.next()) {
    switch (message.field()) {
      case 1: add_integers(message, parts.dims, place); break;
      case 2: parts.type = message.integer(); break;
      case 4: parts.packed_floats.append(message.bytes()); break;
      case 5: add_integers(message, parts.int32s, place); break;
      case 7: add_integers(message, parts.int64s, place); break;
      case 8: parts.name = message.bytes(); break;
      case 9: parts.raw = message.bytes(); break;
      case 10: parts.packed_doubles.append(message.bytes()); break;
      case 13: {
        const std::string_view entry = message.bytes();
        parts.external.emplace(inside(entry, 1, place), inside(entry, 2, place));
        break;
      }
      case 14: parts.is_external = message.integer() != 0; break;
      default: break;
    }
  }
  return parts;
}

/// Numbers of type T in bytes, each as `convert` gives it.
template <class T, class To, class Convert>
std::vector<To> numbers_in(std::string_view bytes, Convert convert) {
  std::vector<To> values;
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value{};
    std::memcpy(&value, bytes.data() + i, sizeof value);
    values.push_back(static_cast<To>(convert(value)));
  }
  return values;
}

constexpr auto kSame = [](auto value) { return value; };

std::vector<double> reals_of(const TensorParts& parts) {
  const std::string_view raw = parts.raw;
  const auto half = [&](auto convert) {
    if (!raw.empty()) return numbers_in<std::uint16_t, double>(raw, convert);
    std::vector<double> values;
    for (const std::int64_t bits : parts.int32s) values.push_back(convert(static_cast<std::uint16_t>(bits)));
    return values;
  };
  switch (static_cast<OnnxType>(parts.type)) {
    case OnnxType::f32: return numbers_in<float, double>(raw.empty() ? parts.packed_floats : raw, kSame);
    case OnnxType::f64: return numbers_in<double, double>(raw.empty() ? parts.packed_doubles : raw, kSame);
    case OnnxType::f16: return half(float_of_f16);
    default: return half(float_of_bf16);
  }
}

std::vector<double> integers_of(const TensorParts& parts) {
  const auto type = static_cast<OnnxType>(parts.type);
  const auto& numbers = type == OnnxType::i64 ? parts.int64s : parts.int32s;
  if (parts.raw.empty()) return {numbers.begin(), numbers.end()};
  if (type == OnnxType::boolean) return numbers_in<std::uint8_t, double>(parts.raw, kSame);
  return type == OnnxType::i64 ? numbers_in<std::int64_t, double>(parts.raw, kSame)
                               : numbers_in<std::int32_t, double>(parts.raw, kSame);
}

/// Whether extents, which may be of any size, make so many numbers.
bool has_count(const std::vector<std::int64_t>& extents, std::size_t numbers) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(count, extent, &count)) return false;
  return count == static_cast<std::int64_t>(numbers);
}

/// A whole number of an entry of external data; `missing` where there is none.
std::uint64_t external_number(const TensorParts& parts, const std::string& key, std::uint64_t missing,
                              const Place& place) {
  const auto found = parts.external.find(key);
  if (found == parts.external.end()) return missing;
  std::uint64_t number = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw unexpected(place, Rule::damaged, text_of("a whole number as ", key), quote(text));
  return number;
}

/// The bytes of a file inside of the model's folder, whatever links there are on the way.
const std::string& other_file(const std::string& location, Source& source, const Place& place) {
  if (const auto found = source.others.find(location); found != source.others.end()) return found->second;
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::canonical(source.folder.empty() ? "." : source.folder, error);
  const fs::path file = fs::weakly_canonical(folder / location, error);
  const auto [end, in_file] = std::ranges::mismatch(folder, file);
  if (location.empty() || location.find('\0') != std::string::npos || fs::path(location).is_absolute() ||
      error || end != folder.end())
    throw InputError(place, Rule::not_supported,
                     text_of("its numbers are in the file ", quote(location),
                             ", which is not in the folder of the model or below it."));
  if (!fs::is_regular_file(file, error))
    throw InputError(
        place, Rule::cannot_read,
        text_of("its numbers are in the file ", quote(location), " beside the model, which is not there."),
        {}, "PyTorch writes the two together, and they belong in one folder.");
  return source.others.emplace(location, read_file(file)).first->second;
}

/// Takes the numbers of a tensor out of another file.
void read_external(TensorParts& parts, Source& source, const Place& place) {
  const std::string& location = parts.external["location"];
  const std::string_view bytes = other_file(location, source, place);
  const std::uint64_t offset = external_number(parts, "offset", 0, place);
  const std::uint64_t length =
      external_number(parts, "length", offset <= bytes.size() ? bytes.size() - offset : 0, place);
  if (offset > bytes.size() || length > bytes.size() - offset)
    throw InputError(place, Rule::damaged,
                     text_of("expected ", length, " bytes from byte ", offset, " on of ", quote(location),
                             ", which has ", bytes.size(), "."));
  parts.raw = bytes.substr(offset, length);
}

OnnxTensor tensor_of_parts(TensorParts parts, Source& source) {
  const Place where{.file = source.where, .item = text_of("tensor '", parts.name, "'")};
  const auto type = static_cast<OnnxType>(parts.type);
  const OnnxType whole[] = {OnnxType::i32, OnnxType::i64, OnnxType::boolean};
  const OnnxType real[] = {OnnxType::f32, OnnxType::f16, OnnxType::f64, OnnxType::bf16};
  const bool is_whole = std::ranges::find(whole, type) != std::end(whole);
  if (!is_whole && std::ranges::find(real, type) == std::end(real))
    throw InputError(
        {where}, Rule::not_supported,
        text_of("numbers of ONNX's type ", parts.type,
                " are not supported. Supported: float, double, float16, bfloat16, int32, int64, bool."));
  for (const std::int64_t extent : parts.dims)
    if (extent < 0)
      throw InputError(where, Rule::out_of_range, text_of("the shape ", to_string(parts.dims), "."));
  if (parts.is_external) read_external(parts, source, where);
  OnnxTensor tensor{.shape = parts.dims, .values = is_whole ? integers_of(parts) : reals_of(parts)};
  tensor.is_real = !is_whole;
  tensor.is_double = type == OnnxType::f64;
  if (!has_count(parts.dims, tensor.values.size()))
    throw InputError(where, Rule::damaged,
                     text_of("the shape ", to_string(parts.dims), " does not fit its ", tensor.values.size(),
                             " numbers."));
  return tensor;
}

OnnxGraph graph_of(std::string_view bytes, Source& source, int depth);

std::pair<std::string, OnnxAttribute> attribute_of(std::string_view bytes, Source& source, int depth) {
  const std::string& place = source.where;
  std::string name;
  OnnxAttribute attribute;
  ProtobufReader message(bytes, place);
  while (message.next()) {
    switch (message.field()) {
      case 1: name = message.bytes(); break;
      case 2: attribute.real = message.real(); break;
      case 3: attribute.integer = message.integer(); break;
      case 4: attribute.text = message.bytes(); break;
      case 5: attribute.tensor = tensor_of_parts(parts_of_tensor(message.bytes(), place), source); break;
      case 6:
        attribute.graph = std::make_shared<OnnxGraph>(graph_of(message.bytes(), source, depth + 1));
        break;
      case 7: add_reals(message, attribute.reals); break;
      case 8: add_integers(message, attribute.integers, place); break;
      case 9: attribute.texts.emplace_back(message.bytes()); break;
      default: break;
    }
  }
  return {name, attribute};
}

OnnxNode node_of(std::string_view bytes, Source& source, int depth) {
  const std::string& place = source.where;
  OnnxNode node;
  std::string domain;
  ProtobufReader message(bytes, place);
  while (message.next()) {
    switch (message.field()) {
      case 1: node.inputs.emplace_back(message.bytes()); break;
      case 2: node.outputs.emplace_back(message.bytes()); break;
      case 3: node.name = message.bytes(); break;
      case 4: node.type = message.bytes(); break;
      case 5: node.attributes.insert(attribute_of(message.bytes(), source, depth)); break;
      case 7: domain = message.bytes(); break;
      default: break;
    }
  }
  if (!domain.empty() && domain != "ai.onnx") node.type = text_of(domain, ".", node.type);
  return node;
}

OnnxValue value_of(std::string_view bytes, const std::string& place) {
  OnnxValue value{.name = std::string(inside(bytes, 1, place)), .shape = {}};
  const std::string_view type = inside(inside(bytes, 2, place), 1, place);
  ProtobufReader element(type, place);
  while (element.next())
    if (element.field() == 1) {
      const auto kind = static_cast<OnnxType>(element.integer());
      value.is_real = kind != OnnxType::i32 && kind != OnnxType::i64;
    }
  ProtobufReader shape(inside(type, 2, place), place);
  while (shape.next()) {
    if (shape.field() != 1) continue;
    value.shape.push_back(-1);
    ProtobufReader extent(shape.bytes(), place);
    while (extent.next())
      if (extent.field() == 1) value.shape.back() = extent.integer();
  }
  return value;
}

/// The oldest operators whose meaning is the one that is read here; before them sums named the axes that they spread.
constexpr std::int64_t kOldestOperators = 7;

void check_operators(std::string_view bytes, const std::string& place) {
  std::string domain;
  std::int64_t version = kOldestOperators;
  ProtobufReader message(bytes, place);
  while (message.next()) {
    if (message.field() == 1) domain = message.bytes();
    if (message.field() == 2) version = message.integer();
  }
  if ((domain.empty() || domain == "ai.onnx") && version < kOldestOperators)
    throw InputError({place}, Rule::not_supported,
                     text_of("ONNX's operators of version ", version,
                             " are not supported. Supported: version ", kOldestOperators, " and later."));
}

/// The graph of a file, all of which is looked at: it may be cut off behind the graph.
std::string_view graph_bytes(std::string_view bytes, const std::string& where) {
  std::string_view graph;
  bool is_found = false;
  ProtobufReader message(bytes, where);
  while (message.next()) {
    if (message.field() == 7) {
      if (is_found) throw InputError({where}, Rule::damaged, "is damaged: there are two graphs.");
      graph = message.bytes();
      is_found = true;
    }
    if (message.field() == 8) check_operators(message.bytes(), where);
    if (message.field() == 25)
      throw InputError({where}, Rule::not_supported, "functions of the file's own are not supported.");
  }
  return graph;
}

/// Refuses values of one name: each is made once, by a node, as an input or as a constant.
void check_names(const OnnxGraph& graph, const std::string& where) {
  std::set<std::string> made;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && !made.insert(name).second)
      throw InputError({where}, Rule::conflict, text_of("two values are named '", name, "'."));
  };
  for (const auto& [name, tensor] : graph.tensors) add(name);
  for (const OnnxValue& input : graph.inputs) add(input.name);
  for (const OnnxNode& node : graph.nodes)
    for (const std::string& output : node.outputs) add(output);
  std::set<std::string> outputs;
  for (const OnnxValue& output : graph.outputs)
    if (!outputs.insert(output.name).second)
      throw InputError({where}, Rule::conflict, text_of("two outputs are named '", output.name, "'."));
}

/// Graphs inside of graphs of at most that depth are read.
constexpr int kMostGraphs = 8;

OnnxGraph graph_of(std::string_view bytes, Source& source, int depth) {
  const std::string& where = source.where;
  if (depth > kMostGraphs)
    throw InputError({where}, Rule::not_supported, "has graphs inside of graphs without end.");
  OnnxGraph graph;
  ProtobufReader message(bytes, where);
  while (message.next()) {
    switch (message.field()) {
      case 1: graph.nodes.push_back(node_of(message.bytes(), source, depth)); break;
      case 5: {
        TensorParts parts = parts_of_tensor(message.bytes(), where);
        const std::string name = parts.name;
        if (!graph.tensors.emplace(name, tensor_of_parts(std::move(parts), source)).second)
          throw InputError({where}, Rule::conflict, text_of("two tensors are named '", name, "'."));
        break;
      }
      case 11: graph.inputs.push_back(value_of(message.bytes(), where)); break;
      case 12: graph.outputs.push_back(value_of(message.bytes(), where)); break;
      default: break;
    }
  }
  std::erase_if(graph.inputs, [&](const OnnxValue& input) { return graph.tensors.contains(input.name); });
  check_names(graph, where);
  return graph;
}

}  // namespace

std::string OnnxNode::title() const { return name.empty() ? type : text_of(type, " '", name, "'"); }

OnnxGraph read_onnx_graph(std::string_view bytes, const std::filesystem::path& folder,
                          const std::string& where) {
  Source source{where, folder, {}};
  OnnxGraph graph = graph_of(graph_bytes(bytes, where), source, 0);
  if (graph.nodes.empty()) throw InputError({where}, Rule::wrong_type, "is no ONNX file, or has no nodes.");
  return graph;
}

}  // namespace lagtape::foreign
