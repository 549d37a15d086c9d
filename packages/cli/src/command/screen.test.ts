import type { WriteStream } from "node:tty";
import { expect, test } from "vitest";
import { openScreen } from "./screen.ts";

function fakeStream(columns: number) {
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  return { stream: { isTTY: true, columns, rows: 24, write } as unknown as WriteStream, written };
}

test("a block is drawn over the one before, with the rows that wrapped lines took, and not at all when nothing changed", () => {
  const { stream, written } = fakeStream(20);
  const screen = openScreen(stream, "xterm");
  const whole = { text: "x".repeat(45), style: "none", wraps: true } as const;
  screen?.draw([{ text: "a line that is too long for it", style: "none" }, whole]);
  screen?.draw([{ text: "a line that is too long for it", style: "none" }, whole]);
  screen?.draw([{ text: "b", style: "none" }]);
  expect(written).toEqual([`a line that is too…\n${whole.text}\n`, "\u001b[4A\r\u001b[Jb\n"]);
});

test("what is kept stays where it is", () => {
  const { stream, written } = fakeStream(80);
  const screen = openScreen(stream, "xterm");
  screen?.draw([{ text: "a", style: "none" }]);
  screen?.keep();
  screen?.draw([{ text: "b", style: "none" }]);
  expect(written).toEqual(["a\n", "b\n"]);
});

test("a terminal that cannot move its cursor has no screen", () => {
  expect(openScreen(fakeStream(80).stream, "dumb")).toBeUndefined();
});
