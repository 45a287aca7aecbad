int seq_is_cut(const seq_case *c);
double seq_visit_cost(const seq_case *c);                   /* of what is asked, beyond its price */
