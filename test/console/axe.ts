import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const colours = "color-contrast";

type Finding = { id: string; help: string; nodes: { target: string[]; failureSummary?: string }[] };

/**
 * What axe finds on a page, a line for each place: every rule of WCAG 2.2 A and AA and of best practice; that of `colours` alone, which takes
 * as long as all the others, or those of `structure`. It goes in
 * over the debugger protocol: the policy of the pages refuses a script tag, and to bypass it would hide faults.
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
