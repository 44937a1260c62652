"use strict";
const form = document.getElementById("filters");
const shown = document.getElementById("shown");
const nodes = [...document.querySelectorAll("[data-node]")];
const rows = nodes.filter((node) => node.tagName === "TR");

function wanted() {
  const given = new FormData(form);
  return Object.fromEntries(
    ["q", "verdict", "check", "odd"].map((name) => [name, (given.get(name) || "").trim()]),
  );
}

function fits(node, want) {
  const { node: name, verdict, found, odd } = node.dataset;
  return name.toLowerCase().includes(want.q.toLowerCase())
    && (!want.verdict || verdict === want.verdict)
    && (!want.check || found.split(" ").includes(want.check))
    && (!want.odd || odd !== undefined);
}

function filter() {
  const want = wanted();
  for (const node of nodes) node.hidden = !fits(node, want);
  const left = rows.filter((row) => !row.hidden).length;
  shown.textContent = `${left} of ${rows.length} nodes shown`;
  const query = new URLSearchParams(Object.entries(want).filter(([, value]) => value));
  try {
    history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}${location.hash}`);
  } catch {
    // A page inside a sandboxed frame may not change its address: it filters all the same.
  }
}

function reveal() {
  const target = document.getElementById(location.hash.slice(1));
  const article = target && target.closest("article");
  if (!article) return;
  article.querySelector("details").open = true;
  target.scrollIntoView();
}

for (const [name, value] of new URLSearchParams(location.search)) {
  const field = form.elements.namedItem(name);
  if (!field) continue;
  if (field.type === "checkbox") field.checked = Boolean(value);
  else field.value = value;
}
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(filter));
addEventListener("hashchange", reveal);
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
filter();
reveal();
