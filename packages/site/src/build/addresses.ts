import { dirname, posix } from "node:path";

// A page `guides/jobs/undo` is served as that, its Markdown as `guides/jobs/undo.md`, and `index` as its folder. Every link is relative, so
// that the site can be served below any path.

/** The address of a page below the root of the site. */
export function addressOf(path: string): string {
  return path.replace(/(?:^|(?<=\/))index$/, "");
}

/** The way from a page to another address below the root. */
export function linkBetween(from: string, to: string): string {
  const [path = "", anchor] = to.split("#");
  const way = posix.relative(dirname(`/${from}`), `/${path}`);
  const link = path.endsWith("/") || path === "" ? (way === "" ? "./" : `${way}/`) : way;
  return anchor === undefined ? link : `${link}#${anchor}`;
}
