import type { WriteStream } from "node:tty";
import { styleText } from "node:util";

/** How a line of a screen stands out. */
export type LineStyle = "bold" | "dim" | "green" | "red" | "yellow" | "none";

/** One line of a block. One that `wraps` is shown whole, over several rows if need be: it is there to be copied. */
export type ScreenLine = { readonly text: string; readonly style: LineStyle; readonly wraps?: boolean };

/** A terminal on which a block of lines is shown and shown again in the same place. */
export type Screen = {
  /** Rows that a block may have. */
  readonly rows: number;
  /** Shows these lines in place of those shown last. */
  draw(lines: readonly ScreenLine[]): void;
  /** Leaves what is shown, and lets the next block begin below. */
  keep(): void;
};

/** The screen on standard error of this process; undefined when that goes elsewhere or the terminal cannot move its cursor. */
export function openScreen(stream: WriteStream, terminalType: string | undefined): Screen | undefined {
  if (!stream.isTTY || terminalType === "dumb") return undefined;
  let height = 0;
  let drawn = "";
  return {
    get rows() {
      return stream.rows > 4 ? stream.rows - 2 : 20;
    },
    draw(lines) {
      const width = stream.columns > 10 ? stream.columns : 80;
      const texts = lines.map(({ text, wraps }) => (wraps ? text : cutText(text, width - 1)));
      const block = texts.map((text, index) => `${styled(text, lines[index]?.style ?? "none", stream)}\n`).join("");
      // What is drawn again cannot be selected to be copied.
      if (height > 0 && block === drawn) return;
      // Up to the first line of the block, then clear what is below.
      stream.write(`${height === 0 ? "" : `\u001b[${height}A\r\u001b[J`}${block}`);
      height = texts.reduce((rows, text) => rows + Math.max(1, Math.ceil([...text].length / width)), 0);
      drawn = block;
    },
    keep() {
      height = 0;
    },
  };
}

function cutText(text: string, width: number): string {
  const characters = [...text];
  return characters.length > width ? `${characters.slice(0, width - 1).join("")}…` : text;
}

function styled(text: string, style: LineStyle, stream: WriteStream): string {
  return style === "none" ? text : styleText(style, text, { stream });
}
