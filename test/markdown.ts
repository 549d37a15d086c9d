/** A fenced code block of a Markdown text: its language, the words after the language, and its content. */
export type CodeBlock = { language: string; info: string; text: string };

/** Returns the fenced code blocks of a Markdown text. */
export function codeBlocksOf(markdown: string): CodeBlock[] {
  const blocks = markdown.matchAll(/^```([a-z]*) *([^\n]*)\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, language = "", info = "", text = ""]) => ({ language, info, text }));
}

/** Returns a Markdown text without its fenced code blocks. */
function proseOf(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```$/gm, "");
}

/** Returns the targets of links and images. */
export function linksOf(markdown: string): string[] {
  return [...proseOf(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
}

/** Returns the texts between single backticks. */
export function codeSpansOf(markdown: string): string[] {
  return [...proseOf(markdown).matchAll(/`([^`\n]+)`/g)].map(([, text = ""]) => text);
}

/** Returns the anchors of the headings, as code hosts make them. */
export function anchorsOf(markdown: string): string[] {
  return [...proseOf(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Returns the rows of every table with trimmed cells, without headers and separator lines. A pipe inside a cell is written `\|`. */
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
