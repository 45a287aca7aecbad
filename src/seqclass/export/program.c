
/* Costs that differ by less than this share are a tie, and scores and what was paid that differ by less than the other. */
#define SEQ_TIE 1e-12
#define SEQ_ALIKE 1e-10
#define SEQ_TINY 2.2250738585072014e-308

/* What a policy looks at. */
typedef struct {
    double weight[SEQ_HIDDEN];
    double belief[SEQ_CLASSES];
    double stop;
    double spent;
    int stage;
    int visits;
    int seen[SEQ_QUESTIONS];
    int shown[SEQ_FEATURES];
    char paid[SEQ_GROUPS];
#if SEQ_CLIQUES
    double told[SEQ_ROWS][SEQ_CLASSES];
#endif
#if SEQ_RULED
    seq_standing rule;
#endif
} seq_view;

/* How it stands to rules, where there are any. */
#if SEQ_RULED
#define seq_weigh(s) seq_stand((s)->seen, (s)->shown, SEQ_STAGES - (s)->stage, &(s)->rule)
#define seq_by_rules(s, what, otherwise) ((s)->rule.what)
#else
#define seq_weigh(s) ((void)(s))
#define seq_by_rules(s, what, otherwise) ((void)(s), otherwise)
#endif

/* P(outcome | hidden state) of a question, by hidden state; in a network these are the classes. */
#if SEQ_CLIQUES
#define seq_row(s, question, outcome) ((s)->told[seq_table_start[question] + (outcome)])
#define seq_learn(s) seq_foretell((s)->seen, (s)->shown, (s)->told)
#else
#define seq_row(s, question, outcome) (seq_likelihoods[seq_table_start[question] + (outcome)])
#define seq_learn(s) ((void)(s))
#endif

static int seq_settled(const seq_view *s);
static int seq_act(int policy, const seq_view *s);
static int seq_next_of(int policy, const seq_view *s);
static double seq_value_of(int values, const seq_view *s);

static double seq_least(double a, double b)
{
    return a < b ? a : b;
}

static double seq_sum(const double *numbers, int n)
{
    double total = 0;
    int i;
    for (i = 0; i < n; i++)
        total += numbers[i];
    return total;
}

static double seq_plogp(double p)
{
    return p * log(p + SEQ_TINY);
}

static double seq_cost_of_decision(const double *belief, int decision)
{
    double cost = 0;
    int i;
    for (i = 0; i < SEQ_CLASSES; i++)
        cost += belief[i] * seq_costs[i][decision];
    return cost;
}

static double seq_stopping(const double *belief)
{
    double least = HUGE_VAL;
    int j;
    for (j = 0; j < SEQ_DECISIONS; j++)
        least = seq_least(least, seq_cost_of_decision(belief, j));
    return least;
}

static int seq_decide(const double *belief)
{
    double least = seq_stopping(belief);
    int j;
    for (j = 0; j < SEQ_DECISIONS - 1; j++)
        if (seq_cost_of_decision(belief, j) <= least * (1 + SEQ_TIE))
            break;
    return j;
}

/* Cost of the best decision if the class were known. */
static double seq_known(const double *belief)
{
    double cost = 0;
    int i, j;
    for (i = 0; i < SEQ_CLASSES; i++) {
        double best = HUGE_VAL;
        for (j = 0; j < SEQ_DECISIONS; j++)
            best = seq_least(best, seq_costs[i][j]);
        cost += belief[i] * best;
    }
    return cost;
}

static void seq_by_class(const double *weight, double *belief)
{
    int i, h;
    for (i = 0; i < SEQ_CLASSES; i++)
        belief[i] = 0;
    for (h = 0; h < SEQ_HIDDEN; h++)
        belief[seq_hidden_class[h]] += weight[h];
}

/* P(class, outcome | what was seen). */
static void seq_joint(const seq_view *s, int question, int outcome, double *joint)
{
    const double *row = seq_row(s, question, outcome);
    int i, h;
    for (i = 0; i < SEQ_CLASSES; i++)
        joint[i] = 0;
    for (h = 0; h < SEQ_HIDDEN; h++)
        joint[seq_hidden_class[h]] += s->weight[h] * row[h];
}

#if SEQ_DEPENDS
#define seq_after_answers(s, question, price) seq_price_after((s)->shown, question, price)
#else
#define seq_after_answers(s, question, price) (price)
#endif

static double seq_price_of(const seq_view *s, int question)
{
    int group = seq_group[question];
    double price = group < 0 || s->paid[group] ? seq_prices[question] : seq_full_prices[question];
    return seq_after_answers(s, question, price);
}

/* Least full price less price of a group in a panel. */
static double seq_least_added(const char *panel, int group)
{
    double least = HUGE_VAL;
    int q;
    for (q = 0; q < SEQ_QUESTIONS; q++)
        if (panel[q] && seq_group[q] == group)
            least = seq_least(least, seq_full_prices[q] - seq_prices[q]);
    return least;
}

/* Of a group one question pays in full: the first that is answered, in a visit that for which this adds least. */
static int seq_in_full(const char *paid, const char *panel, int question)
{
    int group = seq_group[question];
    double added = (seq_full_prices[question] - seq_prices[question]) * (1 - SEQ_TIE);
    return group >= 0 && !paid[group] && !(seq_least_added(panel, group) < added);
}

/* The price beside what is waited for, that of the visit left out. */
static double seq_own_of(const seq_case *c, const char *panel, int question)
{
    double price = (seq_in_full(c->paid, panel, question) ? seq_full_prices : seq_prices)[question] - seq_alone[question];
    return seq_after_answers(c, question, price);
}

static int seq_open(const seq_view *s, int question)
{
    if (s->stage >= SEQ_STAGES)
        return 0;
    if (!SEQ_ANY_ORDER)
        return question == s->stage;
    return s->seen[question] == SEQ_OPEN && s->spent + seq_price_of(s, question) <= SEQ_MOST
           && seq_by_rules(s, allowed[question], 1);
}

/* Whether something has to be asked before anything is decided. */
static int seq_must(const seq_view *s)
{
    int q;
    for (q = 0; SEQ_DEMANDS && seq_by_rules(s, more, 0) && q < SEQ_ASKED; q++)
        if (seq_open(s, q))
            return 1;
    return 0;
}

/* Among these heuristics choose: where it must go on, what has to be asked; elsewhere what can change anything. */
static int seq_may(const seq_view *s, int question)
{
    if (!seq_open(s, question))
        return 0;
    return SEQ_DEMANDS ? !seq_must(s) || seq_by_rules(s, serves[question], 0) : seq_put_off[question] < 2;
}

/* Of costs those among which it chooses. */
static void seq_only(const seq_view *s, double *costs)
{
    int q;
    for (q = 0; q < SEQ_ASKED; q++)
        costs[q] = seq_may(s, q) ? costs[q] : HUGE_VAL;
}

/* What deciding costs: now, and where something has to be asked after all of that. */
static double seq_stop_of(const seq_view *s)
{
    return seq_must(s) ? HUGE_VAL : s->stop;
}

static double seq_finish(const seq_view *s)
{
    return seq_must(s) ? s->stop + seq_by_rules(s, most, 0.0) : s->stop;
}

/* What the features of a question show by the number of an outcome: the last one changes first. */
static void seq_show(int *shown, int question, int outcome)
{
    int f;
    for (f = seq_feature_start[question + 1] - 1; f >= seq_feature_start[question]; f--) {
        shown[f] = outcome % seq_outcomes[f];
        outcome /= seq_outcomes[f];
    }
}

/* First question from a stage on that was not answered: in a fixed order some are before their turn. */
static int seq_unanswered(const int *seen, int stage)
{
    while (stage < SEQ_ASKED && seen[stage] != SEQ_OPEN)
        stage++;
    return stage;
}

/* What is known after a question showed an outcome; gives its probability. */
static double seq_after(const seq_view *s, int question, int outcome, seq_view *next)
{
    const double *row = seq_row(s, question, outcome);
    double total = 0;
    int h;
    *next = *s;
    for (h = 0; h < SEQ_HIDDEN; h++) {
        next->weight[h] = s->weight[h] * row[h];
        total += next->weight[h];
    }
    if (!(total > 0))
        return 0;
    for (h = 0; h < SEQ_HIDDEN; h++)
        next->weight[h] /= total;
    seq_by_class(next->weight, next->belief);
    next->stop = seq_stopping(next->belief);
    next->spent += seq_price_of(s, question);
    next->seen[question] = outcome;
    seq_show(next->shown, question, outcome);
    next->stage++;
    if (seq_group[question] >= 0)
        next->paid[seq_group[question]] = 1;
    seq_weigh(next);
    if (!seq_settled(next))
        seq_learn(next);
    return total;
}

