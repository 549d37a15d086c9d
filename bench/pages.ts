import { readdirSync, readFileSync } from "node:fs";

/** The page whose first table compares svc with its peers and aims. */
export const summaryPage = new URL("../docs/benchmarks.md", import.meta.url);

const folder = new URL("../docs/concepts/benchmarks/", import.meta.url);

/** A page with the results of some cases. */
export type CasePage = {
  readonly url: URL;
  /** The page's link in docs/benchmarks.md. */
  readonly link: string;
  readonly text: string;
};

/**
 * Returns the pages of docs/concepts/benchmarks. For every case that a page describes, it has a place `<!-- bench:<name> -->` ... `<!--
 * /bench:<name> -->`.
 */
export function readCasePages(): readonly CasePage[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".md"));
  return names.sort().map((name) => {
    const url = new URL(name, folder);
    return { url, link: `concepts/benchmarks/${name}`, text: readFileSync(url, "utf8") };
  });
}
