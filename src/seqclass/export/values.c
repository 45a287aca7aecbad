
/* Costs that differ by less than this share are a tie. */
#define SEQ_TIE 1e-12

static double seq_stopping(const double *belief)
{
    double least = 0;
    int i, j;
    for (j = 0; j < SEQ_DECISIONS; j++) {
        double cost = 0;
        for (i = 0; i < SEQ_CLASSES; i++)
            cost += belief[i] * seq_costs[i][j];
        if (j == 0 || cost < least)
            least = cost;
    }
    return least;
}

#if SEQ_SURE
#elif SEQ_GRID
/* Interpolates on the Freudenthal triangulation of a grid over the beliefs. */
static double seq_read(int stage, const double *joint)
{
    const double *table = seq_values[stage];
    double fraction[SEQ_CLASSES] = {0}, total = 0, tail = 0, value;
    int step[SEQ_CLASSES] = {0}, index = 0, i, k;
    for (i = 0; i < SEQ_CLASSES; i++)
        total += joint[i];
    if (!(total > 0))
        return 0;
    for (i = SEQ_CLASSES - 2; i >= 0; i--) {
        double at, f;
        int level, s;
        tail += joint[i + 1] / total;
        at = tail * SEQ_GRID;
        at = at > SEQ_GRID ? SEQ_GRID : at;
        level = (int)at;
        f = at - level;
        s = seq_rank[i][level + 1] - seq_rank[i][level];
        index += seq_rank[i][level];
        for (k = SEQ_CLASSES - 2 - i; k > 0 && fraction[k - 1] <= f; k--) {
            fraction[k] = fraction[k - 1];
            step[k] = step[k - 1];
        }
        fraction[k] = f;
        step[k] = s;
    }
    value = (1 - fraction[0]) * table[index];
    for (i = 0; i < SEQ_CLASSES - 1; i++) {
        index += step[i];
        value += (fraction[i] - fraction[i + 1]) * table[index < SEQ_POINTS ? index : SEQ_POINTS - 1];
    }
    return value * total;
}
#else
/* Smallest product with a vector. */
static double seq_read(int stage, const double *joint)
{
    double least = HUGE_VAL;
    int i, k;
    for (k = seq_vector_start[stage]; k < seq_vector_start[stage + 1]; k++) {
        double cost = 0;
        for (i = 0; i < SEQ_CLASSES; i++)
            cost += seq_vectors[k][i] * joint[i];
        least = cost < least ? cost : least;
    }
    return least;
}
#endif

static double seq_price_of(const seq_case *c, int feature)
{
    int group = seq_group[feature];
    return group < 0 || c->paid[group] ? seq_prices[feature] : seq_full_prices[feature];
}

static int seq_stage(const seq_case *c)
{
    int stage = 0;
    while (stage < SEQ_STAGES && c->seen[stage] != SEQ_OPEN)
        stage++;
    return stage;
}

#if !SEQ_SURE
static double seq_value(int stage, const double *joint)
{
    double on, stop = seq_stopping(joint);
    if (stage >= SEQ_STAGES)
        return stop;
    on = seq_read(stage, joint);
    return on < stop ? on : stop;
}

static double seq_going_on(const seq_case *c, int stage)
{
    double cost = seq_price_of(c, stage);
    int i, v;
    for (v = 0; v < seq_outcomes[stage]; v++) {
        double joint[SEQ_CLASSES];
        for (i = 0; i < SEQ_CLASSES; i++)
            joint[i] = seq_likelihoods[seq_likelihood_start[stage] + v][i] * c->belief[i];
        cost += seq_value(stage + 1, joint);
    }
    return cost;
}
#endif

static int seq_tell(seq_case *c, int feature, int outcome, int known)
{
    int i, pays = !known && (outcome >= 0 || SEQ_CHARGE_MISSING);
    if (feature < 0 || feature >= SEQ_FEATURES || c->seen[feature] != SEQ_OPEN)
        return SEQ_WRONG;
    if (outcome < SEQ_MISSING || outcome >= seq_outcomes[feature])
        return SEQ_WRONG;
    if (outcome >= 0) {
        double joint[SEQ_CLASSES], total = 0;
        for (i = 0; i < SEQ_CLASSES; i++) {
            joint[i] = seq_likelihoods[seq_likelihood_start[feature] + outcome][i] * c->belief[i];
            total += joint[i];
        }
        if (!(total > 0))
            return SEQ_IMPOSSIBLE;
        for (i = 0; i < SEQ_CLASSES; i++)
            c->belief[i] = joint[i] / total;
    }
    if (pays) {
        c->cost += seq_price_of(c, feature);
        if (seq_group[feature] >= 0)
            c->paid[seq_group[feature]] = 1;
    }
    c->seen[feature] = outcome;
    return 0;
}

void seq_begin(seq_case *c)
{
    int i;
    for (i = 0; i < SEQ_CLASSES; i++)
        c->belief[i] = seq_prior[i];
    for (i = 0; i < SEQ_FEATURES; i++)
        c->seen[i] = SEQ_OPEN;
    for (i = 0; i < SEQ_GROUPS; i++)
        c->paid[i] = 0;
    c->cost = 0;
}

int seq_question(const seq_case *c)
{
    int stage = seq_stage(c);
#if SEQ_SURE
    return stage < SEQ_STAGES && seq_stopping(c->belief) > seq_enough ? stage : SEQ_DECIDE;
#else
    double beat = seq_stopping(c->belief) * (1 - SEQ_TIE), least;
    int i, j;
    if (stage >= SEQ_STAGES)
        return SEQ_DECIDE;
    least = seq_price_of(c, stage);
    for (i = 0; i < SEQ_CLASSES; i++) {
        double known = seq_costs[i][0];
        for (j = 1; j < SEQ_DECISIONS; j++)
            known = seq_costs[i][j] < known ? seq_costs[i][j] : known;
        least += c->belief[i] * known;
    }
    if (beat <= least)
        return SEQ_DECIDE;
#if !SEQ_GRID
    if (seq_read(stage, c->belief) + seq_price_of(c, stage) - seq_planned_prices[stage] < beat)
        return stage;
#endif
    return seq_going_on(c, stage) < beat ? stage : SEQ_DECIDE;
#endif
}

double seq_price(const seq_case *c)
{
    int stage = seq_stage(c);
    return stage < SEQ_STAGES ? seq_price_of(c, stage) : NAN;
}

double seq_saving(const seq_case *c)
{
#if SEQ_SURE
    (void)c;
    return NAN;
#else
    int stage = seq_stage(c);
    return stage < SEQ_STAGES ? seq_stopping(c->belief) - seq_going_on(c, stage) : NAN;
#endif
}

int seq_answer(seq_case *c, int feature, int outcome)
{
    return seq_tell(c, feature, outcome, 0);
}

int seq_know(seq_case *c, int feature, int outcome)
{
    return seq_tell(c, feature, outcome, 1);
}

int seq_decision(const seq_case *c)
{
    double least = seq_stopping(c->belief);
    int i, j;
    for (j = 0; j < SEQ_DECISIONS - 1; j++) {
        double cost = 0;
        for (i = 0; i < SEQ_CLASSES; i++)
            cost += c->belief[i] * seq_costs[i][j];
        if (cost <= least * (1 + SEQ_TIE))
            break;
    }
    return j;
}

double seq_expected_cost(const seq_case *c)
{
    return seq_stopping(c->belief);
}

const double *seq_belief(const seq_case *c)
{
    return c->belief;
}
