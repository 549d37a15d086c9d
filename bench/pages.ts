import { readdirSync, readFileSync } from "node:fs";

/** The page whose first table compares svc with its peers and aims. */
export const summaryPage = new URL("../docs/benchmarks.md", import.meta.url);

const folder = new URL("../docs/concepts/benchmarks/", import.meta.url);

/** A page with the results of some cases. */
export type CasePage = {
  readonly url: URL;
  /** As docs/benchmarks.md links to it. */
  readonly link: string;
  readonly text: string;
};

/** Pages of docs/concepts/benchmarks, each with a place `<!-- bench:<name> -->` ... `<!-- /bench:<name> -->` for every case that it describes. */
export function readCasePages(): readonly CasePage[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".md"));
  return names.sort().map((name) => {
    const url = new URL(name, folder);
    return { url, link: `concepts/benchmarks/${name}`, text: readFileSync(url, "utf8") };
  });
}
