import type { Section } from "../search/search.ts";
import { addressOf } from "./addresses.ts";
import type { Stretch } from "./markdown.ts";
import type { SitePage } from "./pages.ts";

type UnnumberedSection = Omit<Section, "id">;

/** The sections of all pages, in their order. A heading above others is a section with what is said before the first of them. */
export function sectionsOf(pages: readonly SitePage[]): readonly Section[] {
  const sections = pages.flatMap((page) => (isCall(page) ? [callSection(page)] : page.stretches.map(sectionIn(page))));
  return sections.map((section, id) => ({ id, ...section }));
}

function sectionIn({ path, title }: SitePage): (stretch: Stretch) => UnnumberedSection {
  return ({ headings, text }) => {
    const [, ...below] = headings;
    const anchor = below.length === 0 ? "" : `#${below.at(-1)?.anchor}`;
    return {
      path: `${addressOf(path)}${anchor}`,
      title,
      heading: below.length === 0 ? title : below.map((one) => one.text).join(" › "),
      text,
      shown: text,
    };
  };
}

function isCall({ path }: SitePage): boolean {
  return path.startsWith("reference/api/");
}

/** The page of a call or a message is found as a whole: its parts are alike on every such page. */
function callSection({ path, title, summary, stretches }: SitePage): UnnumberedSection {
  const told = stretches.filter(({ headings }) => headings.at(-1)?.text !== "Example");
  return { path: addressOf(path), title, heading: "", text: told.map(({ text }) => text).join(" "), shown: summary };
}
