import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const colours = "color-contrast";

type Finding = { id: string; help: string; nodes: { target: string[]; failureSummary?: string }[] };

/**
 * Returns the accessibility faults that axe finds on a page, a line for each place. By default it applies every rule of WCAG 2.2 A and AA
 * and of best practice. `colours` applies the contrast rule alone, which takes as long as all the others; `structure` applies the others.
 * axe is loaded over the debugger protocol, because the page's policy refuses a script tag, and bypassing the policy would hide faults.
 */
export async function findBarriers(page: Page, only?: "colours" | "structure"): Promise<string[]> {
  const protocol = await page.context().newCDPSession(page);
  const evaluate = (expression: string) =>
    protocol.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  await evaluate(`window.axe === undefined && (() => { ${source} })()`);
  const runOnly = only === "colours" ? { type: "rule", values: [colours] } : { type: "tag", values: standards };
  const rules = only === "structure" ? { [colours]: { enabled: false } } : {};
  const options = JSON.stringify({ runOnly, rules, resultTypes: ["violations"] });
  const { result, exceptionDetails } = await evaluate(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  );
  await protocol.detach();
  if (exceptionDetails !== undefined) throw new Error(`axe failed: ${exceptionDetails.exception?.description}`);
  return (result.value as Finding[]).flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, failureSummary = "" }) =>
        `${id}: ${help}: ${target.join(" ")}: ${failureSummary.replaceAll("\n", " ")}`,
    ),
  );
}
