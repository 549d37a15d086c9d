import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

type ProfileNode = {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
};
type Profile = {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};

const shownFunctions = 30;
const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Returns the functions that took the most time themselves, with their share of the busy time, from every .cpuprofile of a folder. The
 * files also open in the developer tools of any Chromium.
 */
export function summarizeProfiles(folder: string): string {
  const selfMicros = new Map<string, number>();
  for (const file of readdirSync(folder)) addProfile(selfMicros, join(folder, file));
  selfMicros.delete("(idle)");
  const busyMicros = [...selfMicros.values()].reduce((sum, micros) => sum + micros, 0);
  const lines = [...selfMicros]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, shownFunctions)
    .map(([place, micros]) => `${((micros * 100) / busyMicros).toFixed(1).padStart(5)} %  ${place}`);
  return `${lines.join("\n")}\n`;
}

function addProfile(selfMicros: Map<string, number>, file: string): void {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, "utf8")) as Profile;
  const places = new Map(nodes.map((node) => [node.id, placeOf(node)]));
  for (const [index, id] of samples.entries()) {
    const place = places.get(id) ?? "";
    selfMicros.set(place, (selfMicros.get(place) ?? 0) + (timeDeltas[index] ?? 0));
  }
}

function placeOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const name = functionName || "(anonymous)";
  if (url === "") return name;
  const file = url.startsWith("file:") ? fileURLToPath(url) : url;
  const short = file.slice(Math.max(file.startsWith(root) ? root.length : 0, file.lastIndexOf("node_modules/")));
  return `${name}  ${short}:${lineNumber + 1}`;
}
