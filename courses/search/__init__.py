"""Search over all published chapters, in memory: prose, headings, symbols, TeX and code."""
