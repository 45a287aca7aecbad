/* Outcome of a number: SEQ_MISSING for NAN, SEQ_WRONG for what the feature cannot be. A whole one may name a category. */
int seq_outcome(int feature, double value)
{
    int i, place = 0;
    if (feature < 0 || feature >= SEQ_FEATURES)
        return SEQ_WRONG;
    if (value != value)
        return SEQ_MISSING;
    if (value - value != 0)
        return SEQ_WRONG;
    if (seq_types[feature] == 1) {
        char name[32];
        if (value != floor(value) || fabs(value) > 1e15)
            return SEQ_WRONG;
        sprintf(name, "%.0f", value + 0.0);
        return seq_category(feature, name);
    }
    if (seq_types[feature] == 2) {
        int most = seq_gone[feature] < 0 ? seq_outcomes[feature] : seq_gone[feature];
        if (value < 0 || value >= most || value != (int)value)
            return SEQ_WRONG;
        return (int)value;
    }
    for (i = seq_edge_start[feature]; i < seq_edge_start[feature + 1]; i++)
        place += seq_edges[i] <= value;
    return seq_places[seq_edge_start[feature] + feature + place];
}

/* Outcome of a category by its name, whatever blanks stand around it. */
int seq_category(int feature, const char *name)
{
    const char *blanks = " \t\n\r\f\v", *known;
    size_t n;
    int i;
    if (feature < 0 || feature >= SEQ_FEATURES || seq_types[feature] != 1)
        return SEQ_WRONG;
    name += strspn(name, blanks);
    for (n = strlen(name); n && strchr(blanks, name[n - 1]); n--)
        ;
    for (i = seq_category_start[feature]; (known = seq_categories[i]); i++)
        if (strlen(known) == n && !strncmp(name, known, n))
            return seq_category_places[i];
    return SEQ_WRONG;
}

const char *seq_question_name(int question)
{
    return seq_questions[question];
}

const char *seq_question_text(int question)
{
    return seq_question_texts[question];
}

const char *seq_feature_name(int feature)
{
    return seq_features[feature];
}

const char *seq_answer_text(int feature, int outcome)
{
    return outcome < 0 ? "" : seq_answers[seq_answer_start[feature] + outcome];
}

const char *seq_class_name(int number)
{
    return seq_classes[number];
}

const char *seq_decision_name(int decision)
{
    return seq_decisions[decision];
}

const char *seq_class_text(int number)
{
    return seq_class_texts[number];
}

const char *seq_decision_text(int decision)
{
    return seq_decision_texts[decision];
}
