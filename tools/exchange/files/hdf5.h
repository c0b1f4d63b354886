#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lagtape/core/tensor.h"

namespace lagtape::foreign {

/// Whether bytes begin like a file of HDF5.
bool begins_like_hdf5(std::string_view bytes);

/// The arrays of real numbers of an HDF5 file by their paths, "layers/dense/vars/0", in f32 or f64; arrays of other types are
/// left out. It reads what h5py writes unless asked otherwise: groups with symbol tables, and arrays in one piece. Throws
/// InputError that begins with `where` for a damaged file, and for arrays in pieces or compressed.
/// Format: https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html
std::map<std::string, Tensor> read_hdf5(std::string_view bytes, const std::string& where);

}  // namespace lagtape::foreign
