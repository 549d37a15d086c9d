import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  createConcurrencyLimiter,
  isEntityId,
  isoTime,
  requireId,
  SealError,
  type Sealer,
  type Turns,
} from "@svc/core";
import type { ExportedRow } from "@svc/db/entity-export/page";
import { exportEntity } from "@svc/db/entity-export/walk";
import { findProject } from "@svc/db/projects/repo";
import { leftOutOfExports } from "@svc/db/schema/exported-columns";
import { type ExportEntityRequest, type ExportEntityResponse, ExportEntityResponseSchema } from "@svc/gen/admin";
import type { AdminContext, ExportPages } from "./context.ts";
import { adminFaults } from "./errors.ts";

/** Version of the format of exported lines. A changed format gets a new number. */
const formVersion = 1;
/**
 * Maximum number of characters in one message of an export. A message contains whole lines, one for each row. The next line goes into a new
 * message when this number is reached.
 */
const messageCharactersMax = 131_072;

/** Maximum number of export pages that are read at the same time, over all projects. */
const pagesAtOnce = 2;

/**
 * Creates the page reader of a node. Exports take turns after each page, so that an export with a slow caller does not delay the other
 * exports.
 */
export function createExportPages(turns: Pick<Turns, "next">): ExportPages {
  const atOnce = createConcurrencyLimiter(pagesAtOnce);
  return (projectId, read) =>
    atOnce.run(projectId, async () => {
      await turns.next("administrator");
      return read();
    });
}

/**
 * Streams all data that the deployment has about an entity (a customer or user), as lines of JSON. They are a header, one line for each
 * row, and the number of rows of each table. Rows are read only as fast as the caller receives them, so that other work also gets time.
 */
export async function* exportLines(
  { db, clock, sealer, exportPages }: Pick<AdminContext, "db" | "clock" | "sealer" | "exportPages">,
  request: ExportEntityRequest,
  { signal }: HandlerContext,
): AsyncGenerator<ExportEntityResponse> {
  const projectId = requireId("prj", "projectId", request.projectId);
  const { entityId } = request;
  if (!isEntityId(entityId)) throw adminFaults.ENTITY_ID_INVALID(entityId);
  if ((await findProject(db, projectId)) === undefined) throw adminFaults.PROJECT_NOT_FOUND(projectId);
  await sealer.ready([projectId]);
  const counts: Record<string, number> = {};
  const at = isoTime(clock.now());
  const head = { version: formVersion, projectId, entityId, at, leftOut: leftOutOfExports() };
  yield message([JSON.stringify({ export: head })]);
  const pages = exportEntity(db, { projectId, entityId });
  try {
    for (;;) {
      const { done, value: page } = await exportPages(projectId, () => pages.next());
      if (done === true) break;
      yield* messagesOf(sealer, page, signal);
      counts[page.table] = (counts[page.table] ?? 0) + page.rows.length;
    }
  } finally {
    await pages.return(undefined);
  }
  yield message([JSON.stringify({ end: { counts } })]);
}

function* messagesOf(
  sealer: Sealer,
  { table, rows }: { readonly table: string; readonly rows: readonly ExportedRow[] },
  signal: AbortSignal,
): Generator<ExportEntityResponse> {
  let lines: string[] = [];
  let characters = 0;
  for (const row of rows) {
    signal.throwIfAborted();
    const line = rowLine(sealer, table, row);
    lines.push(line);
    characters += line.length;
    if (characters < messageCharactersMax) continue;
    yield message(lines);
    [lines, characters] = [[], 0];
  }
  if (lines.length > 0) yield message(lines);
}

function message(lines: string[]): ExportEntityResponse {
  return create(ExportEntityResponseSchema, { lines });
}

/**
 * Returns a row as a line, with its encrypted values decrypted. Values that cannot be decrypted are left out, for example after a vault key
 * was lost; `unreadable` lists their columns.
 */
function rowLine(sealer: Sealer, table: string, { values, sealed }: ExportedRow): string {
  const opened: Record<string, string> = {};
  const unreadable: string[] = [];
  for (const { column, sealed: value, context } of sealed) {
    const text = open(sealer, value, context);
    if (text === undefined) unreadable.push(column);
    else opened[column] = text;
  }
  return JSON.stringify({ table, row: { ...values, ...opened }, ...(unreadable.length > 0 && { unreadable }) });
}

function open(sealer: Sealer, sealed: Buffer, context: string): string | undefined {
  // The result of a call that is still running is empty.
  if (sealed.byteLength === 0) return "";
  try {
    return sealer.open(sealed, context).toString("utf8");
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
