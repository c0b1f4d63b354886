#include "lagtape/core/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/core/file_kind.h"
#include "lagtape/core/half.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they are, little endian");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // the format's own limit

// ---- Reading ----------------------------------------------------------------------------------------------

/// One header entry, checked on its own.
struct Entry {
  std::string name;
  Dtype dtype;
  std::string
      stored;  // the format's name of the dtype in the file: "F32", "F64", "F16", "BF16", or "I64" of one number
  Shape shape;
  std::uint64_t begin, end;

  bool is_half() const { return stored.ends_with("16"); }
  bool is_count() const { return stored == "I64"; }
  std::size_t element_bytes() const {
    return is_half() ? 2 : is_count() ? sizeof(std::int64_t) : byte_size(dtype);
  }
};

[[noreturn]] void refuse(const std::string& where, const std::string& name, const std::string& message) {
  throw InputError({.file = where, .item = text_of("tensor ", quote(name))}, Rule::damaged, message);
}

std::map<std::string, std::string> parse_metadata(const Json& json, const std::string& where) {
  std::map<std::string, std::string> metadata;
  if (!json.is_object()) throw InputError({where}, Rule::damaged, "__metadata__ is not an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string())
      throw InputError({where}, Rule::damaged, text_of("__metadata__ ", quote(key), " is not a string"));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

Entry parse_entry(const std::string& name, const Json& json, const std::string& where, HalfTensors halves) {
  if (!json.is_object()) refuse(where, name, "not an object");
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!json.contains(key)) refuse(where, name, text_of("no ", key));
  }
  if (json.size() != 3) refuse(where, name, "a key other than dtype, shape and data_offsets");

  const bool f64 = json["dtype"] == "F64", half = json["dtype"] == "F16" || json["dtype"] == "BF16";
  const bool count = json["dtype"] == "I64" && json["shape"] == Json::array();
  if (!f64 && json["dtype"] != "F32" && !((half || count) && halves == HalfTensors::widened))
    refuse(where, name,
           text_of("dtype ", shortened(json["dtype"].dump()), ", expected \"F32\" or \"F64\"",
                   halves == HalfTensors::widened ? ", \"F16\" or \"BF16\"" : ""));
  Entry entry{name, f64 ? Dtype::f64 : Dtype::f32, json["dtype"].get<std::string>(), {}, 0, 0};
  if (!json["shape"].is_array()) refuse(where, name, "shape is not an array");
  for (const Json& extent : json["shape"]) {
    if (!extent.is_number_unsigned() || !std::in_range<std::int64_t>(extent.get<std::uint64_t>())) {
      refuse(where, name,
             text_of("shape ", shortened(json["shape"].dump()), ", expected non-negative integers"));
    }
    entry.shape.push_back(extent.get<std::int64_t>());
  }
  const Json& offsets = json["data_offsets"];
  const bool pair = offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() &&
                    offsets[1].is_number_unsigned();
  if (pair) {
    entry.begin = offsets[0].get<std::uint64_t>();
    entry.end = offsets[1].get<std::uint64_t>();
  }
  if (!pair || entry.begin > entry.end) refuse(where, name, "data_offsets is not [begin, end]");
  return entry;
}

[[noreturn]] void refuse_as_cut(const std::string& where, std::uint64_t found, const char* part,
                                std::uint64_t expected) {
  throw InputError({where}, Rule::damaged,
                   text_of("is cut off: it has ", found, " bytes, ", part, " ", expected));
}

// The length of the header, which ends within the file.
std::uint64_t checked_header_length(std::string_view bytes, const std::string& where) {
  if (bytes.empty()) throw unexpected({where}, Rule::damaged, "a safetensors file", "an empty file");
  std::uint64_t length = kLongestHeader + 1;
  if (bytes.size() >= kLengthBytes) std::memcpy(&length, bytes.data(), kLengthBytes);
  const std::string_view behind = bytes.substr(std::min(bytes.size(), kLengthBytes));
  if (length > kLongestHeader || (!behind.empty() && behind[0] != '{')) {
    throw InputError({where}, Rule::wrong_type,
                     text_of("not a safetensors file (", bytes.size(), " bytes)", seeming_kind(bytes)));
  }
  if (length > behind.size())
    refuse_as_cut(where, bytes.size(), "its header alone takes", kLengthBytes + length);
  return length;
}

