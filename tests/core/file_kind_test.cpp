#include "lagtape/core/file_kind.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/core/io/safetensors.h"
#include "lagtape/core/json/json_reader.h"

using namespace lagtape;

TEST_CASE("Files that are given by mistake are recognized by their first bytes") {
  const auto seems = [](std::string_view bytes, std::string_view kind) {
    return seeming_kind(bytes).starts_with(text_of("; it seems to be ", kind));
  };
  CHECK(seems("\n<!DOCTYPE html>\n<html><head>", "an HTML page"));
  CHECK(seems("<HTML><body>", "an HTML page"));
  CHECK(seems("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "a pointer of Git LFS"));
  CHECK(seems("\x1f\x8b\x08", "a gzip archive"));
  CHECK(seems("PK\x03\x04 model/data.pkl", "a file of torch.save: `lagtape import`"));
  CHECK(seems("\x80\x02}q", "a file of torch.save before PyTorch 1.6"));
  CHECK(seems("PK\x03\x04 model.weights.h5", "a file of Keras"));
  CHECK(seems("\x89HDF\r\n", "an HDF5 file, as Keras writes weights"));
  CHECK(seems("PK\x03\x04 w.safetensors", "a zip archive"));
  CHECK(seems("\x93NUMPY", "an array of NumPy"));
  CHECK(seems("PK\x03\x04 train_x.npy", "an archive of NumPy's arrays"));
  CHECK(seems("\x08\x08\x12\x07pytorch", "an ONNX file, of which `lagtape import` makes a run"));
  for (const char* other : {"", " ", "{}", "text", "P", "<", "\x80"}) CHECK(seeming_kind(other) == "");
}

TEST_CASE("Readers of weights and of JSON say what another file seems to be") {
  const std::string page = "<!doctype html><title>404</title>";
  CHECK_THROWS_WITH_AS(parse_safetensors(page, "w"),
                       "w: not a safetensors file (33 bytes); it seems to be an HTML page, which a failed "
                       "download leaves behind",
                       InputError);
  CHECK_THROWS_WITH_AS(parse_json(page, "e"),
                       "e: expected JSON; it seems to be an HTML page, which a failed download leaves behind",
                       InputError);
}
