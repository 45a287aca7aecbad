"use strict";
(() => {
  const held = (id) => JSON.parse(document.getElementById(id).textContent);
  const words = held("words");
  const say = (key, about = {}) => words[key].replace(/\{(\w+)\}/g, (whole, name) => Object.hasOwn(about, name) ? about[name] : whole);
  const policy = policyOf(held("policy"), say);
  window.seqclassPolicy = policy;
  const { data } = policy, answers = [];
  /* What is known of every case, which is told before the first question. */
  const atStart = data.questions.map((_, i) => i).filter((i) => data.questions[i].known);
  let stopped = false, begun = false;
  const given = () => answers.filter((one) => !one.leave);
  const part = (name) => document.querySelector(`[data-part="${name}"]`);
  const made = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };
  const number = (x) => policy.shown(Math.abs(x) >= 9999.5 ? Math.round(x) : Number(x.toPrecision(4)));
  const money = (x) => data.unit ? `${number(x)}\u00a0${data.unit}` : number(x);
  const percent = (p) => {
    const [sign, shown] = p > 0 && p < 0.0005 ? ["<", "0.1"] : p >= 0.9995 && p < 1 ? [">", "99.9"] : ["", (100 * p).toFixed(1)];
    return sign + say("percent", { p: policy.shown(shown) });
  };
  const name = (question) => data.questions[question].text;
  const saves = (saving) => saving === null ? say("untold") : money(Math.abs(saving) < 5e-5 ? 0 : saving);
  const answered = (question, text) => `${question}${/[?:.!]$/.test(question) ? " " : " = "}${text}`;
  const lines = (...texts) => texts.filter(Boolean).join("\n");
  const warn = (text) => { part("problem").textContent = text; };

  /* Fields for what a question shows: for each feature a choice, or a number. */
  const fields = (where, question, id) => {
    const { features: shows, text, help, url } = data.questions[question];
    // of a bundle what is told of the whole stands first
    where.replaceChildren(...shows.length > 1 ? [...help ? [made("p", help, "note hint")] : [], ...more(text, url)] : []);
    return data.questions[question].marks ? boxes(where, question, id) : shows.map((feature, i) => field(where, feature, i ? `${id}-${i}` : id));
  };
  /* Check boxes for the marks of a question, and one for none of them; until one is checked nothing is answered. */
  const boxes = (where, question, id) => {
    const { marks, text } = data.questions[question], set = made("fieldset");
    set.append(made("legend", text));
    const [none, ...inputs] = [say("none_of_these"), ...marks].map((words, i) => {
      const row = made("div", undefined, "check"), input = made("input"), label = made("label", words);
      input.type = "checkbox";
      input.id = label.htmlFor = i === 0 ? `${id}-none` : i > 1 ? `${id}-${i - 1}` : id;
      row.append(input, label);
      set.append(row);
      return input;
    });
    set.append(none.parentElement);
    none.addEventListener("change", () => { if (none.checked) inputs.forEach((input) => { input.checked = false; }); });
    inputs.forEach((input) => {
      input.addEventListener("change", () => { if (input.checked) none.checked = false; });
      Object.defineProperty(input, "value", {
        get: () => input.checked ? "yes" : none.checked || inputs.some((one) => one.checked) ? "no" : "",
        set: (value) => {
          input.checked = value === "yes";
          none.checked = value !== "" && !inputs.some((one) => one.checked);
        },
      });
    });
    where.append(set);
    return inputs;
  };
  const field = (where, feature, id) => {
    const { text, unit, help, url, choices, range } = data.features[feature];
    const label = made("label", unit ? `${text} (${unit})` : text);
    label.htmlFor = id;
    let input;
    if (!choices) {
      input = made("input");
      input.type = "text";
      input.inputMode = "decimal";
      input.autocomplete = "off";
    } else {
      input = made("select");
      input.append(new Option(say("choose"), ""), ...choices.map(([value, words]) => new Option(words, value)));
    }
    input.id = id;
    input.setAttribute("aria-describedby", `${id}-hint`);
    const ends = range && !choices ? range.map((end) => [number(end), unit].filter(Boolean).join(" ")) : null;
    const hint = made("p", lines(help, ends && say("range", { low: ends[0], high: ends[1] })), "note hint");
    hint.id = `${id}-hint`;
    where.append(label, input, hint, ...more(text, url));
    return input;
  };
  /* Where to read more: a link, and only when it is followed is anything loaded. */
  const more = (text, url) => {
    if (!url) return [];
    const place = made("p", undefined, "note"), link = made("a", say("more", { name: text }));
    Object.assign(link, { href: url, target: "_blank", rel: "noopener noreferrer" });
    place.append(link);
    return [place];
  };

  /* Of several that come at once those left blank are not available. */
  const read = (question, inputs) => {
    if (data.questions[question].marks && blank({ inputs })) throw new Error(say("fill"));
    return data.questions[question].features.map((feature, i) =>
      inputs.length > 1 && inputs[i].value.trim() === "" ? null : guardedValue(inputs[i], feature));
  };
  const guardedValue = (input, feature) => {
    try { policy.outcomeOf(feature, input.value); } catch (error) { error.input = input; throw error; }
    return input.value;
  };
  /* Of what is missing whether that is an answer, where it tells something. */
  const gap = (feature) => say(data.features[feature].missing === undefined ? "missing" : "missing_counts");
  const shown = (answer) => {
    const shows = data.questions[answer.question].features, texts = answer.texts.map((text, i) => text ?? gap(shows[i]));
    const { marks } = data.questions[answer.question];
    if (marks && !answer.texts.includes(null)) return marks.filter((_, i) => answer.typed[i] === "yes").join(", ") || say("none_of_these");
    const alike = answer.texts.every((text) => text === null) && new Set(texts).size === 1;
    return alike || texts.length === 1 ? texts[0] : texts.map((text, i) => `${data.features[shows[i]].text} ${text}`).join(", ");
  };
  /* Takes an answer: a text for each feature, null where it is not available; or null for all. */
  const take = (question, values, known) => takeAll([{ question, values, known }]);
  const takeAll = (some) => {
    const { asked } = data.visits ? policy.stand(answers) : {}, among = asked ? asked.panel.map((one) => one.question) : undefined;
    const more = some.map((one) => entry({ ...one, among }));
    replace([...answers, ...more], more);
  };
  /* An answer as it is kept: its outcomes, and what was typed, in words, with what is odd about it. */
  const entry = ({ question, values, known, among }) => {
    const shows = data.questions[question].features, typed = values || shows.map(() => null);
    const outcomes = typed.map((text, i) => text === null ? -1 : policy.outcomeOf(shows[i], text));
    const texts = typed.map((text, i) => text === null ? null : told(shows[i], text, outcomes[i]));
    const odd = typed.map((text, i) => text === null ? "" : policy.unusual(shows[i], text)).filter(Boolean);
    return { question, outcomes, known: known || Boolean(data.questions[question].known), among, typed, texts, odd };
  };
  /* Other answers, if they can be, of which some are new. */
  const replace = (others, some) => {
    policy.stand(others);
    answers.splice(0, answers.length, ...others);
    stopped = false;
    draw();
    warn(some.flatMap(({ odd }) => odd).join(" "));
  };
  /* Another answer in the place of one; later ones stay, but those that skip logic leaves out after it, and those that a
     graph would not ask for any more. */
  const change = (i, values) => {
    const other = entry({ ...answers[i], values }), kept = [...answers.slice(0, i), other], gone = [];
    const later = data.kind === "program" ? [] : answers.slice(i + 1);
    if (data.kind === "program") answers.slice(i + 1).forEach((one, n) => {
      const out = !one.leave && policy.isClosed(kept, one.question) && !policy.isClosed(answers.slice(0, i + 1 + n), one.question);
      (out ? gone : kept).push(one);
    });
    const follows = (one) => { const { asked } = policy.stand(kept); return asked !== null && asked.question === one.question; };
    while (later.length && follows(later[0])) kept.push(later.shift());
    gone.push(...later);
    replace(kept, [other]);
    if (gone.length) warn(lines(...other.odd, say("dropped", { names: names(gone) })));
    part("answers").children[i].firstChild.focus();
  };
  /* What was answered, in words: those of the choice, or the number with its unit and the words of its bin. */
  const told = (feature, text, outcome) => {
    const { choices, unit, answers: texts, outcomes } = data.features[feature], typed = policy.spelt(text);
    const chosen = choices && choices.find(([value]) => value === typed);
    if (chosen) return chosen[1];
    return [typed, unit, texts[outcome] === outcomes[outcome] ? "" : `(${texts[outcome]})`].filter(Boolean).join(" ");
  };
  const guarded = (input, action) => {
    for (const one of document.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
    try { action(); } catch (error) {
      warn(error.message);
      const at = error.input || input;
      if (at) { at.setAttribute("aria-invalid", "true"); at.focus(); }
    }
  };

  /* What a page for the person who is asked says at its end: "end", "decision" or "record"; nothing for other pages. */
  const toldLast = part("case").dataset.respondent;

  const drawBelief = (belief) => {
    part("belief").replaceChildren(...data.class_order.map((i) => {
      const row = made("div"), bar = made("dd", undefined, "belief"), track = made("div", undefined, "track");
      const fill = made("div", undefined, "fill");
      fill.style.width = `${100 * belief[i]}%`;
      track.append(fill);
      track.setAttribute("aria-hidden", "true");
      bar.append(track);
      row.append(made("dt", data.class_texts[i]), bar, made("dd", percent(belief[i])));
      return row;
    }));
  };
  const names = (panel) => panel.map(({ question }) => name(question)).join(", ");
  const priceOf = (panel) => panel.reduce((all, one) => all + one.price, 0);
  const drawBest = (best, asked) => {
    // what saves nothing beyond its price, or less, promises nothing
    best = best.filter((one) => one.saving === null || one.saving > -0.995 * one.price || (asked && one.question === asked.question));
    part("best").replaceChildren(...best.map((one) => {
      const row = made("tr"), head = made("th", asked && one.question === asked.question ? say("asked", { name: name(one.question) }) : name(one.question));
      head.scope = "row";
      row.append(head, made("td", money(one.price), "n"), made("td", saves(one.saving), "n"));
      return row;
    }));
    part("why").hidden = best.length === 0;
  };
  const drawAnswers = (at) => {
    part("answers").replaceChildren(...answers.map((answer, i) => {
      const text = sentence(answer, paidAt(at.steps[i])), item = made("li", answer.leave ? text : undefined);
      if (answer.leave) return item;
      const line = made("button", text, "line");
      line.type = "button";
      line.setAttribute("aria-expanded", "false");
      line.addEventListener("click", () => openChange(item, i));
      item.append(line, ...answer.odd.map((odd) => made("p", odd, "note")));
      return item;
    }));
    part("none").hidden = answers.length > 0;
    part("to-change").hidden = given().length === 0;
    part("undo").disabled = answers.length === 0;
    part("again").disabled = answers.length === 0 && !(begun && atStart.length);
  };
  /* Fields in which an answer is changed, under it; its line closes them again. */
  const openChange = (item, i) => {
    const { question, typed } = answers[i], line = item.firstChild, opened = item.querySelector("form");
    for (const form of part("answers").querySelectorAll("form")) {
      form.parentNode.firstChild.setAttribute("aria-expanded", "false");
      form.remove();
    }
    if (opened) { line.focus(); return; }
    const form = made("form"), where = made("div"), row = made("div", undefined, "row"), inputs = fields(where, question, "change");
    const buttons = ["change", "unavailable", "keep"].map((key) => made("button", say(key)));
    form.noValidate = true;
    buttons.forEach((button, k) => { button.type = k ? "button" : "submit"; });
    buttons[0].className = "main";
    inputs.forEach((input, k) => { input.value = typed[k] ?? ""; });
    form.addEventListener("submit", (event) => { event.preventDefault(); guarded(inputs[0], () => change(i, read(question, inputs))); });
    buttons[1].addEventListener("click", () => guarded(null, () => change(i, null)));
    buttons[2].addEventListener("click", () => openChange(item, i));
    row.append(...buttons);
    form.append(where, row);
    item.append(form);
    line.setAttribute("aria-expanded", "true");
    inputs[0].focus();
  };
  /* What was paid, and of it for a visit. */
  const paidAt = ({ paid, visit, n }) => visit ? say("with_visit", { price: money(paid), visit: money(visit), n }) : money(paid);
  const sentence = (answer, price) => answer.leave ? say("left")
    : say(answer.known ? "paid_known" : "paid", { answer: answered(name(answer.question), shown(answer)), price });
  const drawOther = (at) => {
    const box = part("other");
    if (!box) return;
    const choice = part("which"), open = data.questions.map((_, i) => i).filter((i) => answers.every((a) => a.question !== i));
    box.hidden = open.length === 0;
    choice.replaceChildren(...open.map((i) => new Option(name(i), String(i))));
    if (open.length) otherField();
    part("known").checked = false;
  };
  let otherInputs = [], panelInputs = [];
  const otherField = () => { otherInputs = fields(part("other-field"), Number(part("which").value), "other-value"); };
  const possible = (at) => at.set === null ? "" : say("possible", { classes: at.set.map((i) => data.class_texts[i]).join(", ") });
  /* Why it is not decided for the likeliest class, where it is not. */
  const cheapest = (at) => {
    const likely = at.belief.indexOf(Math.max(...at.belief)), cost = at.belief.reduce((all, p, i) => all + p * data.decision_costs[i][likely], 0);
    return cost > at.now * (1 + 1e-12) ? say("cheapest", { cost: money(at.now), other: money(cost), label: data.class_texts[likely] }) : "";
  };
  const day = () => { const now = new Date(), two = (n) => String(n).padStart(2, "0"); return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`; };
  const record = (at, ended) => {
    const lines = [document.title, part("model").textContent, say("of_case", { number: part("case-number").value.trim() || "–", date: day() }), ""];
    let n = 0;
    answers.forEach((a, i) => {
      if (a.leave) { lines.push(say("left")); return; }
      const beliefs = data.class_order.map((j) => `${data.class_texts[j]} ${percent(at.steps[i].belief[j])}`).join(", ");
      lines.push(say("line", { n: ++n, answer: answered(name(a.question), shown(a)), price: paidAt(at.steps[i]), beliefs }), ...a.odd.map((odd) => `   ${odd}`));
    });
    if (!answers.length) lines.push(say("no_answers"));
    lines.push("", say(ended ? "decision" : "as_stands", { decision: data.decision_texts[at.decision] }), ...[cheapest(at)].filter(Boolean), ...(at.set === null ? [] : [possible(at)]), say("cost", { cost: money(at.now), paid: money(at.paid) }));
    return lines.join("\n");
  };

  /* Fields of all that is asked together; of several each can be unavailable by itself, and what is blank is waited for. */
  const drawFields = (panel) => {
    const several = panel.length > 1;
    panelInputs = panel.map(({ question, price }, i) => {
      const where = made("div", undefined, several ? "one" : undefined), inputs = fields(where, question, i ? `value-p${i}` : "value");
      if (several) {
        if (data.questions[question].features.length > 1) where.prepend(made("strong", name(question)));
        const row = made("div", undefined, "row"), gone = made("button", say("gone", { name: name(question) }));
        gone.type = "button";
        gone.addEventListener("click", () => act(() => guarded(null, () => take(question, null, false))));
        row.append(gone, ...toldLast ? [] : [made("span", say("costs", { price: money(price) }), "note")]);
        where.append(row);
      }
      return { question, inputs, where };
    });
    part("field").replaceChildren(...panelInputs.map(({ where }) => where));
  };
  const blank = ({ inputs }) => inputs.every((input) => input.value.trim() === "");
  const takePanel = () => {
    const filled = panelInputs.length > 1 ? panelInputs.filter((one) => !blank(one)) : panelInputs;
    if (!filled.length) throw new Error(say("fill"));
    takeAll(filled.map(({ question, inputs }) => ({ question, values: read(question, inputs), known: false })));
  };

  /* What is known of every case and not told yet; what was typed stays as long as the same is asked for. */
  let beginInputs = [];
  const drawBegin = (open) => {
    if (open.join() === beginInputs.map((one) => one.question).join()) return;
    beginInputs = open.map((question, i) => {
      const where = made("div"), inputs = fields(where, question, `begin-${i}`);
      if (inputs.length > 1) where.prepend(made("strong", name(question)));
      return { question, inputs, where };
    });
    part("begin-fields").replaceChildren(...beginInputs.map(({ where }) => where));
  };
  /* That a feature is missing is told where that tells something. */
  const begin = () => {
    const counts = ({ question }) => data.questions[question].features.some((f) => data.features[f].missing !== undefined);
    const some = beginInputs.filter((one) => !blank(one) || counts(one))
      .map((one) => ({ question: one.question, values: blank(one) ? null : read(one.question, one.inputs), known: true }));
    begun = true;
    try { takeAll(some); } catch (error) { begun = false; throw error; }
  };

  let focusNext = false, write;
  const draw = () => {
    const at = policy.stand(answers), ended = stopped || at.asked === null;
    const open = begun ? [] : atStart.filter((i) => answers.every((a) => a.question !== i)), starts = open.length > 0;
    warn("");
    drawBegin(open);
    part("begin").hidden = !starts;
    part("ask").hidden = starts || ended;
    part("done").hidden = starts || !ended;
    if (starts) {
      if (focusNext) beginInputs[0].inputs[0].focus();
    } else if (!ended) {
      const { panel, waiting, visit, saving, added, must } = at.asked, several = panel.length > 1, one = name(at.asked.question);
      part("asked").textContent = waiting ? say("waits", { names: names(panel) })
        : several ? say("together", { names: names(panel) }) : `${given().length + 1}. ${one}`;
      const told = [say(visit ? "panel_costs" : "costs", { price: money(priceOf(panel)), visit: money(visit) })];
      if (must && !(saving > 0)) told.push(say("demanded"));
      else if (saving !== null && !waiting) told.push(say("going_on", { saving: saves(saving) }));
      if (added !== null && saving > 0 && !waiting) told.push(say(several ? "adds_together" : "adds", { added: saves(added) }));
      part("price").textContent = told.join(" ");
      drawFields(panel);
      part("missing").hidden = several;
      part("leave").hidden = !waiting;
      if (focusNext) panelInputs[0].inputs[0].focus();
    } else {
      part("decided").textContent = toldLast === "end" ? say("over") : say("decision", { decision: data.decision_texts[at.decision] });
      part("possible").textContent = possible(at);
      part("cheapest").textContent = cheapest(at);
      const all = data.questions.every((one, i) => one.known || answers.some((a) => a.question === i) || policy.isClosed(answers, i));
      part("because").textContent = say(at.cut ? "rare" : at.asked !== null ? "stopped" : all ? "all_asked" : "ended");
      part("go-on").hidden = at.asked === null;
      if (focusNext) part("decided").focus();
    }
    part("standing").textContent = ended || starts ? "" : say("standing", { decision: data.decision_texts[at.decision] });
    part("costs").textContent = starts ? "" : [say("so_far", { paid: money(at.paid), cost: money(at.now) }), data.visits ? say("n_visits", { n: at.visits }) : ""].filter(Boolean).join(" ");
    drawBelief(at.belief);
    drawBest(starts ? [] : at.best, ended ? null : at.asked);
    drawAnswers(at);
    drawOther(at);
    if (toldLast) {
      for (const some of ["why", "price", "stop", "go-on", "cheapest", "possible", "because"]) part(some).hidden = true;
      for (const some of ["belief", "answers"]) part(some).closest("section").hidden = true;
      part("record").closest("section").hidden = starts || !ended || toldLast !== "record";
    }
    write = () => { part("record").textContent = record(at, ended); };
    write();
    part("copied").textContent = "";
    focusNext = false;
  };

  const asked = () => policy.stand(answers).asked.question;
  const act = (action) => { focusNext = true; action(); };
  part("begin").addEventListener("submit", (event) => { event.preventDefault(); act(() => guarded(null, begin)); });
  part("form").addEventListener("submit", (event) => {
    event.preventDefault();
    act(() => guarded(panelInputs[0].inputs[0], takePanel));
  });
  part("missing").addEventListener("click", () => act(() => guarded(null, () => take(asked(), null, false))));
  part("leave").addEventListener("click", () => act(() => guarded(null, () => { answers.push({ leave: true }); draw(); })));
  part("stop").addEventListener("click", () => act(() => { stopped = true; draw(); }));
  part("go-on").addEventListener("click", () => act(() => { stopped = false; draw(); }));
  part("undo").addEventListener("click", () => act(() => { answers.pop(); stopped = false; begun = begun && answers.length > 0; draw(); }));
  part("again").addEventListener("click", () => act(() => { answers.length = 0; stopped = false; begun = false; part("case-number").value = ""; draw(); }));
  part("case-number").addEventListener("input", () => write());
  part("print").addEventListener("click", () => window.print());
  part("copy").addEventListener("click", () => {
    const range = document.createRange(), selection = getSelection();
    range.selectNodeContents(part("record"));
    selection.removeAllRanges();
    selection.addRange(range);
    part("copied").textContent = say(document.execCommand("copy") ? "copied" : "selected");
  });
  if (part("other")) {
    part("which").addEventListener("change", otherField);
    part("other-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const question = Number(part("which").value);
      guarded(otherInputs[0], () => take(question, read(question, otherInputs), part("known").checked));
    });
    part("other-missing").addEventListener("click", () => guarded(null, () => take(Number(part("which").value), null, false)));
  }
  part("case").hidden = false;
  draw();
})();
