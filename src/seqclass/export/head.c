/* What a classifier asks and decides, written by {by}: C99, no allocation{state}.{origin}
   Include this file in one source file, or compile it and declare the functions below elsewhere.

   seq_case c;
   int question;
   seq_begin(&c);
   while ((question = seq_question(&c)) != SEQ_DECIDE)
       seq_answer(&c, question, seq_outcome(seq_feature_start[question], measure(question)));
   decide(seq_decision(&c), seq_paid(c), seq_belief(&c));

   {order}{promise} */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SEQ_DECIDE (-1)
#define SEQ_MISSING (-1)
#define SEQ_OPEN (-2)
#define SEQ_CLOSED (-3)
#define SEQ_IMPLIED (-4)
#define SEQ_WRONG (-2)
#define SEQ_IMPOSSIBLE (-3)
