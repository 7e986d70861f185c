# Defines corun_onnx_proto, the messages of ONNX files.
#
# Not by find_package: the targets of Debian's libonnx-dev have an include folder that is not there. The shared
# libraries take 1 ms of a start of the program; there is no static one of ONNX.
find_path(ONNX_INCLUDE_DIR onnx/onnx_pb.h REQUIRED)
find_library(ONNX_PROTO_LIBRARY NAMES onnx_proto REQUIRED)
find_library(PROTOBUF_LIBRARY NAMES protobuf REQUIRED)
add_library(corun_onnx_proto INTERFACE)
target_include_directories(corun_onnx_proto SYSTEM INTERFACE ${ONNX_INCLUDE_DIR})
target_compile_definitions(corun_onnx_proto INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)
target_link_libraries(corun_onnx_proto INTERFACE ${ONNX_PROTO_LIBRARY} ${PROTOBUF_LIBRARY})
