# Programs of tools/release.sh run on machines without Debian's packages: it is linked from the library as it
# is, without oneDNN (40 MB, of which lagtape needs one product), and with the part of libarchive that lagtape
# calls (the whole needs libxml2 and ICU's 30 MB). The few shared libraries that are left are packed beside
# it.

# link_portable(TARGET WITHOUT_ONEDNN ARCHIVE...): WITHOUT_ONEDNN is the library of that name, which is taken in whole, so that
# it comes before the same functions in the archives.
function(link_portable target without_onednn)
  find_file(LAGTAPE_LIBARCHIVE libarchive.a PATHS /usr/lib/${CMAKE_CXX_LIBRARY_ARCHITECTURE} /usr/lib REQUIRED)
  mark_as_advanced(LAGTAPE_LIBARCHIVE)
  target_link_options(${target} PRIVATE LINKER:--as-needed LINKER:--gc-sections LINKER:--exclude-libs,ALL)
  target_link_libraries(${target} PRIVATE -Wl,--whole-archive ${without_onednn} -Wl,--no-whole-archive
    -Wl,--start-group ${ARGN} -Wl,--end-group ${LAGTAPE_LIBARCHIVE}
    # The packages that libarchive needs, by name. Its header files need no others.
    -l:libbz2.so.1.0 -l:liblzma.so.5 -l:libzstd.so.1 -l:libnettle.so.8 -lz -lsndfile -ldate-tz -lpthread)
endfunction()
