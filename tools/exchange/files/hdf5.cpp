#include "lagtape/tools/exchange/files/hdf5.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lagtape/core/half.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/files/byte_view.h"

namespace lagtape::foreign {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
constexpr int kDeepest = 32;  ///< groups inside of groups
constexpr std::size_t kMostObjects = 100'000;

/// A message of an object's header.
struct Message {
  std::uint16_t type;
  std::uint64_t offset, size;
};

// The types of messages.
enum : std::uint16_t { kDataspace = 1, kDatatype = 3, kLayout = 8, kContinuation = 16, kGroup = 17 };

class Hdf5Reader {
 public:
  Hdf5Reader(std::string_view bytes, const std::string& where) : file_(bytes, where) {}

  std::map<std::string, Tensor> read() {
    if (file_.part(0, 8) != kSignature) file_.refuse("is no file of HDF5.");
    if (const int version = file_.at<std::uint8_t>(8); version > 1)
      throw InputError({file_.where()}, Rule::not_supported,
                       text_of("is HDF5 with a superblock of version ", version,
                               ". Supported: 0, which h5py writes unless libver says otherwise."));
    if (file_.at<std::uint8_t>(13) != 8 || file_.at<std::uint8_t>(14) != 8 || file_.at<std::uint8_t>(8) != 0)
      file_.refuse("has offsets that are not of 8 bytes.");
    read_object("", file_.at<std::uint64_t>(56 + 8), 0);
    return std::move(arrays_);
  }

 private:
  /// The messages of an object's header, those in its continuations among them.
  std::vector<Message> messages_of(std::uint64_t header) const {
    if (file_.at<std::uint8_t>(header) != 1)
      throw InputError({file_.where()}, Rule::not_supported,
                       "has objects in the newer form of HDF5 (libver='latest'), which is not read.");
    std::size_t left = file_.at<std::uint16_t>(header + 2);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks = {
        {header + 16, file_.at<std::uint32_t>(header + 8)}};
    std::vector<Message> messages;
    for (std::size_t b = 0; b < blocks.size() && b < 1000; ++b) {
      const auto [begin, size] = blocks[b];
      file_.part(begin, size);
      for (std::uint64_t at = begin; left > 0 && at + 8 <= begin + size; --left) {
        const Message message{file_.at<std::uint16_t>(at), at + 8, file_.at<std::uint16_t>(at + 2)};
        file_.part(message.offset, message.size);
        if (message.type == kContinuation)
          blocks.emplace_back(file_.at<std::uint64_t>(message.offset),
                              file_.at<std::uint64_t>(message.offset + 8));
        messages.push_back(message);
        at += 8 + message.size;
      }
    }
    return messages;
  }

  void read_object(const std::string& path, std::uint64_t header, int depth) {
    if (depth > kDeepest || ++objects_ > kMostObjects) file_.refuse("has groups without end.");
    std::map<std::uint16_t, Message> parts;
    for (const Message& message : messages_of(header)) parts.emplace(message.type, message);
    if (const auto group = parts.find(kGroup); group != parts.end()) {
      const auto tree = file_.at<std::uint64_t>(group->second.offset),
                 heap = file_.at<std::uint64_t>(group->second.offset + 8);
      if (file_.part(heap, 4) != "HEAP") file_.refuse("is damaged: a group has no names.");
      return read_tree(path, tree, file_.at<std::uint64_t>(heap + 24), depth);
    }
    if (parts.contains(kDataspace) && parts.contains(kDatatype) && parts.contains(kLayout))
      read_array(path, parts.at(kDataspace), parts.at(kDatatype), parts.at(kLayout));
  }

  /// A node of the tree of a group's entries; `names` is where the names begin.
  void read_tree(const std::string& path, std::uint64_t node, std::uint64_t names, int depth) {
    if (!trees_.insert(node).second) file_.refuse("is damaged: a group has a part twice.");
    if (file_.part(node, 4) == "SNOD") {
      const auto entries = file_.at<std::uint16_t>(node + 6);
      for (std::uint64_t i = 0; i < entries; ++i) {
        const std::uint64_t entry = node + 8 + i * 40;
        const std::string name = text_at(names + file_.at<std::uint64_t>(entry));
        read_object(path.empty() ? name : text_of(path, "/", name), file_.at<std::uint64_t>(entry + 8),
                    depth + 1);
      }
      return;
    }
    if (file_.part(node, 4) != "TREE" || file_.at<std::uint8_t>(node + 4) != 0)
      file_.refuse("is damaged: a group has no entries.");
    const auto count = file_.at<std::uint16_t>(node + 6);
    for (std::uint64_t i = 0; i < count; ++i)
      read_tree(path, file_.at<std::uint64_t>(node + 32 + i * 16), names, depth + 1);
  }

