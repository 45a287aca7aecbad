#if SEQ_LOGIC
/* Outcome of a feature of a question: seen, or implied by what is known at the start; else -1. */
static int seq_told_of(const int *seen, const int *shown, int question, int feature)
{
    return shown[feature] >= 0 ? shown[feature] : seen[question] <= SEQ_IMPLIED ? SEQ_IMPLIED - seen[question] : -1;
}

#endif

#if SEQ_DEPENDS
/* A price that depends on answers, not on what is implied: of those that hold the last one; else as it is. */
static double seq_price_after(const int *shown, int question, double price)
{
    int i, k, n, holds;
    for (i = seq_after_start[question]; i < seq_after_start[question + 1]; i++) {
        for (holds = 1, k = seq_if_start[i]; k < seq_if_start[i + 1]; k++) {
            int is = 0;
            for (n = seq_if_answer_start[k]; n < seq_if_answer_start[k + 1]; n++)
                is = is || seq_if_answer[n] == shown[seq_if_feature[k]];
            holds = holds && is;
        }
        price = holds ? seq_after_price[i] : price;
    }
    return price;
}
#endif

#if SEQ_LOGIC || SEQ_STARTS
/* Skip logic: what answers by feature, -1 where there is none, say of questions; rules from one number to another. */
static int seq_hit(int rule, const int *answers)
{
    int i;
    for (i = seq_logic_start[rule]; i < seq_logic_start[rule + 1]; i++)
        if (answers[seq_logic_feature[rule]] == seq_logic_answer[i])
            return 1;
    return 0;
}

/* Whether what opens a question is met, or with ``never`` whether it still may be; 1 where nothing has to open it. */
static int seq_met(int from, int to, const int *answers, const char *never, int question)
{
    int rule, any = 0, some = 0, all = 1, is;
    for (rule = from; rule < to; rule++) {
        if (seq_logic_effect[rule] != 0 || seq_logic_question[rule] != question)
            continue;
        any = any || seq_logic_any[rule];
        is = never && answers[seq_logic_feature[rule]] < 0 ? !never[seq_logic_after[rule]] : seq_hit(rule, answers);
        some = some || is;
        all = all && is;
    }
    return any ? some : all;
}

static void seq_consequences(int from, int to, int *answers, const char *unasked, const char *lost, char *open, char *never)
{
    int rule, q, more;
    do {
        for (more = 0, rule = from; rule < to; rule++) {
            q = seq_logic_question[rule];
            if (seq_logic_effect[rule] == 2 && unasked[q] && answers[seq_feature_start[q]] < 0 && seq_hit(rule, answers)) {
                answers[seq_feature_start[q]] = seq_logic_implied[rule];
                more = 1;
            }
        }
    } while (more);
    memcpy(never, lost, SEQ_QUESTIONS);
    for (q = 0; q < SEQ_QUESTIONS; q++)
        open[q] = (char)seq_met(from, to, answers, 0, q);
    for (rule = from; rule < to; rule++)
        if (seq_logic_effect[rule] != 0 && seq_hit(rule, answers)) {
            open[seq_logic_question[rule]] = 0;
            never[seq_logic_question[rule]] = 1;
        }
    do { /* a question that is never asked opens none */
        for (more = 0, q = 0; q < SEQ_QUESTIONS; q++)
            if (!never[q] && !seq_met(from, to, answers, never, q))
                never[q] = (char)(more = 1);
    } while (more);
}

#endif

#if SEQ_STARTS
/* What is known at the start closes questions, or answers them: outcome v as -4 - v. */
static void seq_start(int *seen, const int *shown)
{
    int q, f, answers[SEQ_FEATURES];
    char unasked[SEQ_QUESTIONS], open[SEQ_QUESTIONS], never[SEQ_QUESTIONS];
    for (q = 0; q < SEQ_QUESTIONS; q++) {
        for (f = seq_feature_start[q]; f < seq_feature_start[q + 1]; f++)
            answers[f] = seq_told_at_start[q] ? shown[f] : -1;
        unasked[q] = (char)!seq_told_at_start[q];
    }
    seq_consequences(SEQ_LOGIC, SEQ_LOGIC + SEQ_STARTS, answers, unasked, seq_told_at_start, open, never);
    for (q = 0; q < SEQ_QUESTIONS; q++)
        if (seen[q] == SEQ_OPEN && !seq_told_at_start[q]) {
            int answer = answers[seq_feature_start[q]];
            seen[q] = answer >= 0 ? SEQ_IMPLIED - answer : never[q] ? SEQ_CLOSED : SEQ_OPEN;
        }
}
#endif

