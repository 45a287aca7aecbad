int seq_answer_all(seq_case *c, int question, const int *outcomes);
int seq_know(seq_case *c, int question, int outcome);       /* what is known and costs nothing */
int seq_know_all(seq_case *c, int question, const int *outcomes);
double seq_saving_once(const seq_case *c, int question);    /* of asking this one and deciding then */
#define seq_visits_of(c) ((c).visits)                       /* visits so far, where they cost something */
int seq_next_panel(const seq_case *c, int *questions);      /* how many to order together, or that are waited for */
double seq_visit_cost(const seq_case *c);                   /* of that panel beyond its prices; 0 once it was ordered */
int seq_order(seq_case *c, int n, const int *questions);    /* that others were ordered together; or SEQ_WRONG */
void seq_leave(seq_case *c);                                /* wait no more for what was ordered */
