import type { Section } from "../search/search.ts";
import { addressOf } from "./addresses.ts";
import type { SitePage } from "./pages.ts";

/** The sections of all pages, in their order. A heading above others is a section with what is said before the first of them. */
export function sectionsOf(pages: readonly SitePage[]): readonly Section[] {
  const sections = pages.flatMap(({ path, title, stretches }) =>
    stretches.map(({ headings, text }) => {
      const [, ...below] = headings;
      const anchor = below.length === 0 ? "" : `#${below.at(-1)?.anchor}`;
      return { path: `${addressOf(path)}${anchor}`, title, heading: below.map((one) => one.text).join(" › "), text };
    }),
  );
  return sections.map((section, id) => ({ id, ...section }));
}
