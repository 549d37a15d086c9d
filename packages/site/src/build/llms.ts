import { linkBetween } from "./addresses.ts";

/** A page as plain text, for programs that do not use a browser (for example language models). */
type TextPage = { readonly path: string; readonly title: string; readonly summary: string; readonly source: string };

const intro = `# svc

> Webhook triggers, a tool catalog for agents and durable jobs: one process and one PostgreSQL, run by yourself.
`;

/**
 * Returns the text of `llms.txt`: the list of all pages, each with its first paragraph (llmstxt.org). Links are relative to the root of the
 * site.
 */
export function writeLlms(pages: readonly TextPage[]): string {
  const folders = Map.groupBy(pages, ({ path }) => path.split("/").slice(0, -1).join("/"));
  const parts = [...folders].map(([folder, within]) => {
    const lines = within.map(
      ({ path, title, summary }) => `- [${title}](${linkBetween("index", `${path}.md`)}): ${summary}`,
    );
    return `\n## ${folder === "" ? "Overview" : folder}\n\n${lines.join("\n")}\n`;
  });
  return `${intro}\nAll of it in one file: [llms-full.txt](llms-full.txt).\n${parts.join("")}`;
}

/** Returns the text of `llms-full.txt`: the full text of every page, in order. */
export function writeLlmsFull(pages: readonly TextPage[]): string {
  const parts = pages.map(({ path, source }) => `\n---\n\nPage: ${path}.md\n\n${source.trim()}\n`);
  return `${intro}${parts.join("")}`;
}
