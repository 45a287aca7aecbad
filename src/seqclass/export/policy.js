"use strict";
/* A policy as data, and where a case stands in it. Nothing here touches the page. */
const policyOf = (data) => {
  const TIE = 1e-12;
  const nClasses = data.prior.length;
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const dot = (a, b) => { let total = 0; for (let i = 0; i < a.length; i++) total += a[i] * b[i]; return total; };
  const byDecision = data.decisions.map((_, j) => data.decision_costs.map((row) => row[j]));
  const stopping = (belief) => Math.min(...byDecision.map((costs) => dot(belief, costs)));
  const decide = (belief) => {
    const costs = byDecision.map((column) => dot(belief, column));
    const least = Math.min(...costs);
    return costs.findIndex((cost) => cost <= least * (1 + TIE));
  };

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
  const byVectors = (vectors, joint) => vectors.reduce((least, vector) => Math.min(least, dot(vector, joint)), Infinity);
  const value = (stage, joint) => {
    const stop = stopping(joint);
    if (stage >= data.n_stages) return stop;
    const table = data.values.stages[stage];
    const on = data.values.type === "grid" ? onGrid(table, joint, data.values.resolution) : byVectors(table, joint);
    return Math.min(stop, on);
  };
  const successors = (question, belief) => data.likelihoods[question].map((row) => row.map((p, i) => p * belief[i]));

  /* Best of the others than the one asked, the one asked first. */
  const three = (asked, others) => (asked === null ? others : [asked, ...others.filter((o) => o.feature !== asked.feature)]).slice(0, 3);

  const refuse = (text) => { throw new Error(text); };
  const impossible = (question) => refuse(`The model holds this value of ${data.features[question].name} for impossible after what was seen before.`);

  const price = (question, groups) => {
    const feature = data.features[question];
    return feature.group === null || groups.has(feature.group) ? feature.price : feature.full_price;
  };

  /* With values: any feature at any time. */
  const byValues = (answers) => {
    let belief = data.prior;
    const groups = new Set(), done = new Map(), steps = [];
    for (const answer of answers) {
      const { feature, outcome, known } = answer;
      if (done.has(feature)) refuse(`${data.features[feature].name} was answered before; take that back first.`);
      const pays = !known && (outcome >= 0 || data.charge_missing);
      const paid = pays ? price(feature, groups) : 0;
      if (outcome >= 0) {
        const joint = data.likelihoods[feature][outcome].map((p, i) => p * belief[i]), total = sum(joint);
        if (!(total > 0)) impossible(feature);
        belief = joint.map((p) => p / total);
      }
      if (pays && data.features[feature].group !== null) groups.add(data.features[feature].group);
      done.set(feature, outcome);
      steps.push({ paid, belief });
    }
    const now = stopping(belief), beat = now * (1 - TIE);
    let stage = 0;
    while (done.has(stage) && stage < data.n_stages) stage++;
    const others = data.features.map((_, feature) => feature).filter((feature) => !done.has(feature)).map((feature) => {
      const cost = price(feature, groups);
      return { feature, price: cost, saving: now - cost - sum(successors(feature, belief).map(stopping)) };
    }).sort((a, b) => b.saving - a.saving);
    let asked = null;
    if (stage < data.n_stages && data.values.type === "sure") {
      if (now > data.values.cost) asked = { feature: stage, price: price(stage, groups), saving: null };
    } else if (stage < data.n_stages) {
      const cost = price(stage, groups), extra = cost - data.values.prices[stage];
      const least = cost + sum(belief.map((p, i) => p * Math.min(...data.decision_costs[i])));
      const on = cost + sum(successors(stage, belief).map((joint) => value(stage + 1, joint)));
      const plan = data.values.type === "vectors" ? byVectors(data.values.stages[stage], belief) + extra : Infinity;
      if (beat > least && (plan < beat || on < beat)) asked = { feature: stage, price: cost, saving: now - on };
    }
    return { belief, now, decision: decide(belief), asked, best: three(asked, others), steps, cut: false };
  };

  /* With a graph: what it asks, in its order. */
  const byGraph = (answers) => {
    let node = data.nodes[0];
    const steps = [];
    for (const { feature, outcome } of answers) {
      if (node.ask !== feature) refuse(`This page takes answers in the order in which it asks, and does not ask for ${data.features[feature].name} now.`);
      const paid = outcome >= 0 || data.charge_missing ? node.price : 0;
      const next = outcome >= 0 ? node.next[outcome] : node.missing;
      if (next === null || next === undefined) impossible(feature);
      node = data.nodes[next];
      steps.push({ paid, belief: node.belief });
    }
    const asked = node.ask === undefined ? null : { feature: node.ask, price: node.price, saving: node.saving };
    const others = (node.others || []).map(([feature, cost, saving]) => ({ feature, price: cost, saving }));
    return { belief: node.belief, now: node.cost_now, decision: node.decision, asked, best: three(asked, others), steps, cut: Boolean(node.cut) };
  };

  /* Where a case stands after answers {feature, outcome, known}; outcome -1 is not available. */
  const stand = (answers) => {
    const found = data.kind === "values" ? byValues(answers) : byGraph(answers);
    found.cost = sum(found.steps.map((step) => step.paid));
    return found;
  };

  /* What is told, without the blanks at the edges that categories have not. */
  const spelt = (text) => String(text).replace(/^[ \t\n\r\f\v]+|[ \t\n\r\f\v]+$/g, "");

  /* The outcome that a value, as text, belongs to. */
  const outcomeOf = (number, text) => {
    const feature = data.features[number], told = String(text).trim();
    if (feature.type === "category") {
      const place = feature.categories.indexOf(spelt(text));
      return place >= 0 ? place : refuse(`Choose what ${feature.name} is.`);
    }
    if (feature.type === "outcome") {
      const place = /^\d+$/.test(told) ? Number(told) : -1;
      return place >= 0 && place < feature.n_outcomes ? place : refuse(`${feature.name} must be a whole number from 0 to ${feature.n_outcomes - 1}.`);
    }
    if (told === "") refuse(`Give a number for ${feature.name}, or say that it is not available.`);
    if (/^[+-]?\d+,\d+$/.test(told)) refuse("Write decimals with a point, such as 1.5.");
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(told)) refuse(`${feature.name} must be a number, such as 1.5.`);
    const value = Number(told);
    if (!Number.isFinite(value)) refuse(`${feature.name} must be a finite number.`);
    return feature.places[feature.edges.filter((edge) => edge <= value).length];
  };

  /* What is odd about a value, or nothing. */
  const unusual = (number, text) => {
    const feature = data.features[number], value = Number(text);
    if (feature.type !== "number" || !feature.range || (value >= feature.range[0] && value <= feature.range[1])) return "";
    return `${value} is outside of what training showed of ${feature.name}, ${feature.range[0]} to ${feature.range[1]}. It was taken all the same.`;
  };
  return { data, stand, outcomeOf, spelt, unusual };
};