#if SEQ_RULED
/* How a case stands to the rules: what may be asked, what of it has to be, and whether something has to be. */
typedef struct {
    char allowed[SEQ_QUESTIONS], serves[SEQ_QUESTIONS], after[SEQ_QUESTIONS], must[SEQ_QUESTIONS], there[SEQ_QUESTIONS];
    int need[SEQ_AREAS], more;
    double least, most; /* no way of asking what has to be asked is below, and what is enough for it */
} seq_standing;

static int seq_in(const int *list, int from, int to, int one)
{
    for (; from < to; from++)
        if (list[from] == one)
            return 1;
    return 0;
}

static void seq_count(const int *seen, seq_standing *r)
{
    int q, i, g, n[SEQ_AREAS] = {0};
    for (q = 0; q < SEQ_ASKED; q++)
        if (seq_area[q] >= 0)
            n[seq_area[q]] += seen[q] >= -1 || r->must[q];
    for (i = 0; i < SEQ_AREAS; i++)
        r->need[i] = seq_at_least[i] > n[i] ? seq_at_least[i] - n[i] : 0;
    for (q = 0; q < SEQ_ASKED; q++) {
        int area = seq_area[q];
        r->there[q] = seen[q] < -1 && !seq_closed[q] && (r->must[q] || area < 0 || n[area] < seq_at_most[area]);
        for (g = 0; g < SEQ_ENEMIES; g++)
            if (seq_in(seq_enemy, seq_enemy_start[g], seq_enemy_start[g + 1], q))
                for (i = seq_enemy_start[g]; i < seq_enemy_start[g + 1]; i++)
                    if (seq_enemy[i] != q && seen[seq_enemy[i]] >= -1)
                        r->there[q] = 0;
    }
}

/* How many questions a set of areas can find, enemies counted once. */
static int seq_found(const seq_standing *r, int set)
{
    char units[SEQ_UNITS] = {0};
    int q, n = 0;
    for (q = 0; q < SEQ_ASKED; q++)
        if (r->there[q] && !seq_is_required[q] && !units[seq_unit[q]]
            && seq_in(seq_set_area, seq_set_start[set], seq_set_start[set + 1], seq_area[q])) {
            units[seq_unit[q]] = 1;
            n++;
        }
    return n;
}

static int seq_needed(const seq_standing *r, int from, int to)
{
    int n = 0;
    for (; from < to; from++)
        n += r->need[seq_set_area[from]];
    return n;
}

static int seq_total(const seq_standing *r)
{
    int i, n = 0;
    for (i = 0; i < SEQ_ASKED; i++)
        n += r->must[i];
    for (i = 0; i < SEQ_AREAS; i++)
        n += r->need[i];
    return n;
}