// Checks that every entry fills its span, and that the spans, in order, cover the buffer, which starts at byte
// `start` of the file.
void check_layout(const std::vector<Entry>& entries, std::uint64_t start, std::uint64_t buffer_size,
                  const std::string& where) {
  std::uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != covered) {
      refuse(where, entry.name,
             text_of("bytes ", entry.begin, " to ", entry.end, ", expected to start at ", covered));
    }
    std::uint64_t bytes = 0;
    try {
      bytes = element_count(entry.shape) * entry.element_bytes();
    } catch (const InputError&) {
      refuse(where, entry.name, text_of("too large: ", to_string(entry.shape)));
    }
    if (bytes != entry.end - entry.begin) {
      refuse(where, entry.name,
             text_of(name_of(entry.dtype), " ", to_string(entry.shape), " takes ", bytes, " bytes, and has ",
                     entry.end - entry.begin));
    }
    covered = entry.end;
  }
  if (covered > buffer_size)
    refuse_as_cut(where, start + buffer_size, "its header promises", start + covered);
  if (covered < buffer_size) {
    throw InputError({where}, Rule::damaged,
                     text_of("the tensors end at byte ", covered, ", the data at ", buffer_size));
  }
}

Tensor tensor_of(const Entry& entry, const char* bytes) {
  Tensor tensor(entry.shape, entry.dtype);
  if (entry.is_count()) {
    std::int64_t count = 0;
    std::memcpy(&count, bytes, sizeof count);
    tensor.set(0, static_cast<double>(count));
    return tensor;
  }
  if (!entry.is_half()) {
    std::memcpy(tensor.raw(), bytes, entry.end - entry.begin);
    return tensor;
  }
  for (float& value : tensor.values<float>()) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    bytes += sizeof bits;
    value = entry.stored == "F16" ? float_of_f16(bits) : float_of_bf16(bits);
  }
  return tensor;
}

// ---- Writing ----------------------------------------------------------------------------------------------

void check_names(const SafetensorsFile& file) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : file.tensors) {
    if (name == "__metadata__")
      throw InputError({.op = "safetensors"}, Rule::not_supported,
                       "a tensor cannot be named '__metadata__'.");
    if (!names.insert(name).second)
      throw InputError({.op = "safetensors"}, Rule::conflict, text_of("two tensors are named '", name, "'."));
    if (tensor.empty())
      throw InputError({.op = "safetensors"}, Rule::missing, text_of("tensor '", name, "' is empty."));
  }
}

std::string header_text(const SafetensorsFile& file, const std::vector<const NamedTensor*>& order) {
  Json header = Json::object();
  for (const auto& [key, value] : file.metadata) header["__metadata__"][key] = value;
  std::size_t offset = 0;
  for (const NamedTensor* entry : order) {
    const Tensor& tensor = entry->tensor;
    const std::size_t end = offset + tensor.numel() * byte_size(tensor.dtype());
    header.append(entry->name, {{"dtype", tensor.dtype() == Dtype::f32 ? "F32" : "F64"},
                                {"shape", tensor.shape()},
                                {"data_offsets", {offset, end}}});
    offset = end;
  }
  try {
    return header.dump();
  } catch (const Json::exception&) {
    throw InputError({.op = "safetensors"}, Rule::wrong_type, "names and metadata are UTF-8.");
  }
}

/// A file's bytes in place, to avoid a second copy of large tensors: the length of the header, the header, and
/// the tensors.
struct FileParts {
  std::string head;
  std::vector<std::string_view> tensors;
};

FileParts parts_of(const SafetensorsFile& file) {
  check_names(file);
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& entry : file.tensors) order.push_back(&entry);
  std::stable_partition(order.begin(), order.end(),
                        [](const NamedTensor* entry) { return entry->tensor.dtype() == Dtype::f64; });

  std::string header = header_text(file, order);
  header.append((8 - header.size() % 8) % 8, ' ');
  const std::uint64_t header_length = header.size();
  FileParts parts{.head = std::string(reinterpret_cast<const char*>(&header_length), kLengthBytes) + header,
                  .tensors = {}};
  for (const NamedTensor* entry : order) {
    const Tensor& tensor = entry->tensor;
    parts.tensors.emplace_back(static_cast<const char*>(tensor.raw()),
                               tensor.numel() * byte_size(tensor.dtype()));
  }
  return parts;
}

}  // namespace

