import type { WriteStream } from "node:tty";
import { styleText } from "node:util";

/** The style of a line on a screen. */
export type LineStyle = "bold" | "dim" | "green" | "red" | "yellow" | "none";

/** One line of a block. `wraps`: true if a long line continues on further rows instead of being cut, so that it can be copied. */
export type ScreenLine = { readonly text: string; readonly style: LineStyle; readonly wraps?: boolean };

/** A terminal on which a block of lines is redrawn in the same place. */
export type Screen = {
  /** Maximum rows of a block. */
  readonly rows: number;
  /** Shows these lines in place of the last ones. */
  draw(lines: readonly ScreenLine[]): void;
  /** Keeps the shown lines, so that the next block begins below them. */
  keep(): void;
};

/** Returns the screen on standard error. Returns undefined if standard error is redirected or the terminal cannot move its cursor. */
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
      // An unchanged block is not drawn again, because redrawn text cannot be selected for copying.
      if (height > 0 && block === drawn) return;
      // Moves the cursor to the first line of the block, and clears everything below.
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