  std::string text_at(std::uint64_t offset) const {
    std::string text;
    for (;; ++offset) {
      const char c = file_.at<char>(offset);
      if (c == '\0') return text;
      if (text.size() > 1000) file_.refuse("is damaged: a name has no end.");
      text += c;
    }
  }

  Place place_of(const std::string& path) const {
    return {.file = file_.where(), .item = text_of("array ", quote(path))};
  }

  Shape shape_of(const std::string& path, const Message& space) const {
    const int version = file_.at<std::uint8_t>(space.offset), rank = file_.at<std::uint8_t>(space.offset + 1);
    if (version != 1 && version != 2) throw InputError(place_of(path), Rule::damaged, "has no shape.");
    const std::uint64_t first = space.offset + (version == 1 ? 8 : 4);
    Shape shape;
    std::int64_t count = 1;
    for (int axis = 0; axis < rank; ++axis) {
      shape.push_back(static_cast<std::int64_t>(file_.at<std::uint64_t>(first + axis * 8ULL)));
      if (shape.back() < 0 || __builtin_mul_overflow(count, shape.back(), &count) ||
          count > static_cast<std::int64_t>(file_.size()))
        throw InputError(place_of(path), Rule::damaged, "has a shape that is larger than the file.");
    }
    return shape;
  }

  /// The bytes of a real number; none for other types.
  std::optional<int> real_size(const Message& type) const {
    const auto first = file_.at<std::uint8_t>(type.offset);
    const auto size = file_.at<std::uint32_t>(type.offset + 4);
    if ((first & 15) != 1) return {};
    const auto exponent = file_.at<std::uint8_t>(type.offset + 13);
    const bool is_little = (file_.at<std::uint8_t>(type.offset + 1) & 1) == 0;
    for (const auto& [bytes, bits] : {std::pair(2, 5), {4, 8}, {8, 11}})
      if (is_little && size == static_cast<std::uint32_t>(bytes) && exponent == bits) return bytes;
    return {};
  }

  void read_array(const std::string& path, const Message& space, const Message& type, const Message& layout) {
    const std::optional<int> size = real_size(type);
    if (!size) return;
    const Shape shape = shape_of(path, space);
    if (file_.at<std::uint8_t>(layout.offset) != 3)
      throw InputError(place_of(path), Rule::not_supported, "has numbers in a form that is not read.");
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    const std::uint64_t bytes = static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(*size);
    const int kind = file_.at<std::uint8_t>(layout.offset + 1);
    if (kind > 1)
      throw InputError(place_of(path), Rule::not_supported,
                       "is in pieces, or compressed. Supported: arrays in one piece.");
    const std::uint64_t begin = kind == 0 ? layout.offset + 4 : file_.at<std::uint64_t>(layout.offset + 2);
    if (count == 0) return;
    const std::string_view data = file_.part(begin, bytes);
    Tensor tensor(shape, *size == 8 ? Dtype::f64 : Dtype::f32);
    const ByteView numbers(data, file_.where());
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::uint64_t>(i * *size);
      tensor.set(i, *size == 8   ? numbers.at<double>(at)
                    : *size == 4 ? numbers.at<float>(at)
                                 : float_of_f16(numbers.at<std::uint16_t>(at)));
    }
    arrays_.insert_or_assign(path, std::move(tensor));
  }

  ByteView file_;
  std::map<std::string, Tensor> arrays_;
  std::set<std::uint64_t> trees_;
  std::size_t objects_ = 0;
};

}  // namespace

bool begins_like_hdf5(std::string_view bytes) { return bytes.starts_with(kSignature); }

std::map<std::string, Tensor> read_hdf5(std::string_view bytes, const std::string& where) {
  return Hdf5Reader(bytes, where).read();
}

}  // namespace lagtape::foreign
