# cmake -D INPUT=file -D OUTPUT=file.cpp -D SYMBOL=name -P EmbedBytes.cmake: a file's bytes as a C++ array.
file(READ ${INPUT} text HEX)
string(REGEX REPLACE "(..)" "0x\\1," text "${text}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" text "${text}")
file(WRITE ${OUTPUT} "// Made from ${SYMBOL}.bc by cmake/EmbedBytes.cmake.\n"
  "extern const unsigned char ${SYMBOL}[];\nextern const unsigned long ${SYMBOL}_size;\n"
  "alignas(16) const unsigned char ${SYMBOL}[] = {\n${text}};\nconst unsigned long ${SYMBOL}_size = sizeof ${SYMBOL};\n")