static double seq_least_on(const seq_view *s)
{
    double price = HUGE_VAL;
    int q;
    for (q = 0; q < SEQ_ASKED; q++)
        if (seq_open(s, q))
            price = seq_least(price, seq_price_of(s, q));
    if (SEQ_VISITS && !SEQ_ANY_ORDER && s->stage < SEQ_STAGES && seq_group[s->stage] >= 0 && !s->paid[seq_group[s->stage]]) {
        /* what is ordered with it may pay in full */
        char panel[SEQ_QUESTIONS] = {0};
        for (q = s->stage; q < SEQ_ASKED && q < s->stage + SEQ_MAX_PANEL; q++)
            panel[q] = 1;
        price = seq_prices[s->stage] + seq_least_added(panel, seq_group[s->stage]);
    }
    if (SEQ_DEMANDS && price < seq_by_rules(s, least, 0.0))
        price = seq_by_rules(s, least, 0.0);
    return price < HUGE_VAL ? price + seq_known(s->belief) : HUGE_VAL;
}

static int seq_settled(const seq_view *s)
{
    return seq_stop_of(s) * (1 - SEQ_TIE) <= seq_least_on(s);
}

/* Expected cost of deciding after a question. */
static double seq_deciding_after(const seq_view *s, int question)
{
    double cost = 0, joint[SEQ_CLASSES];
    int v;
    for (v = 0; v < seq_table_size[question]; v++) {
        seq_joint(s, question, v, joint);
        cost += seq_stopping(joint);
    }
    return cost;
}

static void seq_once(const seq_view *s, double *costs)
{
    int q;
    for (q = 0; q < SEQ_ASKED; q++)
        costs[q] = seq_open(s, q) ? seq_price_of(s, q) + seq_deciding_after(s, q) : HUGE_VAL;
}

static double seq_least_of(const double *costs)
{
    double least = HUGE_VAL;
    int q;
    for (q = 0; q < SEQ_ASKED; q++)
        least = seq_least(least, costs[q]);
    return least;
}

static int seq_cheapest(const double *costs)
{
    double least = seq_least_of(costs);
    int q;
    if (least < HUGE_VAL)
        for (q = 0; q < SEQ_ASKED; q++)
            if (costs[q] <= least * (1 + SEQ_TIE))
                return q;
    return SEQ_DECIDE;
}

/* The same of questions: of equal ones those that are free come last, and of these what can change nothing. */
static int seq_promising(const double *costs)
{
    double least = seq_least_of(costs);
    int q, found = SEQ_DECIDE;
    if (least < HUGE_VAL)
        for (q = 0; q < SEQ_ASKED; q++)
            if (costs[q] <= least * (1 + SEQ_TIE) && (found < 0 || seq_put_off[q] < seq_put_off[found]))
                found = q;
    return found;
}

static double seq_rounded(double cost)
{
    return floor(cost / SEQ_DEAREST * 1e10 + 0.5);
}

/* Keeps the smallest so many costs; all others become infinite. What differs by rounding alone goes by number. */
static void seq_keep(double *costs, int most)
{
    double kept[SEQ_QUESTIONS];
    int n, q;
    for (q = 0; q < SEQ_ASKED; q++)
        kept[q] = HUGE_VAL;
    for (n = 0; n < most; n++) {
        int best = -1;
        for (q = 0; q < SEQ_ASKED; q++)
            if (costs[q] < HUGE_VAL && (best < 0 || seq_rounded(costs[q]) < seq_rounded(costs[best])))
                best = q;
        if (best < 0)
            break;
        kept[best] = costs[best];
        costs[best] = HUGE_VAL;
    }
    for (q = 0; q < SEQ_ASKED; q++)
        costs[q] = kept[q];
}

/* Costs of each question, looking some questions ahead. */
static void seq_ahead(const seq_view *s, int depth, int most, double *costs)
{
    double kept[SEQ_QUESTIONS];
    int q, v;
    if (depth == 1 || s->stage + 1 >= SEQ_STAGES) {
        seq_once(s, costs);
        return;
    }
    for (q = 0; q < SEQ_ASKED; q++)
        kept[q] = seq_open(s, q) ? 0 : HUGE_VAL;
    if (SEQ_ANY_ORDER) {
        double reached, cheapest = HUGE_VAL;
        seq_once(s, kept);
        reached = seq_finish(s);
        for (q = 0; q < SEQ_ASKED; q++)
            reached = seq_by_rules(s, after[q], 0) ? reached : seq_least(reached, kept[q]);
        reached *= 1 + SEQ_TIE;
        for (q = 0; q < SEQ_ASKED; q++)
            cheapest = seq_least(cheapest, seq_prices[q]);
        for (q = 0; q < SEQ_ASKED; q++) {
            double least = seq_price_of(s, q), joint[SEQ_CLASSES];
            if (!(kept[q] < HUGE_VAL))
                continue;
            for (v = 0; v < seq_table_size[q]; v++) {
                seq_joint(s, q, v, joint);
                least += seq_least(seq_stopping(joint), seq_sum(joint, SEQ_CLASSES) * cheapest + seq_known(joint));
            }
            if (!(least <= reached))
                kept[q] = HUGE_VAL;
        }
        if (most >= 0)
            seq_keep(kept, most);
    }
    for (q = 0; q < SEQ_ASKED; q++) {
        costs[q] = HUGE_VAL;
        if (!(kept[q] < HUGE_VAL))
            continue;
        costs[q] = seq_price_of(s, q);
        for (v = 0; v < seq_table_size[q]; v++) {
            seq_view next;
            double total = seq_after(s, q, v, &next), cost;
            if (!(total > 0))
                continue;
            if (!SEQ_ANY_ORDER && next.stage < SEQ_STAGES && next.seen[next.stage] != SEQ_OPEN) {
                next.stage = seq_unanswered(next.seen, next.stage);
                seq_learn(&next);
            }
            cost = seq_stop_of(&next);
            if (!seq_settled(&next)) {
                double after[SEQ_QUESTIONS];
                seq_ahead(&next, depth - 1, most, after);
                cost = seq_least(cost, seq_least_of(after));
            }
            costs[q] += total * cost;
        }
    }
}

#if SEQ_LISTED
/* Least costs times chances of all partial answers, but for what is not to be had. A number has a digit for each
   question: its outcome, or one more than these where it was not asked; what follows has smaller numbers. */
static double seq_list[SEQ_LISTED];
static long seq_list_step[SEQ_QUESTIONS];
static int seq_list_size[SEQ_QUESTIONS], seq_list_is = 0;

/* What a list is for: questions without an answer, answers that paid for no group, how many answers or whatever else
   pay for each group, and what was asked and spent beside what was answered. */
typedef struct {
    int gone[SEQ_QUESTIONS], nothing[SEQ_QUESTIONS], paid[SEQ_GROUPS], asked;
    double spent;
} seq_list_kind;
static seq_list_kind seq_listed;

static double seq_list_price(int q)
{
    return seq_group[q] < 0 || seq_listed.paid[seq_group[q]] ? seq_prices[q] : seq_full_prices[q];
}

static double seq_later(long number, int q)
{
    double cost = 0;
    int v;
    for (v = 1; v <= seq_list_size[q]; v++)
        cost += seq_list[number - v * seq_list_step[q]];
    return cost;
}

static void seq_fill(int q, long number, const double *weight, char *open, int asked, double spent)
{
    double next[SEQ_HIDDEN], belief[SEQ_CLASSES], chance, cost;
    int v, h;
    if (q < SEQ_ASKED) {
        int pays = seq_group[q] >= 0 && !seq_listed.nothing[q];
        open[q] = 0;
        if (pays)
            seq_listed.paid[seq_group[q]]++;
        for (v = 0; v < seq_list_size[q]; v++) {
            const double *row = seq_likelihoods[seq_table_start[q] + v];
            for (h = 0; h < SEQ_HIDDEN; h++)
                next[h] = weight[h] * row[h];
            seq_fill(q + 1, number + v * seq_list_step[q], next, open, asked + 1, spent + seq_prices[q]);
        }
        if (pays)
            seq_listed.paid[seq_group[q]]--;
        open[q] = !seq_listed.gone[q];
        seq_fill(q + 1, number + seq_list_size[q] * seq_list_step[q], weight, open, asked, spent);
        return;
    }
    seq_by_class(weight, belief);
    chance = seq_sum(weight, SEQ_HIDDEN);
    cost = seq_stopping(belief);
    for (v = 0; v < SEQ_ASKED; v++)
        if (open[v] && asked < SEQ_STAGES && spent + seq_list_price(v) <= SEQ_MOST)
            cost = seq_least(cost, seq_list_price(v) * chance + seq_later(number, v));
    seq_list[number] = cost;
}

