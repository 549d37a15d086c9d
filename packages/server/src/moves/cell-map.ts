import { apiKeyPrefix, cellMark, webhookBase } from "@svc/core";
import { type Executor, openDatabase } from "@svc/db/connect";
import { keysWithoutPrefix, projectsHere } from "@svc/db/moves/listed";
import type { Config } from "../config/settings.ts";
import { consolePath, ofCell, portalPath } from "../console/headers.ts";
import { MoveError } from "./errors.ts";

/**
 * Yields the lines of a cell's map for HAProxy, which routes requests to cells (deployments behind one address) by it. Each line has a text
 * and the name of the cell. The first lines are texts that contain the cell's name. The other lines are for ids and keys without that name:
 * ids of projects that moved here or are older than the name, and the SHA-256 of keys. Throws MoveError if the configuration names no cell
 * or no database.
 */
export async function* cellMapLines({
  cell,
  databaseUrl: url,
}: Pick<Config, "cell" | "databaseUrl">): AsyncGenerator<string> {
  if (cell === undefined) throw new MoveError("SVC_CELL is not set: give the name of the cell whose map is printed");
  if (url === undefined) throw new MoveError("SVC_DATABASE_URL is not set: give the address of the cell's PostgreSQL");
  const db = openDatabase({ url, applicationName: "svc cells" });
  try {
    yield* linesOf(db, cell);
  } finally {
    await db.close();
  }
}

async function* linesOf(db: Executor, cell: string): AsyncGenerator<string> {
  const prefixes = [
    apiKeyPrefix(cell),
    webhookBase(cell),
    ofCell(consolePath, cell),
    ofCell(portalPath, cell),
    // Of the cookie that a console link sets.
    cell,
    // Of the last characters of a project's id.
    cellMark(cell),
  ];
  for (const prefix of prefixes) yield `${prefix} ${cell}`;
  for await (const id of projectsHere(db)) if (!id.endsWith(cellMark(cell))) yield `${id} ${cell}`;
  for await (const digest of keysWithoutPrefix(db, apiKeyPrefix(cell))) yield `${digest} ${cell}`;
}
