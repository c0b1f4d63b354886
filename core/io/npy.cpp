#include "lagtape/core/io/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/half.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/mapped_file.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are, little endian");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kPrefix = 10;  // magic, version, length of the header: format 1.0

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

/// Reads the header's text, a Python dictionary with the keys 'descr', 'fortran_order' and 'shape' in any
/// order.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Header parse() {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<Shape> shape;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !descr) {
        descr = quoted();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = tuple();
      } else {
        refuse();
      }
      if (!accept(',') && peek() != '}') refuse();
    }
    if (peek() != '\0' || !descr || !fortran_order || !shape) refuse();
    return {*descr, *fortran_order, *shape};
  }

 private:
  [[noreturn]] void refuse() const {
    throw InputError({where_}, Rule::syntax,
                     "header is not {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
                     text_of(shortened(text_, 100)));
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse();
  }
  bool accept(std::string_view word) {
    peek();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse();
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse();
    const std::string_view inner = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(inner);
  }

  bool boolean() {
    if (accept("True")) return true;
    if (!accept("False")) refuse();
    return false;
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      peek();
      std::int64_t extent = 0;
      const char* const begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) refuse();
      at_ += end - begin;
      shape.push_back(extent);
      if (!accept(',') && (peek() != ')' || shape.size() == 1)) refuse();  // a tuple of one is (3,)
    }
    return shape;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
};

/// An IEEE half, as its bits.
enum class Half : std::uint16_t {};

template <class Element>
Tensor convert(std::string_view data, const Shape& shape, Dtype dtype, const std::string& where) {
  constexpr std::int64_t kLargestExact = std::int64_t{1} << 53;
  Tensor tensor(shape, dtype);
  with_scalar(dtype, [&]<class T>() {
    const std::span<T> out = tensor.values<T>();
    for (std::size_t i = 0; i < out.size(); ++i) {
      Element element;
      std::memcpy(&element, data.data() + i * sizeof(Element), sizeof(Element));
      if constexpr (sizeof(Element) == 8 && std::is_integral_v<Element>) {
        if (std::cmp_greater(element, kLargestExact) || std::cmp_less(element, -kLargestExact)) {
          throw InputError({where}, Rule::out_of_range,
                           text_of("element ", i, " is too large for an f64: ", element));
        }
      }
      if constexpr (std::is_same_v<Element, Half>) {
        out[i] = static_cast<T>(float_of_f16(static_cast<std::uint16_t>(element)));
      } else {
        out[i] = static_cast<T>(element);
      }
    }
  });
  return tensor;
}

/// How a header's `descr` entry is read.
struct Element {
  std::string_view descr;
  std::uint64_t bytes;
  Dtype dtype;
  Tensor (*convert)(std::string_view data, const Shape& shape, Dtype dtype, const std::string& where);
};
constexpr Element kElements[] = {
    {"<f2", 2, Dtype::f32, convert<Half>},         {"<f4", 4, Dtype::f32, convert<float>},
    {"<f8", 8, Dtype::f64, convert<double>},       {"|b1", 1, Dtype::f32, convert<std::uint8_t>},
    {"|i1", 1, Dtype::f32, convert<std::int8_t>},  {"|u1", 1, Dtype::f32, convert<std::uint8_t>},
    {"<i2", 2, Dtype::f32, convert<std::int16_t>}, {"<u2", 2, Dtype::f32, convert<std::uint16_t>},
    {"<i4", 4, Dtype::f64, convert<std::int32_t>}, {"<u4", 4, Dtype::f64, convert<std::uint32_t>},
    {"<i8", 8, Dtype::f64, convert<std::int64_t>}, {"<u8", 8, Dtype::f64, convert<std::uint64_t>},
};

const Element& element_of(const std::string& descr, const std::string& where) {
  for (const Element& element : kElements) {
    if (element.descr == descr) return element;
  }
  if (descr == "|O")
    throw unexpected({where}, Rule::wrong_type, "numbers",
                     "objects, as NumPy makes them of sequences of different lengths",
                     "Pad them with zeros to [N, T, input], and give their lengths as SPLIT_lengths.");
  if (descr.starts_with("<U") || descr.starts_with(">U") || descr.starts_with("|S"))
    throw unexpected({where}, Rule::wrong_type, "numbers", text_of("texts, dtype ", quote(descr)),
                     "Classes are 0, 1, ..., as np.unique(array, return_inverse=True)[1] gives them.");
  throw unexpected({where}, Rule::not_supported, "a dtype of floats, integers or bools, little endian",
                   quote(descr), "Convert with array.astype(\"<f4\").");
}

/// The part of a file before its data, checked.
struct Layout {
  Header header;
  const Element* element;
  std::size_t data_begin;

