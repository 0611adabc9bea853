"""In-memory search over all published chapters: prose, headings, symbols, TeX and code."""
