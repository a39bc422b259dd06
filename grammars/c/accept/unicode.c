const char *hello = "Grüße, \"世界\"\x41\0";
