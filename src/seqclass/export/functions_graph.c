int seq_is_cut(const seq_case *c);