static void seq_by_list(const seq_view *s, double *costs)
{
    double weight[SEQ_HIDDEN], chance;
    char open[SEQ_QUESTIONS] = {0};
    long number = 0, step = 1;
    int q, h;
    seq_list_kind kind;
    memset(&kind, 0, sizeof kind);
    kind.asked = SEQ_LIMITED ? s->stage : 0;
    kind.spent = SEQ_MOST < HUGE_VAL ? s->spent : 0;
    for (q = 0; q < SEQ_ASKED; q++) {
        kind.gone[q] = s->seen[q] == SEQ_MISSING;
        kind.nothing[q] = s->seen[q] >= 0 && seq_group[q] >= 0 && !s->paid[seq_group[q]];
        if (seq_group[q] >= 0)
            kind.paid[seq_group[q]] = s->paid[seq_group[q]];
    }
    for (q = 0; q < SEQ_ASKED; q++)
        if (s->seen[q] >= 0) {
            kind.asked -= SEQ_LIMITED;
            kind.spent -= SEQ_MOST < HUGE_VAL ? seq_prices[q] : 0;
            if (seq_group[q] >= 0)
                kind.paid[seq_group[q]] = 0;
        }
    if (fabs(kind.spent - seq_listed.spent) < SEQ_TIE) /* but for rounding */
        kind.spent = seq_listed.spent;
    if (!seq_list_is || memcmp(&kind, &seq_listed, sizeof kind)) {
        seq_listed = kind;
        for (q = SEQ_ASKED - 1; q >= 0; q--) {
            seq_list_size[q] = kind.gone[q] ? 0 : seq_table_size[q];
            seq_list_step[q] = step;
            step *= seq_list_size[q] + 1;
        }
        seq_fill(0, 0, seq_hidden_prior, open, kind.asked, kind.spent);
        seq_list_is = 1;
    }
    memcpy(weight, seq_hidden_prior, sizeof weight);
    for (q = 0; q < SEQ_ASKED; q++) {
        number += (s->seen[q] >= 0 ? s->seen[q] : seq_list_size[q]) * seq_list_step[q];
        for (h = 0; s->seen[q] >= 0 && h < SEQ_HIDDEN; h++)
            weight[h] *= seq_likelihoods[seq_table_start[q] + s->seen[q]][h];
    }
    chance = seq_sum(weight, SEQ_HIDDEN);
    for (q = 0; q < SEQ_ASKED; q++)
        costs[q] = seq_open(s, q) ? seq_price_of(s, q) + seq_later(number, q) / chance : HUGE_VAL;
}
#else
/* Costs that were found already, each in the place that its number says, unless another one took it. */
typedef struct {
    unsigned long number[SEQ_REMEMBERED];
    double cost[SEQ_REMEMBERED];
} seq_memory;

/* The same to the end. Of the answers that lead there a number is made: those to one case, in whatever order. */
static void seq_to_end(const seq_view *s, unsigned long number, seq_memory *known, double *costs)
{
    unsigned long digit = 1;
    int q, v;
    if (s->stage + 1 >= SEQ_STAGES) {
        seq_ahead(s, 1, 0, costs);
        return;
    }
    for (q = 0; q < SEQ_ASKED; digit *= seq_table_size[q++] + 1) {
        costs[q] = HUGE_VAL;
        if (!seq_open(s, q))
            continue;
        costs[q] = seq_price_of(s, q);
        for (v = 0; v < seq_table_size[q]; v++) {
            seq_view next;
            double total = seq_after(s, q, v, &next), cost;
            unsigned long after = number + (v + 1) * digit, place = after % SEQ_REMEMBERED;
            if (!(total > 0))
                continue;
            cost = seq_stop_of(&next);
            if (SEQ_REMEMBERED > 1 && known->number[place] == after) {
                cost = known->cost[place];
            } else if (!seq_settled(&next)) {
                double further[SEQ_QUESTIONS];
                seq_to_end(&next, after, known, further);
                cost = seq_least(cost, seq_least_of(further));
                known->number[place] = after;
                known->cost[place] = cost;
            }
            costs[q] += total * cost;
        }
    }
}
#endif

static int seq_choose(int n, int k)
{
    double c = 1;
    int i;
    for (i = 1; i <= k; i++)
        c = c * (n - k + i) / i;
    return n < k ? 0 : (int)(c + 0.5);
}

/* Number of a point of the grid, as far as one of its tail sums goes. */
static int seq_rank(int i, int level)
{
    return seq_choose(level + SEQ_CLASSES - 2 - i, SEQ_CLASSES - 1 - i);
}

/* Interpolates on the Freudenthal triangulation of a grid over the beliefs. */
static double seq_on_grid(const double *table, int points, int steps, const double *joint)
{
    double fraction[SEQ_CLASSES] = {0}, total = seq_sum(joint, SEQ_CLASSES), tail = 0, value;
    int step[SEQ_CLASSES] = {0}, index = 0, i, k;
    if (!(total > 0))
        return 0;
    for (i = SEQ_CLASSES - 2; i >= 0; i--) {
        double at, f;
        int level, here;
        tail += joint[i + 1] / total;
        at = tail * steps;
        at = at > steps ? steps : at;
        level = (int)at;
        f = at - level;
        here = seq_rank(i, level);
        index += here;
        for (k = SEQ_CLASSES - 2 - i; k > 0 && fraction[k - 1] <= f; k--) {
            fraction[k] = fraction[k - 1];
            step[k] = step[k - 1];
        }
        fraction[k] = f;
        step[k] = seq_rank(i, level + 1) - here;
    }
    value = (1 - fraction[0]) * table[index];
    for (i = 0; i < SEQ_CLASSES - 1; i++) {
        index += step[i];
        value += (fraction[i] - fraction[i + 1]) * table[index < points ? index : points - 1];
    }
    return value * total;
}

/* Interpolates between points of two classes. */
static double seq_on_line(const double *table, const double *joint)
{
    double total = joint[0] + joint[SEQ_CLASSES - 1], share, right;
    int low = 0, high = SEQ_LINE - 1;
    if (!(total > 0))
        return 0;
    share = joint[SEQ_CLASSES - 1] / total;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (seq_line[middle] <= share)
            low = middle;
        else
            high = middle;
    }
    right = high > low ? (share - seq_line[low]) / (seq_line[high] - seq_line[low]) : 0;
    right = right < 0 ? 0 : right > 1 ? 1 : right;
    return total * ((1 - right) * table[low] + right * table[high]);
}

static void seq_by_bounds(const seq_view *s, double *costs)
{
    int q, v, asked = 0;
    if (s->stage + 1 >= SEQ_STAGES) {
        seq_once(s, costs);
        for (q = 0; q < SEQ_ASKED && SEQ_RULED; q++)
            costs[q] = seq_may(s, q) && !seq_by_rules(s, after[q], 0) ? costs[q] : HUGE_VAL;
        return;
    }
    for (q = 0; q < SEQ_ASKED; q++)
        asked += s->seen[q] != SEQ_OPEN ? seq_bit[q] : 0;
    for (q = 0; q < SEQ_ASKED; q++) {
        costs[q] = HUGE_VAL;
        if (!(SEQ_RULED ? seq_may(s, q) : seq_open(s, q)))
            continue;
        costs[q] = seq_price_of(s, q);
        for (v = 0; v < seq_table_size[q]; v++) {
            const double *table = seq_bounds[asked + seq_bit[q]];
            double joint[SEQ_CLASSES], read;
            seq_joint(s, q, v, joint);
            read = SEQ_LINE > 1 ? seq_on_line(table, joint)
                                : seq_on_grid(table, SEQ_BOUND_POINTS, SEQ_BOUND_GRID, joint);
            costs[q] += seq_least(read, seq_stopping(joint));
        }
    }
}

/* Ordering rules: what a question promises. */
static double seq_entropy(const double *belief)
{
    double entropy = 0;
    int i;
    for (i = 0; i < SEQ_CLASSES; i++)
        entropy -= seq_plogp(belief[i]);
    return entropy;
}

