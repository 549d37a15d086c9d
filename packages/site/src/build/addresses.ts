import { dirname, posix } from "node:path";

// Functions for the addresses of pages. The page `guides/jobs/undo` is served at the address `guides/jobs/undo`, and its Markdown at
// `guides/jobs/undo.md`. A page named `index` is served at the address of its folder. All links are relative, so that the site works below
// any path.

/** Returns the address of a page, relative to the root of the site. */
export function addressOf(path: string): string {
  return path.replace(/(?:^|(?<=\/))index$/, "");
}

/** Returns a relative link from the page `from` to the address `to`. Both parameters are relative to the root of the site. */
export function linkBetween(from: string, to: string): string {
  const [path = "", anchor] = to.split("#");
  const way = posix.relative(dirname(`/${from}`), `/${path}`);
  const link = path.endsWith("/") || path === "" ? (way === "" ? "./" : `${way}/`) : way;
  return anchor === undefined ? link : `${link}#${anchor}`;
}
