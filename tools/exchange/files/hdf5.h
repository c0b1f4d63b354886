#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lagtape/core/tensor.h"

namespace lagtape::foreign {

/// Whether bytes start like an HDF5 file.
bool begins_like_hdf5(std::string_view bytes);

/// The real-valued arrays in an HDF5 file by path, "layers/dense/vars/0", in f32 or f64; arrays of other types
/// are left out. It supports what h5py writes by default: groups with symbol tables, and contiguous arrays.
/// Throws InputError that starts with `where` for a damaged file, and for chunked or compressed arrays. Format:
/// https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html
std::map<std::string, Tensor> read_hdf5(std::string_view bytes, const std::string& where);

}  // namespace lagtape::foreign