static double seq_class_information(const seq_view *s, int question)
{
    double found = seq_entropy(s->belief);
    int i, v;
    for (v = 0; v < seq_table_size[question]; v++) {
        double joint[SEQ_CLASSES];
        seq_joint(s, question, v, joint);
        for (i = 0; i < SEQ_CLASSES; i++)
            found += seq_plogp(joint[i]);
        found -= seq_plogp(seq_sum(joint, SEQ_CLASSES));
    }
    return found;
}

static double seq_hidden_information(const seq_view *s, int question)
{
    double found = 0;
    int h, v;
    for (v = 0; v < seq_table_size[question]; v++) {
        const double *row = seq_row(s, question, v);
        double total = 0;
        for (h = 0; h < SEQ_HIDDEN; h++) {
            found += s->weight[h] * seq_plogp(row[h]);
            total += s->weight[h] * row[h];
        }
        found -= seq_plogp(total);
    }
    return found;
}

static double seq_separated(const seq_view *s, int question)
{
    double found = 1;
    int i, h, v;
    for (i = 0; i < SEQ_CLASSES; i++)
        found -= s->belief[i] * s->belief[i];
    for (v = 0; v < seq_table_size[question]; v++) {
        const double *row = seq_row(s, question, v);
        double classes[SEQ_CLASSES] = {0}, total = 0;
        for (h = 0; h < SEQ_HIDDEN; h++)
            classes[seq_hidden_class[h]] += s->weight[h] * sqrt(row[h]);
        for (i = 0; i < SEQ_CLASSES; i++) {
            total += classes[i];
            found += classes[i] * classes[i];
        }
        found -= total * total;
    }
    return found / 2;
}

static int seq_first_of(const double *scores)
{
    double top = -HUGE_VAL, size;
    int q;
    for (q = 0; q < SEQ_ASKED; q++)
        top = scores[q] > top ? scores[q] : top;
    if (!(top > -HUGE_VAL))
        return SEQ_DECIDE;
    size = fabs(top) > 1 ? fabs(top) : 1;
    for (q = 0; q < SEQ_ASKED - 1; q++)
        if (scores[q] >= top - SEQ_ALIKE * size)
            break;
    return q;
}

static void seq_scores(int rule, const seq_view *s, const double *once, double *scores)
{
    int type = seq_rule_type[rule], a = seq_rule_a[rule], b = seq_rule_b[rule], q, v;
    double tried[SEQ_QUESTIONS];
    for (q = 0; q < SEQ_ASKED; q++) {
        scores[q] = -HUGE_VAL;
        tried[q] = seq_may(s, q) ? once[q] : HUGE_VAL;
    }
    if (type == SEQ_RULE_ORDER) {
        for (v = 0; v < b; v++)
            if (tried[seq_rule_order[a + v]] < HUGE_VAL)
                scores[seq_rule_order[a + v]] = -v;
        return;
    }
    if (type == SEQ_RULE_LOOKAHEAD) {
        seq_ahead(s, a, b, tried);
        for (q = 0; q < SEQ_ASKED; q++)
            scores[q] = seq_may(s, q) ? s->stop - tried[q] : -HUGE_VAL;
        return;
    }
    if (type == SEQ_RULE_IMPROVED) {
        int own;
        seq_scores(seq_values_rule[a], s, once, scores);
        own = seq_first_of(scores);
        seq_keep(tried, b);
        if (own >= 0)
            tried[own] = once[own];
        for (q = 0; q < SEQ_ASKED; q++) {
            scores[q] = -HUGE_VAL;
            if (!(tried[q] < HUGE_VAL))
                continue;
            scores[q] = s->stop - seq_price_of(s, q);
            for (v = 0; v < seq_table_size[q]; v++) {
                seq_view next;
                double total = seq_after(s, q, v, &next);
                if (total > 0)
                    scores[q] -= total * seq_value_of(a, &next);
            }
        }
        return;
    }
    for (q = 0; q < SEQ_ASKED; q++) {
        double gain = 0, price = seq_price_of(s, q), smallest = SEQ_TIE * SEQ_DEAREST;
        if (!seq_may(s, q))
            continue;
        if (type == SEQ_RULE_EXPECTED)
            gain = (s->stop - (once[q] - price)) / SEQ_DEAREST;
        else if (type == SEQ_RULE_HIDDEN)
            gain = seq_hidden_information(s, q);
        else if (type == SEQ_RULE_EC2)
            gain = seq_separated(s, q);
        else
            gain = seq_class_information(s, q);
        if (type == SEQ_RULE_CROSS) {
            double entropy = seq_entropy(s->belief);
            gain /= entropy > SEQ_TINY ? entropy : SEQ_TINY;
        }
        if (seq_rule_per_price[rule] && fabs(gain) <= SEQ_TIE) /* perhaps rounding */
            gain = 0;
        scores[q] = seq_rule_per_price[rule] ? gain / ((price > smallest ? price : smallest) / SEQ_DEAREST) : gain;
    }
}

static int seq_next(int rule, const seq_view *s)
{
    double once[SEQ_QUESTIONS], scores[SEQ_QUESTIONS];
    seq_once(s, once);
    seq_scores(rule, s, once, scores);
    return seq_first_of(scores);
}

/* The question that a rule asks, and by regression what going on along it costs. */
static int seq_going_on(int values, const seq_view *s, double *cost)
{
    double once[SEQ_QUESTIONS], scores[SEQ_QUESTIONS], told[SEQ_TOLD], by, entropy, low, least;
    double high = -HUGE_VAL, second = -HUGE_VAL;
    int rule = seq_values_rule[values], question, row, n = 0, i;
    seq_once(s, once);
    seq_scores(rule, s, once, scores);
    question = seq_first_of(scores);
    *cost = question < 0 ? HUGE_VAL : once[question];
    if (question >= 0 && seq_must(s) && *cost < seq_finish(s))
        *cost = seq_finish(s);
    row = s->stage < seq_values_stages[values] ? seq_values_row[seq_values_start[values] + s->stage] : -1;
    if (question < 0 || row < 0)
        return question;
    by = seq_rule_type[rule] == SEQ_RULE_LOOKAHEAD || seq_rule_type[rule] == SEQ_RULE_IMPROVED
             ? s->stop - scores[question]
             : once[question];
    entropy = seq_entropy(s->belief);
    for (i = 0; i < SEQ_CLASSES; i++) {
        if (s->belief[i] > high) {
            second = high;
            high = s->belief[i];
        } else if (s->belief[i] > second) {
            second = s->belief[i];
        }
    }
    told[n++] = 1;
    told[n++] = s->stop;
    told[n++] = once[question];
    told[n++] = seq_least_of(once);
    told[n++] = by;
    told[n++] = entropy;
    if (SEQ_CLASSES > 1)
        told[n++] = second;
    told[n++] = high;
    told[n++] = sqrt(s->stop);
    for (i = 0; i < SEQ_CLASSES && SEQ_CLASSES <= 10; i++)
        told[n++] = s->belief[i];
    told[n++] = s->stop * s->stop;
    told[n++] = s->stop * by;
    told[n++] = by * by;
    told[n++] = entropy * entropy;
    told[n++] = s->stop * entropy;
    told[n++] = by * entropy;
    for (i = 0; i < SEQ_ASKED && SEQ_ASKED <= 40; i++) {
        told[n + i] = s->seen[i] != SEQ_OPEN;
        told[n + SEQ_ASKED + i] = told[n + i] * s->stop;
    }
    least = 0;
    for (i = 0; i < SEQ_TOLD; i++)
        least += told[i] * seq_weights[row][i];
    low = seq_least_on(s);
    least = least < low ? low : least;
    *cost = seq_least(least, *cost);
    return question;
}

static double seq_value_of(int values, const seq_view *s)
{
    double cost;
    if (s->stage >= seq_values_stages[values] || seq_settled(s))
        return seq_finish(s);
    seq_going_on(values, s, &cost);
    return seq_least(seq_finish(s), cost);
}

