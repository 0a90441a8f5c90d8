// What a browser makes of a report: complaints, each as a line, and how much was looked at.
"use strict";

const complaints = [];
const complain = (where, what) => complaints.push(`${where}: ${what}`);

const name = (element) => element.getAttribute("aria-label") ?? element.className ?? element.tagName;

// Light text on a dark ground, or dark on light.
function checkInk(where, svg) {
  const parts = getComputedStyle(svg).fill.match(/[\d.]+/g).map(Number);
  const isLight = parts.slice(0, 3).reduce((a, b) => a + b) > 382;
  if (isLight !== matchMedia("(prefers-color-scheme: dark)").matches) complain(where, `the ink is ${parts}`);
}

// No text may lie outside of its figure, nor two on each other.
function checkTexts(where, svg) {
  const whole = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
  for (const [text, box] of texts) {
    const inside = box.left > whole.left - 1 && box.right < whole.right + 1
      && box.top > whole.top - 1 && box.bottom < whole.bottom + 1;
    if (!inside) complain(where, `'${text.textContent.trim()}' lies outside`);
  }
  texts.forEach(([a, one], index) => texts.slice(0, index).forEach(([b, other]) => {
    const apart = one.left >= other.right - 1 || other.left >= one.right - 1
      || one.top >= other.bottom - 1 || other.top >= one.bottom - 1;
    if (!apart) complain(where, `'${a.textContent.trim()}' lies on '${b.textContent.trim()}'`);
  }));
  if (!texts.length) complain(where, "no text at all");
}

// What is too wide for the window must lie in something that scrolls.
function checkWidth() {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) complain("page", "scrolls sideways");
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest(".scroll") && !element.matches(".scroll")) continue;
    if (element.getBoundingClientRect().right > width + 1) complain(name(element), "is wider than the window");
  }
}

// Bars that are shown lie side by side, wherever the hidden ones between them were.
function checkBars(figure) {
  const parts = [...figure.querySelectorAll("[data-step]")];
  const shown = parts.filter((part) => getComputedStyle(part).display !== "none");
  const boxes = shown.map((part) => part.querySelector("rect").getBoundingClientRect());
  boxes.slice(1).forEach((box, index) => {
    const gap = box.top - boxes[index].bottom;
    if (gap < 0 || gap > box.height) complain(name(figure), `bars are ${gap} apart`);
  });
}

function checkCells() {
  document.querySelectorAll("details").forEach((details) => { details.open = true; });
  for (const cell of document.querySelectorAll("th, td")) {
    if (cell.scrollWidth > cell.clientWidth + 1) complain("table", `'${cell.textContent}' does not fit into its cell`);
  }
}

function checkSwitches(figure) {
  const where = name(figure);
  const switches = [...figure.querySelectorAll("[data-switch]")];
  const parts = (each) => [...figure.querySelectorAll(`[data-series="${each.dataset.switch}"]`)];
  const isShown = (each) => parts(each).every((part) => getComputedStyle(part).display !== "none");
  const check = (when, isWanted) => {
    for (const each of switches) {
      const told = each.getAttribute("aria-pressed") === "true";
      if (isShown(each) !== isWanted(each)) complain(where, `${when}: series ${each.dataset.switch} is wrong`);
      if (told !== isWanted(each)) complain(where, `${when}: series ${each.dataset.switch} tells the wrong state`);
    }
  };
  const isFirst = (each) => each.dataset.first === "true";
  const [all, few] = figure.previousElementSibling.querySelectorAll("button");
  const hidden = switches.find((each) => !isFirst(each));
  if (!hidden) return complain(where, "all are shown at first");
  check("at first", isFirst);
  hidden.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  check("after a click", (each) => isFirst(each) || each === hidden);
  hidden.focus();
  if (document.activeElement !== hidden) complain(where, "a name takes no focus");
  hidden.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  check("after a key", isFirst);
  all.click();
  check("with all", () => true);
  checkTexts(where, figure.querySelector("svg"));
  few.click();
  check("with few again", isFirst);
  checkBars(figure);
}

// A click sorts the numbers of a column from the greatest; infinite ones are the greatest.
function checkSorting() {
  for (const button of document.querySelectorAll("th.n > button")) {
    button.click();
    const index = button.parentElement.cellIndex;
    const cells = [...button.closest("table").tBodies[0].rows].map((row) => row.cells[index].textContent);
    const numbers = cells.filter((text) => text).map((text) => Number(text.replace("inf", "Infinity")));
    const isSorted = !numbers.some((number, row) => number > numbers[row - 1]);
    if (!isSorted) complain("table", `${button.textContent} is not sorted`);
  }
}

addEventListener("load", () => {
  const figures = [...document.querySelectorAll("figure.chart")];
  for (const figure of figures) {
    checkTexts(name(figure), figure.querySelector("svg"));
    checkInk(name(figure), figure.querySelector("svg"));
  }
  const switchable = figures.filter((figure) => figure.querySelector("[data-switch]"));
  switchable.forEach(checkSwitches);
  const files = [...document.querySelectorAll("iframe")];
  for (const file of files) {
    const svg = file.contentDocument.documentElement;
    checkTexts(file.src, svg);
    checkInk(file.src, svg);
    if (svg.getBoundingClientRect().right > file.contentWindow.innerWidth + 1) complain(file.src, "is too wide");
  }
  files.forEach((file) => file.remove());
  checkWidth();
  checkCells();
  checkSorting();
  const verdict = document.createElement("pre");
  const counts = `${figures.length} figures, ${switchable.length} with switches, ${files.length} files`;
  const seen = `${innerWidth} wide: ${counts}`;
  verdict.textContent = `VERDICT ${[seen, ...complaints].join("\n")} END`;
  document.body.append(verdict);
});
