import type { Search, SearchHit } from "../search/search.ts";
import { excerptOf } from "./excerpt.ts";

const shownMax = 12;

/**
 * Shows the search button, and opens the search when it is clicked or when the key `/` or Ctrl+K is pressed. The code and the index of the
 * search are loaded when a reader first opens it.
 */
export function startSearch(): void {
  const button = document.querySelector<HTMLButtonElement>("[data-search]");
  if (button === null) return;
  let box: HTMLDialogElement | undefined;
  const open = () => {
    box ??= createBox();
    box.showModal();
    box.querySelector("input")?.select();
  };
  button.hidden = false;
  button.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    const isSlash = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    const isPalette = event.key === "k" && (event.ctrlKey || event.metaKey);
    if (!isSlash && !isPalette) return;
    event.preventDefault();
    open();
  });
}

function createBox(): HTMLDialogElement {
  const box = document.createElement("dialog");
  box.className = "box";
  box.setAttribute("aria-label", "Search");
  const input = document.createElement("input");
  Object.assign(input, { type: "search", placeholder: "Why is this delivery waiting?", autocomplete: "off" });
  setAttributes(input, { role: "combobox", "aria-label": "Search the documentation", "aria-expanded": "true" });
  setAttributes(input, { "aria-controls": "found", "aria-autocomplete": "list" });
  const list = document.createElement("div");
  list.id = "found";
  setAttributes(list, { role: "listbox", "aria-label": "Sections found" });
  const note = document.createElement("p");
  note.className = "note";
  setAttributes(note, { role: "status" });
  box.append(input, note, list);
  document.body.append(box);
  let chosen = 0;
  const choose = (place: number) => {
    chosen = Math.max(0, Math.min(place, list.children.length - 1));
    for (const [index, item] of [...list.children].entries()) {
      item.setAttribute("aria-selected", String(index === chosen));
      if (index === chosen) item.scrollIntoView({ block: "nearest" });
    }
    input.setAttribute("aria-activedescendant", list.children[chosen]?.id ?? "");
  };
  const show = async () => {
    const question = input.value.trim();
    const search = await loadSearch();
    if (question !== input.value.trim()) return;
    const found = question === "" ? [] : search(question).slice(0, shownMax);
    list.replaceChildren(...found.map(itemOf));
    note.textContent = question === "" ? "" : found.length === 0 ? "Nothing was found." : "";
    choose(0);
  };
  input.addEventListener("input", () => void show().catch(() => fail(note)));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") (list.children[chosen] as HTMLAnchorElement | undefined)?.click();
    else return;
    event.preventDefault();
  });
  // A link to the current page loads no new page, so the search box must be closed here.
  list.addEventListener("click", () => box.close());
  box.addEventListener("click", (event) => {
    if (event.target === box) box.close();
  });
  void loadSearch().catch(() => fail(note));
  return box;
}

function fail(note: HTMLElement): void {
  note.textContent = "The search could not be loaded. Reload the page and try again.";
}

function setAttributes(element: Element, attributes: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

function itemOf(found: SearchHit, place: number): HTMLAnchorElement {
  const item = document.createElement("a");
  item.id = `found-${place}`;
  item.href = `${rootPath()}${found.path}`;
  setAttributes(item, { role: "option", tabindex: "-1" });
  const title = document.createElement("b");
  title.textContent = ["", found.title].includes(found.heading) ? found.title : `${found.title} › ${found.heading}`;
  const text = document.createElement("span");
  text.append(
    ...excerptOf(found.shown, found.words).map(({ text: part, isMatch }) => {
      const element = document.createElement(isMatch ? "mark" : "span");
      element.textContent = part;
      return element;
    }),
  );
  item.append(title, text);
  return item;
}

function rootPath(): string {
  return document.documentElement.dataset["root"] ?? "./";
}

let loading: Promise<Search> | undefined;

/** Loads the search at the first call; later calls return the same search. After a failure, the next call tries to load it again. */
function loadSearch(): Promise<Search> {
  loading ??= load().catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<Search> {
  const index = fetch(`${rootPath()}${document.documentElement.dataset["index"]}`);
  const { openSearch } = await import("../search/search.ts");
  const answer = await index;
  if (!answer.ok) throw new Error(`the index answered ${answer.status}`);
  return openSearch(await answer.text());
}
