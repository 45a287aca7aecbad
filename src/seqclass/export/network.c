
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
static void seq_at_home(int clique, const int *seen, double *cells, double (*told)[SEQ_CLASSES], int label)
{
    int i, v, first = seq_clique_start[clique];
    for (i = first; i < seq_clique_start[clique + 1]; i++) {
        int question = seq_clique_home[i], steps[SEQ_WIDE] = {0};
        double message[SEQ_MESSAGE] = {0}, total = 0;
        if (question < 0 || (told == 0 && seen[question] < 0))
            continue;
        steps[i - first] = 1;
        if (told == 0) {
            message[seen[question]] = 1;
            seq_along(clique, steps, cells, message, 1);
            continue;
        }
        seq_along(clique, steps, cells, message, 0);
        for (v = 0; v < seq_table_size[question]; v++)
            total += message[v];
        for (v = 0; v < seq_table_size[question]; v++)
            told[seq_table_start[question] + v][label] = total > 0 ? message[v] / total : 1.0 / seq_table_size[question];
    }
}

/* P(outcome | class, what was seen) of each question. */
static void seq_spread(const int *seen, double (*told)[SEQ_CLASSES])
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
            seq_at_home(k, seen, cells, 0, label);
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
            seq_at_home(k, seen, cells, told, label);
        }
    }
}