  std::uint64_t data_bytes() const {
    return static_cast<std::uint64_t>(element_count(header.shape)) * element->bytes;
  }
};

/// The layout of a file that starts with these bytes; nothing if its header is longer than they are.
std::optional<Layout> layout_of(std::string_view bytes, const std::string& where) {
  constexpr std::uint32_t kLongestHeader = 1 << 20;
  if (bytes.size() < kPrefix || !bytes.starts_with(kMagic))
    throw InputError({where}, Rule::wrong_type, "not a .npy file");
  const int major = static_cast<unsigned char>(bytes[6]), minor = static_cast<unsigned char>(bytes[7]);
  if ((major != 1 && major != 2) || minor != 0) {
    throw unexpected({where}, Rule::not_supported, ".npy format 1.0 or 2.0", text_of(major, ".", minor));
  }
  std::uint32_t header_length = 0;
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t prefix = kMagic.size() + 2 + length_bytes;
  if (bytes.size() < prefix) return std::nullopt;
  std::memcpy(&header_length, bytes.data() + prefix - length_bytes, length_bytes);
  if (header_length > kLongestHeader)
    throw unexpected({where}, Rule::out_of_range, text_of("a header of at most ", kLongestHeader, " bytes"),
                     text_of(header_length));
  if (header_length > bytes.size() - prefix) return std::nullopt;

  Layout layout{HeaderParser(bytes.substr(prefix, header_length), where).parse(), nullptr,
                prefix + header_length};
  layout.element = &element_of(layout.header.descr, where);
  if (layout.header.fortran_order) {
    throw unexpected({where}, Rule::not_supported, "C order", "Fortran order",
                     "Save numpy.ascontiguousarray(array).");
  }
  try {
    element_count(layout.header.shape);
  } catch (const InputError&) {
    throw InputError({where}, Rule::out_of_range, text_of("too large: ", to_string(layout.header.shape)));
  }
  return layout;
}

}  // namespace

Tensor parse_npy(std::string_view bytes, const std::string& where) {
  const std::optional<Layout> layout = layout_of(bytes, where);
  if (!layout) throw InputError({where}, Rule::damaged, "cut off in the header");
  const auto& [header, element, data_begin] = *layout;
  const std::string_view data = bytes.substr(data_begin);
  if (layout->data_bytes() != data.size()) {
    throw InputError({where}, Rule::damaged,
                     text_of(quote(header.descr), " ", to_string(header.shape), " takes ",
                             layout->data_bytes(), " bytes, and has ", data.size()));
  }
  return element->convert(data, header.shape, element->dtype, where);
}

std::optional<std::uint64_t> npy_size(std::string_view beginning, const std::string& where) {
  const std::optional<Layout> layout = layout_of(beginning, where);
  if (!layout) return std::nullopt;
  return layout->data_begin + layout->data_bytes();
}

Tensor read_npy(const std::filesystem::path& path) { return parse_npy(read_file(path), path.string()); }

Tensor map_npy(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  const std::string_view bytes = file->bytes();
  const std::optional<Layout> layout = layout_of(bytes, path.string());
  const bool is_as_it_is = layout && layout->element->bytes == byte_size(layout->element->dtype) &&
                           layout->header.descr.starts_with("<f") &&
                           layout->data_begin % layout->element->bytes == 0 &&
                           layout->data_bytes() == bytes.size() - layout->data_begin;
  if (!is_as_it_is) return parse_npy(bytes, path.string());
  return Tensor::over(bytes.data() + layout->data_begin, layout->header.shape, layout->element->dtype, file);
}

std::string serialize_npy(const Tensor& tensor) {
  if (tensor.empty()) throw InputError({.op = "npy"}, Rule::missing, "the tensor is empty.");
  std::string shape;
  for (std::int64_t extent : tensor.shape()) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
  if (tensor.rank() == 1) shape += ",";
  std::string header = text_of("{'descr': '<f", byte_size(tensor.dtype()),
                               "', 'fortran_order': False, 'shape': (", shape, "), }");
  constexpr std::size_t kDataAlignment = 64;
  const std::size_t unpadded = kPrefix + header.size() + 1;
  header.append((kDataAlignment - unpadded % kDataAlignment) % kDataAlignment, ' ');
  header += '\n';
  if (header.size() > 0xFFFF) throw InputError({.op = "npy"}, Rule::out_of_range, "too many axes.");

  std::string bytes = text_of(kMagic, '\x01', '\x00');
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(static_cast<const char*>(tensor.raw()), tensor.numel() * byte_size(tensor.dtype()));
  return bytes;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  write_file_atomically(path, serialize_npy(tensor));
}

}  // namespace lagtape
