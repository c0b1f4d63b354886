#include "lagtape/tools/exchange/files/torch_archive.h"

#include <map>
#include <optional>
#include <set>

#include "lagtape/core/half.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/files/byte_view.h"
#include "lagtape/tools/exchange/files/pickle.h"
#include "lagtape/tools/exchange/files/stored_zip.h"

namespace lagtape::foreign {
namespace {

using Kind = PickledValue::Kind;
using Entries = std::map<std::string, std::string_view>;

/// How PyTorch's storages hold numbers.
struct StorageType {
  const char* name;
  std::size_t size;
  double (*read)(const ByteView& bytes, std::uint64_t at);
};

template <class T>
double number_at(const ByteView& bytes, std::uint64_t at) {
  return static_cast<double>(bytes.at<T>(at));
}

constexpr StorageType kTypes[] = {
    {"torch FloatStorage", 4, number_at<float>},
    {"torch DoubleStorage", 8, number_at<double>},
    {"torch HalfStorage", 2,
     [](const ByteView& b, std::uint64_t at) -> double { return float_of_f16(b.at<std::uint16_t>(at)); }},
    {"torch BFloat16Storage", 2,
     [](const ByteView& b, std::uint64_t at) -> double { return float_of_bf16(b.at<std::uint16_t>(at)); }},
    {"torch LongStorage", 8, number_at<std::int64_t>},
    {"torch IntStorage", 4, number_at<std::int32_t>},
    {"torch BoolStorage", 1, number_at<std::uint8_t>},
    {"torch ByteStorage", 1, number_at<std::uint8_t>},
};

std::string name_of(Pickled value) {
  return value->kind == Kind::call || value->kind == Kind::global ? value->text : "another kind of value";
}

/// Reads the tensors of an archive.
class ArchiveReader {
 public:
  ArchiveReader(std::string_view bytes, const std::string& where)
      : where_(where), entries_(stored_entries(bytes, where)) {
    constexpr std::string_view kProgram = "data.pkl";
    for (const auto& [name, content] : entries_)
      if (name.ends_with(kProgram)) folder_ = name.substr(0, name.size() - kProgram.size());
    if (!entries_.contains(folder_ + "data.pkl"))
      throw InputError({where}, Rule::wrong_type, "is a zip archive, but no file of torch.save.");
    if (const auto order = entries_.find(folder_ + "byteorder");
        order != entries_.end() && order->second != "little")
      throw InputError({where}, Rule::not_supported, "was written on a machine of big endian.");
  }

  std::vector<NamedTensor> read(std::vector<std::string>& notes) {
    std::deque<PickledValue> values;
    const Pickled root = read_pickle(entries_.at(folder_ + "data.pkl"), values, where_);
    const Pickled dict = dict_of(root, notes);
    std::vector<NamedTensor> tensors;
    std::set<std::string> names;
    for (std::size_t i = 0; i + 1 < dict->items.size(); i += 2) {
      const std::string& name = dict->items[i]->text;
      if (!names.insert(name).second) throw InputError(place_of(name), Rule::conflict, "is there twice.");
      tensors.push_back({name, tensor_of(name, dict->items[i + 1])});
    }
    return tensors;
  }

 private:
  Place place_of(const std::string& name) const {
    return {.file = where_, .item = text_of("tensor ", quote(name))};
  }

  static bool is_tensor(Pickled value) {
    return value->kind == Kind::call && (value->text.starts_with("torch._utils _rebuild_tensor") ||
                                         value->text == "torch._utils _rebuild_parameter");
  }

  /// Whether a dictionary has tensors by their names, and nothing else.
  static bool is_state_dict(Pickled value) {
    if (value->kind != Kind::dict || value->items.empty()) return false;
    for (std::size_t i = 0; i + 1 < value->items.size(); i += 2)
      if (value->items[i]->kind != Kind::text || !is_tensor(value->items[i + 1])) return false;
    return true;
  }

