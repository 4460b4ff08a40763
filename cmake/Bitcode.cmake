# opsight_bitcode(TARGET FOLDER SYMBOL): the .cpp files of src/FOLDER, compiled to LLVM bitcode for no processor in
# particular, become bytes in TARGET: `extern const unsigned char SYMBOL[]; extern const unsigned long SYMBOL_size;`.
function(opsight_bitcode target folder symbol)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cpp)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.h)
  set(parts)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    set(part ${CMAKE_CURRENT_BINARY_DIR}/${symbol}/${name}.bc)
    # No vectors, no errno, no fusing but where it is written: what the kernels' vectoriser finds is plain scalar code.
    # Integers wrap: of a NaN's bits they may, and poison must not come of it.
    add_custom_command(OUTPUT ${part}
      COMMAND ${LLVM_FOLDER}/bin/clang -x c++ -std=c++20 -O2 -emit-llvm -c -ffreestanding -fno-math-errno
              -fwrapv -ffp-contract=off -fno-vectorize -fno-slp-vectorize -fno-exceptions -fno-unwind-tables -Wall -Wextra
              -I${CMAKE_SOURCE_DIR}/src ${source} -o ${part} -MD -MF ${part}.d
      DEPENDS ${source} ${headers} DEPFILE ${part}.d VERBATIM)
    list(APPEND parts ${part})
  endforeach()
  set(whole ${CMAKE_CURRENT_BINARY_DIR}/${symbol}/${symbol}.bc)
  set(bytes ${CMAKE_CURRENT_BINARY_DIR}/${symbol}/${symbol}.cpp)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${symbol})
  add_custom_command(OUTPUT ${bytes}
    COMMAND ${LLVM_FOLDER}/bin/llvm-link ${parts} -o ${whole}
    COMMAND ${CMAKE_COMMAND} -D INPUT=${whole} -D OUTPUT=${bytes} -D SYMBOL=${symbol}
            -P ${CMAKE_SOURCE_DIR}/cmake/EmbedBytes.cmake
    DEPENDS ${parts} ${CMAKE_SOURCE_DIR}/cmake/EmbedBytes.cmake VERBATIM)
  target_sources(${target} PRIVATE ${bytes})
endfunction()
