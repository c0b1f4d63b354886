#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// The content of a .safetensors file: text metadata and named tensors in the order of their bytes.
/// Format: https://github.com/huggingface/safetensors (8 bytes header length, JSON header, one buffer).
struct SafetensorsFile {
  std::map<std::string, std::string> metadata;
  std::vector<NamedTensor> tensors;
};

/// Whether F16 and BF16 tensors, and single numbers in I64, are refused with an error or read as f32.
enum class HalfTensors : std::uint8_t { refused, widened };

/// Reads F32 and F64 tensors, strictly: the header fits the file, every shape fits its span, and the spans
/// cover the buffer without gaps or overlap. Nothing is allocated before its size is checked against the bytes
/// that are there. Throws InputError "WHERE: ..." with the tensor's name and what was found.
SafetensorsFile parse_safetensors(std::string_view bytes, const std::string& where,
                                  HalfTensors halves = HalfTensors::refused);
SafetensorsFile read_safetensors(const std::filesystem::path& path);

/// The file's bytes, which depend only on its content: f64 tensors, then f32 ones, each in the order given, so
/// that all are aligned. Throws InputError for an empty tensor, for a duplicate name or "__metadata__", and for
/// text that is not UTF-8.
std::string serialize_safetensors(const SafetensorsFile& file);
/// Writes those bytes with write_file_atomically.
void write_safetensors(const std::filesystem::path& path, const SafetensorsFile& file);

/// Hands out the tensors of a file by name, each exactly once, so a file is either consumed completely or
/// rejected.
class TensorReader {
 public:
  TensorReader(SafetensorsFile file, std::string where);

  const std::map<std::string, std::string>& metadata() const { return file_.metadata; }
  bool contains(std::string_view name) const;  ///< Whether there is such a tensor that was not yet taken.

  /// Takes a tensor of that shape and dtype. Throws InputError if it does not exist (with the nearest name),
  /// was taken before, or has another shape or dtype.
  Tensor take(std::string_view name, const Shape& shape, Dtype dtype);
  /// Takes a tensor of any shape and dtype.
  Tensor take(std::string_view name);

  /// Throws InputError with the names of unused tensors.
  void finish() const;

 private:
  std::vector<std::string> names_left() const;  ///< the names of unused tensors
  [[noreturn]] void refuse_missing(std::string_view name, const std::string& expected) const;

  SafetensorsFile file_;
  std::string where_;
  std::vector<bool> taken_;
  std::map<std::string, std::size_t, std::less<>> places_;  ///< the place of each tensor in the file
};

}  // namespace lagtape