/* In a fixed order, with values of each stage: a sum of functions of the belief. */
static double seq_by_functions(int row, int stage, const double *joint)
{
    const double *pairs, *few, *weights;
    double belief[SEQ_CLASSES], total = seq_sum(joint, SEQ_CLASSES), stop, root, logarithm, found, least;
    int i, k;
    if (seq_function_row[row] < 0)
        return HUGE_VAL;
    weights = seq_functions[seq_function_row[row]];
    if (!(total > 0))
        return 0;
    for (i = 0; i < SEQ_CLASSES; i++)
        belief[i] = joint[i] / total;
    stop = seq_stopping(belief) / SEQ_DEAREST;
    root = sqrt(stop);
    logarithm = log(stop > 1e-9 ? stop : 1e-9);
    few = weights + 4 * SEQ_CLASSES;
    pairs = few + 4;
    found = stop * few[0] + root * few[1] + stop * root * few[2] + stop * stop * few[3];
    for (i = 0; i < SEQ_CLASSES; i++)
        found += belief[i] * (weights[i] + weights[SEQ_CLASSES + i] * root + weights[2 * SEQ_CLASSES + i] * logarithm
                              + weights[3 * SEQ_CLASSES + i] * log(belief[i] > 1e-12 ? belief[i] : 1e-12));
    for (k = 0; k < SEQ_PAIRS; k++)
        found += sqrt(belief[seq_pairs[k][0]] * belief[seq_pairs[k][1]]) * (pairs[k] + pairs[SEQ_PAIRS + k] * logarithm);
    least = total * seq_planned_prices[stage] + seq_known(joint);
    found *= total * SEQ_DEAREST;
    return found > least ? found : least;
}

/* Context at the next stage after an outcome, or after none. */
static int seq_moved(int stage, int context, int outcome)
{
    int n = seq_table_size[stage];
    if (!SEQ_MOVES || stage + 1 >= SEQ_VALUED)
        return 0;
    return seq_moves[seq_move_start[stage] + context * (n + 1) + (outcome < 0 || outcome > n ? n : outcome)];
}

static int seq_context_of(const seq_view *s)
{
    int q, context = 0;
    for (q = 0; q < s->stage; q++)
        context = seq_moved(q, context, s->seen[q]);
    return context;
}

static double seq_read(int stage, int context, const double *joint)
{
    double least = HUGE_VAL;
    int i, k, row = seq_value_start[stage] + (SEQ_MOVES ? context : 0);
    if (SEQ_GRID > 0)
        return seq_on_grid(seq_stage_values[row], SEQ_POINTS, SEQ_GRID, joint);
    if (SEQ_FITTED)
        return seq_by_functions(row, stage, joint);
    for (k = seq_vector_start[row]; k < seq_vector_start[row + 1]; k++) {
        double cost = 0;
        for (i = 0; i < SEQ_CLASSES; i++)
            cost += seq_vectors[k][i] * joint[i];
        least = seq_least(least, cost);
    }
    return least;
}

/* Cost of going on from a stage, corrected for each earlier answer that matters: the last question showed an outcome. */
static double seq_corrected(const seq_view *s, int outcome, int stage, int context, const double *joint)
{
    double plain = seq_read(stage, context, joint), stop = seq_stopping(joint), cost, least;
    int i, k, row = seq_correction[stage];
    if (row < 0)
        return plain;
    plain = plain < HUGE_VAL ? plain : stop;
    cost = plain;
    for (k = seq_told_start[stage] - 1; k < seq_told_start[stage + 1]; k++) {
        if (k >= seq_told_start[stage]) {
            int question = seq_told[k], shown = question == s->stage ? outcome : s->seen[question];
            if (shown < 0)
                continue;
            row = seq_told_row[k] + shown;
        }
        for (i = 0; i < SEQ_CLASSES; i++)
            cost += joint[i] * seq_corrections[row][i];
        cost += stop * seq_corrections[row][SEQ_CLASSES] + seq_least(plain, stop) * seq_corrections[row][SEQ_CLASSES + 1];
    }
    least = seq_sum(joint, SEQ_CLASSES) * seq_planned_prices[stage] + seq_known(joint);
    return cost < least ? least : cost;
}

static double seq_stage_cost(int policy, const seq_view *s)
{
    double cost = seq_price_of(s, s->stage), joint[SEQ_CLASSES];
    int v, context = seq_context_of(s);
    for (v = 0; v < seq_table_size[s->stage]; v++) {
        double stop;
        seq_joint(s, s->stage, v, joint);
        stop = seq_stopping(joint);
        if (s->stage + 1 < seq_policy_stages[policy])
            stop = seq_least(stop, seq_corrected(s, v, s->stage + 1, seq_moved(s->stage, context, v), joint));
        cost += stop;
    }
    return cost;
}

static int seq_by_rule(int rule, const seq_view *s)
{
    int q;
    if (rule >= 0)
        return seq_next(rule, s);
    for (q = 0; q < SEQ_ASKED; q++)
        if (seq_open(s, q))
            return q;
    return SEQ_DECIDE;
}

/* Costs of each question, where the policy has them; else 0. */
static int seq_costs_by(int policy, const seq_view *s, double *costs)
{
    int type = seq_policy_type[policy];
#if !SEQ_LISTED
    seq_memory known;
#endif
    if (type == SEQ_POLICY_LOOKAHEAD || (type == SEQ_POLICY_RECURSION && seq_settled(s))) {
        seq_ahead(s, seq_policy_a[policy], seq_policy_b[policy], costs);
        if (SEQ_RULED)
            seq_only(s, costs);
    } else if (type == SEQ_POLICY_RECURSION) {
#if SEQ_LISTED
        seq_by_list(s, costs);
#else
        memset(&known, 0, sizeof known);
        seq_to_end(s, 0, &known, costs);
#endif
    } else if (type == SEQ_POLICY_BOUNDS)
        seq_by_bounds(s, costs);
    else
        return 0;
    return 1;
}

static int seq_n_seen(const seq_view *s)
{
    int q, n = 0;
    for (q = 0; q < SEQ_ASKED; q++)
        n += s->seen[q] != SEQ_OPEN;
    return n;
}

/* Row of the plan that is about what was seen, if all of it was asked and paid for, or -1. */
static int seq_planned(const seq_view *s)
{
    char known[SEQ_GROUPS] = {0};
    int row, q;
    if (seq_n_seen(s) != s->stage)
        return -1;
    for (q = 0; q < SEQ_ASKED; q++)
        if (s->seen[q] != SEQ_OPEN && seq_group[q] >= 0)
            known[seq_group[q]] = 1;
    for (q = 0; q < SEQ_ASKED; q++)
        if (seq_group[q] >= 0 && known[seq_group[q]] != s->paid[seq_group[q]])
            return -1;
    for (row = 0; row < SEQ_PLAN; row++) {
        if (fabs(seq_plan_spent[row] - s->spent) > SEQ_ALIKE * fmax(1, seq_plan_spent[row]))
            continue; /* never where it does not matter, and is NAN */
        for (q = 0; q < SEQ_ASKED && seq_plan[row][q + 1] == s->seen[q]; q++)
            ;
        if (q == SEQ_ASKED)
            return row;
    }
    return -1;
}

/* Panels: what is ordered in one visit, grown question by question while the joint answers are followed. */
typedef struct {
    seq_view s;
    double weight;
} seq_branch;

static double seq_visit_of(const char *panel)
{
    double longest = 0;
    int q, any = 0;
    for (q = 0; q < SEQ_QUESTIONS; q++)
        if (panel[q]) {
            any = 1;
            longest = seq_waits[q] > longest ? seq_waits[q] : longest;
        }
    return any ? SEQ_VISIT_COST + longest : 0;
}

static double seq_panel_prices(const seq_view *s, const char *panel)
{
    double total = 0, least;
    int q, group;
    for (q = 0; q < SEQ_ASKED; q++)
        if (panel[q])
            total += seq_prices[q] - seq_alone[q];
    for (group = 0; group < SEQ_GROUPS; group++) {
        least = seq_least_added(panel, group);
        total += s->paid[group] || !(least < HUGE_VAL) ? 0 : least;
    }
    return total;
}

