
/* A network: tables by cliques of variables, children before parents. Messages go to the roots and back. */

/* Goes through a clique's cells beside those of a message, by the steps of each variable there. */
static void seq_along(int clique, const int *steps, double *cells, double *message, int multiply)
{
    const int *sizes = seq_clique_sizes + seq_clique_start[clique];
    int at[SEQ_WIDE] = {0}, n = seq_clique_start[clique + 1] - seq_clique_start[clique], cell, i, index = 0;
    for (cell = seq_cell_start[clique]; cell < seq_cell_start[clique + 1]; cell++) {
        if (multiply)
            cells[cell] *= message[index];
        else
            message[index] += cells[cell];
        for (i = n - 1; i >= 0; i--) {
            index += steps[i];
            if (++at[i] < sizes[i])
                break;
            index -= steps[i] * sizes[i];
            at[i] = 0;
        }
    }
}

static double seq_most_of(const double *message, int n)
{
    double most = 0;
    int i;
    for (i = 0; i < n; i++)
        most = message[i] > most ? message[i] : most;
    return most > 0 ? most : 1;
}

/* Of each variable of which a clique tells: takes what was seen of it, or tells what it may show, of one class. */
static void seq_at_home(int clique, const int *shown, double *cells, double (*told)[SEQ_CLASSES], int label)
{
    int i, v, first = seq_clique_start[clique];
    for (i = first; i < seq_clique_start[clique + 1]; i++) {
        int f = seq_clique_home[i], steps[SEQ_WIDE] = {0};
        double message[SEQ_MESSAGE] = {0}, total = 0;
        if (f < 0 || (told == 0 && shown[f] < 0))
            continue;
        steps[i - first] = 1;
        if (told == 0) {
            message[shown[f]] = 1;
            seq_along(clique, steps, cells, message, 1);
            continue;
        }
        seq_along(clique, steps, cells, message, 0);
        for (v = 0; v < seq_outcomes[f]; v++)
            total += message[v];
        for (v = 0; v < seq_outcomes[f]; v++)
            told[seq_likelihood_start[f] + v][label] = total > 0 ? message[v] / total : 1.0 / seq_outcomes[f];
    }
}

/* P(outcome | class, what was seen) of each feature. */
static void seq_spread(const int *shown, double (*told)[SEQ_CLASSES])
{
    double cells[SEQ_CELLS], sent[SEQ_SENT], message[SEQ_MESSAGE], most;
    int label, k, i, n;
    for (label = 0; label < SEQ_CLASSES; label++) {
        memset(sent, 0, sizeof sent);
        for (k = 0; k < SEQ_CLIQUES; k++) {
            n = seq_cell_start[k + 1] - seq_cell_start[k];
            memcpy(cells + seq_cell_start[k], seq_clique_tables + seq_clique_table[k] + label * seq_clique_by_class[k],
                   n * sizeof *cells);
        }
        for (k = 0; k < SEQ_CLIQUES; k++) {
            double *own = sent + seq_sent_start[k];
            seq_at_home(k, shown, cells, 0, label);
            if (seq_clique_parent[k] < 0)
                continue;
            seq_along(k, seq_clique_up + seq_clique_start[k], cells, own, 0);
            n = seq_sent_start[k + 1] - seq_sent_start[k];
            most = seq_most_of(own, n);
            for (i = 0; i < n; i++)
                own[i] /= most;
            seq_along(seq_clique_parent[k], seq_clique_down + seq_down_start[k], cells, own, 1);
        }
        for (k = SEQ_CLIQUES - 1; k >= 0; k--) {
            const double *own = sent + seq_sent_start[k];
            if (seq_clique_parent[k] >= 0) {
                n = seq_sent_start[k + 1] - seq_sent_start[k];
                memset(message, 0, sizeof message);
                seq_along(seq_clique_parent[k], seq_clique_down + seq_down_start[k], cells, message, 0);
                most = seq_most_of(message, n);
                for (i = 0; i < n; i++)
                    message[i] = own[i] > 0 ? message[i] / most / own[i] : 0;
                seq_along(k, seq_clique_up + seq_clique_start[k], cells, message, 1);
            }
            seq_at_home(k, shown, cells, told, label);
        }
    }
}

/* The same of joint outcomes of a question from one of its features on; gives the row after the last one. */
static int seq_jointly(int question, int feature, int *shown, const double *before, double (*told)[SEQ_CLASSES], int row)
{
    double own[SEQ_SINGLES][SEQ_CLASSES], next[SEQ_CLASSES];
    int v, i;
    seq_spread(shown, own);
    for (v = 0; v < seq_outcomes[feature]; v++) {
        for (i = 0; i < SEQ_CLASSES; i++)
            next[i] = before[i] * own[seq_likelihood_start[feature] + v][i];
        shown[feature] = v;
        if (feature + 1 < seq_feature_start[question + 1])
            row = seq_jointly(question, feature + 1, shown, next, told, row);
        else
            memcpy(told[row++], next, sizeof next);
    }
    shown[feature] = -1;
    return row;
}

/* Of all questions that were not asked; those of one feature have the first rows. */
static void seq_foretell(const int *seen, const int *shown, double (*told)[SEQ_CLASSES])
{
    int q, i, more[SEQ_FEATURES];
    double one[SEQ_CLASSES];
    seq_spread(shown, told);
    memcpy(more, shown, sizeof more);
    for (i = 0; i < SEQ_CLASSES; i++)
        one[i] = 1;
    for (q = 0; q < SEQ_QUESTIONS; q++)
        if (seq_table_start[q] >= SEQ_SINGLES && seq_table_size[q] > 0 && seen[q] == SEQ_OPEN)
            seq_jointly(q, seq_feature_start[q], more, one, told, seq_table_start[q]);
}
