import { formatValue } from "../faults/errors.ts";
import { createId, type ProjectId } from "./id.ts";

/** Number of characters at the end of a project's id that name its cell. A shorter name is preceded by zeros. */
const markCharacters = 4;
/**
 * Names begin with a letter, so the zeros before a name in an id never belong to it. The letters are those of ids: i, l, o and u are absent.
 */
const cellPattern = /^[a-hjkmnp-tv-z][0-9a-hjkmnp-tv-z]{0,3}$/;

/**
 * Returns the name of a cell (one of several deployments of svc behind one address). Throws an Error that says which names are possible.
 */
export function parseCell(text: string): string {
  if (cellPattern.test(text)) return text;
  throw new Error(
    `${formatValue(text)} is not the name of a cell; expected 1 to 4 of the characters 0-9 and a-z without i, l, o and u, a letter first, such as c2`,
  );
}

/** True if `text` can be the name of a cell. */
export function isCell(text: string): boolean {
  return cellPattern.test(text);
}

/** Returns the last characters of the ids of projects that a cell creates, such as `00c2` for `c2`. Proxies route by them. */
export function cellMark(cell: string): string {
  return cell.padStart(markCharacters, "0");
}

/**
 * Returns the id of a new project. In a cell, the last characters of the id name the cell. 54 random bits and the time are left, so ids of
 * one cell do not repeat.
 */
export function createProjectId(atMs: number, cell: string | undefined): ProjectId {
  const id = createId("prj", atMs);
  return cell === undefined ? id : (`${id.slice(0, -markCharacters)}${cellMark(cell)}` as ProjectId);
}

/** Returns the beginning of the paths of incoming webhooks, `/webhooks/` or, in a cell, `/webhooks/<cell>/`. */
export function webhookBase(cell: string | undefined): string {
  return cell === undefined ? "/webhooks/" : `/webhooks/${cell}/`;
}
