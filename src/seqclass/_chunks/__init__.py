"""Data that are gone through chunk by chunk, several times; `seqclass.large` has the public names."""
