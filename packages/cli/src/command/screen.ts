import type { WriteStream } from "node:tty";
import { styleText } from "node:util";

/** The style in which a line is shown on the terminal. */
export type LineStyle = "bold" | "dim" | "green" | "red" | "yellow" | "none";

/**
 * One line of the text that a command shows on the terminal and updates. `wraps`: true if a long line continues on the next row, so that
 * the user can copy the whole line. False if a long line is cut.
 */
export type ScreenLine = { readonly text: string; readonly style: LineStyle; readonly wraps?: boolean };

/** A terminal on which a command shows one block of lines. A new block replaces the shown one in the same position. */
export type Screen = {
  /** Maximum number of lines that a block of text may have on this terminal. */
  readonly rows: number;
  /** Shows these lines in place of the lines shown before. */
  draw(lines: readonly ScreenLine[]): void;
  /** Leaves the shown block of lines on the terminal as it is. The next block begins below these lines and does not replace them. */
  keep(): void;
};

/** Returns the terminal on standard error. Returns undefined if standard error is redirected or if the terminal cannot move its cursor. */
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
      // An unchanged block is not drawn again, so that the user can select its text and copy it.
      if (height > 0 && block === drawn) return;
      // Moves the cursor to the first line of the block and clears all lines from there.
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
