"use strict";
/* A policy as data, and where a case stands in it; what is wrong is said by a function of a key of words and what they
   are about. Nothing here touches the page. */
const policyOf = (data, say = (key, about) => [key, ...Object.values(about || {})].join(" ")) => {
  const TIE = 1e-12, ALIKE = 1e-10, WITHIN = 1 + 1e-12, TINY = 2.2250738585072014e-308, OPEN = -2, CLOSED = -3, IMPLIED = -4, DECIDE = -1;
  const { questions, features } = data, nClasses = data.classes.length;
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const dot = (a, b) => { let total = 0; for (let i = 0; i < a.length; i++) total += a[i] * b[i]; return total; };
  const least = (numbers) => numbers.reduce((a, b) => Math.min(a, b), Infinity);
  const plogp = (p) => p * Math.log(p + TINY);
  const byDecision = data.decisions.map((_, j) => data.decision_costs.map((row) => row[j]));
  const dearest = Math.max(...data.decision_costs.flat(), 0) || 1;
  const stopping = (belief) => least(byDecision.map((costs) => dot(belief, costs)));
  /* The first of the least numbers, ties among them; -1 where none is finite. */
  const cheapest = (costs) => {
    const best = least(costs);
    return best < Infinity ? costs.findIndex((cost) => cost <= best * (1 + TIE)) : DECIDE;
  };
  /* The same of questions: of equal ones those that are free come last, and of these what can change nothing. */
  const putOff = (q) => questions[q].put_off || 0;
  const promising = (costs) => {
    const best = least(costs), equal = costs.map((_, q) => q).filter((q) => costs[q] <= best * (1 + TIE));
    return best < Infinity ? equal.sort((a, b) => putOff(a) - putOff(b) || a - b)[0] : DECIDE;
  };
  const decide = (belief) => cheapest(byDecision.map((column) => dot(belief, column)));

  const refuse = (key, name, about) => { throw new Error(say(key, { name, ...about })); };
  const impossible = (question) => refuse("impossible", questions[question].text);
  /* The best few by what each saves alone, the one asked first. */
  const three = (asked, every) => [...every.filter((o) => asked !== null && o.question === asked.question), ...every.filter((o) => asked === null || o.question !== asked.question)].slice(0, 3);

  /* The grid's numbering of its points; see the documentation. */
  const choose = (n, k) => { let c = 1; for (let i = 1; i <= k; i++) c = c * (n - k + i) / i; return n < k ? 0 : Math.round(c); };
  const tails = nClasses - 1;
  const rank = (i, level) => choose(level + tails - 1 - i, tails - i);
  const onGrid = (table, joint, steps) => {
    const total = sum(joint);
    if (!(total > 0)) return 0;
    let index = 0, tail = 0;
    const parts = [];
    for (let i = tails - 1; i >= 0; i--) {
      tail += joint[i + 1] / total;
      const at = Math.min(Math.max(tail * steps, 0), steps), level = Math.floor(at);
      const here = rank(i, level);
      index += here;
      parts.unshift({ fraction: at - level, step: rank(i, level + 1) - here });
    }
    parts.sort((a, b) => b.fraction - a.fraction);
    let value = (parts.length ? 1 - parts[0].fraction : 1) * table[index];
    parts.forEach((part, i) => {
      index += part.step;
      const weight = part.fraction - (i + 1 < parts.length ? parts[i + 1].fraction : 0);
      value += weight * table[Math.min(index, table.length - 1)];
    });
    return value * total;
  };
  const onLine = (table, joint, points) => {
    const total = joint[0] + joint[1];
    if (!(total > 0)) return 0;
    const share = joint[1] / total;
    let low = 0, high = points.length - 1;
    while (high - low > 1) { const middle = (low + high) >> 1; if (points[middle] <= share) low = middle; else high = middle; }
    const right = Math.min(Math.max((share - points[low]) / (points[high] - points[low]), 0), 1);
    return total * ((1 - right) * table[low] + right * table[high]);
  };

  const program = data.program, network = program && program.network;
  /* A network: tables by cliques, children before parents. Messages go to the roots and back, class by class. */
  const hung = ({ sizes, cliques }) => {
    const known = new Set(), found = cliques.map(({ variables, parent, table }) => {
      const own = variables.map((v) => sizes[v]), shared = parent < 0 ? [] : variables.filter((v) => cliques[parent].variables.includes(v));
      let size = 1;
      const step = new Map(shared.map((v) => { const one = [v, size]; size *= sizes[v]; return one; }));
      const steps = (some) => some.map((v) => step.get(v) || 0);
      return { variables, own, parent, table, size, cells: own.reduce((a, b) => a * b, 1), up: steps(variables), down: parent < 0 ? [] : steps(cliques[parent].variables) };
    });
    // the smallest clique that has it says what a variable shows
    for (const clique of [...found].sort((a, b) => a.cells - b.cells)) {
      clique.home = clique.variables.filter((v) => !known.has(v));
      clique.home.forEach((v) => known.add(v));
    }
    return found;
  };
  const cliques = network ? hung(network) : [];
  /* Goes through a clique's cells beside those of a message, by the steps of each variable there. */
  const along = ({ own }, cells, steps, message, multiply) => {
    const at = new Array(own.length).fill(0);
    for (let cell = 0, index = 0; cell < cells.length; cell++) {
      if (multiply) cells[cell] *= message[index]; else message[index] += cells[cell];
      for (let i = own.length - 1; i >= 0; i--) {
        index += steps[i];
        if (++at[i] < own[i]) break;
        index -= steps[i] * own[i];
        at[i] = 0;
      }
    }
    return message;
  };
  const ofOne = ({ variables }, variable) => variables.map((v) => Number(v === variable));
  /* P(outcome | class, what was seen) of each feature. */
  const spread = (shown) => {
    const { sizes } = network, found = features.map((_, f) => Array.from({ length: sizes[f] }, () => new Array(nClasses).fill(0)));
    for (let c = 0; c < nClasses; c++) {
      const cells = cliques.map(({ table }) => Float64Array.from(table[table.length > 1 ? c : 0])), sent = [];
      cliques.forEach((clique, k) => {
        for (const v of clique.home) if (shown[v] >= 0) along(clique, cells[k], ofOne(clique, v), Array.from({ length: sizes[v] }, (_, x) => Number(x === shown[v])), true);
        sent[k] = along(clique, cells[k], clique.up, new Float64Array(clique.size), false);
        const most = Math.max(...sent[k]) || 1;
        sent[k].forEach((x, i) => { sent[k][i] = x / most; });
        if (clique.parent >= 0) along(cliques[clique.parent], cells[clique.parent], clique.down, sent[k], true);
      });
      for (let k = cliques.length - 1; k >= 0; k--) {
        const clique = cliques[k];
        if (clique.parent >= 0) {
          const back = along(cliques[clique.parent], cells[clique.parent], clique.down, new Float64Array(clique.size), false);
          const most = Math.max(...back) || 1;
          along(clique, cells[k], clique.up, back.map((x, i) => sent[k][i] > 0 ? x / most / sent[k][i] : 0), true);
        }
        for (const v of clique.home.filter((v) => v < features.length)) {
          const shown = along(clique, cells[k], ofOne(clique, v), new Float64Array(sizes[v]), false), total = sum(shown);
          shown.forEach((x, i) => { found[v][i][c] = total > 0 ? x / total : 1 / sizes[v]; });
        }
      }
    }
    return found;
  };
  /* What was worked out before is remembered, as a case comes back to where it stood with every answer. */
  const MOST_SPREADS = 500, spreads = new Map();
  const spreadOf = (shown) => {
    const key = shown.join();
    if (spreads.size > MOST_SPREADS) spreads.clear();
    if (!spreads.has(key)) spreads.set(key, spread(shown));
    return spreads.get(key);
  };
  /* What features show, by feature, with one more outcome; and of several features together, one given the others. */
  const showing = (shown, f, outcome) => shown.map((v, i) => i === f ? outcome : v);
  const jointly = (shown, [f, ...rest]) => {
    const rows = spreadOf(shown)[f];
    return rest.length ? rows.flatMap((row, v) => jointly(showing(shown, f, v), rest).map((more) => more.map((p, c) => p * row[c]))) : rows;
  };

  /* What is known of a case: the weight of each hidden state, what was seen, what was paid, how many questions. */
  const classOf = program && program.hidden_class;
  /* P(outcome | hidden state), and what was seen, of a question; in a network the hidden states are the classes. */
  const table = (s, q) => network ? jointly(s.shown, questions[q].features) : program.bundles[q] || program.likelihoods[questions[q].features[0]];
  /* What each feature of a question shows by the number of an outcome, the last one changes first. */
  const shownBy = (shown, q, outcome) => questions[q].features.reduceRight(({ more, left }, f) => {
    const { n_outcomes: n } = features[f];
    return { more: showing(more, f, left % n), left: Math.floor(left / n) };
  }, { more: shown, left: outcome }).more;
  const askedFor = features.map((_, f) => questions.findIndex((question) => question.features.includes(f)));
  /* The outcome of each feature: seen, or implied by what is known at the start and marked by -4 - v; else -1. */
  const toldBy = ({ seen, shown }) => shown.map((v, f) => v >= 0 ? v : seen[askedFor[f]] <= IMPLIED ? IMPLIED - seen[askedFor[f]] : -1);
  const pricesAfter = questions.map((_, q) => program ? program.prices_after.filter(({ question }) => question === q) : []);
  /* Of a group one question pays in full: the first that is answered, in a visit that for which this adds least. */
  const surcharge = (q) => questions[q].full_price - questions[q].price;
  const leastAdded = (panel, group) => Math.min(Infinity, ...panel.filter((q) => questions[q].group === group).map(surcharge));
  const inFull = (s, q) => {
    const { group } = questions[q];
    return group !== null && !s.paid[group] && !(leastAdded(s.ordered, group) < surcharge(q) * (1 - TIE));
  };
  const own = (s, q) => {
    const price = inFull(s, q) ? questions[q].full_price : questions[q].price;
    if (!pricesAfter[q].length) return price;
    return pricesAfter[q].reduce((last, one) => one.if.every(({ feature, answers }) => answers.includes(s.shown[feature])) ? one.price : last, price);
  };
  /* What visits cost: a question costs one in which it is alone, unless it was ordered before. */
  const visits = data.visits, waits = questions.map((_, q) => visits ? visits.delay_cost * visits.delays[q] : 0);
  const alone = questions.map((_, q) => visits ? visits.cost + waits[q] : 0);
  const visitOf = (panel) => visits && panel.length ? visits.cost + Math.max(...panel.map((q) => waits[q])) : 0;
  const price = (s, q) => own(s, q) + (s.ordered.includes(q) ? 0 : alone[q]);
  const byClass = (weight) => {
    const found = new Array(nClasses).fill(0);
    for (let h = 0; h < weight.length; h++) found[classOf[h]] += weight[h];
    return found;
  };
  const times = (weight, row) => weight.map((w, h) => w * row[h]);
  /* P(class, outcome | what was seen) of each outcome. */
  const joints = (s, q) => table(s, q).map((row) => byClass(times(s.weight, row)));
  const knowing = (weight, more) => { const belief = byClass(weight); return { ...more, weight, belief, stop: stopping(belief) }; };
  const sized = (weight) => { const total = sum(weight); return { total, weight: weight.map((w) => w / total) }; };
  const perfect = data.decision_costs.map(least);

  const nStages = program ? Math.min(program.max_questions ?? program.n_questions, program.n_questions) : 0;
  const every = Array.from({ length: program ? program.n_questions : 0 }, (_, q) => q);
  const cheapestPrice = least(every.map((q) => questions[q].price + alone[q]));
  const mostCost = program && program.max_cost !== null ? program.max_cost * WITHIN : Infinity;
  /* What skip logic says of answers by feature, -1 where there is none, and of questions that were not asked. */
  const consequences = (logic, answers, unasked, lost) => {
    const hit = (rule) => rule.answers.includes(answers[rule.feature]), opens = new Map(), shows = ({ question }) => questions[question].features[0];
    const implies = () => logic.find((rule) => rule.effect === "implies" && hit(rule) && unasked[rule.question] && answers[shows(rule)] < 0);
    for (let rule = implies(); rule; rule = implies()) answers[shows(rule)] = rule.implied;
    const closed = questions.map(() => false);
    logic.forEach((rule) => {
      if (rule.effect !== "opens") closed[rule.question] = closed[rule.question] || hit(rule);
      else opens.set(rule.question, [...(opens.get(rule.question) || []), rule]);
    });
    const met = (own, is) => own.some((rule) => rule.any) ? own.some(is) : own.every(is);
    const never = closed.map((is, q) => is || Boolean(lost[q])), open_ = closed.map((is, q) => !is && (!opens.has(q) || met(opens.get(q), hit)));
    for (let more = true; more;) {
      more = false;
      opens.forEach((own, q) => { // a question that is never asked opens none
        if (!never[q] && !met(own, (rule) => answers[rule.feature] >= 0 ? hit(rule) : !never[rule.after])) more = never[q] = true;
      });
    }
    return { answers, open: open_, never };
  };
  /* Rules: what may be asked, and what has to be before anything is decided. A question whose outcome v follows from what
     is known at the start is marked by -4 - v. */
  const rules = program ? program.rules : null, logic = rules && rules.answers.length ? rules.answers : null;
  const openedBy = (s) => consequences(logic, toldBy(s), s.seen.map((v) => v === OPEN), []).open;
  const groupsOf = every.map((q) => rules ? rules.enemies.filter((group) => group.includes(q)) : []);
  const ofArea = (values, q) => rules.area[q] < 0 ? 0 : values[rules.area[q]];
  const standing = (s) => {
    const asked = every.map((q) => s.seen[q] >= -1), left = nStages - s.stage;
    let must = asked.map((is, q) => !is && rules.required.includes(q)), need, there;
    const count = () => {
      const n = rules.at_least.map((_, a) => every.filter((q) => rules.area[q] === a && (asked[q] || must[q])).length);
      need = rules.at_least.map((fewest, a) => Math.max(fewest - n[a], 0));
      there = every.map((q) => !asked[q] && !rules.closed.includes(q) && (must[q] || rules.area[q] < 0 || n[rules.area[q]] < rules.at_most[rules.area[q]])
        && groupsOf[q].every((group) => group.every((other) => other === q || !asked[other])));
    };
    count();
    if (must.some((is, q) => is && !there[q])) { must = must.map((is, q) => is && there[q]); count(); }
    // how many questions each set of areas can find, enemies counted once, and what is not to be met is taken out
    const found = rules.sets.map(({ areas }) => new Set(every.filter((q) => there[q] && areas.includes(rules.area[q]) && !rules.required.includes(q)).map((q) => rules.unit[q])).size);
    const needed = (areas) => sum(areas.map((a) => need[a])), slack = () => rules.sets.map(({ areas }, k) => found[k] - needed(areas));
    if (slack().some((one) => one < 0)) rules.sets.forEach(({ areas }, k) => {
      const last = areas[areas.length - 1];
      need[last] = Math.min(need[last], found[k] - needed(areas.slice(0, -1)));
    });
    const total = () => must.filter(Boolean).length + sum(need);
    if (total() > left) {
      let n = 0;
      for (const q of rules.required) if (must[q]) { n++; must[q] = n <= left; }
      n = Math.min(n, left);
      need = need.map((one) => { const kept = Math.min(Math.max(left - n, 0), one); n += one; return kept; });
    }
    // what no way of asking what has to be asked is below, and what is enough for it
    const priceOf_ = (key) => sum(every.map((q) => must[q] ? questions[q][key] : 0));
    const cheap = sum(rules.cheapest.map((own, a) => rules.at_least[a] > 0 ? sum(own.filter((q) => there[q]).slice(0, Math.max(need[a], 0)).map((q) => questions[q].price)) : 0));
    const dear = sum(need.map((n, a) => n * Math.max(0, ...every.filter((q) => rules.area[q] === a).map((q) => questions[q].full_price))));
    const opened = logic ? openedBy(s) : null;
    let allowed = there.map((is, q) => is && (!opened || opened[q]));
    const first_ = rules.first.find((q) => allowed[q] && s.seen[q] === OPEN && (must[q] || !rules.required.includes(q)));
    if (first_ !== undefined) allowed = allowed.map((_, q) => q === first_);
    if (!rules.demands) return { allowed, serves: allowed.map(() => false), more: false, after: () => false, least: 0, most: 0 };
    const wanted = every.map((q) => ofArea(need, q) > 0 && !must[q]), n = total(), spare = slack();
    const serves = (q) => Number(must[q] || wanted[q]);
    allowed = allowed.map((is, q) => is && n - left + 1 - serves(q) <= 0 && rules.sets.every(({ areas, takes }, k) =>
      !(spare[k] < takes[q] && areas.every((a) => need[a] > 0)) || (wanted[q] && areas.includes(rules.area[q]))));
    return { allowed, serves: allowed.map((is, q) => is && serves(q) > 0), more: n > 0, after: (q) => n - serves(q) > 0, least: priceOf_("price") + cheap, most: priceOf_("full_price") + dear };
  };
  const standings = new WeakMap();
  const status = (s) => { if (!standings.has(s)) standings.set(s, standing(s)); return standings.get(s); };
  const open = (s) => {
    if (s.stage >= nStages) return [];
    if (!program.any_order) return [s.stage];
    const may = every.filter((q) => s.seen[q] === OPEN && s.spent + price(s, q) <= mostCost);
    return rules ? may.filter((q) => status(s).allowed[q]) : may;
  };
  const mustGo = (s) => Boolean(rules) && rules.demands && status(s).more && open(s).length > 0;
  /* Among these heuristics choose: where it must go on, what has to be asked; elsewhere what can change anything. */
  const chosenAmong = (s) => {
    if (!rules || !rules.demands) return open(s).filter((q) => putOff(q) < 2);
    return mustGo(s) ? open(s).filter((q) => status(s).serves[q]) : open(s);
  };
  const only = (costs, some) => costs.map((cost, q) => some.includes(q) ? cost : Infinity);
  /* What deciding costs: now, and where something has to be asked after all of that. */
  const stopOf = (s) => mustGo(s) ? Infinity : s.stop;
  const finish = (s) => mustGo(s) ? s.stop + status(s).most : s.stop;
  /* What is known after a question showed an outcome, and how probable that is. */
  const after = (s, q, outcome) => {
    const { total, weight } = sized(times(s.weight, table(s, q)[outcome]));
    if (!(total > 0)) return { total: 0 };
    const seen = s.seen.slice(), paid = s.paid.slice();
    seen[q] = outcome;
    if (questions[q].group !== null) paid[questions[q].group] = true;
    return { total, state: knowing(weight, { seen, shown: shownBy(s.shown, q, outcome), paid, spent: s.spent + price(s, q), stage: s.stage + 1, ordered: [], visits: s.visits }) };
  };
  const following = (s, q, value) => table(s, q).reduce((cost, _, v) => {
    const { total, state } = after(s, q, v);
    return total > 0 ? cost + total * value(state) : cost;
  }, price(s, q));
  const toBeat = (s) => stopOf(s) * (1 - TIE);
  /* In one order what is ordered with a question may pay in full. */
  const spared = (s, q) => {
    if (!visits || program.any_order || !inFull(s, q)) return 0;
    return surcharge(q) - leastAdded(every.slice(q, q + (visits.max_panel ?? every.length)), questions[q].group);
  };
  const leastOn = (s) => {
    const prices = open(s).map((q) => price(s, q) - spared(s, q));
    return prices.length ? Math.max(least(prices), rules && rules.demands ? status(s).least : 0) + dot(s.belief, perfect) : Infinity;
  };
  const settled = (s) => toBeat(s) <= leastOn(s);
  const once = (s) => {
    const costs = new Array(program.n_questions).fill(Infinity);
    for (const q of open(s)) costs[q] = price(s, q) + sum(joints(s, q).map(stopping));
    return costs;
  };
  /* Questions of the smallest costs; what differs by rounding alone goes by number. */
  const rounded = (cost) => Math.round(cost / dearest * 1e10);
  const smallest = (costs, n) => every.filter((q) => costs[q] < Infinity).sort((a, b) => rounded(costs[a]) - rounded(costs[b]) || a - b).slice(0, n);

  /* In one order, where what was answered before its turn is passed over. */
  const passing = (s) => {
    const left = every.findIndex((q) => q >= s.stage && s.seen[q] === OPEN);
    return program.any_order ? s : { ...s, stage: left < 0 ? program.n_questions : left };
  };
  /* Costs of each question, looking some questions ahead. */
  const ahead = (s, depth, most) => {
    const last = depth === 1 || s.stage + 1 >= nStages;
    let asked = open(s), costs = last || program.any_order ? once(s) : null;
    if (last) return costs;
    if (program.any_order) {
      const vectors = [...byDecision, perfect.map((cost) => cost + cheapestPrice)];
      const had = rules ? costs.map((cost, q) => status(s).after(q) ? Infinity : cost) : costs, reached = Math.min(finish(s), least(had)) * (1 + TIE);
      asked = asked.filter((q) => price(s, q) + sum(joints(s, q).map((b) => least(vectors.map((v) => dot(b, v))))) <= reached);
      if (most !== null) { const kept = new Set(asked); asked = smallest(costs.map((c, q) => kept.has(q) ? c : Infinity), most); }
    }
    costs = new Array(program.n_questions).fill(Infinity);
    for (const q of asked) costs[q] = following(s, q, (after) => {
      const b = passing(after);
      return settled(b) ? stopOf(b) : Math.min(stopOf(b), least(ahead(b, depth - 1, most)));
    });
    return costs;
  };
  /* The same to the end; what was met before is remembered. */
  const remembered = new Map();
  const best = (s) => {
    if (settled(s)) return stopOf(s);
    const key = `${s.seen}|${s.paid}|${program.max_cost === null ? "" : s.spent.toFixed(12)}|${s.stage}`;
    if (!remembered.has(key)) remembered.set(key, Math.min(stopOf(s), least(toEnd(s))));
    return remembered.get(key);
  };
  const toEnd = (s) => {
    if (s.stage + 1 >= nStages) return once(s);
    const costs = new Array(program.n_questions).fill(Infinity);
    for (const q of open(s)) costs[q] = following(s, q, best);
    return costs;
  };
  /* Least costs times chances of all partial answers, but for what is not to be had. A number has a digit for each
     question: its outcome, or one more than these where it was not asked; what follows has smaller numbers. */
  const lists = new Map(), MOST_LISTS = 8, MOST_LISTED = 2000000;
  const listable = program && !rules && !network && !visits && program.any_order && every.every((q) => !program.bundles[q])
    && (program.max_cost === null || every.every((q) => questions[q].group === null))
    && every.reduce((size, q) => size * (program.likelihoods[questions[q].features[0]].length + 1), 1) <= MOST_LISTED;
  const listed = (s) => {
    const gone = every.map((q) => s.seen[q] !== OPEN && s.seen[q] < 0), rows = every.map((q) => gone[q] ? [] : table(s, q)), steps = [];
    // answers that paid for no group, groups that no answer paid for, and what else has been asked and spent
    const told = every.filter((q) => s.seen[q] >= 0), groupOf = (q) => questions[q].group, paid = [], before = [];
    const nothing = every.map((q) => s.seen[q] >= 0 && groupOf(q) !== null && !s.paid[groupOf(q)]);
    every.filter((q) => groupOf(q) !== null).forEach((q) => { before[groupOf(q)] = Number(Boolean(s.paid[groupOf(q)])); });
    told.filter((q) => groupOf(q) !== null).forEach((q) => { before[groupOf(q)] = 0; });
    before.forEach((is, group) => { paid[group] = is; });
    const asked = program.max_questions === null ? 0 : s.stage - told.length;
    const spent = program.max_cost === null ? 0 : s.spent - sum(told.map((q) => questions[q].price));
    const priceOf = (q) => groupOf(q) === null || paid[groupOf(q)] ? questions[q].price : questions[q].full_price;
    let size = 1;
    for (const q of [...every].reverse()) { steps[q] = size; size *= rows[q].length + 1; }
    const later = (costs, number, q) => rows[q].reduce((cost, _, v) => cost + costs[number - (v + 1) * steps[q]], 0);
    const fill = (costs, q, number, weight, open_, n, cost) => {
      if (q < every.length) {
        const pays = groupOf(q) !== null && !nothing[q];
        if (pays) paid[groupOf(q)]++;
        rows[q].forEach((row, v) => fill(costs, q + 1, number + v * steps[q], times(weight, row), open_, n + 1, cost + questions[q].price));
        if (pays) paid[groupOf(q)]--;
        return fill(costs, q + 1, number + rows[q].length * steps[q], weight, gone[q] ? open_ : [...open_, q], n, cost);
      }
      const chance = sum(weight), may = n < nStages ? open_.filter((o) => cost + priceOf(o) <= mostCost) : [];
      costs[number] = may.reduce((least_, o) => Math.min(least_, priceOf(o) * chance + later(costs, number, o)), stopping(byClass(weight)));
      return costs;
    };
    const key = [gone, nothing, before, asked, spent.toFixed(12)].join(";");
    if (!lists.has(key)) {
      if (lists.size >= MOST_LISTS) lists.clear();
      lists.set(key, fill(new Float64Array(size), 0, 0, program.hidden_prior, [], asked, spent));
    }
    const costs = new Array(every.length).fill(Infinity), chance = sum(told.reduce((weight, q) => times(weight, rows[q][s.seen[q]]), program.hidden_prior));
    const number = sum(every.map((q) => (s.seen[q] >= 0 ? s.seen[q] : rows[q].length) * steps[q]));
    for (const q of open(s)) costs[q] = price(s, q) + later(lists.get(key), number, q) / chance;
    return costs;
  };
  const byBounds = (p, s) => {
    const among = rules ? chosenAmong(s) : open(s);
    if (s.stage + 1 >= nStages) return only(once(s), among.filter((q) => !rules || !status(s).after(q)));
    const bit = (q) => { const place = p.once.indexOf(q); return place < 0 ? 0 : 2 ** place; };
    const asked = sum(every.filter((q) => s.seen[q] !== OPEN).map(bit)), costs = new Array(program.n_questions).fill(Infinity);
    const read = (values, joint) => p.points ? onLine(values, joint, p.points) : onGrid(values, joint, p.resolution);
    for (const q of among) costs[q] = price(s, q) + sum(joints(s, q).map((joint) => Math.min(read(p.values[asked + bit(q)], joint), stopping(joint))));
    return costs;
  };

  /* Ordering rules: what each question promises. */
  const classInformation = (s, q) => sum(joints(s, q).map((joint) => sum(joint.map(plogp)) - plogp(sum(joint)))) - sum(s.belief.map(plogp));
  const gains = {
    "expected saving": (s, q, costs) => (s.stop - (costs[q] - price(s, q))) / dearest,
    "class information": classInformation,
    "hidden information": (s, q) => sum(table(s, q).map((row) => { let given = 0, all = 0; row.forEach((t, h) => { given += s.weight[h] * plogp(t); all += s.weight[h] * t; }); return given - plogp(all); })),
    "cross entropy": (s, q) => classInformation(s, q) / Math.max(-sum(s.belief.map(plogp)), TINY),
    "ec2": (s, q) => (1 - sum(s.belief.map((b) => b * b)) - sum(table(s, q).map((row) => {
      const classes = byClass(s.weight.map((w, h) => w * Math.sqrt(row[h])));
      return sum(classes) ** 2 - sum(classes.map((c) => c * c));
    }))) / 2,
  };
  const scores = (rule, s, costs) => {
    const found = new Array(program.n_questions).fill(-Infinity);
    const asked = chosenAmong(s), sensible = (q) => asked.includes(q);
    if (rule.type === "order") { rule.order.forEach((q, place) => { if (asked.includes(q)) found[q] = -place; }); return found; }
    if (rule.type === "lookahead") return ahead(s, rule.depth, rule.n_candidates).map((cost, q) => sensible(q) ? s.stop - cost : -Infinity);
    if (rule.type === "improved") {
      const tried = new Set(smallest(costs.map((cost, q) => sensible(q) ? cost : Infinity), rule.n_candidates)), own = next(rule.values.rule, s, costs);
      if (own !== DECIDE) tried.add(own);
      for (const q of tried) found[q] = s.stop - following(s, q, (b) => valueOf(rule.values, b));
      return found;
    }
    for (const q of asked) {
      const all = gains[rule.type](s, q, costs), gain = rule.per_price && Math.abs(all) <= TIE ? 0 : all;
      found[q] = rule.per_price ? gain / (Math.max(price(s, q), TIE * dearest) / dearest) : gain;
    }
    return found;
  };
  const first = (found) => {
    const top = found.reduce((a, b) => Math.max(a, b), -Infinity);
    return top === -Infinity ? DECIDE : found.findIndex((score) => score >= top - ALIKE * Math.max(Math.abs(top), 1));
  };
  const next = (rule, s, costs = once(s)) => first(scores(rule, s, costs));

  /* The regression that says what going on along a rule costs. */
  const goingOn = (values, s) => {
    const costs = once(s), found = scores(values.rule, s, costs), question = first(found);
    if (question === DECIDE) return { question, cost: Infinity };
    const weights = s.stage < values.n_stages ? values.weights[s.stage] : null;
    const most = mustGo(s) ? Math.max(costs[question], finish(s)) : costs[question];
    if (!weights) return { question, cost: most };
    const stop = s.stop, by = ["lookahead", "improved"].includes(values.rule.type) ? stop - found[question] : costs[question];
    const entropy = -sum(s.belief.map(plogp)), sorted = [...s.belief].sort((a, b) => a - b);
    const told = [stop, costs[question], least(costs), by, entropy, ...sorted.slice(-2), Math.sqrt(stop)];
    if (nClasses <= 10) told.push(...s.belief);
    told.push(stop ** 2, stop * by, by ** 2, entropy ** 2, stop * entropy, by * entropy);
    if (program.n_questions <= 40) {
      const asked = every.map((q) => Number(s.seen[q] !== OPEN));
      told.push(...asked, ...asked.map((one) => one * stop));
    }
    const cost = weights[0] + told.reduce((total, x, i) => total + x * weights[i + 1], 0);
    return { question, cost: Math.min(Math.max(cost, leastOn(s)), most) };
  };
  const valueOf = (values, s) => s.stage >= values.n_stages || settled(s) ? finish(s) : Math.min(finish(s), goingOn(values, s).cost);

  /* In a fixed order with values of each stage. */
  const byVectors = (vectors, joint) => least(vectors.map((vector) => dot(vector, joint)));
  const byFunctions = (p, stage, joint) => {
    const total = sum(joint), [weights] = p.stages[stage];
    if (weights === null || !(total > 0)) return weights === null ? Infinity : 0;
    const b = joint.map((x) => x / total), stop = stopping(b) / dearest, root = Math.sqrt(stop), log = Math.log(Math.max(stop, 1e-9));
    const few = 4 * nClasses, after = few + 4, more = p.pairs.length;
    let found = [stop, root, stop * root, stop * stop].reduce((all, x, i) => all + x * weights[few + i], 0);
    b.forEach((x, i) => {
      found += x * (weights[i] + weights[nClasses + i] * root + weights[2 * nClasses + i] * log + weights[3 * nClasses + i] * Math.log(Math.max(x, 1e-12)));
    });
    p.pairs.forEach(([i, j], k) => { found += Math.sqrt(b[i] * b[j]) * (weights[after + k] + weights[after + more + k] * log); });
    return Math.max(total * found * dearest, total * p.prices[stage] + dot(joint, perfect));
  };
  /* Of what was answered values may remember a context, and may be corrected for each earlier answer that matters. */
  const moved = (p, stage, context, outcome) => p.moves && p.moves[stage] ? p.moves[stage][context].at(outcome) : 0;
  const contextOf = (p, s) => every.slice(0, s.stage).reduce((context, q) => moved(p, q, context, s.seen[q]), 0);
  const readAt = (p, stage, joint, context) => {
    if (p.type === "functions") return byFunctions(p, stage, joint);
    const table = p.stages[stage][p.moves ? context : 0];
    return p.type === "grid" ? onGrid(table, joint, p.resolution) : byVectors(table, joint);
  };
  const stageValue = (p, stage, joint, context, shown) => {
    const stop = stopping(joint);
    if (stage >= p.n_stages) return stop;
    const plain = readAt(p, stage, joint, context), correction = p.corrections && p.corrections[stage];
    if (!correction) return Math.min(stop, plain);
    const total = correction.all.slice(), goingOn = plain < Infinity ? plain : stop;
    correction.questions.forEach((q, i) => { if (shown(q) >= 0) correction.tables[i][shown(q)].forEach((weight, k) => { total[k] += weight; }); });
    const cost = goingOn + dot(joint, total) + stop * total[nClasses] + Math.min(goingOn, stop) * total[nClasses + 1];
    return Math.min(stop, Math.max(cost, sum(joint) * p.prices[stage] + dot(joint, perfect)));
  };
  const stageCost = (p, s) => {
    const context = contextOf(p, s);
    return price(s, s.stage) + sum(joints(s, s.stage).map((joint, v) =>
      stageValue(p, s.stage + 1, joint, moved(p, s.stage, context, v), (q) => q === s.stage ? v : s.seen[q])));
  };

  /* Panels: what is ordered in one visit, grown question by question while the joint answers are followed. */
  const panelPrices = (s, panel) => {
    const groups = [...new Set(panel.map((q) => questions[q].group))].filter((group) => group !== null && !s.paid[group]);
    return sum(panel.map((q) => questions[q].price)) + sum(groups.map((group) => leastAdded(panel, group)));
  };
  const nAsked = (s) => program.any_order ? every.filter((q) => s.seen[q] !== OPEN).length : s.stage;
  const afterPanel = ({ weights }, s, q, closed) => {
    if (weights === null || closed) return sum(joints(s, q).map(stopping));
    const share = (nAsked(s) + 1) / program.n_questions, [left, times] = weights.slice(-2);
    return sum(joints(s, q).map((joint) => {
      const total = sum(joint), stop = stopping(joint);
      if (!(total > 0)) return 0;
      const spread = total - dot(joint, joint) / total;
      const told = [stop, spread, Math.sqrt(stop * total), Math.sqrt(Math.max(spread, 0) * total), stop * stop / total, stop * spread / total, spread * spread / total];
      if (nClasses <= 10) told.push(...joint);
      const cost = total * (weights[0] + left * share) + stop * times * share + told.reduce((all, x, i) => all + x * weights[i + 1], 0);
      return Math.min(stop, Math.max(cost, total * cheapestPrice + dot(joint, perfect)));
    }));
  };
  /* All joint answers, or where they are many an even sample of them. */
  const follow = (branches, q, most) => {
    const found = branches.flatMap((b) => table(b.state, q).map((_, v) => after(b.state, q, v)).filter(({ total }) => total > 0)
      .map(({ total, state }) => ({ state: passing(state), weight: b.weight * total })));
    if (found.length <= most) return found;
    let end = 0;
    const ends = found.map(({ weight }) => (end += weight)), times = new Map();
    for (let k = 0; k < most; k++) {
      const place = ends.findIndex((one) => one >= (k + 0.5) / most * end), drawn = place < 0 ? found.length - 1 : place;
      times.set(drawn, (times.get(drawn) || 0) + 1);
    }
    return [...times].map(([drawn, n]) => ({ state: found[drawn].state, weight: n / most }));
  };
  const PATIENCE = 2;
  const grown = (p, s, limit) => {
    const open_ = program.any_order ? open(s) : every.filter((q) => q >= s.stage && s.seen[q] === OPEN), nothing = { panel: [], cost: Infinity };
    const most = Math.min(p.most, limit - s.stage, visits.max_panel ?? Infinity, open_.length), fewest = Math.min(p.least, most);
    let best = nothing, panel = [], since = 0, branches = [{ state: s, weight: 1 }];
    for (let size = 1; size <= most; size++) {
      const left = open_.filter((q) => !panel.includes(q)), asked = program.any_order ? left : left.slice(0, 1);
      const longest = Math.max(0, ...panel.map((q) => waits[q]));
      const costs = asked.map((q) => {
        const paid = panelPrices(s, [...panel, q]) + visits.cost + Math.max(longest, waits[q]);
        if (s.spent + paid > mostCost) return Infinity;
        return paid + sum(branches.map(({ state, weight }) => weight * afterPanel(p, state, q, left.length <= 1)));
      });
      const found = least(costs), question = asked[costs.findIndex((cost) => cost <= found * (1 + TIE))];
      panel = [...panel, question].sort((a, b) => a - b);
      const counts = size >= fewest, better = counts && found < best.cost * (1 - TIE);
      if (better) best = { panel, cost: found };
      since = better || !counts ? 0 : since + 1;
      const floor = panelPrices(s, panel) + visitOf(panel) + dot(s.belief, perfect);
      if (counts && (since >= PATIENCE || floor >= best.cost)) break;
      if (size < most) branches = follow(branches, question, p.n_branches);
    }
    return best;
  };
  /* As a table says, where it speaks of what was seen and paid; else grown. */
  const bestPanel = (p, s, limit = nStages) => {
    const row = rowOf(p, s);
    const panel = row && every.filter((q) => Math.floor(row[0] / 2 ** q) % 2);
    return row && panel.length <= limit - s.stage ? { panel, cost: row[1] ?? Infinity } : grown(p, s, limit);
  };
  /* What has one outcome only is not asked but where the policy buys it by itself. */
  const tells = (q) => questions[q].features.some((f) => features[f].n_outcomes > 1);
  const gates = program ? [...(logic || []), ...program.prices_after.flatMap((one) => one.if)].map(({ after }) => after) : [], gate = (q) => gates.includes(q);
  /* Where the one visit that there may be was made. */
  const endedAt = (p, s) => p.type === "sure" ? endedAt(p.policy, s) : p.type === "panels" && p.once && s.visits > 0;
  const chooses = (p, s) => s.stage < p.n_stages && !endedAt(p, s);
  const panelOf = (p, s) => {
    if (p.type === "sure" && p.policy.type === "panels" && s.stage < p.n_stages && s.stop > p.cost && chooses(p.policy, s)) {
      const { panel } = bestPanel(p.policy, s, Math.min(p.n_stages, nStages));
      const ordered = !program.any_order || panel.every(tells) || panelOf(p.policy, s).length ? panel : panel.filter(tells);
      if (ordered.length) return ordered;
    }
    if (p.type !== "panels") { const question = act(p, s); return question === DECIDE ? [] : [question]; }
    if (!chooses(p, s) || settled(s)) return [];
    const { panel, cost } = bestPanel(p, s);
    return cost < toBeat(s) ? panel : [];
  };

  const among = (s, costs) => rules ? only(costs, chosenAmong(s)) : costs;
  const costsOf = {
    lookahead: (p, s) => among(s, ahead(s, p.depth, p.n_candidates)),
    recursion: (p, s) => settled(s) ? among(s, ahead(s, 2, 5)) : listable ? listed(s) : toEnd(s),
    bounds: byBounds,
  };
  const byRule = (p, s) => p.rule !== null ? next(p.rule, s) : open(s).length ? open(s)[0] : DECIDE;
  /* Row of a table that is about what was seen, if all of it was asked and paid for: two cells, then questions and their outcomes in turn. */
  const rowOf = ({ plan, spent }, s) => {
    const asked = every.filter((q) => s.seen[q] !== OPEN), groups = (some) => new Set(some.map((q) => questions[q].group).filter((group) => group !== null));
    const known = groups(asked), pays = [...groups(every)].every((group) => Boolean(s.paid[group]) === known.has(group));
    if (!pays || asked.length !== s.stage) return undefined;
    const paid = (i) => !spent || Math.abs(spent[i] - s.spent) <= ALIKE * Math.max(1, spent[i]);
    return plan.find((row, at) => paid(at) && row.length === 2 + 2 * asked.length && row.slice(2).every((cell, i, seen) => i % 2 || s.seen[cell] === seen[i + 1]));
  };
  /* The most promising question, and what asking it costs (null: not known, and that question is asked). */
  const planned = (p, s) => { const [question, cost] = rowOf(p, s) || []; return { question, cost: cost ?? null }; };
  /* What a policy asks next, or -1 to decide. */
  const act = (p, s) => {
    const question = chosen(p, s);
    // whatever pays, what has to be asked is asked before anything is decided
    return question === DECIDE && mustGo(s) ? cheapest(only(once(s), every.filter((q) => status(s).serves[q]))) : question;
  };
  const chosen = (p, s) => {
    if (s.stage >= p.n_stages) return DECIDE;
    switch (p.type) {
      case "rule": { if (settled(s)) return DECIDE; const { question, cost } = goingOn(p.values, s); return cost < toBeat(s) ? question : DECIDE; }
      case "panels": return panelOf(p, s)[0] ?? DECIDE;
      case "first": return byRule(p, s);
      case "likely": return Math.max(...s.belief) < p.threshold - TIE ? byRule(p, s) : DECIDE;
      case "sure": return stopOf(s) > p.cost && !endedAt(p, s) ? nextOf(p.policy, s) : DECIDE;
      case "plan": { const { question, cost } = planned(p, s); return cost !== null && cost >= toBeat(s) ? DECIDE : question ?? act(p.otherwise, s); }
      case "thresholds": return settled(s) || dot(p.thresholds[s.stage][decide(s.belief)], s.belief) <= TIE ? DECIDE : s.stage;
      case "grid": case "vectors": case "functions": {
        if (settled(s)) return DECIDE;
        const plan = p.type === "vectors" ? byVectors(p.stages[s.stage][p.moves ? contextOf(p, s) : 0], s.belief) + price(s, s.stage) - p.prices[s.stage] : Infinity;
        return plan < toBeat(s) || stageCost(p, s) < toBeat(s) ? s.stage : DECIDE;
      }
      default: { if (settled(s)) return DECIDE; const costs = costsOf[p.type](p, s); return least(costs) < toBeat(s) ? promising(costs) : DECIDE; }
    }
  };
  /* What it would ask if it had to go on. */
  const would = (p, s) => {
    const ended = s.stage >= p.n_stages;
    if (p.type === "first" || p.type === "likely") return ended && p.rule === null ? DECIDE : byRule(p, s);
    if (ended) return DECIDE;
    if (p.type === "rule") return next(p.values.rule, s);
    if (p.type === "panels") return chooses(p, s) ? bestPanel(p, s).panel[0] ?? DECIDE : DECIDE;
    if (p.type === "sure") return endedAt(p, s) ? DECIDE : nextOf(p.policy, s);
    if (p.type === "plan") { const { question } = planned(p, s), asked = question >= 0 ? question : act(p, s); return asked !== DECIDE ? asked : would(p.otherwise, s); }
    return costsOf[p.type] ? promising(costsOf[p.type](p, s)) : act(p, s);
  };
  const nextOf = (p, s) => {
    if (s.stage >= nStages) return DECIDE;
    if (!program.any_order) return s.stage;
    const asked = would(p, s);
    if (asked !== DECIDE && (tells(asked) || gate(asked) || mustGo(s) || act(p, s) === asked)) return asked;
    return first(scores({ type: "class information", per_price: true }, s).map((score, q) => tells(q) || mustGo(s) ? score : -Infinity));
  };
  /* Expected cost of going on; null where the policy cannot tell. */
  const onwards = (p, s) => {
    if (p.type === "rule") return s.stage >= p.n_stages ? Infinity : goingOn(p.values, s).cost;
    if (p.type === "plan") return planned(p, s).cost ?? onwards(p.otherwise, s);
    if (p.type === "panels") return chooses(p, s) ? bestPanel(p, s).cost : Infinity;
    if (["grid", "vectors", "functions"].includes(p.type)) return stageCost(p, s);
    return costsOf[p.type] ? least(costsOf[p.type](p, s)) : null;
  };

  /* How much less going on would save if some questions could not be had; null where the policy cannot tell. */
  const plannedFor = (p, s) => p.type === "plan" && p.otherwise.type !== "recursion" ? planned(p, s).cost !== null || plannedFor(p.otherwise, s) : p.type === "panels" && (p.plan.length > 0 || !program.any_order);
  const addedBy = (p, facts, asked, saving) => {
    const s = viewOf(facts), own = p.type === "plan" ? p.otherwise : p;
    if (saving === null || plannedFor(p, s) || rules) return null;
    const without = { ...facts, seen: facts.seen.map((seen, q) => asked.includes(q) ? (program.any_order ? CLOSED : -1) : seen) };
    without.stage = program.any_order ? s.stage : viewOf(without).stage;
    const ended = without.stage >= p.n_stages, cost = ended ? Infinity : onwards(own, without);
    return cost === null ? null : Math.max(saving, 0) - Math.max(s.stop - cost, 0);
  };

  /* What is known at the start closes questions, or answers them. */
  const begun = ({ seen, shown }) => {
    if (!program.start.length) return seen;
    const known = questions.map((question) => Boolean(question.known)), told = shown.map((v, f) => known[askedFor[f]] ? v : -1);
    const after = consequences(program.start, told, known.map((is) => !is), known), answer = (q) => after.answers[questions[q].features[0]];
    return seen.map((v, q) => v !== OPEN || known[q] ? v : answer(q) >= 0 ? IMPLIED - answer(q) : after.never[q] ? CLOSED : OPEN);
  };
  /* What the policy looks at: how many questions of its own were answered, or in a fixed order the first that was not. */
  const viewOf = (s) => {
    const own = s.seen.slice(0, program.n_questions);
    if (!program.any_order) return passing({ ...s, stage: 0 });
    return { ...s, seen: begun(s), stage: own.filter((seen) => seen !== OPEN).length - (program.max_questions === null ? 0 : s.known) };
  };
  const codeOf = (q, outcomes) => {
    if (outcomes.every((v) => v < 0)) return -1;
    const sizes = questions[q].features.map((f) => features[f].n_outcomes), whole = outcomes.every((v) => v >= 0);
    return outcomes.reduce((code, v, i) => whole ? code * sizes[i] + v : code * (sizes[i] + 1) + v + 1, 0) + (whole ? 0 : sizes.reduce((a, b) => a * b, 1));
  };
  /* The questions to order next, as the policy has it. */
  const panelNext = (s) => panelOf(program.policy, viewOf(s)).filter((q) => s.seen[q] === OPEN);
  const byProgram = (answers) => {
    let s = { ...knowing(program.hidden_prior, {}), seen: questions.map(() => OPEN), shown: features.map(() => -1), paid: [], spent: 0, known: 0, ordered: [], owed: [], visits: 0 };
    const steps = [];
    const order = (panel) => {
      const visit = visitOf(panel);
      s = { ...s, ordered: panel, visits: s.visits + 1, spent: s.spent + visit };
      return visit;
    };
    /* What is owed for groups of which nothing that is waited for would add less is paid. */
    const settle = () => {
      const due = s.owed.map((owed, group) => s.paid[group] || leastAdded(s.ordered, group) < owed * (1 - TIE) ? 0 : owed);
      s = { ...s, paid: s.paid.slice(), spent: s.spent + sum(due), owed: s.owed.slice() };
      due.forEach((_, group) => { if (s.paid[group] || due[group]) { s.paid[group] = true; delete s.owed[group]; } });
      return sum(due);
    };
    for (const { question, outcomes, known, order: panel, leave, among } of answers) {
      if (panel || leave) {
        const visit = panel ? order([...panel].sort((a, b) => a - b)) : 0;
        if (leave) s = { ...s, ordered: [] };
        steps.push({ paid: visit + settle(), visit, n: s.visits, belief: s.belief });
        continue;
      }
      if (s.seen[question] !== OPEN) refuse("before", questions[question].text);
      let visit = 0;
      if (visits && !known) {
        // the first answer of a panel says that it was ordered; what nobody ordered takes a visit of its own
        const asked = s.ordered.length ? s.ordered : among || panelNext(s);
        if (!s.ordered.length) visit = order(asked.includes(question) ? asked : [question]);
        else if (!asked.includes(question)) { visit = alone[question]; s = { ...s, visits: s.visits + 1, spent: s.spent + visit }; }
      }
      const told = outcomes.some((v) => v >= 0), pays = !known && (told || data.charge_missing), paid = pays ? own(s, question) : 0;
      const { group } = questions[question], full = pays && inFull(s, question);
      let { weight, shown } = s;
      questions[question].features.forEach((f, i) => {
        if (outcomes[i] < 0) return;
        const found = sized(times(weight, (network ? spreadOf(shown) : program.likelihoods)[f][outcomes[i]]));
        if (!(found.total > 0)) impossible(question);
        weight = found.weight;
        shown = showing(shown, f, outcomes[i]);
      });
      s = { ...s, ...knowing(weight, {}), shown, seen: s.seen.slice(), paid: s.paid.slice(), spent: s.spent + paid, ordered: s.ordered.filter((q) => q !== question), known: s.known + (known && question < program.n_questions ? 1 : 0) };
      s.seen[question] = codeOf(question, outcomes);
      if (full) s.paid[group] = true;
      else if (pays && group !== null && !s.paid[group]) s = { ...s, owed: Object.assign(s.owed.slice(), { [group]: Math.min(s.owed[group] ?? Infinity, surcharge(question)) }) };
      steps.push({ paid: paid + visit + settle(), visit, n: s.visits, belief: s.belief });
    }
    const waiting = s.ordered.length > 0, panel = waiting ? s.ordered : panelNext(s);
    let asked = null;
    if (panel.length) {
      const cost = waiting ? null : onwards(program.policy, viewOf(s)), saving = cost === null || cost === Infinity ? null : s.stop - cost;
      const added = addedBy(program.policy, s, panel, saving);
      const together = panel.map((q) => ({ question: q, price: own({ ...s, ordered: panel }, q) }));
      asked = { ...together[0], saving, added, panel: together, visit: waiting ? 0 : visitOf(panel), waiting, must: mustGo(viewOf(s)) };
    }
    const view = viewOf(s), may = rules || program.start.length ? (q) => q < program.n_questions ? open(view).includes(q) : !rules : () => true;
    const others = questions.map((_, q) => q).filter((q) => s.seen[q] === OPEN && !questions[q].known && (!waiting || s.ordered.includes(q)) && may(q))
      .map((q) => ({ question: q, price: price(s, q), saving: s.stop - price(s, q) - sum(joints(s, q).map(stopping)) }))
      .sort((a, b) => b.saving - a.saving);
    return { belief: s.belief, now: s.stop, decision: decide(s.belief), asked, best: three(asked, others), steps, cut: false, visits: s.visits };
  };

  /* With a graph: what it asks, in its order. */
  const byGraph = (answers) => {
    let node = data.nodes[0];
    const steps = [];
    for (const { question, outcomes: [outcome] } of answers) {
      if (node.ask !== question) refuse("not_now", questions[question].text);
      const { visit } = node, paid = visit + (outcome >= 0 || data.charge_missing ? node.price : 0);
      const next = outcome >= 0 ? node.next[outcome] : node.missing;
      if (next === null || next === undefined) impossible(question);
      node = data.nodes[next];
      steps.push({ paid, visit, n: steps.length + 1, belief: node.belief });
    }
    const one = { question: node.ask, price: node.price }, asked = node.ask === undefined ? null : { ...one, saving: node.saving, added: node.added, panel: [one], visit: node.visit, waiting: false };
    const own = asked === null ? [] : [{ ...one, price: node.price + node.visit, saving: node.alone }];
    const others = [...own, ...(node.others || []).map(([question, cost, saving]) => ({ question, price: cost, saving }))];
    return { belief: node.belief, now: node.cost_now, decision: node.decision, asked, best: three(asked, others), steps, cut: Boolean(node.cut), visits: steps.length };
  };

  /* Whether the policy by itself would have come to these answers, and ended there: what is known of every case, then
     what it asks in turn. */
  const asPlanned = (answers, run) => {
    const told = answers.filter((one) => one.outcomes), n = told.findIndex(({ question }) => !questions[question].known);
    const start = n < 0 ? told : told.slice(0, n);
    const lacks = (one, q) => one.known && one.features.some((f) => features[f].missing !== undefined) && start.every(({ question }) => question !== q);
    const asks = (one, i) => { const { asked } = run(told.slice(0, i)); return !one.known && asked !== null && asked.panel.some(({ question }) => question === one.question); };
    return !questions.some(lacks) && told.every((one, i) => i < start.length || asks(one, i)) && run(told).asked === null;
  };
  /* Classes that may still be true, the most probable first. */
  const possible = (belief) => {
    const order = belief.map((_, i) => i).sort((a, b) => belief[b] - belief[a] || a - b);
    return order.filter((i, place) => place === 0 || belief[i] >= data.sets.limits[i]);
  };

  /* Where it tells something that an answer is not available, it is an outcome. */
  const told = (q, outcomes) => outcomes.map((v, i) => v < 0 ? features[questions[q].features[i]].missing ?? v : v);
  /* Where a case stands after answers {question, outcomes, known}, an outcome a feature; -1 is not available. Between them
     {order: questions} says what was ordered together, {leave: true} that the rest of it is waited for no more. Which
     questions were to be ordered when an answer came may be told by its among; else the policy says so once more. */
  const stand = (given) => {
    const answers = given.map((one) => one.outcomes ? { ...one, outcomes: told(one.question, one.outcomes), known: one.known || Boolean(questions[one.question].known) } : one);
    const run = data.kind === "program" ? byProgram : byGraph, found = run(answers);
    const promised = data.sets !== null && found.asked === null && !found.cut && asPlanned(answers, run);
    found.set = promised ? possible(found.belief) : null;
    found.paid = sum(found.steps.map((step) => step.paid));
    return found;
  };

  /* What is told, without the blanks at the edges that categories have not. */
  const spelt = (text) => String(text).replace(/^[ \t\n\r\f\v]+|[ \t\n\r\f\v]+$/g, "");

  /* Whether skip logic, or what is known at the start, leaves a question out after answers, as long as none opens it. */
  const isClosed = (given, question) => {
    if (!program || question >= program.n_questions) return false;
    const s = { seen: questions.map(() => OPEN), shown: features.map(() => -1) };
    given.filter((one) => one.outcomes).forEach((one) => {
      const outcomes = told(one.question, one.outcomes);
      s.seen[one.question] = codeOf(one.question, outcomes);
      questions[one.question].features.forEach((f, i) => { s.shown[f] = outcomes[i]; });
    });
    if (program.any_order) s.seen = begun(s);
    return s.seen[question] <= CLOSED || (logic !== null && !openedBy(s)[question]);
  };

  /* The number that a text is, or NaN; where decimals stand after a comma, a point before three digits may part thousands. */
  const comma = say("decimal") === ",";
  const numberOf = (text) => {
    const told = String(text).trim();
    if (comma && /^[+-]?[1-9]\d{0,2}(\.\d{3})+$/.test(told)) return NaN;
    const plain = comma ? told.replace(",", ".") : told;
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  };
  const shown = (x) => comma ? String(x).replace(".", ",") : String(x);

  /* The outcome that a value, as text, belongs to. */
  const outcomeOf = (number, text) => {
    const feature = data.features[number], told = String(text).trim();
    if (feature.type === "category") {
      const own = spelt(text), place = Object.hasOwn(feature.spellings || {}, own) ? feature.spellings[own] : feature.categories.indexOf(own);
      return place >= 0 ? place : refuse("choose_one", feature.text);
    }
    if (feature.type === "outcome") {
      const place = /^\d+$/.test(told) ? Number(told) : -1;
      return place >= 0 && place < (feature.missing ?? feature.n_outcomes) ? place : refuse("whole", feature.text, { most: (feature.missing ?? feature.n_outcomes) - 1 });
    }
    if (told === "") refuse(feature.choices ? "choose_one" : "give", feature.text);
    const value = numberOf(told);
    if (Number.isNaN(value)) refuse("number", feature.text);
    if (!Number.isFinite(value)) refuse("large", feature.text);
    return feature.places[feature.edges.filter((edge) => edge <= value).length];
  };

  /* What is odd about a value, or nothing. */
  const unusual = (number, text) => {
    const feature = data.features[number], value = numberOf(text);
    if (feature.type !== "number" || !feature.range || (value >= feature.range[0] && value <= feature.range[1])) return "";
    const [low, high] = feature.range.map(shown);
    return say("outside", { name: feature.text, value: shown(value), low, high });
  };
  return { data, stand, isClosed, outcomeOf, spelt, shown, unusual };
};
