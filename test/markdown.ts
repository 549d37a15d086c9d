/** A fenced block of code: the language after its fence, the words after that, and its text. */
export type CodeBlock = { language: string; info: string; text: string };

/** The fenced blocks of a Markdown text. */
export function codeBlocksOf(markdown: string): CodeBlock[] {
  const blocks = markdown.matchAll(/^```([a-z]*) *([^\n]*)\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, language = "", info = "", text = ""]) => ({ language, info, text }));
}

/** A Markdown text without its fenced blocks. */
function proseOf(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```$/gm, "");
}

/** The targets of links and images. */
export function linksOf(markdown: string): string[] {
  return [...proseOf(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
}

/** What stands between single backticks. */
export function codeSpansOf(markdown: string): string[] {
  return [...proseOf(markdown).matchAll(/`([^`\n]+)`/g)].map(([, text = ""]) => text);
}

/** The anchors of the headings, as code hosts make them. */
export function anchorsOf(markdown: string): string[] {
  return [...proseOf(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The rows of every table, cells trimmed; headers and rules left out. A pipe inside a cell is written `\|`. */
export function tableRowsOf(markdown: string): string[][] {
  const lines = proseOf(markdown).split("\n");
  const isRule = (line: string | undefined) => line !== undefined && /^\|[\s|:-]+\|$/.test(line);
  const rows = lines.filter((line, index) => line.startsWith("|") && !isRule(line) && !isRule(lines[index + 1]));
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll("\\|", "|")),
  );
}