/* Expected cost after a question: of deciding, or by a regression of what follows the visit. */
static double seq_after_panel(const seq_view *s, int question, int closed)
{
    const double *weights = seq_panel_weights, *last;
    double share, cost = 0, cheapest = HUGE_VAL, joint[SEQ_CLASSES];
    int i, v, n;
    if (!SEQ_PANEL_FITTED || closed)
        return seq_deciding_after(s, question);
    last = weights + 8 + (SEQ_CLASSES <= 10 ? SEQ_CLASSES : 0);
    share = ((SEQ_ANY_ORDER ? seq_n_seen(s) : s->stage) + 1.0) / (SEQ_ASKED ? SEQ_ASKED : 1);
    for (i = 0; i < SEQ_ASKED; i++)
        cheapest = seq_least(cheapest, seq_prices[i]);
    for (v = 0; v < seq_table_size[question]; v++) {
        double total = 0, square = 0, stop, spread, found, low, told[7];
        seq_joint(s, question, v, joint);
        for (i = 0; i < SEQ_CLASSES; i++) {
            total += joint[i];
            square += joint[i] * joint[i];
        }
        if (!(total > 0))
            continue;
        stop = seq_stopping(joint);
        spread = total - square / total;
        told[0] = stop;
        told[1] = spread;
        told[2] = sqrt(stop * total);
        told[3] = sqrt((spread > 0 ? spread : 0) * total);
        told[4] = stop * stop / total;
        told[5] = stop * spread / total;
        told[6] = spread * spread / total;
        found = total * (weights[0] + last[0] * share) + stop * last[1] * share;
        for (n = 0; n < 7; n++)
            found += told[n] * weights[1 + n];
        for (i = 0; i < SEQ_CLASSES && SEQ_CLASSES <= 10; i++)
            found += joint[i] * weights[8 + i];
        low = total * cheapest + seq_known(joint);
        found = found < low ? low : found;
        cost += seq_least(stop, found);
    }
    return cost;
}

/* Follows the answers of a question, all of them or where they are many an even sample; gives how many there are. */
static int seq_follow(seq_branch *branches, int n, int question)
{
    double weights[SEQ_BRANCHES * SEQ_WIDEST], end = 0, passed = 0;
    int from[SEQ_BRANCHES * SEQ_WIDEST], outcome[SEQ_BRANCHES * SEQ_WIDEST], times[SEQ_BRANCHES * SEQ_WIDEST];
    seq_branch found[SEQ_BRANCHES];
    int i, v, many = 0, kept = 0;
    for (i = 0; i < n; i++)
        for (v = 0; v < seq_table_size[question]; v++) {
            seq_view next;
            double total = seq_after(&branches[i].s, question, v, &next);
            if (!(total > 0))
                continue;
            weights[many] = branches[i].weight * total;
            end += weights[many];
            from[many] = i;
            times[many] = 0;
            outcome[many++] = v;
        }
    if (many > SEQ_BRANCHES) {
        for (i = 0, v = 0, passed = weights[0]; v < SEQ_BRANCHES; v++) {
            while (i < many - 1 && passed < (v + 0.5) / SEQ_BRANCHES * end)
                passed += weights[++i];
            times[i]++;
        }
    }
    for (i = 0; i < many; i++)
        if (many <= SEQ_BRANCHES || times[i]) {
            seq_after(&branches[from[i]].s, question, outcome[i], &found[kept].s);
            if (!SEQ_ANY_ORDER)
                found[kept].s.stage = seq_unanswered(found[kept].s.seen, found[kept].s.stage);
            seq_learn(&found[kept].s);
            found[kept++].weight = many <= SEQ_BRANCHES ? weights[i] : (double)times[i] / SEQ_BRANCHES;
        }
    memcpy(branches, found, kept * sizeof *found);
    return kept;
}

static double seq_grown(const seq_view *s, int limit, char *best)
{
    seq_branch branches[SEQ_BRANCHES];
    char panel[SEQ_QUESTIONS] = {0}, open[SEQ_QUESTIONS];
    double cost = HUGE_VAL, costs[SEQ_QUESTIONS];
    int q, i, size, left = 0, most, least, since = 0, n = 1;
    memset(best, 0, SEQ_QUESTIONS);
    for (q = 0; q < SEQ_ASKED; q++) {
        open[q] = SEQ_ANY_ORDER ? seq_open(s, q) : q >= s->stage && s->seen[q] == SEQ_OPEN;
        left += open[q];
    }
    most = SEQ_PANEL_MOST < SEQ_MAX_PANEL ? SEQ_PANEL_MOST : SEQ_MAX_PANEL;
    most = limit - s->stage < most ? limit - s->stage : most;
    most = left < most ? left : most;
    least = SEQ_PANEL_LEAST < most ? SEQ_PANEL_LEAST : most;
    branches[0].s = *s;
    branches[0].weight = 1;
    for (size = 1; size <= most; size++) {
        double found;
        int question, counts, better, tried = 0;
        for (q = 0; q < SEQ_ASKED; q++) {
            double paid;
            costs[q] = HUGE_VAL;
            if (!open[q] || panel[q] || (tried && !SEQ_ANY_ORDER))
                continue;
            tried = 1;
            panel[q] = 1;
            paid = seq_panel_prices(s, panel) + seq_visit_of(panel);
            panel[q] = 0;
            if (s->spent + paid > SEQ_MOST)
                continue;
            costs[q] = 0;
            for (i = 0; i < n; i++)
                costs[q] += branches[i].weight * seq_after_panel(&branches[i].s, q, left - size < 1);
            costs[q] += paid;
        }
        found = seq_least_of(costs);
        question = seq_cheapest(costs);
        for (q = 0; question < 0; q++)
            if (open[q] && !panel[q])
                question = q;
        panel[question] = 1;
        counts = size >= least;
        better = counts && found < cost * (1 - SEQ_TIE);
        if (better) {
            cost = found;
            memcpy(best, panel, sizeof panel);
        }
        since = better || !counts ? 0 : since + 1;
        found = seq_panel_prices(s, panel) + seq_visit_of(panel) + seq_known(s->belief);
        if (counts && (since >= 2 || !(found < cost)))
            break;
        if (size < most)
            n = seq_follow(branches, n, question);
    }
    return cost;
}

/* As the table says, where it speaks of what was seen and paid; else grown. */
static double seq_best_panel(const seq_view *s, int limit, char *best)
{
    int q, n = 0, row = seq_planned(s);
    memset(best, 0, SEQ_QUESTIONS);
    for (q = 0; q < SEQ_ASKED && row >= 0; q++) {
        best[q] = (char)(seq_plan[row][0] >> q & 1);
        n += best[q];
    }
    if (row < 0 || n > limit - s->stage)
        return seq_grown(s, limit, best);
    return seq_plan_cost[row] < HUGE_VAL ? seq_plan_cost[row] : HUGE_VAL;
}

/* Where the one visit that there may be was made. */
static int seq_ended(int policy, const seq_view *s)
{
    while (seq_policy_type[policy] == SEQ_POLICY_SURE)
        policy = seq_policy_a[policy];
    return SEQ_ONCE && seq_policy_type[policy] == SEQ_POLICY_PANELS && s->visits > 0;
}

static int seq_chooses(int policy, const seq_view *s)
{
    return s->stage < seq_policy_stages[policy] && !seq_ended(policy, s);
}

static int seq_first_in(const char *panel)
{
    int q;
    for (q = 0; q < SEQ_QUESTIONS; q++)
        if (panel[q])
            return q;
    return SEQ_DECIDE;
}

/* What has one outcome only is not asked but where the policy buys it by itself. */
static int seq_tells(int question)
{
    int f, tells = 0;
    for (f = seq_feature_start[question]; f < seq_feature_start[question + 1]; f++)
        tells = tells || seq_outcomes[f] > 1;
    return tells;
}

/* What a policy orders, and its first question. */
static int seq_panel_by(int policy, const seq_view *s, char *panel)
{
    int question, forced, q;
    char own[SEQ_QUESTIONS];
    if (seq_policy_type[policy] == SEQ_POLICY_PANELS) {
        if (!seq_chooses(policy, s) || seq_settled(s) || !(seq_best_panel(s, SEQ_STAGES, panel) < s->stop * (1 - SEQ_TIE)))
            memset(panel, 0, SEQ_QUESTIONS);
        return seq_first_in(panel);
    }
    memset(panel, 0, SEQ_QUESTIONS);
    if (seq_policy_type[policy] == SEQ_POLICY_SURE && seq_policy_type[seq_policy_a[policy]] == SEQ_POLICY_PANELS
        && s->stage < seq_policy_stages[policy] && s->stop > seq_policy_x[policy]
        && seq_chooses(seq_policy_a[policy], s)) {
        seq_best_panel(s, seq_policy_stages[policy], panel);
        forced = SEQ_ANY_ORDER && seq_panel_by(seq_policy_a[policy], s, own) < 0;
        for (q = 0; q < SEQ_QUESTIONS && forced; q++)
            panel[q] = (char)(panel[q] && seq_tells(q));
        if (seq_first_in(panel) >= 0)
            return seq_first_in(panel);
    }
    question = seq_act(policy, s);
    if (question >= 0)
        panel[question] = 1;
    return question;
}

