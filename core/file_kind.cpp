#include "lagtape/core/file_kind.h"

#include <algorithm>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// A kind of file that users give by mistake.
struct FileKind {
  std::string_view begin;     ///< its first bytes, letters in lower case
  std::string_view contains;  ///< a text that is also among its first bytes; empty where `begin` decides
  std::string_view description;
};

constexpr std::string_view kHtml = "an HTML page, which a failed download leaves behind";
constexpr std::string_view kTorch =
    "a file of torch.save: `lagtape import` makes a run of a state_dict that it holds";
constexpr std::string_view kOldTorch =
    "a file of torch.save before PyTorch 1.6: save its state_dict again, of which `lagtape import` makes a "
    "run";
constexpr std::string_view kKeras = "a file of Keras, of which `lagtape import` makes a run";
constexpr std::string_view kWeights =
    "an HDF5 file, as Keras writes weights, of which `lagtape import` makes a run";

/// The first kind that fits counts.
constexpr FileKind kFileKinds[] = {
    {"<!doctype html", "", kHtml},
    {"<html", "", kHtml},
    // Experiment readers take what follows the colon, //git-lfs.github.com, for a comment.
    {"version https:", "", "a pointer of Git LFS: `git lfs pull` puts the file in its place"},
    {"\x1f\x8b", "", "a gzip archive: unpack it first"},
    {"pk\x03\x04", "data.pkl", kTorch},
    {"pk\x03\x04", ".h5", kKeras},
    {"pk\x03\x04", ".npy", "an archive of NumPy's arrays (.npz)"},
    {"pk\x03\x04", "", "a zip archive: unpack it first"},
    {"\x80\x02", "", kOldTorch},
    {"\x89hdf", "", kWeights},
    {"\x93numpy", "", "an array of NumPy (.npy)"},
    // The field ir_version, and a string, the producer's name.
    {"\x08", "\x12", "an ONNX file, of which `lagtape import` makes a run"},
};

}  // namespace

std::string seeming_kind(std::string_view bytes) {
  constexpr std::size_t kLooked = 300;
  bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  std::string first(bytes.substr(0, kLooked));
  std::ranges::transform(first, first.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; });
  const auto kind = std::ranges::find_if(kFileKinds, [&](const FileKind& known) {
    return first.starts_with(known.begin) && first.find(known.contains) != std::string::npos;
  });
  return kind == std::ranges::end(kFileKinds) ? "" : text_of("; it seems to be ", kind->description);
}

}  // namespace lagtape
