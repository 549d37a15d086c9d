// Reads the metrics of the service from the sources that declare them.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.mjs";

/** Returns every metric by name: its type, labels and help. */
export function readMetrics() {
  const files = globSync("packages/server/src/**/*.ts", { cwd: root }).filter((path) => !path.endsWith(".test.ts"));
  const found = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const declared = text.matchAll(/new (Counter|Gauge|Histogram)\(\{\s*name: "(svc_\w+)",([\s\S]*?)registers/g);
    return [...declared].map(([, type, name, rest]) => ({
      name,
      type: type.toLowerCase(),
      labels: [...(/labelNames: \[([^\]]*)\]/.exec(rest)?.[1]?.matchAll(/"(\w+)"/g) ?? [])].map(([, label]) => label),
      help: /help: "([^"]*)"/.exec(rest)?.[1] ?? "",
    }));
  });
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}