static int seq_chosen(int policy, const seq_view *s)
{
    char panel[SEQ_QUESTIONS];
    int type = seq_policy_type[policy], a = seq_policy_a[policy], question, i;
    double beat = seq_stop_of(s) * (1 - SEQ_TIE), costs[SEQ_QUESTIONS], cost, top = 0;
    if (s->stage >= seq_policy_stages[policy])
        return SEQ_DECIDE;
    if (type == SEQ_POLICY_PANELS)
        return seq_panel_by(policy, s, panel);
    if (type == SEQ_POLICY_FIRST)
        return seq_by_rule(a, s);
    if (type == SEQ_POLICY_LIKELY) {
        for (i = 0; i < SEQ_CLASSES; i++)
            top = s->belief[i] > top ? s->belief[i] : top;
        return top < seq_policy_x[policy] - SEQ_TIE ? seq_by_rule(a, s) : SEQ_DECIDE;
    }
    if (type == SEQ_POLICY_SURE)
        return seq_stop_of(s) > seq_policy_x[policy] && !seq_ended(policy, s) ? seq_next_of(a, s) : SEQ_DECIDE;
    if (type == SEQ_POLICY_PLAN)
        return (i = seq_planned(s)) < 0 ? seq_act(a, s) : seq_plan_cost[i] >= beat ? SEQ_DECIDE : seq_plan[i][0];
    if (seq_settled(s))
        return SEQ_DECIDE;
    if (type == SEQ_POLICY_RULE) {
        question = seq_going_on(a, s, &cost);
        return cost < beat ? question : SEQ_DECIDE;
    }
    if (type == SEQ_POLICY_THRESHOLDS) {
        const double *vector = seq_thresholds[s->stage * SEQ_DECISIONS + seq_decide(s->belief)];
        for (cost = 0, i = 0; i < SEQ_CLASSES; i++)
            cost += vector[i] * s->belief[i];
        return cost <= SEQ_TIE ? SEQ_DECIDE : s->stage;
    }
    if (type == SEQ_POLICY_VALUES) {
        double extra = seq_price_of(s, s->stage) - seq_planned_prices[s->stage];
        if (SEQ_GRID == 0 && !SEQ_FITTED && seq_read(s->stage, seq_context_of(s), s->belief) + extra < beat)
            return s->stage;
        return seq_stage_cost(policy, s) < beat ? s->stage : SEQ_DECIDE;
    }
    seq_costs_by(policy, s, costs);
    return seq_least_of(costs) < beat ? seq_promising(costs) : SEQ_DECIDE;
}

/* Whatever pays, what has to be asked is asked before anything is decided. */
static int seq_act(int policy, const seq_view *s)
{
    double costs[SEQ_QUESTIONS];
    int question = seq_chosen(policy, s);
    if (question >= 0 || !seq_must(s))
        return question;
    seq_once(s, costs);
    seq_only(s, costs);
    return seq_cheapest(costs);
}

/* What a policy would ask if it had to go on. */
static int seq_would(int policy, const seq_view *s)
{
    int type = seq_policy_type[policy], a = seq_policy_a[policy], ended = s->stage >= seq_policy_stages[policy], asked, row;
    double costs[SEQ_QUESTIONS];
    char panel[SEQ_QUESTIONS] = {0};
    if (type == SEQ_POLICY_PANELS) {
        if (seq_chooses(policy, s))
            seq_best_panel(s, SEQ_STAGES, panel);
        return seq_first_in(panel);
    }
    if (type == SEQ_POLICY_FIRST || type == SEQ_POLICY_LIKELY)
        return ended && a < 0 ? SEQ_DECIDE : seq_by_rule(a, s);
    if (ended)
        return SEQ_DECIDE;
    if (type == SEQ_POLICY_RULE)
        return seq_next(seq_values_rule[a], s);
    if (type == SEQ_POLICY_SURE)
        return seq_ended(policy, s) ? SEQ_DECIDE : seq_next_of(a, s);
    if (type == SEQ_POLICY_PLAN) {
        if ((row = seq_planned(s)) >= 0 && seq_plan[row][0] >= 0)
            return seq_plan[row][0];
        return (asked = seq_act(policy, s)) >= 0 ? asked : seq_would(a, s);
    }
    return seq_costs_by(policy, s, costs) ? seq_promising(costs) : seq_act(policy, s);
}

static int seq_next_of(int policy, const seq_view *s)
{
    int asked, q;
    double once[SEQ_QUESTIONS], scores[SEQ_QUESTIONS];
    if (s->stage >= SEQ_STAGES)
        return SEQ_DECIDE;
    if (!SEQ_ANY_ORDER)
        return s->stage;
    asked = seq_would(policy, s);
    if (asked >= 0 && (seq_tells(asked) || seq_gate[asked] || seq_must(s) || seq_act(policy, s) == asked))
        return asked;
    seq_once(s, once);
    seq_scores(SEQ_INFORMATION, s, once, scores);
    for (q = 0; q < SEQ_QUESTIONS; q++)
        scores[q] = seq_tells(q) || seq_must(s) ? scores[q] : -HUGE_VAL;
    return seq_first_of(scores);
}

/* Expected cost of going on; NAN where the policy cannot tell. */
static double seq_onwards(int policy, const seq_view *s)
{
    double costs[SEQ_QUESTIONS], cost;
    int type = seq_policy_type[policy], row;
    char panel[SEQ_QUESTIONS];
    if (type == SEQ_POLICY_PANELS)
        return seq_chooses(policy, s) ? seq_best_panel(s, SEQ_STAGES, panel) : HUGE_VAL;
    if (type == SEQ_POLICY_PLAN) {
        row = seq_planned(s);
        return row >= 0 && seq_plan_cost[row] < HUGE_VAL ? seq_plan_cost[row] : seq_onwards(seq_policy_a[policy], s);
    }
    if (type == SEQ_POLICY_VALUES)
        return seq_stage_cost(policy, s);
    if (type == SEQ_POLICY_RULE) {
        if (s->stage >= seq_policy_stages[policy])
            return HUGE_VAL;
        seq_going_on(seq_policy_a[policy], s, &cost);
        return cost;
    }
    return seq_costs_by(policy, s, costs) ? seq_least_of(costs) : NAN;
}

/* What the policy looks at: in a fixed order it stands at the first question that was not answered. */
static void seq_see(const seq_case *c, seq_view *s)
{
    int q;
    memset(s, 0, sizeof *s);
    memcpy(s->weight, c->weight, sizeof c->weight);
    memcpy(s->belief, c->belief, sizeof c->belief);
    memcpy(s->seen, c->seen, sizeof c->seen);
    memcpy(s->shown, c->shown, sizeof c->shown);
    memcpy(s->paid, c->paid, sizeof c->paid);
    s->spent = c->spent;
    s->visits = c->visits;
    s->stop = seq_stopping(c->belief);
    s->stage = SEQ_ANY_ORDER ? -(SEQ_LIMITED ? c->known : 0) : seq_unanswered(c->seen, 0);
    for (q = 0; SEQ_ANY_ORDER && q < SEQ_ASKED; q++)
        s->stage += c->seen[q] != SEQ_OPEN;
#if SEQ_STARTS
    seq_start(s->seen, s->shown);
#endif
    seq_learn(s);
    seq_weigh(s);
}

/* Number of a joint outcome: those that are whole come first. */
static int seq_code(int question, const int *outcomes)
{
    int f, first = seq_feature_start[question], whole = 1, any = 0, code = 0, n = 1;
    for (f = first; f < seq_feature_start[question + 1]; f++) {
        whole = whole && outcomes[f - first] >= 0;
        any = any || outcomes[f - first] >= 0;
        n = n < INT_MAX / seq_outcomes[f] ? n * seq_outcomes[f] : INT_MAX;
    }
    if (!any)
        return SEQ_MISSING;
    if (!whole || n == INT_MAX) /* in no plan, and so only its being asked matters */
        return INT_MAX;
    for (f = first; f < seq_feature_start[question + 1]; f++)
        code = code * seq_outcomes[f] + outcomes[f - first];
    return code;
}

