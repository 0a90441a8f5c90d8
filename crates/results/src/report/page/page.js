// Makes tables sortable by their headings and filterable, and lets the legends of large charts show and hide
// series. Without this script, everything is visible in its original order.
"use strict";

const words = new Intl.Collator("en", { numeric: true });
const text = (row, index) => row.cells[index].textContent;
// A loss of `none` is the least.
const number = (text) => text === "none" ? -Infinity : Number(text.replace("inf", "Infinity"));

// Unknown cells come last in both directions.
function order(index, numeric, sign) {
  return (a, b) => {
    const [left, right] = [text(a, index), text(b, index)];
    if (!left || !right) return !left - !right;
    // The difference of two infinities is NaN; they count as equal.
    return sign * (numeric ? number(left) - number(right) || 0 : words.compare(left, right));
  };
}

// The first click sorts words from A to Z and numbers from the greatest.
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

// A row stays visible if it contains every word.
function makeFilterable(table) {
  const rows = [...table.tBodies[0].rows];
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase());
  const box = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("output");
  box.className = "filter";
  input.type = "search";
  input.placeholder = "words that a row must contain";
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

// Moves the bars of the visible series together, around the middle of their group.
function closeUp(parts, isShown) {
  const shown = parts.filter(isShown);
  parts.forEach((part, index) => {
    const place = shown.indexOf(part) - (shown.length - 1) / 2;
    const own = index - (parts.length - 1) / 2;
    part.style.setProperty("--shift", `${(place - own) * part.dataset.step}px`);
  });
}

// The names in a legend show and hide their series.
function makeSwitchable(figure) {
  const switches = [...figure.querySelectorAll("[data-switch]")];
  const parts = [...figure.querySelectorAll("[data-series]")];
  const bars = parts.filter((part) => part.dataset.step);
  const first = switches.filter((each) => each.dataset.first === "true");
  const bar = document.createElement("p");
  const status = document.createElement("output");
  const isShown = (part) => switches[part.dataset.series].ariaPressed === "true";
  const update = () => {
    parts.forEach((part) => part.classList.toggle("off", !isShown(part)));
    closeUp(bars, isShown);
    const shown = switches.filter((each) => each.ariaPressed === "true").length;
    const advice = "select a name in the legend to show or hide its series";
    status.textContent = `${shown} of ${switches.length} series are shown; ${advice}.`;
  };
  const show = (each, is) => each.setAttribute("aria-pressed", is);
  const makeButton = (text, isWanted) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => { switches.forEach((each) => show(each, isWanted(each))); update(); });
    return button;
  };
  const toggle = (each) => { show(each, each.ariaPressed !== "true"); update(); };
  for (const each of switches) {
    each.setAttribute("role", "button");
    each.setAttribute("tabindex", "0");
    each.setAttribute("aria-label", (each.querySelector("title") ?? each).textContent);
    show(each, each.dataset.first);
    each.addEventListener("click", () => toggle(each));
    each.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(each);
    });
  }
  bar.className = "switches";
  const showFirst = makeButton(`Show the first ${first.length}`, (each) => first.includes(each));
  bar.append(status, makeButton("Show all", () => true), showFirst);
  figure.setAttribute("role", "group");
  figure.before(bar);
  update();
}

for (const table of document.querySelectorAll("table")) {
  const rows = table.tBodies[0].rows.length;
  if (rows > 1) makeSortable(table);
  if (rows > 40) makeFilterable(table);
}
for (const figure of document.querySelectorAll("figure.chart")) {
  if (figure.querySelector("[data-switch]")) makeSwitchable(figure);
}