SafetensorsFile parse_safetensors(std::string_view bytes, const std::string& where, HalfTensors halves) {
  const std::uint64_t header_length = checked_header_length(bytes, where),
                      start = kLengthBytes + header_length;
  const Json header = parse_json(std::string(bytes.substr(kLengthBytes, header_length)), where + ": header");
  const std::string_view buffer = bytes.substr(start);

  SafetensorsFile file;
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      file.metadata = parse_metadata(value, where);
    } else {
      entries.push_back(parse_entry(name, value, where, halves));
    }
  }
  const auto span = [](const Entry& entry) { return std::pair(entry.begin, entry.end); };
  std::ranges::stable_sort(entries, {}, span);
  check_layout(entries, start, buffer.size(), where);

  for (const Entry& entry : entries) {
    file.tensors.push_back({entry.name, tensor_of(entry, buffer.data() + entry.begin)});
  }
  return file;
}

SafetensorsFile read_safetensors(const std::filesystem::path& path) {
  return parse_safetensors(read_file(path), path.string());
}

std::string serialize_safetensors(const SafetensorsFile& file) {
  const FileParts parts = parts_of(file);
  std::string bytes;
  std::size_t size = parts.head.size();
  for (const std::string_view tensor : parts.tensors) size += tensor.size();
  bytes.reserve(size);
  bytes += parts.head;
  for (const std::string_view tensor : parts.tensors) bytes += tensor;
  return bytes;
}

void write_safetensors(const std::filesystem::path& path, const SafetensorsFile& file) {
  const FileParts parts = parts_of(file);
  std::vector<std::string_view> all{parts.head};
  all.insert(all.end(), parts.tensors.begin(), parts.tensors.end());
  write_file_atomically(path, all);
}

// ---- TensorReader -----------------------------------------------------------------------------------------

TensorReader::TensorReader(SafetensorsFile file, std::string where)
    : file_(std::move(file)), where_(std::move(where)), taken_(file_.tensors.size()) {
  for (const NamedTensor& entry : file_.tensors) places_.emplace(entry.name, places_.size());
}

bool TensorReader::contains(std::string_view name) const {
  const auto found = places_.find(name);
  return found != places_.end() && !taken_[found->second];
}

Tensor TensorReader::take(std::string_view name) {
  const auto found = places_.find(name);
  if (found == places_.end()) refuse_missing(name, "");
  const std::size_t index = found->second;
  if (taken_[index])
    throw InputError({where_}, Rule::conflict, text_of("tensor ", quote(name), " is used twice"));
  taken_[index] = true;
  return std::move(file_.tensors[index].tensor);
}

Tensor TensorReader::take(std::string_view name, const Shape& shape, Dtype dtype) {
  if (!places_.contains(name)) refuse_missing(name, ", expected " + to_string(dtype, shape));
  Tensor tensor = take(name);
  if (!tensor.is(dtype, shape))
    throw wrong_tensor({.file = where_, .item = text_of("tensor ", quote(name))}, dtype, shape, tensor);
  return tensor;
}

std::vector<std::string> TensorReader::names_left() const {
  std::vector<std::string> left;
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (!taken_[i]) left.push_back(file_.tensors[i].name);
  }
  return left;
}

void TensorReader::refuse_missing(std::string_view name, const std::string& expected) const {
  const std::string nearest = nearest_name(name, names_left());
  throw InputError(Problem{
      .place = {where_},
      .rule = Rule::missing,
      .statement =
          text_of("tensor ", quote(name), " is missing", expected,
                  nearest.empty() ? "" : text_of("; the nearest name in the file is ", quote(nearest))),
      .nearest = nearest});
}

void TensorReader::finish() const {
  const std::vector<std::string> left = names_left();
  if (!left.empty())
    throw InputError({where_}, Rule::conflict, text_of("tensors that nothing here uses: ", listed(left)));
}

}  // namespace lagtape