/* What is waited for, or else what the policy orders next, and its first question. */
static int seq_wanted(const seq_case *c, char *panel)
{
    seq_view s;
    int q;
    memcpy(panel, c->ordered, sizeof c->ordered);
    if (seq_first_in(panel) >= 0)
        return seq_first_in(panel);
    seq_see(c, &s);
    seq_panel_by(0, &s, panel);
    for (q = 0; q < SEQ_QUESTIONS; q++)
        panel[q] = panel[q] && c->seen[q] == SEQ_OPEN;
    return seq_first_in(panel);
}

static void seq_visit(seq_case *c, const char *panel)
{
    memcpy(c->ordered, panel, sizeof c->ordered);
    c->spent += seq_visit_of(panel);
    c->visits++;
}

/* The first answer of a panel says that it was ordered; what nobody ordered takes a visit of its own. */
static void seq_go(seq_case *c, int question)
{
    char panel[SEQ_QUESTIONS];
    seq_wanted(c, panel);
    if (panel[question] && !c->ordered[question])
        seq_visit(c, panel);
    else if (!panel[question] && seq_first_in(c->ordered) >= 0) {
        c->spent += seq_alone[question];
        c->visits++;
    } else if (!panel[question]) {
        memset(panel, 0, sizeof panel);
        panel[question] = 1;
        seq_visit(c, panel);
    }
}

/* Pays what is owed for groups of which nothing that is waited for would add less. */
static void seq_settle(seq_case *c)
{
    int group;
    for (group = 0; group < SEQ_GROUPS; group++)
        if (c->owed[group] < HUGE_VAL
            && (c->paid[group] || !(seq_least_added(c->ordered, group) < c->owed[group] * (1 - SEQ_TIE)))) {
            c->spent += c->paid[group] ? 0 : c->owed[group];
            c->owed[group] = HUGE_VAL;
            c->paid[group] = 1;
        }
}

static int seq_tell(seq_case *c, int question, const int *given, int known)
{
    double weight[SEQ_HIDDEN], total;
    const double *row;
#if SEQ_CLIQUES
    double told[SEQ_SINGLES][SEQ_CLASSES];
#endif
    int f, h, first, any = 0, pays, outcomes[SEQ_FEATURES], shown[SEQ_FEATURES];
    if (question < 0 || question >= SEQ_QUESTIONS || c->seen[question] != SEQ_OPEN)
        return SEQ_WRONG;
    known = known || seq_told_at_start[question];
    first = seq_feature_start[question];
    for (f = first; f < seq_feature_start[question + 1]; f++) {
        if (given[f - first] < SEQ_MISSING || given[f - first] >= seq_outcomes[f])
            return SEQ_WRONG;
        outcomes[f - first] = given[f - first] == SEQ_MISSING ? seq_gone[f] : given[f - first];
        any = any || outcomes[f - first] >= 0;
    }
    memcpy(weight, c->weight, sizeof weight);
    memcpy(shown, c->shown, sizeof shown);
    for (f = first; f < seq_feature_start[question + 1] && any; f++) {
        if (outcomes[f - first] < 0)
            continue;
#if SEQ_CLIQUES
        seq_spread(shown, told);
        row = told[seq_likelihood_start[f] + outcomes[f - first]];
#else
        row = seq_likelihoods[seq_likelihood_start[f] + outcomes[f - first]];
#endif
        shown[f] = outcomes[f - first];
        for (h = 0; h < SEQ_HIDDEN; h++)
            weight[h] *= row[h];
    }
    total = seq_sum(weight, SEQ_HIDDEN);
    if (!(total > 0))
        return SEQ_IMPOSSIBLE;
    if (SEQ_VISITS && !known)
        seq_go(c, question);
    for (h = 0; h < SEQ_HIDDEN && any; h++)
        c->weight[h] = weight[h] / total;
    seq_by_class(c->weight, c->belief);
    pays = !known && (any || SEQ_CHARGE_MISSING);
    if (pays) {
        int full = seq_in_full(c->paid, c->ordered, question), group = seq_group[question];
        c->spent += seq_own_of(c, c->ordered, question);
        if (full)
            c->paid[group] = 1;
        else if (group >= 0)
            c->owed[group] = seq_least(c->owed[group], seq_full_prices[question] - seq_prices[question]);
    }
    c->ordered[question] = 0;
    seq_settle(c);
    c->seen[question] = seq_code(question, outcomes);
    memcpy(c->shown, shown, sizeof shown);
    c->known += known && question < SEQ_ASKED;
    return 0;
}

void seq_begin(seq_case *c)
{
    int q;
    memset(c, 0, sizeof *c);
    memcpy(c->weight, seq_hidden_prior, sizeof c->weight);
    seq_by_class(c->weight, c->belief);
    for (q = 0; q < SEQ_QUESTIONS; q++)
        c->seen[q] = SEQ_OPEN;
    for (q = 0; q < SEQ_FEATURES; q++)
        c->shown[q] = SEQ_MISSING;
    for (q = 0; q < SEQ_GROUPS; q++)
        c->owed[q] = HUGE_VAL;
}

int seq_question(const seq_case *c)
{
    char panel[SEQ_QUESTIONS];
    return seq_wanted(c, panel);
}

int seq_next_panel(const seq_case *c, int *questions)
{
    char panel[SEQ_QUESTIONS];
    int q, n = 0;
    seq_wanted(c, panel);
    for (q = 0; q < SEQ_QUESTIONS; q++)
        if (panel[q])
            questions[n++] = q;
    return n;
}

double seq_visit_cost(const seq_case *c)
{
    char panel[SEQ_QUESTIONS];
    seq_wanted(c, panel);
    return seq_first_in(c->ordered) >= 0 ? 0 : seq_visit_of(panel);
}

int seq_order(seq_case *c, int n, const int *questions)
{
    char panel[SEQ_QUESTIONS] = {0};
    int i;
    if (!SEQ_VISITS || seq_first_in(c->ordered) >= 0 || n < 1 || n > SEQ_MAX_PANEL)
        return SEQ_WRONG;
    for (i = 0; i < n; i++) {
        if (questions[i] < 0 || questions[i] >= SEQ_QUESTIONS || panel[questions[i]]
            || c->seen[questions[i]] != SEQ_OPEN)
            return SEQ_WRONG;
        panel[questions[i]] = 1;
    }
    seq_visit(c, panel);
    return 0;
}

void seq_leave(seq_case *c)
{
    memset(c->ordered, 0, sizeof c->ordered);
    seq_settle(c);
}

double seq_price(const seq_case *c, int question)
{
    char panel[SEQ_QUESTIONS];
    if (question < 0 || question >= SEQ_QUESTIONS)
        return NAN;
    if (SEQ_VISITS && seq_first_in(c->ordered) < 0 && seq_wanted(c, panel) >= 0 && panel[question])
        return seq_own_of(c, panel, question);
    return seq_own_of(c, c->ordered, question);
}

double seq_saving(const seq_case *c)
{
    seq_view s;
    double cost;
    if (seq_first_in(c->ordered) >= 0)
        return NAN;
    seq_see(c, &s);
    cost = seq_onwards(0, &s);
    return cost < HUGE_VAL ? s.stop - cost : NAN;
}

double seq_saving_once(const seq_case *c, int question)
{
    seq_view s;
    if (question < 0 || question >= SEQ_QUESTIONS || c->seen[question] != SEQ_OPEN)
        return NAN;
    seq_see(c, &s);
    return seq_stopping(c->belief) - seq_own_of(c, c->ordered, question)
           - (c->ordered[question] ? 0 : seq_alone[question]) - seq_deciding_after(&s, question);
}

static int seq_tell_one(seq_case *c, int question, int outcome, int known)
{
    if (question < 0 || question >= SEQ_QUESTIONS || seq_feature_start[question + 1] - seq_feature_start[question] > 1)
        return SEQ_WRONG;
    return seq_tell(c, question, &outcome, known);
}

int seq_answer(seq_case *c, int question, int outcome)
{
    return seq_tell_one(c, question, outcome, 0);
}

int seq_answer_all(seq_case *c, int question, const int *outcomes)
{
    return seq_tell(c, question, outcomes, 0);
}

int seq_know(seq_case *c, int question, int outcome)
{
    return seq_tell_one(c, question, outcome, 1);
}

int seq_know_all(seq_case *c, int question, const int *outcomes)
{
    return seq_tell(c, question, outcomes, 1);
}

int seq_decision(const seq_case *c)
{
    return seq_decide(c->belief);
}

double seq_expected_cost(const seq_case *c)
{
    return seq_stopping(c->belief);
}

const double *seq_belief(const seq_case *c)
{
    return c->belief;
}
