{
  "targets": [
    {
      "target_name": "sample_c",
      "sources": ["sample.c"],
      "defines": ["NAPI_VERSION=8"],
      "cflags": ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    }
  ]
}
