// Checks the size of the built console (part of `npm run check`), by Vite's manifest and the built files. Prints one line for each budget,
// and ends with status 1 if a budget is exceeded. Sizes are in kilobytes of 1,000 bytes, compressed with gzip.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

const dist = join(root, "packages", "console", "dist");
/**
 * Maximum size for each kind of chunk. The size of a page is what it adds to the first load, without the parts that have a budget of their
 * own.
 */
const budgets = {
  "first load": 200,
  page: 40,
  overlay: 55,
  "run page": 55,
  viewer: 130,
  chart: 30,
  "link page": 90,
  portal: 185,
  graph: 30,
  builder: 45,
};
/** Parts of the console that pages load when they need them. */
const parts = {
  "src/pages/jobs/detail.tsx": "run page",
  "src/ui/overlay/parts.tsx": "overlay",
  "src/ui/code/json-viewer.tsx": "viewer",
  "src/ui/code/json-write.tsx": "viewer",
  "src/ui/chart/time-chart.tsx": "chart",
  "src/ui/flow/graph.tsx": "graph",
  "src/builder/program-cards.tsx": "builder",
};

/** File of the portal that its entry loads at once. */
const portalPages = "src/portal/pages.tsx";
/** The entries that are not pages of links. */
const whole = new Set(["index.html", "portal.html"]);

/** Returns every file that is loaded for a chunk: the chunk itself, and the files that it imports. */
function filesOf(manifest, key, seen = new Set()) {
  const chunk = manifest[key];
  for (const file of [chunk.file, ...(chunk.css ?? [])]) seen.add(file);
  for (const imported of chunk.imports ?? []) if (!seen.has(manifest[imported].file)) filesOf(manifest, imported, seen);
  return seen;
}

/** Returns the size of files as they are sent, in kilobytes. Files that are worth it are compressed. */
function kilobytes(files) {
  const sizes = [...files].map((file) => {
    const path = join(dist, file);
    return statSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).size;
  });
  return sizes.reduce((sum, size) => sum + size, 0) / 1_000;
}

/** Returns the measured parts of the console. Each has its name, the name of its budget, and its size. */
function measure(manifest) {
  const first = filesOf(manifest, "index.html");
  // The portal's entry loads what its pages share while the service opens the session.
  const portal = new Set([...filesOf(manifest, "portal.html"), ...filesOf(manifest, portalPages)]);
  const beyondFirst = (key) =>
    [...filesOf(manifest, key)].filter((file) => !(key.startsWith("src/portal/") ? portal : first).has(file));
  const links = Object.keys(manifest).filter((key) => manifest[key].isEntry && !whole.has(key));
  const lazy = Object.keys(manifest).filter((key) => manifest[key].isDynamicEntry && key !== portalPages);
  return [
    { name: "first load", budget: "first load", size: kilobytes(first) },
    { name: "portal", budget: "portal", size: kilobytes(portal) },
    ...links.map((key) => ({ name: key, budget: "link page", size: kilobytes(filesOf(manifest, key)) })),
    ...lazy.map((key) => ({ name: key, budget: parts[key] ?? "page", size: kilobytes(beyondFirst(key)) })),
  ];
}

const manifestFile = join(dist, ".vite", "manifest.json");
if (!existsSync(manifestFile)) {
  process.stdout.write("packages/console was not built: npm run console:build says why\n");
  process.exitCode = 1;
} else {
  const measured = measure(JSON.parse(readFileSync(manifestFile, "utf8"))).sort((a, b) => b.size - a.size);
  for (const { name, budget, size } of measured) {
    const isOver = size > budgets[budget];
    if (isOver) process.exitCode = 1;
    process.stdout.write(
      `${isOver ? "OVER  " : "      "}${size.toFixed(1).padStart(6)} of ${budgets[budget]} KB  ${name}\n`,
    );
  }
  const largest = Object.keys(budgets).flatMap((budget) => measured.find((one) => one.budget === budget) ?? []);
  const words = largest.map(({ budget, size }) => `${budget} ${Math.ceil(size)} of ${budgets[budget]} KB`);
  process.stdout.write(`note: ${words.join(", ")}\n`);
}
