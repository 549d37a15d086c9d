import type { Readable } from "node:stream";
import type { DestinationStream } from "pino";

/** Hands on the lines of a process, each as a whole: those of several would run into each other. Half a line at the end is dropped. */
export function forwardLines(from: Readable, to: DestinationStream): void {
  let begun = "";
  from.setEncoding("utf8").on("data", (text: string) => {
    const all = begun + text;
    const end = all.lastIndexOf("\n") + 1;
    begun = all.slice(end);
    if (end > 0) to.write(all.slice(0, end));
  });
}
