import type { Section } from "../search/search.ts";
import { addressOf } from "./addresses.ts";
import { readExampleQuestions } from "./example-questions.ts";
import type { PagePassage } from "./markdown.ts";
import type { SitePage } from "./pages.ts";

type UnnumberedSection = Omit<Section, "id" | "questions">;

/** Headings of sections that only link to other pages. They answer no question. */
const linkHeadings = new Set(["Next", "Next steps", "More"]);

/**
 * Returns the sections of all pages, in order. A heading with subheadings is a section with the text before its first subheading. Sections
 * that only link to other pages are left out.
 */
export function sectionsOf(pages: readonly SitePage[]): readonly Section[] {
  const questions = readExampleQuestions();
  const sections = pages.flatMap((page) =>
    isCall(page) ? [callSection(page)] : page.passages.filter(hasText).map(sectionIn(page)),
  );
  return sections.map((section, id) => ({ ...section, id, questions: questions.get(section.path) ?? [] }));
}

function hasText({ headings }: PagePassage): boolean {
  return !linkHeadings.has(headings.at(-1)?.text ?? "");
}

function sectionIn({ path, title }: SitePage): (passage: PagePassage) => UnnumberedSection {
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

/** Returns the page of an API call or a message as a single search section, because the headings are the same on every such page. */
function callSection({ path, title, summary, passages }: SitePage): UnnumberedSection {
  const described = passages.filter(({ headings }) => headings.at(-1)?.text !== "Example");
  return {
    path: addressOf(path),
    title,
    heading: "",
    text: described.map(({ text }) => text).join(" "),
    shown: summary,
  };
}
