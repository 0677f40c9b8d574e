// Menus that hide cards; without this script all of them are there.
const cards = [...document.querySelectorAll(".card")];
const names = { size: "Size", of: "Of", time: "Time", asked: "Asked", read: "Read of the source", outcome: "Outcome" };
const menus = Object.keys(names).map(key => {
  const menu = document.createElement("select");
  menu.id = "by-" + key;
  const values = [...new Set(cards.map(card => card.dataset[key]))].sort();
  for (const value of ["", ...values]) menu.add(new Option(value || "any", value));
  const label = document.createElement("label");
  label.append(names[key] + " ", menu);
  document.getElementById("filters").append(label);
  menu.addEventListener("change", show);
  return [key, menu];
});
const count = document.createElement("output");
document.getElementById("filters").append(count);

function show() {
  let shown = 0;
  for (const card of cards) {
    card.hidden = menus.some(([key, menu]) => menu.value && card.dataset[key] !== menu.value);
    shown += !card.hidden;
  }
  count.value = `${shown} of ${cards.length}`;
}
show();
