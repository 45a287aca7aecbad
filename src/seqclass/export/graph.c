
void seq_begin(seq_case *c)
{
    c->node = 0;
    c->spent = 0;
    (void)seq_feature_start; /* which is for the caller */
}

int seq_question(const seq_case *c)
{
    return seq_ask[c->node];
}

double seq_price(const seq_case *c, int question)
{
    return question >= 0 && question == seq_ask[c->node] ? seq_node_price[c->node] : NAN;
}

double seq_saving(const seq_case *c)
{
    return seq_node_saving[c->node];
}

int seq_answer(seq_case *c, int question, int outcome)
{
    int next;
    if (question < 0 || question != seq_ask[c->node] || outcome < SEQ_MISSING || outcome >= seq_outcomes[question])
        return SEQ_WRONG;
    outcome = outcome == SEQ_MISSING ? seq_gone[question] : outcome;
    next = seq_next[seq_first[c->node] + 1 + outcome];
    if (next < 0)
        return SEQ_IMPOSSIBLE;
    c->spent += seq_node_visit[c->node] + (outcome >= 0 || SEQ_CHARGE_MISSING ? seq_node_price[c->node] : 0);
    c->node = next;
    return 0;
}

int seq_decision(const seq_case *c)
{
    return seq_node_decision[c->node];
}

double seq_expected_cost(const seq_case *c)
{
    return seq_node_now[c->node];
}

const double *seq_belief(const seq_case *c)
{
    return seq_node_belief[c->node];
}

double seq_visit_cost(const seq_case *c)
{
    return seq_node_visit[c->node];
}

int seq_is_cut(const seq_case *c)
{
    return seq_node_cut[c->node];
}
