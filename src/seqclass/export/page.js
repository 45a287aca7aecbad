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
  const name = (feature) => data.features[feature].name;
  const saves = (saving) => saving === null ? "not told" : number(Math.abs(saving) < 5e-5 ? 0 : saving);
  const say = (text) => { part("problem").textContent = text; };

  /* A field for one feature: a choice, or a number. */
  const field = (where, feature, id) => {
    where.replaceChildren();
    const { type, categories, outcomes, range } = data.features[feature];
    const label = made("label", name(feature));
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

  const shown = (answer) => answer.outcome < 0 ? "not available" : answer.text;
  const take = (feature, text, known) => {
    const missing = text === null;
    const outcome = missing ? -1 : policy.outcomeOf(feature, text);
    const answer = { feature, outcome, known, text: missing ? null : told(feature, text) };
    policy.stand([...answers, answer]);
    answers.push(answer);
    stopped = false;
    draw();
    say(missing ? "" : policy.unusual(feature, text));
  };
  const told = (feature, text) => data.features[feature].type === "outcome" ? data.features[feature].outcomes[Number(text)] : policy.spelt(text);
  const guarded = (input, action) => {
    try { action(); } catch (error) {
      say(error.message);
      if (input) { input.setAttribute("aria-invalid", "true"); input.focus(); }
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
    best = best.filter((one) => one.saving === null || one.saving > -0.995 * one.price || (asked && one.feature === asked.feature));
    part("best").replaceChildren(...best.map((one) => {
      const row = made("tr"), head = made("th", name(one.feature) + (asked && one.feature === asked.feature ? " (asked)" : ""));
      head.scope = "row";
      row.append(head, made("td", number(one.price), "n"), made("td", saves(one.saving), "n"));
      return row;
    }));
    part("why").hidden = best.length === 0;
  };
  const drawAnswers = (at) => {
    part("answers").replaceChildren(...answers.map((answer, i) =>
      made("li", `${name(answer.feature)} = ${shown(answer)}: paid ${number(at.steps[i].paid)}${answer.known ? " (known before)" : ""}`)));
    part("none").hidden = answers.length > 0;
    for (const button of ["undo", "again"]) part(button).disabled = answers.length === 0;
  };
  const drawOther = (at) => {
    const box = part("other");
    if (!box) return;
    const choice = part("which"), open = data.features.map((_, i) => i).filter((i) => answers.every((a) => a.feature !== i));
    box.hidden = open.length === 0;
    choice.replaceChildren(...open.map((i) => new Option(name(i), String(i))));
    if (open.length) otherField();
    part("known").checked = false;
  };
  const otherField = () => field(part("other-field"), Number(part("which").value), "other-value");
  const record = (at, ended) => {
    const lines = [document.title, ""];
    answers.forEach((a, i) => lines.push(`${i + 1}. ${name(a.feature)} = ${shown(a)}, paid ${number(at.steps[i].paid)}: ${data.classes.map((label, j) => `${label} ${percent(at.steps[i].belief[j])}`).join(", ")}`));
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
      part("asked").textContent = `${answers.length + 1}. ${name(at.asked.feature)}`;
      part("price").textContent = `Price ${number(at.asked.price)}` + (at.asked.saving === null ? "." : `; expected to save ${saves(at.asked.saving)} beyond it.`);
      const input = field(part("field"), at.asked.feature, "value");
      if (focusNext) input.focus();
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

  const asked = () => policy.stand(answers).asked.feature;
  const act = (action) => { focusNext = true; action(); };
  part("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const input = document.getElementById("value");
    act(() => guarded(input, () => take(asked(), input.value, false)));
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
      const input = document.getElementById("other-value");
      guarded(input, () => take(Number(part("which").value), input.value, part("known").checked));
    });
    part("other-missing").addEventListener("click", () => guarded(null, () => take(Number(part("which").value), null, false)));
  }
  part("case").hidden = false;
  draw();
})();
