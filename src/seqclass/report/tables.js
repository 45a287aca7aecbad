// Tables: a click on a heading sorts, long tables are shown in parts and can be searched.
"use strict";
(() => {
  const PAGE = 50;
  const collator = new Intl.Collator(undefined, { numeric: true });

  const make = (name, text, attributes = {}) => {
    const node = document.createElement(name);
    node.textContent = text;
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };

  // What a row is sorted by; null where there is no figure, which comes last either way.
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    const value = cell.dataset.v;
    if (value === undefined) return cell.textContent;
    return value === "" ? null : Number(value);
  };

  const compare = (a, b, sign) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b));
  };

  const enhance = (table) => {
    const body = table.tBodies[0];
    const all = [...body.rows];
    let rows = all;
    let first = 0;
    const headings = [...table.tHead.rows[0].cells];
    const status = make("span", "", { role: "status" });

    const show = (said = "") => {
      body.replaceChildren(...rows.slice(first, first + PAGE));
      const last = Math.min(first + PAGE, rows.length);
      const range = rows.length ? `Rows ${first + 1} to ${last} of ${rows.length}` : "No rows";
      const found = rows.length < all.length ? ` found among ${all.length}` : "";
      status.textContent = all.length > PAGE ? `${range}${found}${said ? `, ${said}` : ""}` : said;
      previous.setAttribute("aria-disabled", first === 0);
      next.setAttribute("aria-disabled", last >= rows.length);
    };
    const turn = (by) => {
      const to = first + by;
      if (to < 0 || to >= rows.length) return;
      first = to;
      show();
    };
    const previous = make("button", "Previous rows", { type: "button" });
    const next = make("button", "Next rows", { type: "button" });
    previous.addEventListener("click", () => turn(-PAGE));
    next.addEventListener("click", () => turn(PAGE));

    const sort = (column) => {
      const up = headings[column].getAttribute("aria-sort") !== "ascending";
      headings.forEach((heading) => heading.removeAttribute("aria-sort"));
      headings[column].setAttribute("aria-sort", up ? "ascending" : "descending");
      const keys = new Map(all.map((row) => [row, keyOf(row, column)]));
      all.sort((a, b) => compare(keys.get(a), keys.get(b), up ? 1 : -1));
      const kept = new Set(rows);
      rows = all.filter((row) => kept.has(row));
      first = 0;
      show(`sorted by ${headings[column].textContent}, ${up ? "ascending" : "descending"}`);
    };
    headings.forEach((heading, column) => {
      const button = make("button", heading.textContent, { type: "button" });
      button.addEventListener("click", () => sort(column));
      heading.replaceChildren(button);
    });

    const pager = make("div", "", { class: "pager" });
    pager.append(status);
    if (all.length > PAGE) {
      const label = make("label", "Find rows ");
      const find = make("input", "", { type: "search" });
      const texts = new Map(all.map((row) => [row, [...row.cells].map((c) => c.textContent).join(" ").toLowerCase()]));
      find.addEventListener("input", () => {
        const text = find.value.toLowerCase().trim();
        rows = all.filter((row) => texts.get(row).includes(text));
        first = 0;
        show();
      });
      label.append(find);
      pager.prepend(label, previous, next);
    }
    table.parentElement.after(pager);
    show();
  };

  document.querySelectorAll("table.sortable").forEach(enhance);
})();