  Pickled dict_of(Pickled root, std::vector<std::string>& notes) const {
    if (is_state_dict(root)) return root;
    if (root->kind != Kind::dict)
      throw InputError({where_}, Rule::not_supported,
                       text_of("holds an object of Python: ", name_of(root), "."), {},
                       "Save the weights alone: torch.save(model.state_dict(), file).");
    std::vector<std::string> known;
    Pickled found = nullptr;
    for (std::size_t i = 0; i + 1 < root->items.size(); i += 2)
      if (is_state_dict(root->items[i + 1])) {
        known.push_back(root->items[i]->text);
        found = root->items[i + 1];
      }
    if (known.size() != 1)
      throw InputError({where_}, Rule::not_supported,
                       known.empty() ? text_of("holds no state_dict.")
                                     : text_of("holds several state_dicts: ", listed(known), "."),
                       {}, "Save one of them: torch.save(model.state_dict(), file).");
    notes.push_back(text_of("The file is a checkpoint. The model has its entry ", quote(known[0]), "."));
    return found;
  }

  Pickled argument(const std::string& name, Pickled call, std::size_t index, Kind kind) const {
    if (index >= call->items.size() || call->items[index]->kind != kind)
      throw InputError(place_of(name), Rule::damaged, "is not what torch.save writes.");
    return call->items[index];
  }

  std::int64_t count_at(const std::string& name, Pickled list, std::size_t index) const {
    const double number = argument(name, list, index, Kind::number)->number;
    if (!(number >= 0 && number < 1e15))
      throw InputError(place_of(name), Rule::damaged, "has extents that do not fit.");
    return static_cast<std::int64_t>(number);
  }

  /// A storage: its type, and its bytes.
  std::pair<const StorageType*, std::string_view> storage_of(const std::string& name,
                                                             Pickled persistent) const {
    const Pickled parts = argument(name, persistent, 0, Kind::list);
    const std::string& type = argument(name, parts, 1, Kind::global)->text;
    const std::string& key = argument(name, parts, 2, Kind::text)->text;
    const auto data = entries_.find(folder_ + "data/" + key);
    if (data == entries_.end()) throw InputError(place_of(name), Rule::damaged, "its numbers are missing.");
    for (const StorageType& known : kTypes)
      if (type == known.name) return {&known, data->second};
    throw InputError(place_of(name), Rule::not_supported,
                     text_of("has numbers of ", type, ". Supported: float, double, half and bfloat16."));
  }

  Tensor tensor_of(const std::string& name, Pickled value) const {
    const Pickled call = argument(name, value, 0, Kind::list);
    if (value->text == "torch._utils _rebuild_parameter") {
      const Pickled inner = argument(name, call, 0, Kind::call);
      if (!is_tensor(inner) || inner->text == value->text)
        throw InputError(place_of(name), Rule::damaged, "is no tensor.");
      return tensor_of(name, inner);
    }
    const auto [type, bytes] = storage_of(name, argument(name, call, 0, Kind::persistent));
    const Pickled extents = argument(name, call, 2, Kind::list),
                  strides = argument(name, call, 3, Kind::list);
    const auto stored = static_cast<std::int64_t>(bytes.size() / type->size);
    const std::int64_t offset = count_at(name, call, 1);
    Shape shape;
    std::vector<std::int64_t> steps;
    std::int64_t count = 1, last = offset;
    for (std::size_t i = 0; i < extents->items.size(); ++i) {
      shape.push_back(count_at(name, extents, i));
      steps.push_back(count_at(name, strides, i));
      if (shape.back() > stored || steps.back() > stored ||
          __builtin_mul_overflow(count, shape.back(), &count) || count > stored)
        throw InputError(place_of(name), Rule::damaged, "has more numbers than the file.");
      last += (shape.back() - 1) * steps.back();
    }
    if (count == 0) throw InputError(place_of(name), Rule::not_supported, "has no numbers.");
    if (last >= stored) throw InputError(place_of(name), Rule::damaged, "has more numbers than the file.");
    Tensor tensor(shape, type->size == 8 && type->read == number_at<double> ? Dtype::f64 : Dtype::f32);
    const ByteView numbers(bytes, where_);
    std::vector<std::int64_t> index(shape.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t at = offset;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) at += index[axis] * steps[axis];
      tensor.set(i, type->read(numbers, static_cast<std::uint64_t>(at) * type->size));
      for (std::size_t axis = shape.size(); axis-- > 0 && ++index[axis] == shape[axis];) index[axis] = 0;
    }
    return tensor;
  }

  const std::string& where_;
  Entries entries_;
  std::string folder_;
};

}  // namespace

std::vector<NamedTensor> read_torch_archive(std::string_view bytes, const std::string& where,
                                            std::vector<std::string>& notes) {
  return ArchiveReader(bytes, where).read(notes);
}

}  // namespace lagtape::foreign
