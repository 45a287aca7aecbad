"use strict";
(() => {
  const policy = policyOf(JSON.parse(document.getElementById("policy").textContent));
  window.seqclassPolicy = policy;
  const { data } = policy, answers = [];
  let stopped = false;
  const part = (name) => document.querySelector(`[data-part="${name}"]`);
  const made = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };
  const number = (x) => String(Number(x.toPrecision(4)));
  const percent = (p) => p > 0 && p < 0.0005 ? "<0.1%" : p >= 0.9995 && p < 1 ? ">99.9%" : `${(100 * p).toFixed(1)}%`;
  const name = (question) => data.questions[question].name;
  const saves = (saving) => saving === null ? "not told" : number(Math.abs(saving) < 5e-5 ? 0 : saving);
  const say = (text) => { part("problem").textContent = text; };

  /* Fields for what a question shows: for each feature a choice, or a number. */
  const fields = (where, question, id) => {
    where.replaceChildren();
    const shows = data.questions[question].features;
    return shows.map((feature, i) => field(where, feature, i ? `${id}-${i}` : id));
  };
  const field = (where, feature, id) => {
    const { type, categories, outcomes, range } = data.features[feature];
    const label = made("label", data.features[feature].name);
    label.htmlFor = id;
    let input;
    if (type === "number") {
      input = made("input");
      input.type = "text";
      input.inputMode = "decimal";
      input.autocomplete = "off";
    } else {
      input = made("select");
      input.append(new Option("choose", ""));
      (categories || outcomes).forEach((text, i) => input.append(new Option(text, categories ? text : String(i))));
    }
    input.id = id;
    input.setAttribute("aria-describedby", `${id}-hint`);
    const hint = made("p", range ? `Training showed ${number(range[0])} to ${number(range[1])}.` : "", "note");
    hint.id = `${id}-hint`;
    where.append(label, input, hint);
    return input;
  };

  /* Of several that come at once those left blank are not available. */
  const read = (question, inputs) => data.questions[question].features.map((feature, i) =>
    inputs.length > 1 && inputs[i].value.trim() === "" ? null : guardedValue(inputs[i], feature));
  const guardedValue = (input, feature) => {
    try { policy.outcomeOf(feature, input.value); } catch (error) { error.input = input; throw error; }
    return input.value;
  };
  const shown = (answer) => {
    const shows = data.questions[answer.question].features, values = answer.texts.map((text, i) => [data.features[shows[i]].name, text]);
    if (values.every(([, text]) => text === null)) return "not available";
    return values.length === 1 ? values[0][1] : values.map(([of, text]) => `${of} ${text === null ? "not available" : text}`).join(", ");
  };
  /* Takes an answer: a text for each feature, null where it is not available; or null for all. */
  const take = (question, given, known) => {
    const shows = data.questions[question].features, texts = given || shows.map(() => null);
    const outcomes = texts.map((text, i) => text === null ? -1 : policy.outcomeOf(shows[i], text));
    const answer = { question, outcomes, known, texts: texts.map((text, i) => text === null ? null : told(shows[i], text)) };
    policy.stand([...answers, answer]);
    answers.push(answer);
    stopped = false;
    draw();
    say(texts.map((text, i) => text === null ? "" : policy.unusual(shows[i], text)).filter(Boolean).join(" "));
  };
  const told = (feature, text) => data.features[feature].type === "outcome" ? data.features[feature].outcomes[Number(text)] : policy.spelt(text);
  const guarded = (input, action) => {
    try { action(); } catch (error) {
      say(error.message);
      const at = error.input || input;
      if (at) { at.setAttribute("aria-invalid", "true"); at.focus(); }
    }
  };

  const drawBelief = (belief) => {
    part("belief").replaceChildren(...data.classes.map((label, i) => {
      const row = made("div"), bar = made("dd", undefined, "belief"), track = made("div", undefined, "track");
      const fill = made("div", undefined, "fill");
      fill.style.width = `${100 * belief[i]}%`;
      track.append(fill);
      track.setAttribute("aria-hidden", "true");
      bar.append(track);
      row.append(made("dt", label), bar, made("dd", percent(belief[i])));
      return row;
    }));
  };
  const drawBest = (best, asked) => {
    // what saves nothing beyond its price, or less, promises nothing
    best = best.filter((one) => one.saving === null || one.saving > -0.995 * one.price || (asked && one.question === asked.question));
    part("best").replaceChildren(...best.map((one) => {
      const row = made("tr"), head = made("th", name(one.question) + (asked && one.question === asked.question ? " (asked)" : ""));
      head.scope = "row";
      row.append(head, made("td", number(one.price), "n"), made("td", saves(one.saving), "n"));
      return row;
    }));
    part("why").hidden = best.length === 0;
  };
  const drawAnswers = (at) => {
    part("answers").replaceChildren(...answers.map((answer, i) =>
      made("li", `${name(answer.question)} = ${shown(answer)}: paid ${number(at.steps[i].paid)}${answer.known ? " (known before)" : ""}`)));
    part("none").hidden = answers.length > 0;
    for (const button of ["undo", "again"]) part(button).disabled = answers.length === 0;
  };
  const drawOther = (at) => {
    const box = part("other");
    if (!box) return;
    const choice = part("which"), open = data.questions.map((_, i) => i).filter((i) => answers.every((a) => a.question !== i));
    box.hidden = open.length === 0;
    choice.replaceChildren(...open.map((i) => new Option(name(i), String(i))));
    if (open.length) otherField();
    part("known").checked = false;
  };
  let otherInputs = [], inputs = [];
  const otherField = () => { otherInputs = fields(part("other-field"), Number(part("which").value), "other-value"); };
  const record = (at, ended) => {
    const lines = [document.title, ""];
    answers.forEach((a, i) => lines.push(`${i + 1}. ${name(a.question)} = ${shown(a)}, paid ${number(at.steps[i].paid)}: ${data.classes.map((label, j) => `${label} ${percent(at.steps[i].belief[j])}`).join(", ")}`));
    if (!answers.length) lines.push("No answers.");
    lines.push("", `${ended ? "Decision" : "Decision as things stand"}: ${data.decisions[at.decision]}`, `Expected cost of this decision ${number(at.now)}, paid ${number(at.cost)}.`);
    return lines.join("\n");
  };

  let focusNext = false;
  const draw = () => {
    const at = policy.stand(answers), ended = stopped || at.asked === null;
    say("");
    part("ask").hidden = ended;
    part("done").hidden = !ended;
    if (!ended) {
      part("asked").textContent = `${answers.length + 1}. ${name(at.asked.question)}`;
      part("price").textContent = `Price ${number(at.asked.price)}` + (at.asked.saving === null ? "." : `; expected to save ${saves(at.asked.saving)} beyond it.`);
      inputs = fields(part("field"), at.asked.question, "value");
      if (focusNext) inputs[0].focus();
    } else {
      part("decided").textContent = `Decision: ${data.decisions[at.decision]}`;
      part("because").textContent = at.cut ? "Cases as rare as this one are not followed further on this page: this is the decision as things stand."
        : at.asked === null ? "Nothing more is asked: no further question is expected to pay for itself, or none is left." : "You stopped before the end.";
      part("go-on").hidden = at.asked === null;
      if (focusNext) part("decided").focus();
    }
    part("standing").textContent = ended ? "" : `As things stand: ${data.decisions[at.decision]}.`;
    part("costs").textContent = `Paid so far ${number(at.cost)}; deciding now is expected to cost ${number(at.now)} more.`;
    drawBelief(at.belief);
    drawBest(at.best, ended ? null : at.asked);
    drawAnswers(at);
    drawOther(at);
    part("record").textContent = record(at, ended);
    part("copied").textContent = "";
    focusNext = false;
  };

  const asked = () => policy.stand(answers).asked.question;
  const act = (action) => { focusNext = true; action(); };
  part("form").addEventListener("submit", (event) => {
    event.preventDefault();
    act(() => guarded(inputs[0], () => { const question = asked(); take(question, read(question, inputs), false); }));
  });
  part("missing").addEventListener("click", () => act(() => guarded(null, () => take(asked(), null, false))));
  part("stop").addEventListener("click", () => act(() => { stopped = true; draw(); }));
  part("go-on").addEventListener("click", () => act(() => { stopped = false; draw(); }));
  part("undo").addEventListener("click", () => act(() => { answers.pop(); stopped = false; draw(); }));
  part("again").addEventListener("click", () => act(() => { answers.length = 0; stopped = false; draw(); }));
  part("print").addEventListener("click", () => window.print());
  part("copy").addEventListener("click", () => {
    const range = document.createRange(), selection = getSelection();
    range.selectNodeContents(part("record"));
    selection.removeAllRanges();
    selection.addRange(range);
    part("copied").textContent = document.execCommand("copy") ? "Copied." : "The record is selected: copy it.";
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
