import { formatValue } from "../faults/errors.ts";
import { createId, type ProjectId } from "./id.ts";

/** Number of characters at the end of a project's id that name its cell. A shorter name is preceded by zeros. */
const markCharacters = 4;
/**
 * Names begin with a letter, so the zeros before a name in an id never belong to it. The letters are those of ids: i, l, o and u are absent.
 */
const cellPattern = /^[a-hjkmnp-tv-z][0-9a-hjkmnp-tv-z]{0,3}$/;

/**
 * Returns a cell's name from a text, unchanged. A cell is one of several deployments of svc behind one address. Throws an Error that says
 * which names are possible if the text cannot be such a name.
 */
export function parseCell(text: string): string {
  if (cellPattern.test(text)) return text;
  throw new Error(
    `${formatValue(text)} is not the name of a cell; expected 1 to 4 of the characters 0-9 and a-z without i, l, o and u, a letter first, such as c2`,
  );
}

/** True if `text` can be the name of a cell (one of several deployments of svc behind one address). */
export function isCell(text: string): boolean {
  return cellPattern.test(text);
}

/**
 * Returns the characters with which the ids of a cell's projects end, such as `00c2` for the cell `c2`. A cell is one of several
 * deployments behind one address, and proxies route by these characters.
 */
export function cellMark(cell: string): string {
  return cell.padStart(markCharacters, "0");
}

/**
 * Returns the id of a new project. `cell`: name of this deployment if it is one of several behind one address; the last characters of the
 * id then name the cell. The id still has 54 random bits and the time, so that ids do not repeat.
 */
export function createProjectId(atMs: number, cell: string | undefined): ProjectId {
  const id = createId("prj", atMs);
  return cell === undefined ? id : (`${id.slice(0, -markCharacters)}${cellMark(cell)}` as ProjectId);
}

/**
 * Returns the beginning of the paths of incoming webhooks: `/webhooks/`, or `/webhooks/<cell>/` in a cell (one of several deployments
 * behind one address).
 */
export function webhookBase(cell: string | undefined): string {
  return cell === undefined ? "/webhooks/" : `/webhooks/${cell}/`;
}
