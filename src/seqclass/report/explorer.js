// The explorer: pick an instance, step through what was asked and how the belief moved.
"use strict";
(() => {
  const root = document.getElementById("explorer");
  const held = document.getElementById("explored");
  if (!held) return;
  const sets = JSON.parse(held.textContent);
  const at = (name) => root.querySelector(`[data-part="${name}"]`);
  const part = Object.fromEntries(
    ["set", "case", "earlier", "later", "note", "previous", "next", "slider", "told", "beliefs", "others", "list"].map(
      (name) => [name, at(name)]
    )
  );
  const BARS = 12;
  let set, chosen, step;

  const make = (name, text = "", attributes = {}) => {
    const node = document.createElement(name);
    node.textContent = text;
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };

  const percent = (p) => {
    if (p > 0 && p < 0.0005) return "<0.1%";
    if (p >= 0.9995 && p < 1) return ">99.9%";
    return `${(100 * p).toFixed(1)}%`;
  };
  const beliefAt = (k) => (k === 0 ? chosen.prior : chosen.steps[k - 1].after);
  const leader = (belief) => {
    const best = belief.indexOf(Math.max(...belief));
    return `${set.classes[best]} ${percent(belief[best])}`;
  };

  // What happened at a step, in one or two sentences each.
  const tell = (k) => {
    const lines = [];
    if (k === 0) lines.push("Nothing has been asked yet.");
    else {
      const asked = chosen.steps[k - 1];
      if (asked.visit) lines.push(`${asked.visit}.`);
      const label = asked.label === null ? "" : ` (${asked.label})`;
      lines.push(asked.shown === null ? `${asked.name} was asked for and is missing.` : `${asked.name} = ${asked.shown}${label}.`);
      const saving = asked.saving === "" ? "" : `; asking was ${asked.saving}`;
      lines.push(`Price ${asked.price}, paid ${asked.paid}${saving}.`);
    }
    lines.push(`Likeliest: ${leader(beliefAt(k))}.`);
    if (k === chosen.steps.length) lines.push(chosen.stop, chosen.decided);
    return lines;
  };

  // The classes that mattered at any time, so that the bars keep their places from step to step.
  const shownClasses = () => {
    const most = set.classes.map((_, i) => Math.max(chosen.prior[i], ...chosen.steps.map((s) => s.after[i])));
    const order = set.classes.map((_, i) => i).sort((a, b) => most[b] - most[a] || a - b);
    return order.slice(0, BARS).sort((a, b) => a - b);
  };

  const drawBeliefs = () => {
    const now = beliefAt(step);
    const before = beliefAt(Math.max(step - 1, 0));
    const shown = shownClasses();
    part.beliefs.replaceChildren(
      ...shown.map((i) => {
        const row = make("div");
        const change = 100 * (now[i] - before[i]);
        const moved = Math.abs(change) < 0.05 ? "" : ` (${change > 0 ? "+" : "−"}${Math.abs(change).toFixed(1)})`;
        const track = make("div", "", { class: "track", "aria-hidden": "true" });
        const fill = make("div", "", { class: "fill" });
        const was = make("div", "", { class: "was" });
        fill.style.width = `${100 * now[i]}%`;
        was.style.left = `calc(${100 * before[i]}% - 1px)`;
        track.append(fill, was);
        const bar = make("dd", "", { class: "belief" });
        bar.append(track);
        row.append(make("dt", set.classes[i]), bar, make("dd", percent(now[i]) + moved));
        return row;
      })
    );
    const left = set.classes.length - shown.length;
    part.others.textContent = left ? `${left} less likely classes are not shown.` : "";
  };

  const go = (k) => {
    const last = chosen.steps.length;
    step = Math.min(Math.max(k, 0), last);
    part.slider.value = step;
    part.slider.setAttribute("aria-valuetext", `step ${step} of ${last}`);
    part.previous.setAttribute("aria-disabled", step === 0);
    part.next.setAttribute("aria-disabled", step === last);
    const heading = make("p");
    heading.append(make("strong", `Step ${step} of ${last}`));
    part.told.replaceChildren(heading, ...tell(step).map((line) => make("p", line)));
    [...part.list.querySelectorAll("button")].forEach((button, i) => {
      if (i === step) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    drawBeliefs();
  };

  const pickCase = (number) => {
    if (number < 0 || number >= set.cases.length) return;
    chosen = set.cases[number];
    part.case.selectedIndex = number;
    part.earlier.setAttribute("aria-disabled", number === 0);
    part.later.setAttribute("aria-disabled", number === set.cases.length - 1);
    part.slider.max = chosen.steps.length;
    const names = ["before anything", ...chosen.steps.map((s) => `${s.name} = ${s.shown === null ? "missing" : s.shown}`)];
    part.list.replaceChildren(
      ...names.map((name, k) => {
        const item = make("li");
        const button = make("button", name, { type: "button" });
        button.addEventListener("click", () => go(k));
        const visit = k > 0 && chosen.steps[k - 1].visit;
        if (visit) item.append(make("span", `Visit ${chosen.steps[k - 1].number}`, { class: "visit" }));
        item.append(button);
        return item;
      })
    );
    go(0);
  };

  const pickSet = (i) => {
    set = sets[i];
    part.note.textContent = set.note;
    part.case.replaceChildren(...set.cases.map((c) => make("option", c.title)));
    pickCase(0);
  };

  part.set.replaceChildren(...sets.map((s) => make("option", s.name)));
  part.set.addEventListener("change", () => pickSet(part.set.selectedIndex));
  part.case.addEventListener("change", () => pickCase(part.case.selectedIndex));
  part.earlier.addEventListener("click", () => pickCase(part.case.selectedIndex - 1));
  part.later.addEventListener("click", () => pickCase(part.case.selectedIndex + 1));
  part.previous.addEventListener("click", () => go(step - 1));
  part.next.addEventListener("click", () => go(step + 1));
  part.slider.addEventListener("input", () => go(Number(part.slider.value)));

  // Arrow keys step wherever the focus is in here, but in a list to pick from, which has a use of its own for them.
  root.addEventListener("keydown", (event) => {
    if (event.target.matches("select") || event.ctrlKey || event.altKey || event.metaKey) return;
    const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: chosen.steps.length }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
    if (part.list.contains(event.target)) part.list.querySelectorAll("button")[step].focus();
  });

  root.querySelector(".explorer").hidden = false;
  pickSet(0);
})();
