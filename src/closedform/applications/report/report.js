"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], first = [...body.rows];
  [...table.tHead.rows[0].cells].forEach((head, k) => {
    const button = document.createElement("button");
    button.type = "button"; button.className = "sort"; button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "ascending";
      for (const x of table.tHead.rows[0].cells) x.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "descending" : "ascending");
      const key = row => row.cells[k].dataset.sort ?? row.cells[k].textContent;
      const by = (x, y) => { const a = key(x), b = key(y);
        return a === "" || b === "" ? (a === "") - (b === "") : a - b || a.localeCompare(b); };
      const rows = [...first].sort((x, y) => (up && key(x) !== "" && key(y) !== "" ? -1 : 1) * by(x, y));
      body.append(...rows);
    });
  });
}
addEventListener("beforeprint", () => {
  for (const x of document.querySelectorAll("details:not([open])")) { x.open = x.opened = true; } });
addEventListener("afterprint", () => {
  for (const x of document.querySelectorAll("details")) if (x.opened) x.open = x.opened = false; });
