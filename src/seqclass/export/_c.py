def c_source(d): return ''