static void seq_stand(const int *seen, const int *shown, int left, seq_standing *r)
{
    int q, i, k, gone = 0, short_ = 0, n, found[SEQ_SETS] = {0}, slack[SEQ_SETS] = {0};
    (void)shown; /* at which skip logic looks */
    memset(r, 0, sizeof *r);
    for (q = 0; q < SEQ_ASKED; q++)
        r->must[q] = seq_is_required[q] && seen[q] < -1;
    seq_count(seen, r);
    for (q = 0; q < SEQ_ASKED; q++)
        if (r->must[q] && !r->there[q]) {
            r->must[q] = 0;
            gone = 1;
        }
    if (gone)
        seq_count(seen, r);
    for (k = 0; k < SEQ_N_SETS; k++) {
        found[k] = seq_found(r, k);
        short_ = short_ || found[k] < seq_needed(r, seq_set_start[k], seq_set_start[k + 1]);
    }
    for (k = 0; k < SEQ_N_SETS && short_; k++) { /* what is not to be met is taken out */
        int last = seq_set_area[seq_set_start[k + 1] - 1];
        n = found[k] - seq_needed(r, seq_set_start[k], seq_set_start[k + 1] - 1);
        r->need[last] = r->need[last] < n ? r->need[last] : n;
    }
    if (seq_total(r) > left) {
        for (n = 0, i = 0; i < SEQ_REQUIRED; i++)
            if (r->must[seq_required[i]])
                r->must[seq_required[i]] = (char)(n++ < left);
        n = n < left ? n : left;
        for (i = 0; i < SEQ_AREAS; i++) {
            int one = r->need[i], room = left > n ? left - n : 0;
            r->need[i] = room < one ? room : one;
            n += one;
        }
    }
    for (q = 0; q < SEQ_ASKED; q++) {
        r->least += r->must[q] ? seq_prices[q] : 0;
        r->most += r->must[q] ? seq_full_prices[q] : 0;
    }
    for (i = 0; i < SEQ_AREAS; i++) {
        double dearest = 0;
        for (q = 0; q < SEQ_ASKED; q++)
            if (seq_area[q] == i && seq_full_prices[q] > dearest)
                dearest = seq_full_prices[q];
        r->most += r->need[i] * dearest;
        for (n = 0, k = seq_cheap_start[i]; k < seq_cheap_start[i + 1] && seq_at_least[i] > 0 && n < r->need[i]; k++)
            if (r->there[seq_cheapest_of[k]]) {
                r->least += seq_prices[seq_cheapest_of[k]];
                n++;
            }
    }
    memcpy(r->allowed, r->there, sizeof r->there);
#if SEQ_LOGIC
    {
        int answers[SEQ_FEATURES], f;
        char unasked[SEQ_QUESTIONS], lost[SEQ_QUESTIONS] = {0}, open[SEQ_QUESTIONS], never[SEQ_QUESTIONS];
        for (q = 0; q < SEQ_QUESTIONS; q++) {
            for (f = seq_feature_start[q]; f < seq_feature_start[q + 1]; f++)
                answers[f] = seq_told_of(seen, shown, q, f);
            unasked[q] = seen[q] == SEQ_OPEN;
        }
        seq_consequences(0, SEQ_LOGIC, answers, unasked, lost, open, never);
        for (q = 0; q < SEQ_ASKED; q++)
            r->allowed[q] = r->allowed[q] && open[q];
    }
#endif
    for (i = 0; i < SEQ_FIRST; i++) {
        q = seq_first_ones[i];
        if (r->allowed[q] && seen[q] == SEQ_OPEN && (r->must[q] || !seq_is_required[q])) {
            memset(r->allowed, 0, sizeof r->allowed);
            r->allowed[q] = 1;
            break;
        }
    }
    if (!SEQ_DEMANDS)
        return;
    n = seq_total(r);
    r->more = n > 0;
    for (k = 0; k < SEQ_N_SETS; k++)
        slack[k] = found[k] - seq_needed(r, seq_set_start[k], seq_set_start[k + 1]);
    for (q = 0; q < SEQ_ASKED; q++) {
        int wanted = seq_area[q] >= 0 && r->need[seq_area[q]] > 0 && !r->must[q], serves = r->must[q] || wanted;
        r->allowed[q] = r->allowed[q] && n - left + 1 - serves <= 0;
        for (k = 0; k < SEQ_N_SETS; k++) {
            int tight = slack[k] < seq_set_takes[k][q];
            for (i = seq_set_start[k]; i < seq_set_start[k + 1]; i++)
                tight = tight && r->need[seq_set_area[i]] > 0;
            if (tight && !(wanted && seq_in(seq_set_area, seq_set_start[k], seq_set_start[k + 1], seq_area[q])))
                r->allowed[q] = 0;
        }
        r->serves[q] = r->allowed[q] && serves;
        r->after[q] = n - serves > 0;
    }
}
#endif

