# Defines corun_hdf5. Programs link HDF5 statically (CMakeLists.txt says why). The Python module (a target with the
# property CORUN_SHARED_LIBRARIES) cannot: the code of Debian's static library is not position-independent. It takes
# the shared library, which is also that of h5py.
add_library(corun_hdf5 INTERFACE)
target_include_directories(corun_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
set(hdf5_shared ${HDF5_C_LIBRARIES})
if(CORUN_HAVE_PYTHON)
  find_library(HDF5_SHARED_LIBRARY NAMES libhdf5_serial.so libhdf5.so REQUIRED)
  find_library(HDF5_HL_SHARED_LIBRARY NAMES libhdf5_serial_hl.so libhdf5_hl.so REQUIRED)
  set(hdf5_shared ${HDF5_HL_SHARED_LIBRARY} ${HDF5_SHARED_LIBRARY})
endif()
set(wants_shared "$<BOOL:$<TARGET_PROPERTY:CORUN_SHARED_LIBRARIES>>")
target_link_libraries(corun_hdf5 INTERFACE
  "$<${wants_shared}:${hdf5_shared}>" "$<$<NOT:${wants_shared}>:${HDF5_C_LIBRARIES}>")
