// Tables that are sorted by their headings, and filtered. Without this all is there, in its own order.
"use strict";

const words = new Intl.Collator("en", { numeric: true });
const text = (row, index) => row.cells[index].textContent;

// Unknown cells come last, whichever the direction.
function order(index, numeric, sign) {
  return (a, b) => {
    const [left, right] = [text(a, index), text(b, index)];
    if (!left || !right) return !left - !right;
    return sign * (numeric ? left - right : words.compare(left, right));
  };
}

// Words are first sorted from A, numbers from the greatest.
function sort(table, heading) {
  const numeric = heading.classList.contains("n");
  const first = numeric ? "descending" : "ascending";
  const other = numeric ? "ascending" : "descending";
  const direction = heading.ariaSort === first ? other : first;
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", direction);
  const body = table.tBodies[0];
  const sign = direction === "ascending" ? 1 : -1;
  body.append(...[...body.rows].sort(order(heading.cellIndex, numeric, sign)));
}

function makeSortable(table) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    button.addEventListener("click", () => sort(table, heading));
    heading.replaceChildren(button);
  }
}

// A row stays if it has every word.
function makeFilterable(table) {
  const rows = [...table.tBodies[0].rows];
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase());
  const box = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("output");
  box.className = "filter";
  input.type = "search";
  input.placeholder = "words that a row must have";
  box.append("Filter", input, count);
  const filter = () => {
    const wanted = input.value.toLowerCase().split(/\s+/);
    rows.forEach((row, index) => { row.hidden = !wanted.every((word) => texts[index].includes(word)); });
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  };
  input.addEventListener("input", filter);
  filter();
  table.parentElement.before(box);
}

for (const table of document.querySelectorAll("table")) {
  const rows = table.tBodies[0].rows.length;
  if (rows > 1) makeSortable(table);
  if (rows > 40) makeFilterable(table);
}
