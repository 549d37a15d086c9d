import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { root } from "../source.ts";
import { findChromium, skippedLine } from "./chromium.ts";

/** Prints, as the last line of a run, how many console tests were skipped because there is no browser. Prints nothing if none was. */
export class SkippedConsoleTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (findChromium() !== undefined) return;
    const ofConsole = modules.filter(({ moduleId }) => relative(root, moduleId).startsWith("test/console/"));
    const skipped = ofConsole.flatMap(({ children }) => [...children.allTests("skipped")]).length;
    const line = skippedLine(skipped);
    if (line !== undefined) process.stdout.write(`${line}\n`);
  }
}
