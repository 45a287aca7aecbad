
#define seq_paid(c) ((c).spent)                            /* paid so far */
void seq_begin(seq_case *c);
int seq_question(const seq_case *c);                        /* question to ask, or SEQ_DECIDE */
double seq_price(const seq_case *c, int question);          /* as it stands now, that of its visit left out */
double seq_saving(const seq_case *c);                       /* of going on, all prices taken off; or NAN */
int seq_outcome(int feature, double value);                 /* of a number; SEQ_MISSING for NAN; or SEQ_WRONG */
int seq_category(int feature, const char *name);            /* of a category; or SEQ_WRONG */
int seq_answer(seq_case *c, int question, int outcome);     /* 0, SEQ_WRONG or SEQ_IMPOSSIBLE: then nothing changes */
int seq_decision(const seq_case *c);                        /* as things stand */
double seq_expected_cost(const seq_case *c);                /* of that decision */
const double *seq_belief(const seq_case *c);                /* P(class | what was answered) */
const char *seq_question_name(int question);
const char *seq_question_text(int question);                /* in words, where there are any, else its name */
const char *seq_feature_name(int feature);
const char *seq_answer_text(int feature, int outcome);      /* in words where there are any; "" of SEQ_MISSING */
const char *seq_class_name(int number);
const char *seq_decision_name(int decision);
const char *seq_class_text(int number);                     /* in words, where there are any */
const char *seq_decision_text(int decision);
