// What is wider than the page scrolls sideways: a place among the tabs, so that the arrow keys of a keyboard reach it.
(() => {
  const sizes = new ResizeObserver((boxes) => {
    for (const { target } of boxes) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  addEventListener("load", () => {
    for (const box of document.querySelectorAll("pre > code, div.arithmatex, .md-typeset__scrollwrap")) sizes.observe(box);
    // the theme has a menu of its own for each button that copies
    for (const menu of document.querySelectorAll(".md-code__nav")) menu.setAttribute("role", "none");
  });
})();
