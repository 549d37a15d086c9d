import type { IconName } from "../ui/icon.tsx";
import type { PaletteLine } from "../ui/overlay/open-palette.tsx";
import { idPages, pagesOf } from "./pages.ts";
import { savedFilters } from "./saved-filters.ts";

/**
 * An entry of the palette. It opens a page, opens the page of an object whose id the user typed, does an action (such as the light theme),
 * or searches the tools.
 */
export type PaletteEntry = PaletteLine &
  ({ to: string; params: Record<string, string>; search?: Record<string, string> } | { act: string });

/** The resources that the service found for the text typed in the palette. `hint`: a sentence about the search; empty if there is none. */
export type Found = { readonly entries: readonly PaletteEntry[]; readonly hint: string };

/** Actions in the palette that do not open a page. */
const paletteActs: readonly { act: string; words: string; icon: IconName }[] = [
  { act: "theme-light", words: "Light theme", icon: "sun" },
  { act: "theme-dark", words: "Dark theme", icon: "moon" },
  { act: "theme-system", words: "System theme", icon: "gear" },
  { act: "zone-local", words: "Times in this time zone", icon: "clock" },
  { act: "zone-utc", words: "Times in UTC", icon: "clock" },
  { act: "keys", words: "Keyboard shortcuts", icon: "key" },
  { act: "leave", words: "Sign out", icon: "lock" },
];

/**
 * Returns the palette's entries for the typed text that need no call of the service. If the text is a whole id, the entry opens the id's
 * page. Otherwise the entries are the pages and actions whose words contain the whole text, and a search of the tools.
 */
export function paletteEntries(typed: string, projectId: string): PaletteEntry[] {
  const text = typed.trim();
  const ofId = idsOf(projectId).find(
    ({ prefix }) => text.startsWith(prefix) && text.length === prefix.length + idLength,
  );
  if (ofId !== undefined) {
    const params = { projectId, [ofId.param]: text };
    return [{ id: text, words: `Open ${ofId.words} ${text}`, note: "", icon: "arrowRight", to: ofId.to, params }];
  }
  const words = text.toLowerCase().split(/\s+/);
  const matches = (title: string) => words.every((word) => title.toLowerCase().includes(word));
  return [
    ...pagesOf(projectId)
      .filter(({ title }) => matches(title))
      .map(({ to, title, icon, letter }) => ({
        id: to,
        words: title,
        note: `g ${letter}`,
        icon,
        to,
        params: { projectId },
      })),
    ...filterEntries(projectId, matches),
    ...paletteActs.filter((act) => matches(act.words)).map((act) => ({ ...act, id: act.act, note: "" })),
    ...administration(text, projectId, matches),
    ...toolSearch(text, projectId),
  ];
}

/** Returns entries for the filters that the user saved in the project. Each opens its list with the filter. */
function filterEntries(projectId: string, matches: (title: string) => boolean): PaletteEntry[] {
  return savedFilters(projectId).flatMap(({ page, name, search }) => {
    const list = pagesOf(projectId).find(({ to }) => to === `/p/$projectId/${page}`);
    if (list === undefined || !matches(`${list.title} ${name}`)) return [];
    return [
      {
        id: `filter ${page} ${name}`,
        words: `${list.title}: ${name}`,
        note: "saved filter",
        icon: "filter",
        to: list.to,
        params: { projectId },
        search: { ...search },
      },
    ];
  });
}

/**
 * Returns entries for the administrator's pages, for users who search for such a page by name. The pages themselves ask for the
 * administrator's token.
 */
function administration(text: string, projectId: string, matches: (title: string) => boolean): PaletteEntry[] {
  if (text === "" || projectId === "admin") return [];
  return pagesOf("admin")
    .filter(({ title, findAs = "" }) => matches(`administration ${title} ${findAs}`))
    .map(({ to, title, icon }) => ({ id: to, words: `Administration: ${title}`, note: "", icon, to, params: {} }));
}

/** Returns the entry that searches the tools for the typed text. Returns nothing on the administrator's pages. */
function toolSearch(text: string, projectId: string): PaletteEntry[] {
  if (text === "" || projectId === "admin") return [];
  const to = "/p/$projectId/tools";
  return [
    {
      id: "tools",
      words: `Tools for “${text}”`,
      note: "",
      icon: "tool",
      to,
      params: { projectId },
      search: { q: text },
    },
  ];
}

/** Number of characters of an id after its prefix. */
const idLength = 26;

/** Returns the kinds of ids that the palette can open. The administrator has no pages for the data of projects. */
function idsOf(projectId: string): typeof idPages {
  return projectId === "admin" ? [] : idPages;
}
