"""Problems without tables: values of a simpler process, corrected, steer look-ahead."""
